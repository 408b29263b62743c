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

/// Ten rounds in turns: the table and its whole changelog, after each.
fn followed(options: &[(&str, &str)], java_writes: fn(&mut Ring, &[Value], i64)) {
    let Some(mut ring) = Ring::new(&schema(options), []) else { return };
    let mut model = Model::default();
    for round in 0..20 {
        let from = (round * 37) % 100;
        let rows = model.round(from..from + 60, from + 70..from + 90, round);
        // Java goes on where Linn stopped, and the reverse.
        if round % 2 == 1 {
            java_writes(&mut ring, &rows, round);
        } else {
            ring.write(&rows);
        }
        ring.check(&format!("turn {round}"), &model.rows());
        ring.check_changes(&model.changes);
        if round % 6 == 2 {
            // All changes were told: a compaction has none.
            ring.compact(true);
            ring.check_changes(&model.changes);
        }
    }
}

/// Its writer looks up by itself; now and then it compacts completely too.
fn looks_up(ring: &mut Ring, rows: &[Value], round: i64) {
    match round % 4 {
        1 => ring.java_appends(rows),
        _ => ring.java_writes(rows),
    }
}

#[test]
fn of_lookups() {
    followed(&[("changelog-producer", "lookup")], looks_up);
}

/// Each asks the lookup files that the other has put beside the data.
#[test]
fn of_lookups_in_lookup_files_beside_the_data() {
    let remote = [("changelog-producer", "lookup"), ("lookup.remote-file.enabled", "true")];
    followed(&remote, looks_up);
    beside_the_data(&remote);
}

#[test]
fn of_lookups_in_lookup_files_of_every_compression() {
    for compression in ["none", "lz4", "lzo"] {
        beside_the_data(&[
            ("changelog-producer", "lookup"),
            ("lookup.remote-file.enabled", "true"),
            ("lookup.cache-spill-compression", compression),
        ]);
    }
}

fn beside_the_data(remote: &[(&str, &str)]) {
    let Some(mut ring) = Ring::new(&schema(remote), []) else { return };
    let mut model = Model::default();
    ring.write(&model.round(0..50, 0..0, 0));
    ring.compact(true);
    let of_linn = ring.files_named(".lookup");
    assert!(!of_linn.is_empty(), "Linn puts lookup files beside its files");
    ring.java_writes(&model.round(20..70, 0..5, 1));
    assert!(ring.files_named(".lookup").iter().any(|file| !of_linn.contains(file)), "Java does too");
    ring.write(&model.round(40..90, 10..15, 2));
    ring.check("all three", &model.rows());
    ring.check_changes(&model.changes);
}

#[test]
fn of_lookups_with_deletion_vectors() {
    followed(&[("changelog-producer", "lookup"), ("deletion-vectors.enabled", "true")], looks_up);
}

/// Java's writer compacts completely only when it is told to.
#[test]
fn of_full_compactions() {
    followed(&[("changelog-producer", "full-compaction")], |ring, rows, _| ring.java_writes(rows));
}

/// What is written is the changelog, whoever writes it.
#[test]
fn of_input() {
    let Some(mut ring) = Ring::new(&schema(&[("changelog-producer", "input")]), []) else { return };
    let (mut model, mut all) = (Model::default(), Vec::new());
    for round in 0..20 {
        let from = (round * 37) % 100;
        let rows = model.round(from..from + 40, from + 50..from + 60, round);
        match round % 4 {
            1 => ring.java_writes(&rows),
            3 => ring.java_appends(&rows),
            _ => ring.write(&rows),
        }
        for mut row in rows {
            row.as_object_mut().unwrap().entry("_kind").or_insert_with(|| json!("+I"));
            all.push(row);
        }
        ring.check(&format!("turn {round}"), &model.rows());
        ring.check_changes(&all);
    }
    ring.compact(true);
    ring.check_changes(&all);
}
