//! Partitions by name: those that share a folder, values with commas and blanks, dates as dates.

use crate::run::Place;

fn column(out: &str) -> Vec<String> {
    out.lines().skip(1).map(|line| line.to_owned()).collect()
}

/// The column `partition` of what a command prints.
fn partitions(place: &Place, args: &[&str]) -> Vec<String> {
    let out = place.ok(&[&["-o", "ndjson"], args].concat());
    let name =
        |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["partition"].as_str().unwrap().to_owned();
    out.lines().map(name).collect()
}

/// A table whose partitions are null, empty, blank, the default name, and texts with commas and blanks.
fn odd() -> Place {
    let place = Place::new();
    place.ok(&["sql", "-c", "CREATE TABLE o (k INT, dt STRING) PARTITIONED BY (dt)"]);
    place.ok(&[
        "sql",
        "-c",
        "INSERT INTO o VALUES (1, NULL), (2, ''), (3, '  '), (4, '__DEFAULT_PARTITION__'), (5, 'a,b'), (6, 'a;b'), (7, ' a'), (8, 'a')",
    ]);
    place
}

fn keys(place: &Place) -> String {
    column(&place.ok(&["-o", "csv", "sql", "-c", "SELECT k FROM o ORDER BY k"])).join(" ")
}

const NAMES: [&str; 8] = [
    "dt=__DEFAULT_PARTITION__",
    "dt=''",
    "dt='  '",
    "dt='__DEFAULT_PARTITION__'",
    "dt='a,b'",
    "dt='a;b'",
    "dt=' a'",
    "dt=a",
];

#[test]
fn each_is_read_listed_and_dropped_by_itself() {
    let place = odd();
    let mut names = partitions(&place, &["sql", "-c", "SHOW PARTITIONS o"]);
    names.sort();
    let mut expected = NAMES.to_vec();
    expected.sort_unstable();
    assert_eq!(names, expected);
    let mut listed = partitions(&place, &["partition", "list", "default.o"]);
    listed.sort();
    assert_eq!(listed, expected);
    for (condition, key) in
        [("dt IS NULL", "1"), ("dt = ''", "2"), ("dt = '  '", "3"), ("dt = '__DEFAULT_PARTITION__'", "4")]
    {
        let query = format!("SELECT k FROM o WHERE {condition}");
        assert_eq!(column(&place.ok(&["-o", "csv", "sql", "-c", &query])), [key], "{condition}");
    }
    let mut left: Vec<String> = (1..=8).map(|k| k.to_string()).collect();
    for (at, name) in NAMES.iter().enumerate() {
        place.ok(&["partition", "drop", "default.o", name, "--yes"]);
        left.retain(|key| *key != (at + 1).to_string());
        assert_eq!(keys(&place), left.join(" "), "{name}");
    }
}

#[test]
fn procedures_take_the_same_names() {
    for (at, name) in NAMES.iter().enumerate() {
        let place = odd();
        let call = |procedure: &str| {
            let name = name.replace('\'', "''");
            place.ok(&["sql", "-c", &format!("CALL sys.{procedure}('default.o', '{name}')")])
        };
        call("compact");
        call("drop_partition");
        let left: Vec<String> = (1..=8).filter(|k| *k != at + 1).map(|k| k.to_string()).collect();
        assert_eq!(keys(&place), left.join(" "), "{name}");
    }
}

#[test]
fn a_refusal_says_how_a_partition_is_named() {
    let place = odd();
    for spec in ["dt=a,b", "dt= a", "dt=", "dt"] {
        let error = place.fails(&["partition", "drop", "default.o", spec, "--yes"], 2);
        assert!(error.contains("dt='"), "{spec}: {error}");
    }
    assert_eq!(keys(&place), "1 2 3 4 5 6 7 8");
}

#[test]
fn dates_are_shown_as_dates_and_expire_by_their_value() {
    for legacy in ["true", "false"] {
        let place = Place::new();
        place.ok(&[
            "sql",
            "-c",
            &format!(
                "CREATE TABLE d (id INT, day DATE) PARTITIONED BY (day) WITH ('partition.legacy-name' = '{legacy}'); \
                 INSERT INTO d VALUES (1, DATE '2020-01-01'), (2, DATE '2999-01-01'), (3, NULL)"
            ),
        ]);
        let names = column(&place.ok(&["-o", "csv", "sql", "-c", "SHOW PARTITIONS d"]));
        assert_eq!(names, ["day=__DEFAULT_PARTITION__", "day=2020-01-01", "day=2999-01-01"]);
        assert!(place.ok(&["files", "tree", "default.d"]).contains("day=2020-01-01"));
        place.ok(&["partition", "expire", "default.d", "--expiration-time", "1 d", "--yes"]);
        let left = column(&place.ok(&["-o", "csv", "sql", "-c", "SELECT id FROM d ORDER BY id"]));
        assert_eq!(left, ["2", "3"], "legacy {legacy}");
        place.ok(&[
            "sql",
            "-c",
            &format!(
                "CREATE TABLE e (id INT, region STRING, at TIMESTAMP(3)) PARTITIONED BY (region, at) \
                 WITH ('partition.legacy-name' = '{legacy}'); \
                 INSERT INTO e VALUES (1, 'eu', TIMESTAMP '2020-01-01 12:00:00'), (2, 'eu', TIMESTAMP '2999-01-01 00:00:00')"
            ),
        ]);
        place.ok(&["partition", "expire", "default.e", "--expiration-time", "1 d", "--yes"]);
        assert_eq!(column(&place.ok(&["-o", "csv", "sql", "-c", "SELECT id FROM e"])), ["2"], "legacy {legacy}");
    }
}
