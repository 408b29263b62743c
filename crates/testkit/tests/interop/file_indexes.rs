//! File indexes that Linn writes: for the same rows their bytes are those of Java, and Java leaves out by them what it would by its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use linn_format::index::{BITMAP, BLOOM_FILTER, BSI, IndexFile, RANGE_BITMAP};
use linn_testkit::peer::Place;
use serde_json::{Map, Value, json};

use crate::linn::Ring;

/// Columns, types, and which indexes they have: bloom `f`ilter, `b`itmap, `s`liced, `r`ange bitmap.
const COLUMNS: &[(&str, &str, &str)] = &[
    ("bool", "BOOLEAN", "br"),
    ("i8", "TINYINT", "fbsr"),
    ("i16", "SMALLINT", "fbsr"),
    ("i32", "INT", "fbsr"),
    ("i64", "BIGINT", "fbsr"),
    ("f32", "FLOAT", "fbr"),
    ("f64", "DOUBLE", "fbr"),
    ("d9", "DECIMAL(9, 2)", "sr"),
    ("d18", "DECIMAL(18, 0)", "sr"),
    ("d30", "DECIMAL(30, 3)", "s"),
    ("date", "DATE", "fbsr"),
    ("time", "TIME(3)", "fbsr"),
    ("t0", "TIMESTAMP(0)", "fbsr"),
    ("t3", "TIMESTAMP(3)", "fbsr"),
    ("t6", "TIMESTAMP(6)", "fbsr"),
    ("t9", "TIMESTAMP(9)", "fbs"),
    ("l6", "TIMESTAMP(6) WITH LOCAL TIME ZONE", "fbsr"),
    ("fixed", "CHAR(4)", "fbr"),
    ("text", "STRING", "fbr"),
    ("bin", "BYTES", "f"),
    ("none", "INT", "fbsr"),
    ("tags[a]", "", "fbsr"),
    ("tags[b c]", "", "fbsr"),
    ("tags[nowhere]", "", "fbsr"),
];

fn names(letter: char) -> String {
    let names = COLUMNS.iter().filter(|(_, _, of)| of.contains(letter)).map(|(name, _, _)| *name);
    names.collect::<Vec<_>>().join(",")
}

/// Options of a table with all indexes.
fn options(threshold: &str) -> BTreeMap<String, String> {
    let mut options: BTreeMap<String, String> = [
        ("file-index.in-manifest-threshold", threshold),
        ("file-index.range-bitmap.text.chunk-size", "64 b"),
        ("file-index.range-bitmap.i64.chunk-size", "100 b"),
        ("file-index.range-bitmap.tags.chunk-size", "1 kb"),
        ("metadata.stats-mode", "none"),
        ("write-only", "true"),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .collect();
    for (letter, kind) in [('f', BLOOM_FILTER), ('b', BITMAP), ('s', BSI), ('r', RANGE_BITMAP)] {
        options.insert(format!("file-index.{kind}.columns"), names(letter));
    }
    for (name, _, _) in COLUMNS.iter().filter(|(name, _, of)| of.contains('f') && !name.contains('[')) {
        options.insert(format!("file-index.bloom-filter.{name}.items"), "2000".to_owned());
    }
    options.insert("file-index.bloom-filter.tags.items".to_owned(), "500".to_owned());
    options
}

fn schema(keys: &[&str], options: &BTreeMap<String, String>) -> Value {
    let mut fields = vec![json!({ "id": 0, "name": "id", "type": "INT NOT NULL" })];
    for (name, sql, _) in COLUMNS.iter().filter(|(name, _, _)| !name.contains('[')) {
        fields.push(json!({ "id": fields.len(), "name": name, "type": sql }));
    }
    let tags = json!({ "type": "MAP", "key": "STRING NOT NULL", "value": "INT" });
    fields.push(json!({ "id": fields.len(), "name": "tags", "type": tags }));
    json!({ "fields": fields, "partitionKeys": [], "primaryKeys": keys, "options": options })
}

/// Rows in which every column has values below and above zero, runs, and nulls.
fn row(id: i64) -> Value {
    let n = match id % 11 {
        0 => return empty(id),
        1..=4 => id / 240 - 3,
        5 => -(id * 7919 % 1999),
        _ => id * 104_729 % 1999,
    };
    let time = |digits: usize| {
        let (second, hour) = (n.rem_euclid(60), n.rem_euclid(24));
        let text = format!("{}-03-{:02}T{hour:02}:00:{second:02}", 1950 + n.rem_euclid(100), 1 + n.rem_euclid(28));
        let digits = format!("{:09}", n.rem_euclid(1000) * 1_000_003)[..digits].to_owned();
        if digits.is_empty() { text } else { format!("{text}.{digits}") }
    };
    json!({
        "id": id,
        "bool": n & 1 == 1,
        "i8": n as i8,
        "i16": n * 3,
        "i32": n * 1_000_001,
        "i64": n * 4_000_000_000_000_000,
        "f32": n as f64 / 4.0,
        "f64": n as f64 / -8.0,
        "d9": format!("{}{}.{:02}", if n < 0 { "-" } else { "" }, n.abs() * 1000, n.abs() % 100),
        "d18": (n * 400_000_000_000_003).to_string(),
        "d30": format!("{}{}.{:03}", if n < 0 { "-" } else { "" }, n.abs(), n.abs() % 1000),
        "date": format!("{}-{:02}-{:02}", 1965 + n.rem_euclid(30), 1 + n.rem_euclid(12), 1 + n.rem_euclid(28)),
        "time": format!("{:02}:{:02}:{:02}.{:03}", n.rem_euclid(24), n.rem_euclid(60), n.rem_euclid(60), n.rem_euclid(1000)),
        "t0": time(0),
        "t3": time(3),
        "t6": time(6),
        "t9": time(9),
        "l6": format!("{}Z", time(6)),
        "fixed": format!("{:04}", n.rem_euclid(10_000)),
        "text": format!("{}{}", if n % 2 == 0 { "é" } else { "a longer text " }, n),
        "bin": format!("{:08x}", n.rem_euclid(100_000)),
        "none": null,
        "tags": if id % 3 == 0 { json!([["a", n], ["x", 1]]) } else if id % 3 == 1 { json!([["b c", -n], ["a", null]]) } else { json!([]) },
    })
}

fn empty(id: i64) -> Value {
    let mut row: Map<String, Value> = COLUMNS
        .iter()
        .filter(|(name, _, _)| !name.contains('['))
        .map(|(name, _, _)| ((*name).to_owned(), Value::Null))
        .collect();
    row.insert("id".to_owned(), json!(id));
    row.insert("tags".to_owned(), Value::Null);
    Value::Object(row)
}

fn rows(count: i64) -> Vec<Value> {
    (0..count).map(row).collect()
}

/// The indexes beside the data files of a table, by column and type.
fn beside(place: &Place) -> BTreeMap<(String, String), Vec<u8>> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "index") {
                found.push(path);
            }
        }
    }
    let mut paths = Vec::new();
    walk(&Path::new(&place.warehouse).join("db.db").join(&place.table), &mut paths);
    let [path] = &paths[..] else { panic!("{paths:?}") };
    let file = IndexFile::parse(&std::fs::read(path).unwrap().into()).unwrap();
    file.parts.into_iter().map(|part| ((part.column, part.index_type), part.body.unwrap().to_vec())).collect()
}

#[test]
fn bodies_are_those_of_java_to_the_byte() {
    let schema = schema(&[], &options("1 b"));
    // Some rows, and enough for bitmaps that are no lists.
    for count in [7, 12_000] {
        let Some(mut ring) = Ring::new(&schema, []) else { return };
        let rows = rows(count);
        ring.write(&rows);
        let ours = beside(ring.place());
        ring.begin("by_java", &schema);
        ring.java_appends(&rows);
        let theirs = beside(ring.place());
        assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
        assert_eq!(ours.len(), COLUMNS.iter().map(|(_, _, of)| of.len()).sum::<usize>());
        for ((column, index_type), ours) in &ours {
            let theirs = &theirs[&(column.clone(), index_type.clone())];
            if index_type == BITMAP {
                // In the order of a hash table.
                assert_eq!(ours.len(), theirs.len(), "{index_type} of {column}, {count} rows");
            } else {
                assert!(
                    ours == theirs,
                    "{index_type} of {column}, {count} rows: {} and {} bytes",
                    ours.len(),
                    theirs.len()
                );
            }
        }
    }
}

/// A filter, and whether it holds of a row.
type Question = (Value, Box<dyn Fn(&Value) -> bool>);

fn ask(column: &str, is: &str, values: Value, holds: impl Fn(&Value) -> bool + 'static) -> Question {
    let name = column.to_owned();
    (json!({ "column": column, "is": is, "values": values }), Box::new(move |row| holds(&row[&name])))
}

/// Of whole numbers: nulls are none of them.
fn ask_int(column: &str, is: &str, values: Value, holds: impl Fn(i64) -> bool + 'static) -> Question {
    ask(column, is, values, move |value| value.as_i64().is_some_and(&holds))
}

fn questions() -> Vec<Question> {
    let mut all = vec![
        ask_int("i32", "less", json!([-1_000_000_000]), |n| n < -1_000_000_000),
        ask_int("i64", "atLeast", json!([0]), |n| n >= 0),
        ask_int("i16", "in", json!([0, 3, -9]), |n| [0, 3, -9].contains(&n)),
        ask_int("i16", "notIn", json!([0, 3, -9]), |n| ![0, 3, -9].contains(&n)),
        ask("i64", "null", json!([]), Value::is_null),
        ask("i64", "notNull", json!([]), |value| !value.is_null()),
        ask("text", "less", json!(["a longer text 13"]), |value| {
            value.as_str().is_some_and(|t| t < "a longer text 13")
        }),
    ];
    for (column, value) in [("d9", "-3000.03"), ("d18", "400000000000003"), ("d30", "1.001"), ("date", "1966-02-02")] {
        all.push(ask(column, "equal", json!([value]), move |found| found == value));
    }
    let sample = row(8);
    for column in ["t3", "t6", "time", "l6"] {
        let value = sample[column].as_str().unwrap().to_owned();
        let equal = value.clone();
        all.push(ask(column, "equal", json!([value]), move |found| *found == *equal));
        all.push(ask(column, "less", json!([value]), move |found| found.as_str().is_some_and(|t| t < &*value)));
    }
    all
}

/// Java finds what is asked for by these indexes alone; where `control` says so, it is seen not to find it without.
fn check_pruning(ring: &mut Ring, what: &str, rows: &[Value], control: bool) {
    for (filter, holds) in questions() {
        let expected: Vec<Value> = rows.iter().filter(|row| holds(row)).cloned().collect();
        assert!(!expected.is_empty() && expected.len() < rows.len(), "{filter} of {} rows", rows.len());
        let found = ring.java_reads_where(&[], &filter);
        ring.same(&format!("{what}: {filter}"), &expected, &found);
        let found = match control {
            true => ring.java_reads_where(&[("file-index.read.enabled", "false")], &filter),
            false => continue,
        };
        assert!(found.len() > expected.len(), "{what}: {filter} of {} rows needs no index", found.len());
    }
    let filter = json!({ "column": "i64", "is": "equal", "values": [4_000_000_000_000_001i64] });
    assert!(ring.java_reads_where(&[], &filter).is_empty(), "{what}");
    assert_eq!(ring.read().len(), rows.len());
}

/// A table whose columns have this index, and another where the type lacks it.
fn of_one(kind: &str, keys: &[&str], threshold: &str) -> Value {
    let mut options = options(threshold);
    options.retain(|key, _| !key.starts_with("file-index.") || key.starts_with(&format!("file-index.{kind}.")));
    options.insert("file-index.in-manifest-threshold".to_owned(), threshold.to_owned());
    let (other, column) = if kind == BSI { (RANGE_BITMAP, "text") } else { (BSI, "d30") };
    options.insert(format!("file-index.{other}.columns"), column.to_owned());
    options.insert("bucket".to_owned(), if keys.is_empty() { "-1" } else { "1" }.to_owned());
    schema(keys, &options)
}

#[test]
fn java_leaves_out_what_they_rule_out() {
    let Some(mut ring) = Ring::new(&schema(&[], &options("1 b")), []) else { return };
    let rows = rows(1000);
    for kind in [BSI, RANGE_BITMAP] {
        for threshold in ["1 b", "10 mb"] {
            ring.begin(&format!("append_{kind}_{}", threshold.len()), &of_one(kind, &[], threshold));
            ring.write(&rows);
            check_pruning(&mut ring, &format!("{kind}, {threshold}"), &rows, threshold == "1 b");
        }
        // Written twice and compacted by Linn: the indexes are those of the compaction.
        ring.begin(&format!("keyed_{kind}"), &of_one(kind, &["id"], "1 b"));
        ring.write(&rows);
        ring.write(&rows[200..700]);
        ring.compact(true);
        check_pruning(&mut ring, &format!("{kind}, compacted"), &rows, false);
    }
}

#[test]
fn java_goes_on_after_linn_and_linn_after_java() {
    let schema = schema(&["id"], &{
        let mut options = options("500 b");
        options.insert("bucket".to_owned(), "1".to_owned());
        options
    });
    let Some(mut ring) = Ring::new(&schema, []) else { return };
    let all = rows(400);
    ring.write(&all[..300]);
    ring.java_writes(&all[200..]);
    ring.check("after Java's compaction", &all);
    ring.write(&all[..100]);
    ring.compact(true);
    ring.check("after Linn's compaction", &all);
    ring.whole("indexed");
}
