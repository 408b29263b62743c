//! Tables whose keys remember their bucket, or wait for one: Linn and Java write in turns, Java and Python read.

use std::collections::BTreeMap;

use linn_testkit::peer::Peer;
use serde_json::{Value, json};

use crate::linn::Ring;

fn schema(primary_key: &[&str], options: &Value) -> Value {
    json!({
        "fields": [
            { "id": 0, "name": "p", "type": "STRING NOT NULL" },
            { "id": 1, "name": "k", "type": "INT NOT NULL" },
            { "id": 2, "name": "v", "type": "STRING" },
        ],
        "partitionKeys": ["p"],
        "primaryKeys": primary_key,
        "options": options,
    })
}

/// Rows by key; the key says the partition, unless the round does.
#[derive(Default)]
struct Model(BTreeMap<i64, Value>);

impl Model {
    fn upsert(&mut self, keys: std::ops::Range<i64>, partition: impl Fn(i64) -> i64, text: &str) -> Vec<Value> {
        let row = |k: i64| json!({ "p": format!("p{}", partition(k)), "k": k, "v": format!("{text} {k}") });
        let rows: Vec<Value> = keys.map(row).collect();
        self.0.extend(rows.iter().map(|row| (row["k"].as_i64().unwrap(), row.clone())));
        rows
    }

    fn rows(&self) -> Vec<Value> {
        self.0.values().cloned().collect()
    }
}

#[test]
fn dynamic_buckets_in_turns() {
    let options = json!({ "bucket": "-1", "dynamic-bucket.target-row-num": "20" });
    let Some(mut ring) = Ring::new(&schema(&["p", "k"], &options), [Peer::python()]) else { return };
    let mut model = Model::default();
    for round in 0..4 {
        let start = round * 30;
        ring.write(&model.upsert(start..start + 90, |k| k % 2, &format!("linn {round}")));
        ring.check(&format!("round {round}: Linn's turn"), &model.rows());
        ring.java_writes(&model.upsert(start + 60..start + 130, |k| k % 2, &format!("java {round}")));
        ring.check(&format!("round {round}: Java's turn"), &model.rows());
        ring.compact(round % 2 == 0);
        ring.check(&format!("round {round}: compacted"), &model.rows());
    }
}

#[test]
fn keys_across_partitions_are_read() {
    let options = json!({ "bucket": "-1", "dynamic-bucket.target-row-num": "20" });
    let Some(mut ring) = Ring::new(&schema(&["k"], &options), [Peer::python()]) else { return };
    let mut model = Model::default();
    for round in 0..3 {
        ring.write(&model.upsert(round * 20..round * 20 + 70, |k| (k + round) % 3, &format!("linn {round}")));
        ring.check(&format!("round {round}"), &model.rows());
    }
    ring.compact(true);
    ring.check("compacted", &model.rows());
}

#[test]
fn postponed_rows_of_both_are_placed() {
    let options = json!({ "bucket": "-2", "postpone.default-bucket-num": "3" });
    let Some(mut ring) = Ring::new(&schema(&["p", "k"], &options), [Peer::python()]) else { return };
    let mut model = Model::default();
    ring.write(&model.upsert(0..50, |k| k % 2, "linn"));
    ring.check("what waits is not shown", &[]);
    ring.java_writes(&model.upsert(30..80, |k| k % 2, "java"));
    ring.check("Java's rows wait too", &[]);
    ring.compact(true);
    ring.check("placed", &model.rows());
    ring.write(&model.upsert(60..100, |k| k % 2, "linn again"));
    ring.compact(false);
    ring.check("placed again", &model.rows());
}
