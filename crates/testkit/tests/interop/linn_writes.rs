//! What Linn writes, Java and Python read as the same rows.

use std::collections::BTreeMap;

use linn_format::schema::SchemaChange;
use linn_format::types::DataType;
use linn_testkit::peer::Peer;
use serde_json::{Value, json};

use crate::linn::Ring;

fn keyed(format: &str) -> Value {
    json!({
        "fields": [
            { "id": 0, "name": "p", "type": "STRING NOT NULL" },
            { "id": 1, "name": "k", "type": "INT NOT NULL" },
            { "id": 2, "name": "v", "type": "DECIMAL(10, 2)" },
            { "id": 3, "name": "s", "type": "STRING" },
            { "id": 4, "name": "t", "type": "TIMESTAMP(6)" },
        ],
        "partitionKeys": ["p"],
        "primaryKeys": ["p", "k"],
        "options": { "bucket": "2", "file.format": format },
    })
}

fn row(k: i64, round: i64) -> Value {
    let text = (k % 3 != 0).then(|| format!("row {k} of round {round}"));
    let time = format!("2024-02-29T12:00:00.{k:06}");
    json!({ "p": format!("p{}", k % 2), "k": k, "v": format!("{round}.{:02}", k % 100), "s": text, "t": time })
}

/// Rows by key: what a primary-key table holds.
#[derive(Default)]
struct Model(BTreeMap<i64, Value>);

impl Model {
    /// Upserts a range and deletes another; the rows of both, to be written.
    fn round(&mut self, upserts: std::ops::Range<i64>, deletes: std::ops::Range<i64>, round: i64) -> Vec<Value> {
        let mut rows: Vec<Value> = upserts.map(|k| row(k, round)).collect();
        self.0.extend(rows.iter().map(|r| (r["k"].as_i64().unwrap(), r.clone())));
        for k in deletes {
            let mut gone = row(k, round);
            gone["_kind"] = json!("-D");
            rows.push(gone);
            self.0.remove(&k);
        }
        rows
    }

    fn rows(&self) -> Vec<Value> {
        self.0.values().cloned().collect()
    }
}

fn keyed_table(format: &str) {
    let Some(mut ring) = Ring::new(&keyed(format), [Peer::python(), Peer::java_old()]) else { return };
    let mut model = Model::default();
    ring.write(&model.round(0..200, 0..0, 1));
    ring.check("one commit", &model.rows());
    ring.write(&model.round(100..300, 0..20, 2));
    ring.write(&model.round(10..15, 250..260, 3));
    ring.check("three commits", &model.rows());
    ring.compact(true);
    ring.check("a full compaction", &model.rows());
    ring.write(&model.round(0..40, 150..170, 4));
    ring.check("a commit above the compacted files", &model.rows());
}

#[test]
fn primary_key_tables_in_parquet() {
    keyed_table("parquet");
}

#[test]
fn primary_key_tables_in_avro() {
    keyed_table("avro");
}

#[test]
fn primary_key_tables_in_orc() {
    keyed_table("orc");
}

#[test]
fn append_tables_without_buckets() {
    let mut schema = keyed("parquet");
    schema["primaryKeys"] = json!([]);
    schema["options"]["bucket"] = json!("-1");
    let Some(mut ring) = Ring::new(&schema, [Peer::python(), Peer::java_old()]) else { return };
    let mut all = Vec::new();
    for round in 0..6 {
        let rows: Vec<Value> = (0..50).map(|k| row(k, round)).collect();
        ring.write(&rows);
        all.extend(rows);
    }
    ring.check("six commits", &all);
    ring.compact(true);
    ring.check("a compaction", &all);
}

fn every_type(format: &str) -> Value {
    let scalars = [
        ("bool", "BOOLEAN"),
        ("i8", "TINYINT"),
        ("i16", "SMALLINT"),
        ("i32", "INT"),
        ("i64", "BIGINT"),
        ("f32", "FLOAT"),
        ("f64", "DOUBLE"),
        ("d9", "DECIMAL(9, 3)"),
        ("d18", "DECIMAL(18, 0)"),
        ("d38", "DECIMAL(38, 10)"),
        ("text", "VARCHAR(20)"),
        ("bytes", "BYTES"),
        ("date", "DATE"),
        ("t3", "TIMESTAMP(3)"),
        ("t6", "TIMESTAMP(6)"),
        ("l3", "TIMESTAMP(3) WITH LOCAL TIME ZONE"),
        ("l6", "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
    ];
    let mut fields = vec![json!({ "id": 0, "name": "k", "type": "INT NOT NULL" })];
    fields.extend((1..).zip(scalars).map(|(id, (name, sql))| json!({ "id": id, "name": name, "type": sql })));
    let list = json!({ "type": "ARRAY", "element": "INT" });
    let map = json!({ "type": "MAP", "key": "STRING NOT NULL", "value": "DECIMAL(10, 2)" });
    let inner = json!([
        { "id": 33, "name": "x", "type": "INT" },
        { "id": 34, "name": "y", "type": { "type": "ARRAY", "element": "STRING" } },
    ]);
    let nested = json!({ "type": "ROW", "fields": inner });
    fields.push(json!({ "id": 30, "name": "list", "type": list }));
    fields.push(json!({ "id": 31, "name": "map", "type": map }));
    fields.push(json!({ "id": 32, "name": "nested", "type": nested }));
    json!({
        "fields": fields,
        "partitionKeys": [],
        "primaryKeys": ["k"],
        "options": { "bucket": "1", "file.format": format },
    })
}

fn values_of_every_type() -> Vec<Value> {
    let names: Vec<String> = every_type("parquet")["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["name"].as_str().unwrap().to_owned())
        .collect();
    let mut nulls: serde_json::Map<String, Value> = names.into_iter().map(|name| (name, Value::Null)).collect();
    nulls["k"] = json!(0);
    vec![
        Value::Object(nulls),
        json!({ "k": 1, "bool": true, "i8": -128, "i16": 32767, "i32": -2147483648_i64, "i64": i64::MAX, "f32": 0.1, "f64": -1e300,
            "d9": "-123456.789", "d18": "999999999999999999", "d38": "1234567890123456789012345678.0123456789", "text": "z\u{e9}\u{1F600}",
            "bytes": "00ff10", "date": "1969-12-31", "t3": "1969-12-31T23:59:59.999", "t6": "2024-02-29T12:00:00.000001",
            "l3": "1970-01-01T00:00:00.001Z", "l6": "1969-12-31T23:59:59.999999Z", "list": [1, null, -3],
            "map": [["a", "1.50"], ["b", null]], "nested": { "x": 5, "y": ["q", null] } }),
        json!({ "k": 2, "bool": false, "i8": 127, "i16": -32768, "i32": 7, "i64": i64::MIN, "f32": "NaN", "f64": "-Infinity",
            "d9": "0.001", "d18": "-1", "d38": "-0.0000000001", "text": "", "bytes": "", "date": "2400-01-01",
            "t3": "2001-09-09T01:46:40.000", "t6": "0001-01-01T00:00:00.000000", "l3": "2038-01-19T03:14:08.000Z",
            "l6": "9999-12-31T23:59:59.999999Z", "list": [], "map": [], "nested": { "x": null, "y": [] } }),
    ]
}

fn types(schema: &Value, rows: &[Value]) {
    let Some(mut ring) = Ring::new(schema, [Peer::python(), Peer::java_old()]) else { return };
    ring.write(rows);
    ring.check("every type", rows);
    ring.write(&rows[..1]);
    ring.compact(true);
    ring.check("every type, compacted", rows);
}

#[test]
fn every_type_in_parquet() {
    types(&every_type("parquet"), &values_of_every_type());
}

#[test]
fn every_type_in_avro() {
    types(&every_type("avro"), &values_of_every_type());
}

#[test]
fn every_type_in_orc() {
    // ORC has no parts of the second before 1970, and others do not read times far from it.
    let mut rows = values_of_every_type();
    rows[1]["t3"] = json!("1970-01-01T00:00:00.001");
    rows[1]["l6"] = json!("1969-12-31T23:59:59.000000Z");
    rows[2]["t6"] = json!("1900-01-01T00:00:00.000000");
    rows[2]["l6"] = json!("2200-01-01T00:00:00.999999Z");
    types(&every_type("orc"), &rows);
}

/// Runs of integers in all ways in which ORC files write them down.
#[test]
fn integers_in_orc() {
    let number = |k: i64| match k {
        0..40 => i64::from(i32::MAX) - 5,
        40..80 => 1_700_000_000 + 7 * k,
        80..120 => i64::from(i32::MIN) + k * k,
        120..240 if k % 12 == 0 => 20_000_000 + k,
        120..240 => (k * 37) % 100,
        240..250 => [i64::MIN, i64::MAX, -4, i64::MIN, 3, i64::MIN + 1, 0, 0, -1, 1][k as usize - 240],
        250..270 => i64::MIN,
        270..300 => i64::MAX - (k % 3) * (1 << 40),
        _ => (k % 7) - (k % 3),
    };
    let row = |k: i64| {
        let n = number(k);
        let list = [Some(n), None, Some(n / 2)];
        json!({ "k": k, "i8": n as i8, "i16": n as i16, "i32": n as i32, "i64": n, "list": list[..(k % 4).min(3) as usize] })
    };
    let schema = json!({
        "fields": [
            { "id": 0, "name": "k", "type": "BIGINT NOT NULL" },
            { "id": 1, "name": "i8", "type": "TINYINT" },
            { "id": 2, "name": "i16", "type": "SMALLINT" },
            { "id": 3, "name": "i32", "type": "INT" },
            { "id": 4, "name": "i64", "type": "BIGINT" },
            { "id": 5, "name": "list", "type": { "type": "ARRAY", "element": "BIGINT" } },
        ],
        "partitionKeys": [],
        "primaryKeys": ["k"],
        "options": { "bucket": "1", "file.format": "orc" },
    });
    types(&schema, &(0..700).map(row).collect::<Vec<_>>());
}

fn evolution(format: &str) {
    let Some(mut ring) = Ring::new(&keyed(format), [Peer::python(), Peer::java_old()]) else { return };
    ring.alter(&[SchemaChange::AddColumn {
        path: vec!["i".to_owned()],
        data_type: DataType::parse("INT").unwrap(),
        description: None,
        position: None,
    }]);
    let with = |k: i64, i: Value| {
        let mut row = row(k, 1);
        row["i"] = i;
        row
    };
    let old: Vec<Value> = (0..20).map(|k| with(k, json!(k))).collect();
    ring.write(&old);
    ring.alter(&[
        SchemaChange::UpdateColumnType {
            path: vec!["i".to_owned()],
            new_type: DataType::parse("BIGINT").unwrap(),
            keep_nullability: true,
        },
        SchemaChange::RenameColumn { path: vec!["s".to_owned()], new_name: "words".to_owned() },
        SchemaChange::AddColumn {
            path: vec!["n".to_owned()],
            data_type: DataType::parse("STRING").unwrap(),
            description: None,
            position: None,
        },
    ]);
    let evolved = |mut row: Value, n: Value| {
        row["words"] = row["s"].take();
        row.as_object_mut().unwrap().remove("s");
        row["n"] = n;
        row
    };
    let new: Vec<Value> = (10..30).map(|k| evolved(with(k, json!(1_i64 << 40)), json!("new"))).collect();
    ring.write(&new);
    let mut expected: Vec<Value> = old.into_iter().take(10).map(|r| evolved(r, Value::Null)).collect();
    expected.extend(new);
    ring.check("old and new files", &expected);
    ring.compact(true);
    ring.check("compacted", &expected);
}

#[test]
fn evolved_tables_in_parquet() {
    evolution("parquet");
}

#[test]
fn evolved_tables_in_avro() {
    evolution("avro");
}

#[test]
fn linn_and_java_in_turns() {
    let Some(mut ring) = Ring::new(&keyed("parquet"), []) else { return };
    let mut model = Model::default();
    for round in 0..10 {
        let start = round * 30;
        ring.write(&model.round(start..start + 100, start..start + 5, round));
        ring.compact(round % 2 == 0);
        ring.check(&format!("round {round}: Linn's turn"), &model.rows());
        ring.java_writes(&model.round(start + 50..start + 120, start + 10..start + 15, round));
        ring.check(&format!("round {round}: Java's turn"), &model.rows());
    }
}

#[test]
fn changes_as_they_come() {
    let mut schema = keyed("parquet");
    schema["options"]["changelog-producer"] = json!("input");
    let Some(mut ring) = Ring::new(&schema, []) else { return };
    let mut model = Model::default();
    let mut changes = Vec::new();
    for round in [model.round(0..20, 0..0, 1), model.round(10..20, 0..5, 2)] {
        ring.write(&round);
        ring.compact(true);
        changes.extend(round);
    }
    ring.check("input", &model.rows());
    for change in &mut changes {
        if change.get("_kind").is_none() {
            change["_kind"] = json!("+I");
        }
    }
    ring.check_changes(&changes);
}

#[test]
fn aggregates_are_compacted_as_java_reads_them() {
    let schema = json!({
        "fields": [
            { "id": 0, "name": "k", "type": "INT NOT NULL" },
            { "id": 1, "name": "total", "type": "BIGINT" },
            { "id": 2, "name": "last", "type": "STRING" },
        ],
        "partitionKeys": [],
        "primaryKeys": ["k"],
        "options": { "bucket": "3", "merge-engine": "aggregation", "fields.total.aggregate-function": "sum",
            "fields.last.aggregate-function": "last_non_null_value" },
    });
    let Some(mut ring) = Ring::new(&schema, [Peer::java_old()]) else { return };
    let last = |k: i64, round: i64| (k + round) % 3 != 0;
    for round in 0..3 {
        let text = |k: i64| last(k, round).then(|| format!("{round}"));
        let rows: Vec<Value> = (0..50).map(|k| json!({ "k": k, "total": k * round, "last": text(k) })).collect();
        ring.write(&rows);
    }
    let newest = |k: i64| (0..3).rev().find(|round| last(k, *round)).map(|round| format!("{round}"));
    let expected: Vec<Value> = (0..50).map(|k| json!({ "k": k, "total": k * 3, "last": newest(k) })).collect();
    ring.check("three commits", &expected);
    ring.compact(true);
    ring.check("compacted", &expected);
}

/// Columns of the files table that do not depend on the moment or on the bytes of the files.
const FILE_COLUMNS: &[&str] = &[
    "partition",
    "bucket",
    "file_format",
    "schema_id",
    "level",
    "record_count",
    "min_key",
    "max_key",
    "null_value_counts",
    "min_value_stats",
    "max_value_stats",
    "min_sequence_number",
    "max_sequence_number",
    "file_source",
];

/// What the manifests say of the files is the same when Linn and Java write and compact the same rows.
fn metadata(schema: &Value, rounds: &[Vec<Value>]) {
    let (Some(mut linn), Some(mut java)) = (Ring::new(schema, []), Ring::new(schema, [])) else { return };
    for round in rounds {
        linn.write(round);
        linn.compact(true);
        java.java_writes(round);
        let (found, expected) = (linn.system("files", FILE_COLUMNS), java.system("files", FILE_COLUMNS));
        assert!(!found.is_empty() && found.len() == expected.len(), "{found:?}\n{expected:?}");
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn metadata_is_that_of_java() {
    let mut model = Model::default();
    let rounds = [model.round(0..200, 0..0, 1), model.round(100..300, 0..20, 2), model.round(10..15, 250..260, 3)];
    metadata(&keyed("parquet"), &rounds);
    metadata(&keyed("avro"), &rounds);
}

#[test]
fn metadata_of_scalars_is_that_of_java() {
    // Where NaN is among the values Linn knows no range; Java keeps none of bytes, and no null counts of nested values in Parquet.
    let mut schema = every_type("parquet");
    let without = ["f32", "bytes", "list", "map", "nested"];
    drop_columns(&mut schema, &without);
    let mut rows = values_of_every_type();
    rows.iter_mut().for_each(|row| row.as_object_mut().unwrap().retain(|name, _| !without.contains(&name.as_str())));
    metadata(&schema, &[rows.clone(), rows[..2].to_vec()]);
    schema["options"]["file.format"] = json!("avro");
    metadata(&schema, &[rows.clone(), rows[..2].to_vec()]);
}

fn drop_columns(schema: &mut Value, without: &[&str]) {
    schema["fields"].as_array_mut().unwrap().retain(|f| !without.contains(&f["name"].as_str().unwrap()));
}
