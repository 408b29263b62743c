//! Two processes each increase a number twenty times, on every kind of table: all increments are there.

use std::process::{Child, Command, Stdio};

use crate::run::Place;

/// Increments of each process.
const TIMES: usize = 20;

fn start(place: &Place, sql: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_linn"))
        .args(["sql", "-c", sql])
        .current_dir(place.path())
        .env_remove("LINN_CONFIG")
        .env("HOME", place.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn check(rest: &str) {
    let place = Place::new();
    let retries = "'commit.max-retries' = '200'";
    place.ok(&["sql", "-c", &format!("CREATE TABLE t (id INT NOT NULL, v INT{rest}, {retries})")]);
    place.ok(&["sql", "-c", "INSERT INTO t VALUES (1, 0), (2, 0)"]);
    let update = "UPDATE t SET v = v + 1 WHERE id = 1;".repeat(TIMES);
    let children = [start(&place, &update), start(&place, &update)];
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{rest}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let read = place.ok(&["-o", "csv", "table", "read", "default.t", "-s", "id,v"]);
    let mut rows: Vec<&str> = read.lines().skip(1).collect();
    rows.sort_unstable();
    assert_eq!(rows, ["1,40", "2,0"], "{rest}");
}

#[test]
fn of_a_primary_key_table() {
    check(", PRIMARY KEY (id)) WITH ('bucket' = '1'");
}

#[test]
fn of_a_table_with_deletion_vectors() {
    check(", PRIMARY KEY (id)) WITH ('bucket' = '1', 'deletion-vectors.enabled' = 'true'");
}

#[test]
fn of_an_append_table() {
    check(") WITH ('bucket' = '-1'");
}
