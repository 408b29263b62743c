//! Following changes: Java and Linn are one consumer in turns, and their logs say the same.

use linn_core::system::Log;
use serde_json::{Value, json};

use crate::changelogs::schema;
use crate::linn::Ring;

fn row(kind: &str, k: i64, v: Option<&str>) -> Value {
    let time = format!("2024-02-29T12:00:00.{k:06}");
    json!({ "k": k, "v": v, "d": format!("{k}.50"), "t": time, "a": [k, null], "_kind": kind })
}

/// Three rounds of commits: inserts, updates and deletions.
fn round(number: usize) -> Vec<Value> {
    match number {
        0 => vec![row("+I", 1, Some("a")), row("+I", 2, None), row("+I", 3, Some("c"))],
        1 => vec![row("+I", 2, Some("b")), row("-D", 3, Some("c"))],
        _ => vec![row("+I", 3, Some("d")), row("-D", 1, Some("a")), row("+I", 4, None)],
    }
}

fn sorted(mut rows: Vec<Value>) -> Vec<String> {
    let mut lines: Vec<String> = rows.drain(..).map(|row| row.to_string()).collect();
    lines.sort();
    lines
}

/// What one has delivered, the other does not deliver again, and nothing is left out.
#[test]
fn as_one_consumer_in_turns() {
    for producer in ["none", "lookup", "input"] {
        let Some(mut ring) = Ring::new(&schema(&[("changelog-producer", producer)]), []) else { return };
        let (start, mut taken) = ([("scan.mode", "from-snapshot"), ("scan.snapshot-id", "1")], Vec::new());
        for number in 0..6 {
            ring.write(&round(number % 3));
            taken.extend(match number % 2 {
                0 => ring.follows("both", &start),
                _ => ring.java_follows("both", &start),
            });
            let alone = ring.java_system("consumers", &[]);
            let newest = ring.system("snapshots", &["snapshot_id"]).len() as i64;
            assert_eq!(alone, [json!({ "consumer_id": "both", "next_snapshot_id": newest + 1 })], "{producer}");
        }
        let all = ring.java.changelog(&ring.place().clone()).unwrap();
        assert_eq!(sorted(taken), sorted(all), "{producer}");
    }
}

#[test]
fn logs_are_those_of_java() {
    for (options, between) in [
        (&[][..], false),
        (&[("deletion-vectors.enabled", "true")], false),
        (&[("changelog-producer", "lookup")], true),
        (&[("changelog-producer", "input")], true),
    ] {
        let Some(mut ring) = Ring::new(&schema(options), []) else { return };
        for number in 0..4 {
            ring.write(&round(number % 3));
        }
        let newest = ring.system("snapshots", &["snapshot_id"]).len();
        let interval = format!("0,{newest}");
        let mut reads: Vec<Vec<(&str, &str)>> = vec![vec![]];
        if between {
            reads.push(vec![("incremental-between", &interval)]);
        }
        for read in reads {
            for (log, name) in [(Log::Audit, "audit_log"), (Log::Binary, "binlog")] {
                let (ours, theirs) = (ring.log(log, &read), ring.java_system(name, &read));
                assert_eq!(ours, theirs, "{name} of {options:?}, {read:?}");
                assert!(!ours.is_empty());
            }
        }
    }
}
