//! Deletion vectors that Linn writes, Java and Python apply; and Linn goes on where Java stopped.

use std::collections::BTreeMap;

use linn_testkit::fixture::{Fixtures, Writer};
use linn_testkit::peer::Peer;
use serde_json::{Value, json};

use crate::linn::Ring;

fn schema(keyed: bool, options: Value) -> Value {
    let mut all = json!({ "deletion-vectors.enabled": "true" });
    for (key, value) in options.as_object().unwrap() {
        all[key] = value.clone();
    }
    json!({
        "fields": [
            { "id": 0, "name": "k", "type": "INT NOT NULL" },
            { "id": 1, "name": "n", "type": "BIGINT" },
            { "id": 2, "name": "s", "type": "STRING" },
        ],
        "partitionKeys": [],
        "primaryKeys": if keyed { vec!["k"] } else { Vec::new() },
        "options": all,
    })
}

fn row(k: i64, round: i64) -> Value {
    json!({ "k": k, "n": round, "s": (k % 3 != 0).then(|| format!("row {k} of round {round}")) })
}

/// What the rows of a key become.
type Apply = fn(Option<&Value>, &Value) -> Value;

fn last(_: Option<&Value>, new: &Value) -> Value {
    new.clone()
}

/// Sum of `n`, last `s` that is not null.
fn sum(old: Option<&Value>, new: &Value) -> Value {
    let Some(old) = old else { return new.clone() };
    let text = if new["s"].is_null() { old["s"].clone() } else { new["s"].clone() };
    json!({ "k": new["k"], "n": old["n"].as_i64().unwrap() + new["n"].as_i64().unwrap(), "s": text })
}

struct Model {
    apply: Apply,
    rows: BTreeMap<i64, Value>,
}

impl Model {
    fn upsert(&mut self, keys: impl Iterator<Item = i64>, round: i64) -> Vec<Value> {
        let new: Vec<Value> = keys.map(|k| row(k, round)).collect();
        for row in &new {
            let key = row["k"].as_i64().unwrap();
            let made = (self.apply)(self.rows.get(&key), row);
            self.rows.insert(key, made);
        }
        new
    }

    fn delete(&mut self, keys: std::ops::Range<i64>) -> Vec<Value> {
        let gone = |k: i64| {
            self.rows.remove(&k);
            let mut gone = row(k, 0);
            gone["_kind"] = json!("-D");
            gone
        };
        keys.map(gone).collect()
    }

    fn rows(&self) -> Vec<Value> {
        self.rows.values().cloned().collect()
    }
}

/// Linn marks rows, Java goes on, Linn goes on; everyone reads the same after each.
fn keyed(options: Value, apply: Apply, deletes: bool, others: [Option<Peer>; 2]) {
    let Some(mut ring) = Ring::new(&schema(true, options), others) else { return };
    let mut model = Model { apply, rows: BTreeMap::new() };
    ring.write(&model.upsert(0..2000, 1));
    ring.write(&model.upsert((0..300).step_by(7), 2));
    assert!(ring.deleted() > 0, "rows were marked");
    ring.check("updates", &model.rows());
    if deletes {
        ring.write(&model.delete(1000..1010));
        ring.check("deletes", &model.rows());
    }
    for round in 3..13 {
        let rows = model.upsert((round..2000).step_by(97), round);
        match round % 4 {
            2 => ring.java_compacts_too(&rows, round % 8 == 2),
            _ => ring.java_appends(&rows),
        }
        ring.check_turn(&format!("round {round}: Java's turn"), &model.rows());
        ring.write(&model.upsert((5..1500).step_by(83), round + 20));
        ring.check_turn(&format!("round {round}: Linn's turn"), &model.rows());
    }
    ring.compact(true);
    assert_eq!(ring.deleted(), 0, "a complete compaction leaves no vectors");
    ring.check("a complete compaction", &model.rows());
    ring.java_writes(&model.upsert(0..20, 7));
    ring.check("Java's complete compaction", &model.rows());
}

#[test]
fn primary_key_tables_in_turns() {
    keyed(json!({ "bucket": "1" }), last, true, [Peer::python(), Peer::java_old()]);
}

#[test]
fn sixty_four_bits() {
    keyed(json!({ "bucket": "1", "deletion-vectors.bitmap64": "true" }), last, true, [None, None]);
}

#[test]
fn aggregates_with_vectors() {
    let options = json!({ "bucket": "1", "merge-engine": "aggregation", "fields.n.aggregate-function": "sum",
        "fields.s.aggregate-function": "last_non_null_value" });
    keyed(options, sum, false, [None, Peer::java_old()]);
}

fn append(options: Value, others: [Option<Peer>; 2]) {
    let Some(mut ring) = Ring::new(&schema(false, options), others) else { return };
    let mut all: Vec<Value> = Vec::new();
    for round in 0..4 {
        let rows: Vec<Value> = (0..60).map(|k| row(k, round)).collect();
        ring.write(&rows);
        all.extend(rows);
    }
    for round in 0..10 {
        let gone = |row: &Value| row["k"].as_i64().unwrap() % 11 == round && row["n"] != 2;
        ring.delete(gone);
        all.retain(|row| !gone(row));
        assert!(ring.deleted() > 0);
        ring.check_turn(&format!("round {round}: deleted rows"), &all);
        let rows: Vec<Value> = (0..22).map(|k| row(k, 10 + round)).collect();
        ring.java_appends(&rows);
        all.extend(rows);
        if round % 4 == 3 {
            ring.compact(round == 7);
        }
        ring.check_turn(&format!("round {round}: Java's turn"), &all);
    }
    ring.compact(true);
    assert_eq!(ring.deleted(), 0, "a complete compaction leaves no vectors");
    ring.check("a complete compaction", &all);
}

#[test]
fn append_tables_without_buckets() {
    append(json!({ "bucket": "-1" }), [Peer::python(), Peer::java_old()]);
}

#[test]
fn append_tables_with_buckets() {
    append(json!({ "bucket": "2", "bucket-key": "k" }), [Peer::python(), None]);
}

#[test]
fn linn_goes_on_with_tables_of_java() {
    let fixtures = Fixtures::open(Writer::Java21);
    for table in ["dv_pk_parquet", "dv_pk_avro", "dv_pk_orc", "x21_dv64_pk", "dv_append"] {
        let Some(mut ring) = Ring::over(&fixtures, table) else { return };
        let mut rows = ring.read();
        assert!(ring.deleted() > 0 && rows.len() > 3, "{table} has vectors and rows");
        let gone: Vec<Value> = rows.iter().step_by(3).cloned().collect();
        rows.retain(|row| !gone.contains(row));
        if table == "dv_append" {
            ring.delete(|row| {
                let same = |g: &Value| g.as_object().unwrap().iter().all(|(name, value)| row[name] == *value);
                gone.iter().any(same)
            });
        } else {
            let retract = |row: &Value| {
                let mut row = row.clone();
                row["_kind"] = json!("-D");
                row
            };
            ring.write(&gone.iter().map(retract).collect::<Vec<_>>());
        }
        ring.check(&format!("{table}: deleted rows"), &rows);
        ring.write(&gone[..1]);
        rows.push(gone[0].clone());
        ring.check(&format!("{table}: a row comes back"), &rows);
        ring.compact(true);
        ring.check(&format!("{table}: a complete compaction"), &rows);
        assert_eq!(ring.deleted(), 0, "{table}: a complete compaction leaves no vectors");
        ring.java_appends(&gone[1..2]);
        rows.push(gone[1].clone());
        ring.check(&format!("{table}: Java's turn"), &rows);
    }
}
