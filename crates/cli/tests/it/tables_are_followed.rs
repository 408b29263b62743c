//! `linn table tail` and `linn consumer`: changes as people and programs want them, and progress that survives.

use serde_json::Value;

use crate::run::Place;

/// A table with a changelog: two rows, one of which is changed and then deleted.
fn place() -> Place {
    let place = Place::new();
    place.ok(&[
        "table",
        "create",
        "default.t",
        "-C",
        "k INT NOT NULL",
        "-C",
        "v STRING",
        "--primary-key",
        "k",
        "-O",
        "bucket=1",
        "-O",
        "changelog-producer=lookup",
    ]);
    for statement in
        ["INSERT INTO t VALUES (1, 'a'), (2, 'b')", "INSERT INTO t VALUES (1, 'c')", "DELETE FROM t WHERE k = 1"]
    {
        place.ok(&["sql", "-c", statement]);
    }
    place
}

fn tail(place: &Place, args: &[&str]) -> String {
    place.ok(&[&["table", "tail", "default.t", "--no-follow"], args].concat())
}

#[test]
fn changes_are_lines_json_and_events() {
    let place = place();
    let lines = ["    k  v", "+I  1  a", "+I  2  b", "-U  1  a", "+U  1  c", "-D  1  c"];
    assert_eq!(tail(&place, &[]).lines().collect::<Vec<_>>(), lines);
    let first = tail(&place, &["-o", "ndjson", "--limit", "1", "--select", "v"]);
    assert_eq!(first, "{\"rowkind\":\"+I\",\"v\":\"a\"}\n");
    let events = tail(&place, &["-o", "debezium"]);
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ops: Vec<&str> = events.iter().map(|event| event["op"].as_str().unwrap()).collect();
    assert_eq!(ops, ["c", "c", "u", "d"]);
    assert_eq!((&events[2]["before"]["v"], &events[2]["after"]["v"]), (&"a".into(), &"c".into()));
    assert_eq!(events[3]["source"]["table"], "t");
    let committed =
        place.ok(&["sql", "-o", "csv", "-c", "SELECT to_char(max(commit_time), '%s%3f') AS t FROM t$snapshots"]);
    let last = events[3]["ts_ms"].as_i64().unwrap();
    assert_eq!((events[3]["source"]["ts_ms"].as_i64(), committed), (Some(last), format!("t\n{last}\n")));
    let stamped = tail(&place, &["-o", "csv", "--with", "snapshot,commit-time", "--select", "k"]);
    let rows: Vec<Vec<&str>> = stamped.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["rowkind", "_SNAPSHOT_ID", "_COMMIT_TIME", "k"]);
    assert_eq!(rows[1..].iter().map(|row| row[1]).collect::<Vec<_>>().windows(2).filter(|w| w[0] > w[1]).count(), 0);
    assert!(rows[1..].iter().all(|row| row[2].starts_with("20")), "{stamped}");
    assert_eq!(tail(&place, &["--where", "k = 2"]).lines().count(), 2);
    assert_eq!(tail(&place, &["-o", "csv", "--where", "v = 'c'"]), "rowkind,k,v\n+U,1,c\n-D,1,c\n");
    let refused = place.fails(&["table", "read", "default.t", "-o", "debezium"], 2);
    assert!(refused.contains("tail"), "{refused}");
}

#[test]
fn every_start_is_a_start() {
    let place = place();
    let kinds = |from: &str| {
        let csv = tail(&place, &["-o", "csv", "--select", "k", "--from", from]);
        csv.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(kinds("earliest"), "+I +I -U +U -D");
    assert_eq!(kinds("latest"), "");
    assert_eq!(kinds("full"), "+I");
    assert_eq!(kinds("4"), "-U +U -D");
    assert_eq!(kinds("snapshot:5"), "-D");
    assert_eq!(kinds("time:0"), "+I +I -U +U -D");
    assert_eq!(kinds("2000-01-01 00:00:00"), "+I +I -U +U -D");
    assert_eq!(kinds("2999-01-01"), "");
    for (from, code) in [("yesterday", 2), ("tag:none", 3), ("99", 2)] {
        let error = place.fails(&["table", "tail", "default.t", "--no-follow", "--from", from], code);
        assert!(error.contains("hint"), "{from}: {error}");
    }
    place.fails(&["table", "tail", "default.t", "--no-follow", "--select", "x"], 3);
    place.fails(&["table", "tail", "default.t", "--no-follow", "--where", "k > random()"], 5);
    let rows = |filter: &str| {
        let csv = tail(&place, &["-o", "csv", "--from", "full", "--where", filter]);
        csv.lines().skip(1).map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(rows("v LIKE 'b%' AND k IN (1, 2, 9)"), "+I,2,b");
    assert_eq!(rows("NOT (k BETWEEN 3 AND 9) AND v IS NOT NULL"), "+I,2,b");
    assert_eq!(rows("v NOT LIKE 'b%' OR v IS NULL"), "");
    assert_eq!(rows("upper(v) = 'B' AND k + 1 = 3"), "+I,2,b");
}

#[test]
fn a_consumer_goes_on_where_it_was() {
    let place = place();
    let next = |args: &[&str]| {
        let csv = tail(&place, &[&["-o", "csv", "--consumer", "c", "--from", "earliest"], args].concat());
        csv.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    // What a limit cuts off is not recorded as read.
    assert_eq!(next(&["--limit", "3"]), ["+I,1,a", "+I,2,b", "-U,1,a"]);
    let listed = place.ok(&["consumer", "list", "default.t", "-o", "csv"]);
    assert_eq!(listed.lines().nth(1), Some("c,3,4"), "{listed}");
    assert_eq!(next(&[]), ["-U,1,a", "+U,1,c", "-D,1,c"]);
    assert_eq!(next(&[]), Vec::<String>::new());
    place.ok(&["sql", "-c", "INSERT INTO t VALUES (9, 'z')"]);
    assert_eq!(next(&[]), ["+I,9,z"]);
    let reset = ["consumer", "reset", "default.t", "c", "--next-snapshot", "6"];
    assert!(place.fails(&reset, 2).contains("confirmation needed to reset consumer c"));
    assert!(
        place
            .run(&[&reset[..], &["--dry-run"]].concat())
            .err
            .contains("Would reset consumer c of default.t from snapshot")
    );
    place.ok(&[&reset[..], &["--yes"]].concat());
    assert_eq!(next(&[]), ["-D,1,c", "+I,9,z"]);
    place.fails(&["consumer", "reset", "default.t", "c", "--next-snapshot", "99"], 2);
    // A new one takes nothing from anybody.
    place.ok(&["consumer", "reset", "default.t", "d", "--next-snapshot", "1"]);
    let idle = place.run(&["consumer", "expire", "default.t", "--idle", "1 d", "--dry-run"]);
    assert!(idle.code == 0 && idle.err.contains("No consumer"), "{}", idle.err);
    place.fails(&["consumer", "expire", "default.t"], 2);
    let some = ["consumer", "delete", "default.t", "c", "d"];
    place.fails(&some, 2);
    assert!(place.run(&[&some[..], &["--dry-run"]].concat()).err.contains("Would delete consumers c, d of default.t."));
    place.fails(&["consumer", "delete", "default.t", "c", "nobody", "--yes"], 3);
    assert_eq!(place.ok(&["consumer", "list", "default.t", "-o", "ndjson"]).lines().count(), 2);
    place.ok(&[&some[..], &["--yes"]].concat());
    assert_eq!(place.ok(&["consumer", "list", "default.t", "-o", "ndjson"]), "");
    let gone = place.fails(&["consumer", "delete", "default.t", "c", "--yes"], 3);
    assert!(gone.contains("no consumers"), "{gone}");
    assert_eq!(next(&[]).len(), 6);
}
