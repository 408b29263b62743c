//! `linn` is killed at every stage of inserts and compactions on local disk: what it had said is done is there, once, and
//! nothing else is (spec: reliability.md F6).

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::run::Place;

/// Inserts into each table; each is killed after another number of files.
const INSERTS: usize = 18;
/// Compactions that are killed.
const COMPACTIONS: usize = 6;

fn start(place: &Place, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_linn"))
        .args(args)
        .current_dir(place.path())
        .env_remove("LINN_CONFIG")
        .env("HOME", place.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Files below a folder.
fn files(dir: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
    entries.flatten().map(|entry| if entry.path().is_dir() { files(&entry.path()) } else { 1 }).sum()
}

/// Lets a program go on until so many files have come to a table, then kills it; whether it had ended well before.
fn kill_after(place: &Place, table: &str, more: usize, args: &[&str]) -> bool {
    let folder = place.path().join("warehouse/default.db").join(table);
    let before = files(&folder);
    let mut child = start(place, args);
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.success();
        }
        if files(&folder) >= before.saturating_add(more) {
            child.kill().unwrap();
            return child.wait().unwrap().success();
        }
        std::thread::yield_now();
    }
}

/// How often each id is in a table.
fn ids(place: &Place, table: &str) -> BTreeMap<usize, usize> {
    let mut ids = BTreeMap::new();
    for line in place.ok(&["-o", "csv", "table", "read", &format!("default.{table}"), "-s", "id"]).lines().skip(1) {
        *ids.entry(line.parse().unwrap()).or_default() += 1;
    }
    ids
}

fn check(options: &[&str]) {
    let place = Place::new();
    let create = ["table", "create", "default.t", "-C", "id INT", "-C", "v STRING"];
    place.ok(&[&create[..], options].concat());
    let mut acknowledged = Vec::new();
    for id in 0..INSERTS {
        let insert = format!("INSERT INTO t VALUES ({id}, 'v{id}')");
        // The last ones are not killed, so that something is acknowledged on the slowest machine.
        let more = if id < INSERTS - 4 { id % 9 + 1 } else { usize::MAX };
        if kill_after(&place, "t", more, &["sql", "-c", &insert]) {
            acknowledged.push(id);
        }
    }
    assert!(acknowledged.len() >= 4);
    for more in 1..=COMPACTIONS {
        let before = ids(&place, "t");
        kill_after(&place, "t", more, &["compact", "run", "default.t", "--full"]);
        assert_eq!(ids(&place, "t"), before, "a compaction that was killed after {more} files changed the rows");
    }
    place.ok(&["compact", "run", "default.t", "--full"]);
    let there = ids(&place, "t");
    assert!(there.iter().all(|(id, times)| *id < INSERTS && *times == 1), "{there:?}");
    for id in acknowledged {
        assert!(there.contains_key(&id), "{id} was acknowledged: {there:?}");
    }
}

#[test]
fn in_an_append_table() {
    check(&[]);
}

#[test]
fn in_a_table_with_a_key_and_a_changelog() {
    check(&["--primary-key", "id", "-O", "bucket=1", "-O", "changelog-producer=lookup"]);
}
