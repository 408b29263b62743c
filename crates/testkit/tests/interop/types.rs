//! Every type in every file format, as value, as partition, and through compaction, deletes and changes of the schema: what
//! Linn writes, every peer that knows the type reads.

use linn_format::schema::SchemaChange;
use linn_format::types::DataType;
use linn_testkit::peer::Peer;
use serde_json::{Map, Value, json};

use crate::linn::Ring;

/// A type in SQL or JSON, three values, and the peers and formats that lack it.
struct Kind {
    name: &'static str,
    sql: Value,
    values: [Value; 3],
    lacking: &'static [&'static str],
}

fn kind(name: &'static str, sql: Value, values: [Value; 3]) -> Kind {
    Kind { name, sql, values, lacking: &[] }
}

fn scalars() -> Vec<Kind> {
    vec![
        kind("bool", json!("BOOLEAN"), [json!(true), json!(false), json!(true)]),
        kind("i8", json!("TINYINT"), [json!(-128), json!(0), json!(127)]),
        kind("i16", json!("SMALLINT"), [json!(-32768), json!(1), json!(32767)]),
        kind("i32", json!("INT"), [json!(i32::MIN), json!(-1), json!(i32::MAX)]),
        kind("i64", json!("BIGINT"), [json!(i64::MIN), json!(0), json!(i64::MAX)]),
        kind("f32", json!("FLOAT"), [json!(0.1), json!(-1.5), json!(16777216.0)]),
        kind("f64", json!("DOUBLE"), [json!(-1e300), json!(0.1), json!(1e-5)]),
        kind("d9", json!("DECIMAL(9, 3)"), [json!("-123456.789"), json!("0.001"), json!("999999.999")]),
        kind("d18", json!("DECIMAL(18, 0)"), [json!("999999999999999999"), json!("-1"), json!("0")]),
        kind(
            "d38",
            json!("DECIMAL(38, 10)"),
            [json!("1234567890123456789012345678.0123456789"), json!("-0.0000000001"), json!("0.0000000000")],
        ),
        kind("fixed", json!("CHAR(5)"), [json!("abcde"), json!("vwxyz"), json!("z\u{e9}\u{1F600}ab")]),
        kind("short", json!("VARCHAR(20)"), [json!("a b/c:d=e"), json!("z\u{e9}\u{1F600}"), json!("x")]),
        kind("text", json!("STRING"), [json!("%25"), json!("a longer text than fits in a truncated bound"), json!("")]),
        kind("date", json!("DATE"), [json!("1969-12-31"), json!("2024-02-29"), json!("2400-01-01")]),
        kind("time", json!("TIME(3)"), [json!("00:00:00.000"), json!("01:02:03.004"), json!("23:59:59.999")]),
        kind("seconds", json!("TIME(0)"), [json!("00:00:00.000"), json!("01:02:03.000"), json!("23:59:59.000")]),
        kind(
            "t0",
            json!("TIMESTAMP(0)"),
            [json!("1969-12-31T23:59:59"), json!("2024-02-29T12:00:00"), json!("9999-12-31T23:59:59")],
        ),
        kind(
            "t3",
            json!("TIMESTAMP(3)"),
            [json!("1969-12-31T23:59:59.999"), json!("2001-09-09T01:46:40.000"), json!("2024-02-29T12:00:05.120")],
        ),
        kind(
            "t6",
            json!("TIMESTAMP(6)"),
            [
                json!("0001-01-01T00:00:00.000000"),
                json!("2024-02-29T12:00:00.000001"),
                json!("9999-12-31T23:59:59.999999"),
            ],
        ),
        kind(
            "l3",
            json!("TIMESTAMP(3) WITH LOCAL TIME ZONE"),
            [json!("1970-01-01T00:00:00.001Z"), json!("2038-01-19T03:14:08.000Z"), json!("1969-12-31T23:59:59.999Z")],
        ),
        kind(
            "l6",
            json!("TIMESTAMP(6) WITH LOCAL TIME ZONE"),
            [
                json!("1969-12-31T23:59:59.999999Z"),
                json!("9999-12-31T23:59:59.999999Z"),
                json!("2024-02-29T12:00:00.000000Z"),
            ],
        ),
    ]
}

/// Types of binaries; Java cannot name a partition by them.
fn binaries() -> Vec<Kind> {
    vec![
        kind("bytes", json!("BYTES"), [json!("00ff10"), json!(""), json!("0102030405060708090a0b0c0d0e0f1011")]),
        kind("binary", json!("BINARY(3)"), [json!("00ff10"), json!("010203"), json!("ffffff")]),
    ]
}

fn nested() -> Vec<Kind> {
    let array = |element: Value| json!({ "type": "ARRAY", "element": element });
    let map = |key: &str, value: Value| json!({ "type": "MAP", "key": key, "value": value });
    let row = json!({ "type": "ROW", "fields": [
        { "id": 201, "name": "x", "type": "INT" },
        { "id": 202, "name": "y", "type": { "type": "ARRAY", "element": "STRING" } },
    ] });
    let deep = json!({ "type": "ROW", "fields": [
        { "id": 211, "name": "inner", "type": { "type": "ROW", "fields": [
            { "id": 212, "name": "when", "type": "TIMESTAMP(6)" },
            { "id": 213, "name": "price", "type": "DECIMAL(20, 4)" },
        ] } },
    ] });
    vec![
        kind("list", array(json!("INT")), [json!([1, null, -3]), json!([]), json!([7])]),
        kind("lists", array(array(json!("STRING"))), [json!([["a", null], null, []]), json!([]), json!([[]])]),
        kind(
            "map",
            map("STRING NOT NULL", json!("DECIMAL(10, 2)")),
            [json!([["a", "1.50"], ["b", null]]), json!([]), json!([["", "0.00"]])],
        ),
        kind("days", map("INT NOT NULL", json!("DATE")), [json!([[1, "2024-02-29"]]), json!([]), json!([[-1, null]])]),
        kind("row", row, [json!({ "x": 5, "y": ["q", null] }), json!({ "x": null, "y": [] }), Value::Null]),
        kind(
            "deep",
            deep,
            [
                json!({ "inner": { "when": "2024-02-29T12:00:00.000001", "price": "-0.0001" } }),
                json!({ "inner": null }),
                json!({ "inner": { "when": null, "price": "1234567890123456.7891" } }),
            ],
        ),
        Kind {
            name: "bag",
            sql: json!({ "type": "MULTISET", "element": "STRING NOT NULL" }),
            values: [json!([["a", 2], ["b", 1]]), json!([]), json!([["x", 3]])],
            // 0.9 reads the counts of its own Parquet files wrongly too, one entry late after an empty multiset.
            lacking: &["python", "java-0.9"],
        },
    ]
}

/// Timestamps that pypaimon cuts and Avro lacks.
fn nanos() -> Vec<Kind> {
    let kind = |name, sql: &str, values| Kind { name, sql: json!(sql), values, lacking: &["python", "avro"] };
    vec![
        kind(
            "t9",
            "TIMESTAMP(9)",
            [
                json!("1969-12-31T23:59:59.999999999"),
                json!("2024-02-29T12:00:00.000000001"),
                json!("2262-04-11T23:47:16.854775807"),
            ],
        ),
        kind(
            "l9",
            "TIMESTAMP(9) WITH LOCAL TIME ZONE",
            [
                json!("1677-09-22T00:00:00.000000001Z"),
                json!("2024-02-29T12:00:00.100000000Z"),
                json!("1970-01-01T00:00:00.000000000Z"),
            ],
        ),
    ]
}

fn field(id: usize, name: &str, sql: &Value) -> Value {
    json!({ "id": id, "name": name, "type": sql })
}

/// The type as one of a column without nulls.
fn required(sql: &Value) -> Value {
    json!(format!("{} NOT NULL", sql.as_str().unwrap()))
}

/// `k INT`, and a column of each type.
fn of_kinds(kinds: &[Kind], format: &str, buckets: u32, partitioned: bool) -> Value {
    let mut fields = vec![field(0, "k", &json!("INT NOT NULL")), field(1, "p", &json!("STRING NOT NULL"))];
    fields.extend(kinds.iter().enumerate().map(|(i, kind)| field(i + 2, kind.name, &kind.sql)));
    let keys: &[&str] = if partitioned { &["p", "k"] } else { &["k"] };
    json!({
        "fields": fields,
        "partitionKeys": if partitioned { json!(["p"]) } else { json!([]) },
        "primaryKeys": keys,
        "options": { "bucket": buckets.to_string(), "file.format": format },
    })
}

/// Row `k` has the values of the types that stand at its place, every fourth row only nulls.
fn row(kinds: &[Kind], k: usize) -> Value {
    let value = |kind: &Kind| if k % 4 == 3 { Value::Null } else { kind.values[k % 4].clone() };
    let mut row: Map<String, Value> = kinds.iter().map(|kind| (kind.name.to_owned(), value(kind))).collect();
    row.insert("k".to_owned(), json!(k));
    row.insert("p".to_owned(), json!(format!("p{}", k % 2)));
    Value::Object(row)
}

fn deleted(mut row: Value) -> Value {
    row["_kind"] = json!("-D");
    row
}

fn add(name: &str, sql: &str) -> SchemaChange {
    SchemaChange::AddColumn {
        path: vec![name.to_owned()],
        data_type: DataType::parse(sql).unwrap(),
        description: None,
        position: None,
    }
}

/// Writes, deletes, compacts, changes the schema and writes on, with a look by everyone after each.
fn lives_of(ring: &mut Ring, lacking: &[&str], what: &str, rows: &[Value]) {
    let half = rows.len() / 2;
    ring.write(rows);
    ring.check_without(lacking, &format!("{what}, written"), rows);
    ring.write(&rows[..half].iter().cloned().map(deleted).collect::<Vec<_>>());
    ring.check_without(lacking, &format!("{what}, some deleted"), &rows[half..]);
    ring.compact(true);
    ring.check_without(lacking, &format!("{what}, compacted"), &rows[half..]);
    ring.alter(&[add("more", "INT")]);
    let with = |row: &Value, more: Value| {
        let mut row = row.clone();
        row["more"] = more;
        row
    };
    let fresh: Vec<Value> = rows[..half].iter().map(|row| with(row, json!(5))).collect();
    ring.write(&fresh);
    let mut expected: Vec<Value> = rows[half..].iter().map(|row| with(row, Value::Null)).collect();
    expected.extend(fresh);
    ring.check_without(lacking, &format!("{what}, with another column"), &expected);
    ring.compact(true);
    ring.check_without(lacking, &format!("{what}, with another column and compacted"), &expected);
}

fn everyone(schema: &Value) -> Option<Ring> {
    Ring::new(schema, [Peer::python(), Peer::java_old()])
}

/// Tables of these types with different bucket counts, with and without partitions.
fn values(format: &str, kinds: Vec<Kind>) {
    let kinds: Vec<Kind> = kinds.into_iter().filter(|kind| !kind.lacking.contains(&format)).collect();
    let lacking: Vec<&str> = kinds.iter().flat_map(|kind| kind.lacking).copied().collect();
    let rows: Vec<Value> = (0..8).map(|k| row(&kinds, k)).collect();
    let mut ring = None;
    for (buckets, partitioned) in [(1, false), (3, false), (2, true)] {
        let schema = of_kinds(&kinds, format, buckets, partitioned);
        let name = format!("t{buckets}");
        match &mut ring {
            None => ring = everyone(&schema),
            Some(ring) => ring.begin(&name, &schema),
        }
        let Some(ring) = &mut ring else { return };
        lives_of(ring, &lacking, &format!("{format}, {buckets} buckets, partitioned: {partitioned}"), &rows);
    }
}

fn all() -> Vec<Kind> {
    scalars().into_iter().chain(binaries()).chain(nested().into_iter().filter(|k| k.lacking.is_empty())).collect()
}

#[test]
fn every_type_in_parquet() {
    values("parquet", all().into_iter().filter(|kind| kind.name != "deep").collect());
}

#[test]
fn rows_in_rows_in_parquet() {
    // 0.9 does not read its own.
    let deep = nested().into_iter().filter(|kind| kind.name == "deep");
    values("parquet", deep.map(|kind| Kind { lacking: &["java-0.9"], ..kind }).collect());
}

#[test]
fn every_type_in_avro() {
    values("avro", all());
}

#[test]
fn every_type_in_orc() {
    // ORC has no parts of the second before 1970, and others do not read times far from it.
    let refused = ["t6", "t3", "t0", "l3", "l6"];
    values("orc", all().into_iter().filter(|kind| !refused.contains(&kind.name)).collect());
}

#[test]
fn types_that_only_java_knows() {
    let kinds =
        || -> Vec<Kind> { nested().into_iter().chain(nanos()).filter(|kind| !kind.lacking.is_empty()).collect() };
    values("parquet", kinds());
    values("avro", kinds());
    values("orc", kinds().into_iter().filter(|kind| kind.name != "t9").collect());
}

/// One partition a value, in both spellings of their folders.
fn partitions(kinds: Vec<Kind>, legacy: bool, lacking: &[&str]) {
    let mut ring: Option<Ring> = None;
    for kind in &kinds {
        let schema = json!({
            "fields": [
                field(0, "p", &required(&kind.sql)),
                field(1, "k", &json!("INT NOT NULL")),
                field(2, "v", &json!("STRING")),
            ],
            "partitionKeys": ["p"],
            "primaryKeys": ["p", "k"],
            "options": { "bucket": "2", "partition.legacy-name": legacy.to_string() },
        });
        match &mut ring {
            None => ring = everyone(&schema),
            Some(ring) => ring.begin(kind.name, &schema),
        }
        let Some(ring) = &mut ring else { return };
        let values = kind.values.iter().filter(|value| **value != json!(""));
        let rows: Vec<Value> = values
            .enumerate()
            .flat_map(|(i, p)| (0..3).map(move |k| json!({ "p": p, "k": 10 * i + k, "v": format!("{i} {k}") })))
            .collect();
        let lacking: Vec<&str> = kind.lacking.iter().chain(lacking).copied().collect();
        lives_of(ring, &lacking, &format!("partitioned by {}", kind.sql), &rows);
    }
}

#[test]
fn every_type_as_a_partition() {
    partitions(scalars().into_iter().chain(nanos()).collect(), true, &[]);
}

#[test]
fn every_type_as_a_partition_spelled_as_sql() {
    // 0.9 knows the legacy spelling only.
    partitions(scalars().into_iter().chain(nanos()).collect(), false, &["java-0.9"]);
}

#[test]
fn null_partitions_of_append_tables() {
    let mut ring: Option<Ring> = None;
    for kind in scalars() {
        let schema = json!({
            "fields": [field(0, "p", &kind.sql), field(1, "k", &json!("INT"))],
            "partitionKeys": ["p"],
            "primaryKeys": [],
            "options": { "bucket": "-1" },
        });
        match &mut ring {
            None => ring = everyone(&schema),
            Some(ring) => ring.begin(kind.name, &schema),
        }
        let Some(ring) = &mut ring else { return };
        let rows = [json!({ "p": null, "k": 1 }), json!({ "p": kind.values[1], "k": 2 })];
        for row in &rows {
            ring.write(std::slice::from_ref(row));
        }
        ring.check(&format!("null among {}", kind.sql), &rows);
        ring.compact(true);
        ring.check(&format!("null among {}, compacted", kind.sql), &rows);
    }
}
