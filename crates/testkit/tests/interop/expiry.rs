//! Java and Linn write one table in turn, and with every commit each lets snapshots of both expire: nobody loses a row, and
//! nothing is left that orphan cleaning would have to take.

use std::collections::BTreeMap;

use linn_testkit::peer::Peer;
use serde_json::{Value, json};

use crate::linn::Ring;

fn schema(keyed: bool, options: &[(&str, &str)]) -> Value {
    let always = [("snapshot.num-retained.min", "1"), ("snapshot.num-retained.max", "2")];
    let options: BTreeMap<&str, &str> = always.into_iter().chain(options.iter().copied()).collect();
    json!({
        "fields": [
            { "id": 0, "name": "p", "type": "INT NOT NULL" },
            { "id": 1, "name": "k", "type": "INT NOT NULL" },
            { "id": 2, "name": "v", "type": "STRING" },
        ],
        "partitionKeys": ["p"],
        "primaryKeys": if keyed { vec!["p", "k"] } else { vec![] },
        "options": options,
    })
}

fn row(k: i64, text: &str) -> Value {
    json!({ "p": k % 2, "k": k, "v": format!("{text} {k}") })
}

#[test]
fn java_and_linn_expire_one_table_in_turn() {
    let Some(mut ring) = Ring::new(&schema(true, &[("bucket", "1")]), [Peer::python()]) else { return };
    for (i, options) in [
        &[("bucket", "2")][..],
        &[("bucket", "2"), ("changelog-producer", "input")],
        &[("bucket", "2"), ("changelog-producer", "lookup")],
        &[("bucket", "2"), ("deletion-vectors.enabled", "true")],
        &[("bucket", "2"), ("changelog-producer", "input"), ("changelog.num-retained.max", "4")],
        &[("bucket", "2"), ("changelog.num-retained.max", "4")],
        &[("bucket", "-1")],
    ]
    .into_iter()
    .enumerate()
    {
        ring.begin(&format!("t{i}"), &schema(true, options));
        let mut model = BTreeMap::new();
        for round in 0..6_i64 {
            let mut rows = |who: &str, start: i64| {
                let rows: Vec<Value> = (start..start + 20).map(|k| row(k, &format!("{who} {round}"))).collect();
                model.extend(rows.iter().map(|row| (row["k"].as_i64().unwrap(), row.clone())));
                rows
            };
            // Of a table with dynamic buckets each takes its turn as the only writer.
            let (java, linn) = (rows("java", round * 5), rows("linn", round * 7));
            ring.java_writes(&java);
            ring.whole(&format!("{options:?}, round {round}: Java's turn"));
            ring.write(&linn);
            ring.compact(round % 3 == 2);
            ring.whole(&format!("{options:?}, round {round}: Linn's turn"));
        }
        let rows: Vec<Value> = model.into_values().collect();
        ring.check(&format!("{options:?}"), &rows);
        assert_eq!(ring.orphans(), Vec::<String>::new(), "{options:?}");
        assert!(ring.snapshots() <= 4, "{options:?}: {}", ring.snapshots());
    }
}

#[test]
fn append_tables_expire_in_turn() {
    let Some(mut ring) = Ring::new(&schema(false, &[("bucket", "-1")]), [Peer::python()]) else { return };
    let mut all = Vec::new();
    for round in 0..6_i64 {
        for who in ["java", "linn"] {
            let rows: Vec<Value> = (0..5).map(|k| row(k + round * 5, who)).collect();
            all.extend(rows.iter().cloned());
            if who == "java" {
                ring.java_appends(&rows)
            } else {
                ring.write(&rows)
            }
            ring.whole(&format!("round {round}: {who}"));
        }
        ring.compact(true);
        ring.check(&format!("round {round}"), &all);
    }
    assert_eq!(ring.orphans(), Vec::<String>::new());
    assert!(ring.snapshots() <= 4);
}
