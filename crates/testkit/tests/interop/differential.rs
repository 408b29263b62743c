//! Random rows in every merge engine: whatever files lie above each other, and whoever wrote and compacted them, Java and
//! Linn make the same rows of them.
//!
//! `LINN_DIFFERENTIAL_TABLES` says how many tables of each kind are tried, `LINN_DIFFERENTIAL_SEED` with which random numbers
//! the first one is made.

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};

use crate::linn::Ring;

const STEPS: usize = 9;
const KEYS: usize = 6;
pub(crate) const INSERTS: &[&str] = &["+I", "+I", "+U"];
const ALL: &[&str] = &["+I", "+I", "+U", "-U", "-D"];

/// A column, its options below `fields.<name>.`, and the values it takes beside null.
pub(crate) struct Column(
    pub(crate) &'static str,
    pub(crate) &'static str,
    pub(crate) &'static [(&'static str, &'static str)],
    pub(crate) Value,
);

/// A kind of table.
pub(crate) struct Kind<'a> {
    pub(crate) options: &'a [(&'static str, &'static str)],
    pub(crate) columns: Vec<Column>,
    pub(crate) kinds: &'static [&'static str],
    /// Only what is there is taken back, of a key there is one record a commit, and what was removed comes back after a
    /// compaction only: elsewhere the reference's answer depends on what was compacted (book: merge engines).
    pub(crate) careful: bool,
    pub(crate) key: Key,
}

/// Type and values of the key.
pub(crate) struct Key(pub(crate) &'static str, pub(crate) &'static str);

impl Key {
    pub(crate) const INT: Self = Self("INT NOT NULL", "[0, 1, 2, 3, 4, 5]");

    fn value(&self, key: usize) -> Value {
        let values: Value = serde_json::from_str(self.1).unwrap();
        values[key].clone()
    }
}

impl Kind<'_> {
    fn schema(&self) -> Value {
        let mut options = Map::new();
        // Java's compactions keep no deletes that order what comes late.
        let usual = [("bucket", "1"), ("write-only", "true"), ("linn.delete.retention-time", "0 s")];
        for (key, value) in usual.iter().chain(self.options) {
            options.insert((*key).to_owned(), json!(value));
        }
        let mut fields = vec![json!({ "id": 0, "name": "k", "type": self.key.0 })];
        for (id, Column(name, sql, own, _)) in (1..).zip(&self.columns) {
            let data_type: Value = serde_json::from_str(sql).unwrap_or_else(|_| json!(sql));
            fields.push(json!({ "id": id, "name": name, "type": data_type }));
            options.extend(own.iter().map(|(key, value)| (format!("fields.{name}.{key}"), json!(value))));
        }
        json!({ "fields": fields, "partitionKeys": [], "primaryKeys": ["k"], "options": options })
    }

    fn row(&self, key: usize, rng: &mut ChaCha8Rng) -> Value {
        let mut row = Map::new();
        row.insert("k".to_owned(), self.key.value(key));
        for Column(name, sql, _, values) in &self.columns {
            let values = values.as_array().unwrap();
            let nullable = !sql.ends_with("NOT NULL");
            let value =
                if nullable && rng.random_bool(0.2) { Value::Null } else { values.choose(rng).unwrap().clone() };
            row.insert((*name).to_owned(), value);
        }
        Value::Object(row)
    }

    fn rows(&self, rng: &mut ChaCha8Rng, there: &[Value], gone: &mut Vec<Value>) -> Vec<Value> {
        let mut rows: Vec<Value> = Vec::new();
        for _ in 0..rng.random_range(1..8) {
            let mut row = self.row(rng.random_range(0..KEYS), rng);
            if self.careful && (rows.iter().any(|r| r["k"] == row["k"]) || gone.contains(&row["k"])) {
                continue;
            }
            let mut kind = *self.kinds.choose(rng).unwrap();
            if self.careful && !there.iter().any(|r| r["k"] == row["k"]) {
                kind = "+I";
            }
            if kind == "-D" {
                gone.push(row["k"].clone());
            }
            row["_kind"] = json!(kind);
            rows.push(row);
        }
        rows
    }

    pub(crate) fn differ(&self) {
        let Some(mut ring) = Ring::new(&self.schema(), []) else { return };
        for seed in seeds() {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            if seed > seeds().start {
                ring.begin(&format!("t{seed}"), &self.schema());
            }
            let (mut done, mut there, mut gone) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..STEPS {
                let java = rng.random_bool(0.5);
                let who = if java { "Java" } else { "Linn" };
                if rng.random_bool(0.2) {
                    done.push(format!("{who} compacts"));
                    gone.clear();
                    if java { ring.java_compacts(true) } else { ring.compact(true) }
                } else {
                    let rows = self.rows(&mut rng, &there, &mut gone);
                    done.push(format!("{who} writes {}", json!(rows)));
                    if java { ring.java_appends(&rows) } else { ring.write(&rows) }
                }
                there = ring.java_reads();
                ring.check(&format!("table {seed}:\n{}", done.join("\n")), &there);
            }
        }
    }
}

/// The seeds of the tables of a kind.
fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let first = number("LINN_DIFFERENTIAL_SEED").unwrap_or(0);
    first..first + number("LINN_DIFFERENTIAL_TABLES").unwrap_or(1)
}

impl Kind<'_> {
    /// Java leaves it to its engines when full compactions come.
    fn java_appends(&self, ring: &mut Ring, rows: &[Value]) {
        ring.java_appends(rows);
        if self.options.contains(&("changelog-producer", "full-compaction")) {
            ring.java_compacts(true);
        }
    }

    /// Tables that get the same rows, one from Java, one from Linn and one from both, tell the same changes.
    fn tell_the_same(&self) {
        let Some(mut ring) = Ring::new(&self.schema(), []) else { return };
        for seed in seeds() {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            ring.begin(&format!("linn{seed}"), &self.schema());
            let (mut commits, mut gone) = (Vec::new(), Vec::new());
            for _ in 0..STEPS {
                let there = ring.read();
                let rows = self.rows(&mut rng, &there, &mut gone);
                // Nothing that was removed is left above what the compaction of the commit made.
                gone.clear();
                ring.write(&rows);
                commits.push(rows);
            }
            let by_linn = changes(&mut ring);
            ring.begin(&format!("both{seed}"), &self.schema());
            for rows in &commits {
                if rng.random_bool(0.5) { self.java_appends(&mut ring, rows) } else { ring.write(rows) }
            }
            let by_both = changes(&mut ring);
            ring.begin(&format!("java{seed}"), &self.schema());
            commits.iter().for_each(|rows| self.java_appends(&mut ring, rows));
            let by_java = changes(&mut ring);
            for (who, found) in [("Linn", by_linn), ("both", by_both)] {
                let what = format!("table {seed}, written by {who}:\n{}", json!(commits));
                ring.same(&what, &by_java, &found);
            }
        }
    }
}

/// All changes of a table, each with its place among those of its key.
fn changes(ring: &mut Ring) -> Vec<Value> {
    let place = ring.place().clone();
    let mut all = ring.java.changelog(&place).unwrap();
    let mut count = std::collections::BTreeMap::new();
    for change in &mut all {
        let of_key = count.entry(change["k"].to_string()).or_insert(0);
        *of_key += 1;
        change["_place"] = json!(*of_key);
    }
    all
}

pub(crate) const NESTED: &str = r#"{ "type": "ARRAY", "element": { "type": "ROW", "fields": [
    { "id": 101, "name": "id", "type": "INT" }, { "id": 102, "name": "n", "type": "INT" }, { "id": 103, "name": "t", "type": "STRING" } ] } }"#;
const LISTS: &str = r#"{ "type": "ARRAY", "element": "INT" }"#;
pub(crate) const MAPS: &str = r#"{ "type": "MAP", "key": "STRING NOT NULL", "value": "INT" }"#;

pub(crate) fn ints() -> Value {
    json!([-3, -2, -1, 0, 1, 2, 5])
}

pub(crate) fn texts() -> Value {
    json!(["a", "aa", "b", "b,a", "", "é", "a;b"])
}

/// Texts without blank ones, which Java 1 joins and Java 2 leaves out.
fn tokens() -> Value {
    json!(["a", "aa", "b", "b,a", "é", "a;b"])
}

fn lists() -> Value {
    json!([[1], [1, 2], [2, 2], [], [null, 1]])
}

pub(crate) fn maps() -> Value {
    json!([[["a", 1]], [["b", 2], ["a", null]], [], [["c", 3]]])
}

pub(crate) fn nested() -> Value {
    let row = |id: Value, n: Value, t: &str| json!({ "id": id, "n": n, "t": t });
    json!([
        [row(json!(1), json!(1), "x")],
        [row(json!(1), json!(2), "y"), row(json!(2), json!(null), "z")],
        [row(json!(3), json!(0), "w")],
        [],
        [row(json!(2), json!(3), "q"), row(json!(1), json!(0), "p")],
    ])
}

fn bytes() -> Value {
    json!(["00ff", "00", "", "80", "7f01"])
}

#[test]
fn the_last_row_stays() {
    let columns = || vec![Column("v", "INT", &[], ints()), Column("t", "STRING", &[], texts())];
    Kind { options: &[], columns: columns(), kinds: ALL, careful: false, key: Key::INT }.differ();
    let options = &[("ignore-delete", "true")];
    Kind { options, columns: columns(), kinds: ALL, careful: false, key: Key::INT }.differ();
}

#[test]
fn the_last_row_by_a_sequence_stays() {
    let columns = || vec![Column("v", "INT", &[], ints()), Column("t", "STRING", &[], texts())];
    Kind { options: &[("sequence.field", "v")], columns: columns(), kinds: INSERTS, careful: false, key: Key::INT }
        .differ();
    let options = &[("sequence.field", "t,v"), ("sequence.field.sort-order", "descending")];
    Kind { options, columns: columns(), kinds: INSERTS, careful: false, key: Key::INT }.differ();
}

#[test]
fn the_first_row_stays() {
    let columns = vec![Column("v", "INT", &[], ints())];
    Kind { options: &[("merge-engine", "first-row")], columns, kinds: &["+I"], careful: false, key: Key::INT }.differ();
}

#[test]
fn rows_fill_up() {
    let columns = || {
        vec![
            Column("a", "INT", &[], ints()),
            Column("b", "STRING", &[], texts()),
            Column("c", LISTS, &[], lists()),
            Column("e", "DOUBLE", &[], json!([0.5, -0.0, 2.0])),
        ]
    };
    let options = &[("merge-engine", "partial-update")];
    Kind { options, columns: columns(), kinds: INSERTS, careful: false, key: Key::INT }.differ();
    let options = &[("merge-engine", "partial-update"), ("ignore-delete", "true")];
    Kind { options, columns: columns(), kinds: ALL, careful: false, key: Key::INT }.differ();
    let options = &[("merge-engine", "partial-update"), ("partial-update.remove-record-on-delete", "true")];
    Kind { options, columns: columns(), kinds: &["+I", "+U", "-D"], careful: true, key: Key::INT }.differ();
}

#[test]
fn rows_fill_up_by_groups() {
    let columns = || {
        vec![
            Column("g", "INT", &[("sequence-group", "a,b,x")], ints()),
            Column("a", "INT", &[("aggregate-function", "sum")], ints()),
            Column("b", "STRING", &[], texts()),
            Column("x", "STRING", &[("aggregate-function", "last_value")], texts()),
            Column("h", "BIGINT", &[], ints()),
            Column("i", "INT", &[], ints()),
            Column("c", "BIGINT", &[("aggregate-function", "first_value")], ints()),
            Column("e", "INT", &[("aggregate-function", "max")], ints()),
            Column("f", "STRING", &[], texts()),
            Column("z", "STRING", &[], texts()),
        ]
    };
    let options = &[("merge-engine", "partial-update"), ("fields.h,i.sequence-group", "c,e,f")];
    Kind { options, columns: columns(), kinds: INSERTS, careful: false, key: Key::INT }.differ();
}

#[test]
fn deletes_of_groups() {
    let columns = || {
        vec![
            Column("g", "INT", &[("sequence-group", "a,b")], ints()),
            Column("a", "INT", &[("aggregate-function", "sum")], ints()),
            Column("b", "STRING", &[], texts()),
            Column("h", "BIGINT", &[], ints()),
            Column("i", "INT", &[], ints()),
            Column("c", "BIGINT", &[("aggregate-function", "sum")], ints()),
            Column("f", "STRING", &[], texts()),
            Column("z", "STRING", &[], texts()),
        ]
    };
    let options = &[("merge-engine", "partial-update"), ("fields.h,i.sequence-group", "c,f")];
    Kind { options, columns: columns(), kinds: ALL, careful: true, key: Key::INT }.differ();
    let options = &[
        ("merge-engine", "partial-update"),
        ("fields.h,i.sequence-group", "c,f"),
        ("partial-update.remove-record-on-sequence-group", "g"),
    ];
    Kind { options, columns: columns(), kinds: ALL, careful: true, key: Key::INT }.differ();
}

/// Columns for the functions, with what each may take.
pub(crate) fn aggregated() -> Vec<Column> {
    vec![
        Column("sum_int", "INT", &[("aggregate-function", "sum")], ints()),
        Column("sum_short", "SMALLINT", &[("aggregate-function", "sum")], ints()),
        Column("sum_double", "DOUBLE", &[("aggregate-function", "sum")], json!([0.5, -2.5])),
        Column("sum_decimal", "DECIMAL(20, 2)", &[("aggregate-function", "sum")], json!(["1.05", "-0.50", "12.00"])),
        Column("product_long", "BIGINT", &[("aggregate-function", "product")], json!([1, -1, 2])),
        Column(
            "product_decimal",
            "DECIMAL(38, 10)",
            &[("aggregate-function", "product")],
            json!(["1.0000000000", "-1.0000000000", "2.0000000000"]),
        ),
        Column("max_int", "INT", &[("aggregate-function", "max")], ints()),
        Column("max_text", "STRING", &[("aggregate-function", "max")], texts()),
        Column("max_float", "FLOAT", &[("aggregate-function", "max")], json!([0.5, -0.0, 0.0, -2.5])),
        Column("min_bytes", "BYTES", &[("aggregate-function", "min")], bytes()),
        Column(
            "min_time",
            "TIMESTAMP(6)",
            &[("aggregate-function", "min")],
            json!(["2024-02-29T12:00:00.000001", "1969-12-31T23:59:59.999999"]),
        ),
        Column("min_decimal", "DECIMAL(5, 2)", &[("aggregate-function", "min")], json!(["10.00", "9.50", "-1.00"])),
        Column("last_value", "STRING", &[("aggregate-function", "last_value")], texts()),
        Column("last_non_null", "STRING", &[("aggregate-function", "last_non_null_value")], texts()),
        Column("first_value", "STRING", &[("aggregate-function", "first_value")], texts()),
        Column("first_non_null", "STRING", &[("aggregate-function", "first_non_null_value")], texts()),
        Column("listagg", "STRING", &[("aggregate-function", "listagg"), ("list-agg-delimiter", ";")], tokens()),
        Column("listagg_distinct", "STRING", &[("aggregate-function", "listagg"), ("distinct", "true")], tokens()),
        Column("bool_and", "BOOLEAN", &[("aggregate-function", "bool_and")], json!([true, true, false])),
        Column("bool_or", "BOOLEAN", &[("aggregate-function", "bool_or")], json!([true, false, false])),
        Column("collect", LISTS, &[("aggregate-function", "collect")], lists()),
        Column("collect_distinct", LISTS, &[("aggregate-function", "collect"), ("distinct", "true")], lists()),
        Column("merge_map", MAPS, &[("aggregate-function", "merge_map")], maps()),
        Column("nested", NESTED, &[("aggregate-function", "nested_update")], nested()),
        Column("nested_keyed", NESTED, &[("aggregate-function", "nested_update"), ("nested-key", "id")], nested()),
        Column("other", "INT", &[], ints()),
    ]
}

#[test]
fn columns_are_aggregated() {
    let options = &[("merge-engine", "aggregation")];
    Kind { options, columns: aggregated(), kinds: INSERTS, careful: false, key: Key::INT }.differ();
    let options = &[
        ("merge-engine", "aggregation"),
        ("ignore-delete", "true"),
        ("fields.default-aggregate-function", "last_value"),
    ];
    Kind { options, columns: aggregated(), kinds: ALL, careful: false, key: Key::INT }.differ();
    let options = &[("merge-engine", "aggregation"), ("sequence.field", "other")];
    Kind { options, columns: aggregated(), kinds: INSERTS, careful: false, key: Key::INT }.differ();
}

#[test]
fn values_are_taken_back() {
    let takes = ["sum", "product", "last_value", "last_non_null_value", "collect", "merge_map", "nested_update"];
    let takes_back = |c: &Column| c.2.iter().all(|(key, value)| *key != "aggregate-function" || takes.contains(value));
    let columns = aggregated().into_iter().filter(takes_back).collect();
    let options = &[("merge-engine", "aggregation")];
    Kind { options, columns, kinds: &["+I", "+U", "-U", "-D"], careful: true, key: Key::INT }.differ();
}

const LOOKUP: [(&str, &str); 2] = [("write-only", "false"), ("changelog-producer", "lookup")];
const VECTORS: [(&str, &str); 3] =
    [("write-only", "false"), ("changelog-producer", "lookup"), ("deletion-vectors.enabled", "true")];
const FULL: [(&str, &str); 3] =
    [("write-only", "false"), ("changelog-producer", "full-compaction"), ("full-compaction.delta-commits", "1")];

#[test]
fn changes_of_the_last_row() {
    let columns = || vec![Column("v", "INT", &[], json!([1, 2])), Column("t", "STRING", &[], json!(["a", "b"]))];
    let more: [(&str, &str); 2] =
        [("changelog-producer.row-deduplicate", "true"), ("deletion-vectors.enabled", "true")];
    Kind { options: &LOOKUP, columns: columns(), kinds: ALL, careful: false, key: Key::INT }.tell_the_same();
    Kind { options: &FULL, columns: columns(), kinds: ALL, careful: false, key: Key::INT }.tell_the_same();
    let both = [LOOKUP[0], LOOKUP[1], more[0]];
    Kind { options: &both, columns: columns(), kinds: ALL, careful: false, key: Key::INT }.tell_the_same();
    let both = [LOOKUP[0], LOOKUP[1], more[1]];
    Kind { options: &both, columns: columns(), kinds: ALL, careful: false, key: Key::INT }.tell_the_same();
    let both = [FULL[0], FULL[1], FULL[2], more[0]];
    Kind { options: &both, columns: columns(), kinds: ALL, careful: false, key: Key::INT }.tell_the_same();
}

#[test]
fn changes_by_a_sequence() {
    let columns = || vec![Column("v", "INT", &[], ints()), Column("t", "STRING", &[], json!(["a", "b"]))];
    let options = [LOOKUP[0], LOOKUP[1], ("sequence.field", "v")];
    Kind { options: &options, columns: columns(), kinds: INSERTS, careful: false, key: Key::INT }.tell_the_same();
}

#[test]
fn changes_of_first_rows() {
    let columns = || vec![Column("v", "INT", &[], ints())];
    let options = [LOOKUP[0], LOOKUP[1], ("merge-engine", "first-row")];
    Kind { options: &options, columns: columns(), kinds: &["+I"], careful: false, key: Key::INT }.tell_the_same();
}

#[test]
fn changes_of_rows_that_fill_up() {
    let columns = || {
        vec![
            // Alone, Java's changelog has no values of a group without a sequence; Java's reads have.
            Column("g", "INT NOT NULL", &[("sequence-group", "a,b")], ints()),
            Column("a", "INT", &[("aggregate-function", "sum")], ints()),
            Column("b", "STRING", &[], texts()),
            Column("z", "STRING", &[], texts()),
        ]
    };
    for producer in [&LOOKUP[..], &FULL[..], &VECTORS[..]] {
        let options = [producer, &[("merge-engine", "partial-update")]].concat();
        Kind { options: &options, columns: columns(), kinds: INSERTS, careful: false, key: Key::INT }.tell_the_same();
        Kind { options: &options, columns: columns(), kinds: ALL, careful: true, key: Key::INT }.tell_the_same();
    }
}

#[test]
fn changes_of_aggregates() {
    // Alone, Java's changelog has lists without their duplicates; Java's reads have them.
    let columns = || aggregated().into_iter().filter(|c| c.0 != "collect_distinct").collect();
    for producer in [&LOOKUP[..], &FULL[..], &VECTORS[..]] {
        let options = [producer, &[("merge-engine", "aggregation")]].concat();
        Kind { options: &options, columns: columns(), kinds: INSERTS, careful: false, key: Key::INT }.tell_the_same();
    }
}
