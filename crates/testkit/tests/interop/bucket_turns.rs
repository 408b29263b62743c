//! Tables whose keys remember their bucket, or wait for one: Linn and Java write in turns, Java and Python read.

use std::collections::BTreeMap;

use linn_core::{Commit, CommitOutcome};
use linn_testkit::parse;
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
    for round in 0..10 {
        let start = round * 20;
        ring.write(&model.upsert(start..start + 70, |k| k % 2, &format!("linn {round}")));
        ring.check_turn(&format!("round {round}: Linn's turn"), &model.rows());
        ring.java_compacts_too(
            &model.upsert(start + 50..start + 100, |k| k % 2, &format!("java {round}")),
            round % 2 == 0,
        );
        ring.check_turn(&format!("round {round}: Java's turn"), &model.rows());
        if round % 3 == 1 {
            ring.compact(round % 2 == 0);
            ring.check_turn(&format!("round {round}: compacted"), &model.rows());
        }
    }
    ring.check("all rounds", &model.rows());
}

/// What Linn gave buckets beside Java is refused: both may have given a key one.
#[test]
fn a_writer_beside_java_is_refused() {
    for key in [&["p", "k"][..], &["k"]] {
        let Some(mut ring) = Ring::new(&schema(key, &json!({ "bucket": "-1" })), []) else { return };
        let mut model = Model::default();
        ring.write(&model.upsert(0..20, |k| k % 2, "linn"));
        let rows = Model::default().upsert(10..40, |k| k % 2, "beside");
        let mut writer = ring.on(async |table| {
            let mut writer = table.writer("beside").unwrap();
            let (batch, kinds) = parse::rows(&rows, &table.schema().fields);
            writer.write(&batch, Some(&kinds)).await.unwrap();
            writer
        });
        ring.java_appends(&model.upsert(30..50, |k| k % 2, "java"));
        let outcome = ring.on(async |table| {
            let messages = writer.prepare_commit(true).await.unwrap();
            writer.close().await.unwrap();
            table.committer("beside").commit(Commit::streaming(1, messages)).await.unwrap()
        });
        assert!(matches!(outcome, CommitOutcome::Conflict(_)), "{outcome:?}");
        ring.check("Java's rows stand", &model.rows());
        ring.write(&model.upsert(10..40, |k| k % 2, "linn again"));
        ring.check("Linn goes on", &model.rows());
    }
}

/// The row of a key whose old row is known.
type Take = fn(Value, Value) -> Value;

/// Both find keys where the other has put them; what then stands depends on the merge engine.
fn keys_across_partitions(more: &Value, take: Take) {
    let mut options = json!({ "bucket": "-1", "dynamic-bucket.target-row-num": "20" });
    options.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let Some(mut ring) = Ring::new(&schema(&["k"], &options), [Peer::python()]) else { return };
    let mut model = Model::default();
    let mut fold = |keys: std::ops::Range<i64>, partition: &dyn Fn(i64) -> i64, text: &str| {
        let before = model.0.clone();
        let rows = model.upsert(keys, partition, text);
        for (key, old) in before {
            if let Some(row) = model.0.get_mut(&key).filter(|row| **row != old) {
                *row = take(old, row.take());
            }
        }
        (rows, model.rows())
    };
    for round in 0..10 {
        let start = (round * 20) % 90;
        let (rows, all) = fold(start..start + 50, &|k| (k + round) % 3, &format!("linn {round}"));
        ring.write(&rows);
        ring.check_turn(&format!("round {round}: Linn's turn"), &all);
        let (rows, all) = fold(start + 30..start + 80, &|k| (k + 2 * round + 1) % 4, &format!("java {round}"));
        match round % 2 {
            0 => ring.java_appends(&rows),
            _ => ring.java_writes(&rows),
        }
        ring.check_turn(&format!("round {round}: Java's turn"), &all);
        if round == 5 {
            ring.compact(false);
        }
    }
    ring.compact(true);
    ring.check("compacted", &fold(0..0, &|k| k, "").1);
}

#[test]
fn keys_move_across_partitions() {
    keys_across_partitions(&json!({}), |_, new| new);
}

#[test]
fn rows_of_parts_stay_in_their_partition() {
    keys_across_partitions(&json!({ "merge-engine": "partial-update" }), |old, mut new| {
        new["p"] = old["p"].clone();
        new
    });
}

#[test]
fn aggregates_stay_in_their_partition() {
    let options = json!({ "merge-engine": "aggregation", "fields.v.aggregate-function": "listagg" });
    keys_across_partitions(&options, |old, new| {
        let all = format!("{},{}", old["v"].as_str().unwrap(), new["v"].as_str().unwrap());
        json!({ "p": old["p"], "k": old["k"], "v": all })
    });
}

#[test]
fn first_rows_stay_in_their_partition() {
    keys_across_partitions(&json!({ "merge-engine": "first-row" }), |old, _| old);
}

#[test]
fn postponed_rows_of_both_are_placed() {
    let options = json!({ "bucket": "-2", "postpone.default-bucket-num": "3" });
    let Some(mut ring) = Ring::new(&schema(&["p", "k"], &options), [Peer::python()]) else { return };
    let mut model = Model::default();
    let mut placed = Vec::new();
    for round in 0..10 {
        let start = round * 15;
        ring.write(&model.upsert(start..start + 50, |k| k % 2, &format!("linn {round}")));
        ring.check_turn(&format!("round {round}: what waits is not shown"), &placed);
        ring.java_appends(&model.upsert(start + 30..start + 80, |k| k % 2, &format!("java {round}")));
        ring.check_turn(&format!("round {round}: Java's rows wait too"), &placed);
        ring.compact(round % 3 == 0);
        placed = model.rows();
        ring.check_turn(&format!("round {round}: placed"), &placed);
    }
    ring.check("all rounds", &placed);
}
