//! `linn compact run` over databases and patterns, once and until it is interrupted.

use std::process::{Child, Command, Stdio};

use crate::run::Place;

/// Two tables of `default` and one of `logs`, with two files of level 0 each.
fn tables() -> Place {
    let place = Place::new();
    place.write("a.csv", "id,v\n1,10\n2,20\n");
    place.write("b.csv", "id,v\n2,21\n3,30\n");
    place.ok(&["db", "create", "logs"]);
    for table in ["default.a", "default.b_raw", "logs.c_raw"] {
        let create = ["table", "import", table, "a.csv", "--create", "--primary-key", "id", "-O", "bucket=1"];
        place.ok(&[&create[..], &["-O", "write-only=true"]].concat());
        place.ok(&["table", "upsert", table, "b.csv"]);
    }
    place
}

fn levels(place: &Place, table: &str) -> Vec<String> {
    let (database, name) = table.split_once('.').unwrap();
    let query = format!("SELECT level FROM {database}.{name}$files");
    place.ok(&["-o", "csv", "sql", "-c", &query]).lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn databases_and_patterns_name_tables() {
    let place = tables();
    place.fails(&["compact", "run", "default.nothing*"], 3);
    place.fails(&["compact", "run", "default.a", "--full", "--minor"], 2);
    place.ok(&["compact", "run", "*.*_raw", "--full", "--parallelism", "1"]);
    assert_eq!(levels(&place, "default.a"), ["0", "0"]);
    assert_eq!(levels(&place, "default.b_raw"), ["5"]);
    assert_eq!(levels(&place, "logs.c_raw"), ["5"]);
    place.ok(&["compact", "run", "default", "--full"]);
    assert_eq!(levels(&place, "default.a"), ["5"]);
    let ended = place.run(&["compact", "run", "default.a", "--full"]);
    assert!(ended.err.contains("Nothing in default.a is due for compaction."), "{}", ended.err);
}

fn interrupt(job: &Child) {
    let sent = Command::new("kill").args(["-INT", &job.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn a_watching_job_takes_up_what_comes_and_ends_when_interrupted() {
    let place = tables();
    let mut job = Command::new(env!("CARGO_BIN_EXE_linn"))
        .args(["compact", "run", "default", "--full", "--watch", "--interval", "1"])
        .current_dir(place.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while levels(&place, "default.a") != ["5"] {
        assert!(job.try_wait().unwrap().is_none(), "the job ended");
    }
    place.write("c.csv", "id,v\n4,40\n");
    place.ok(&["table", "upsert", "default.a", "c.csv"]);
    while levels(&place, "default.a") != ["5"] {
        assert!(job.try_wait().unwrap().is_none(), "the job ended");
    }
    interrupt(&job);
    assert_eq!(job.wait().unwrap().code(), Some(0));
    let read = ["-o", "csv", "table", "read", "default.a", "-s", "id,v"];
    let mut rows: Vec<String> = place.ok(&read).lines().skip(1).map(str::to_owned).collect();
    rows.sort();
    assert_eq!(rows, ["1,10", "2,21", "3,30", "4,40"]);
}
