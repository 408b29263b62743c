//! A column gets another type: Linn allows what Java allows, and both read old files as the same values.

use linn_format::schema::{SchemaChange, apply};
use linn_format::types::DataType;
use serde_json::{Value, json};

use crate::linn::Ring;

/// A type and values of it.
fn types() -> Vec<(&'static str, Vec<Value>)> {
    vec![
        ("BOOLEAN", vec![json!(true), json!(false)]),
        ("TINYINT", vec![json!(0), json!(-128), json!(127), json!(1)]),
        ("SMALLINT", vec![json!(0), json!(-32768), json!(300), json!(5)]),
        ("INT", vec![json!(0), json!(-2_147_483_648_i64), json!(70000), json!(1)]),
        ("BIGINT", vec![json!(0), json!(-3_000_000_000_i64), json!(1_700_000_000_000_i64), json!(7)]),
        ("FLOAT", vec![json!(0.5), json!(-3.75), json!(1_000_000.0), json!(0.0)]),
        ("DOUBLE", vec![json!(0.5), json!(-3.999), json!(1e10), json!(123_456.789)]),
        ("DECIMAL(10, 2)", vec![json!("0.00"), json!("-12.55"), json!("99999999.99"), json!("1.05")]),
        ("DECIMAL(20, 4)", vec![json!("0.0001"), json!("-12.5550"), json!("9999999999999999.9999"), json!("1.0450")]),
        ("CHAR(3)", vec![json!("abc"), json!("xyz")]),
        ("VARCHAR(6)", vec![json!("ab"), json!("abcdef"), json!("é"), json!("")]),
        ("STRING", vec![json!("ab"), json!("abcdefgh"), json!("éàü"), json!("")]),
        ("BINARY(2)", vec![json!("00ff"), json!("6162")]),
        ("BYTES", vec![json!("616263"), json!(""), json!("61")]),
        ("DATE", vec![json!("2024-02-29"), json!("1969-12-31"), json!("0001-01-01")]),
        ("TIME(3)", vec![json!("12:34:56.789"), json!("00:00:00")]),
        ("TIMESTAMP(0)", vec![json!("2024-02-29T12:34:56"), json!("1969-12-31T23:59:59")]),
        ("TIMESTAMP(3)", vec![json!("2024-02-29T12:34:56.789"), json!("1969-12-31T23:59:59.999")]),
        ("TIMESTAMP(6)", vec![json!("2024-02-29T12:34:56.789123"), json!("1969-12-31T23:59:59.999999")]),
        (
            "TIMESTAMP(6) WITH LOCAL TIME ZONE",
            vec![json!("2024-02-29T12:34:56.789123Z"), json!("1969-12-31T23:59:59.999999Z")],
        ),
    ]
}

/// Texts that stand for values of a type.
fn texts(sql: &str) -> Option<Vec<Value>> {
    let all: &[&str] = match sql.split('(').next().unwrap_or(sql).trim() {
        "BOOLEAN" => &["true", "F", "yes", "0", "N"],
        "TINYINT" | "SMALLINT" | "INT" | "BIGINT" => &["12", "-7", "0", "+3", "1.9"],
        "FLOAT" | "DOUBLE" => &["0.5", "-1e3", "7", "NaN", "Infinity"],
        "DECIMAL" => &["1.005", "-12.5", "7", "1e2"],
        "DATE" => &["2024-02-29", "1969-12-31", "2024-2-9"],
        "TIME" => &["12:34:56", "00:00:00.5", "7:5:3"],
        sql if sql.starts_with("TIMESTAMP") => &["2024-02-29 12:34:56.789", "1999-12-31 23:59:59", "2024-02-29"],
        _ => return None,
    };
    Some(all.iter().map(|text| json!(text)).collect())
}

/// Java drops what is after the second towards 1970, and so takes 1969-12-31T23:59:59 for a time of 1970-01-01.
fn since_1970(values: &[Value]) -> Vec<Value> {
    values.iter().filter(|v| !v.as_str().unwrap_or_default().starts_with("1969")).cloned().collect()
}

fn schema(sql: &str) -> Value {
    json!({
        "fields": [{ "id": 0, "name": "k", "type": "INT NOT NULL" }, { "id": 1, "name": "v", "type": sql }],
        "partitionKeys": [],
        "primaryKeys": ["k"],
        "options": { "bucket": "1" },
    })
}

fn to(sql: &str) -> SchemaChange {
    let new_type = DataType::parse(sql).unwrap();
    SchemaChange::UpdateColumnType { path: vec!["v".to_owned()], new_type, keep_nullability: true }
}

#[test]
fn types_change() {
    let types = types();
    let Some(mut ring) = Ring::new(&schema("INT"), []) else { return };
    let (mut differing, mut allowed) = (Vec::new(), 0);
    for (from, values) in &types {
        for (new, new_values) in &types {
            if from == new {
                continue;
            }
            allowed += 1;
            ring.begin(&format!("t{allowed}"), &schema(from));
            let values = match (from.starts_with("TIMESTAMP"), texts(new)) {
                (false, Some(texts)) if ["STRING", "VARCHAR(6)", "CHAR(3)"].contains(from) => {
                    let longest = from.split(['(', ')']).nth(1).and_then(|n| n.parse().ok()).unwrap_or(usize::MAX);
                    texts.into_iter().filter(|text| text.as_str().is_some_and(|t| t.len() <= longest)).collect()
                }
                (true, _) if ["DATE", "TIME(3)"].contains(new) => since_1970(values),
                _ => values.clone(),
            };
            let mut rows: Vec<Value> = (0..).zip(&values).map(|(k, v)| json!({ "k": k, "v": v })).collect();
            rows.push(json!({ "k": 90, "v": null }));
            ring.write(&rows);
            let ours = ring.on(async |table| apply(table.schema(), &[to(new)], true, 0));
            let place = ring.place().clone();
            match (ours, ring.java.alter(&place, &json!([["type", "v", new]]))) {
                (Err(_), Err(_)) => continue,
                (Ok(_), Err(e)) => {
                    let line = e.lines().next().unwrap_or_default().to_owned();
                    differing.push(format!("{from} to {new}: Linn allows it, Java says {line}"));
                    continue;
                }
                (Err(e), Ok(())) => {
                    differing.push(format!("{from} to {new}: Java allows it, Linn says {e}"));
                    continue;
                }
                (Ok(_), Ok(())) => {}
            }
            ring.write(&[json!({ "k": 91, "v": new_values[0] })]);
            match ring.java.read(&place, &[]) {
                Ok(theirs) => differing.extend(ring.differs(&theirs).map(|d| format!("{from} to {new}: {d}"))),
                // A decimal that is too large fails in Java's reader.
                Err(e) if e.contains("toBigDecimal") && new.starts_with("DECIMAL") => {}
                Err(e) => {
                    let line = e.lines().next().unwrap_or_default();
                    differing.push(format!("{from} to {new}: Java cannot read it: {line}"));
                }
            }
        }
    }
    assert!(differing.is_empty(), "{} differ\n{}", differing.len(), differing.join("\n"));
}
