//! Changelogs that compactions make: Java follows what Linn wrote, and both take turns on one table.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::linn::Ring;

/// A table with a key and one column of each troublesome type.
pub(crate) fn schema(options: &[(&str, &str)]) -> Value {
    let mut schema = json!({
        "fields": [
            { "id": 0, "name": "k", "type": "INT NOT NULL" },
            { "id": 1, "name": "v", "type": "STRING" },
            { "id": 2, "name": "d", "type": "DECIMAL(10, 2)" },
            { "id": 3, "name": "t", "type": "TIMESTAMP(6)" },
            { "id": 4, "name": "a", "type": "ARRAY<INT>" },
        ],
        "partitionKeys": [],
        "primaryKeys": ["k"],
        "options": { "bucket": "1" },
    });
    for (key, value) in options {
        schema["options"][*key] = json!(value);
    }
    schema
}

fn row(k: i64, round: i64) -> Value {
    let text = (k % 3 != 0).then(|| format!("row {k} of round {round}"));
    let time = format!("2024-02-29T12:00:00.{k:06}");
    json!({ "k": k, "v": text, "d": format!("{round}.{:02}", k % 100), "t": time, "a": [round, null, k] })
}

/// The table, and what its changelog must be.
#[derive(Default)]
struct Model {
    rows: BTreeMap<i64, Value>,
    changes: Vec<Value>,
}

impl Model {
    /// Upserts a range and deletes another; the rows of both, to be written.
    fn round(&mut self, upserts: std::ops::Range<i64>, deletes: std::ops::Range<i64>, round: i64) -> Vec<Value> {
        let mut written = Vec::new();
        for k in upserts {
            let new = row(k, round);
            match self.rows.insert(k, new.clone()) {
                None => self.change(&new, "+I"),
                Some(old) => {
                    self.change(&old, "-U");
                    self.change(&new, "+U");
                }
            }
            written.push(new);
        }
        for k in deletes {
            if let Some(old) = self.rows.remove(&k) {
                self.change(&old, "-D");
            }
            let mut gone = row(k, round);
            gone["_kind"] = json!("-D");
            written.push(gone);
        }
        written
    }

    fn change(&mut self, row: &Value, kind: &str) {
        let mut row = row.clone();
        row["_kind"] = json!(kind);
        self.changes.push(row);
    }

    fn rows(&self) -> Vec<Value> {
        self.rows.values().cloned().collect()
    }
}

fn followed(options: &[(&str, &str)]) {
    let Some(mut ring) = Ring::new(&schema(options), []) else { return };
    let mut model = Model::default();
    for round in 0..6 {
        let from = (round * 37) % 100;
        let rows = model.round(from..from + 60, from + 70..from + 90, round);
        // Java goes on where Linn stopped, and the reverse.
        if round % 3 == 2 {
            ring.java_commits(&rows);
        } else {
            ring.write(&rows);
        }
        ring.check(&format!("round {round}"), &model.rows());
        ring.check_changes(&model.changes);
    }
}

#[test]
fn of_lookups() {
    followed(&[("changelog-producer", "lookup")]);
}

#[test]
fn of_lookups_in_lookup_files_beside_the_data() {
    followed(&[("changelog-producer", "lookup"), ("lookup.remote-file.enabled", "true")]);
}

#[test]
fn of_lookups_with_deletion_vectors() {
    followed(&[("changelog-producer", "lookup"), ("deletion-vectors.enabled", "true")]);
}

/// Java's writer compacts completely only when it is told to, so Linn writes alone.
#[test]
fn of_full_compactions() {
    let Some(mut ring) = Ring::new(&schema(&[("changelog-producer", "full-compaction")]), []) else { return };
    let mut model = Model::default();
    for round in 0..4 {
        let from = (round * 37) % 100;
        ring.write(&model.round(from..from + 60, from + 70..from + 90, round));
        ring.check(&format!("round {round}"), &model.rows());
        ring.check_changes(&model.changes);
    }
}
