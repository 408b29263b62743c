//! The digits of numbers, the forms of JSON, what `--create` and `--commit-rows` promise.

use crate::run::Place;

fn all(place: &Place, table: &str) -> String {
    place.ok(&["-o", "ndjson", "sql", "-c", &format!("SELECT * FROM {table} ORDER BY 1")])
}

#[test]
fn no_two_ids_become_one() {
    let place = Place::new();
    place.write(
        "ids.ndjson",
        "{\"id\":12345678901234567890,\"n\":{\"x\":[9223372036854775808]}}\n{\"id\":12345678901234567891}\n",
    );
    place.ok(&["table", "import", "default.j", "ids.ndjson", "--create", "--primary-key", "id", "-O", "bucket=1"]);
    let expected =
        "{\"id\":12345678901234567890,\"n\":{\"x\":[9223372036854775808]}}\n{\"id\":12345678901234567891,\"n\":null}\n";
    assert_eq!(all(&place, "j"), expected);
    place.write("ids.csv", "id,d\n9007199254740992,0.12345678901234567891\n9007199254740993,1.5\n");
    place.ok(&["table", "import", "default.c", "ids.csv", "--create", "--primary-key", "id", "-O", "bucket=1"]);
    let expected = "{\"id\":9007199254740992,\"d\":0.12345678901234567891}\n{\"id\":9007199254740993,\"d\":1.50000000000000000000}\n";
    assert_eq!(all(&place, "c"), expected);
    for (column, values) in [
        ("DOUBLE", &["9007199254740993"][..]),
        ("FLOAT", &["16777217", "1e39"]),
        ("BIGINT", &["9223372036854775808", "1.5"]),
        ("DECIMAL(4, 2)", &["1.005", "100"]),
        ("DATE", &["\"2020-01-01 00:00:00.0001\""]),
    ] {
        place.ok(&["sql", "-c", "DROP TABLE IF EXISTS k"]);
        place.ok(&["sql", "-c", &format!("CREATE TABLE k (v {column}, l ARRAY<{column}>)")]);
        for value in values {
            for row in [format!("{{\"v\":{value}}}\n"), format!("{{\"l\":[null,{value}]}}\n")] {
                place.write("k.ndjson", &row);
                place.fails(&["table", "import", "default.k", "k.ndjson"], 2);
            }
        }
    }
}

/// From text and from columns of another unit, whoever reads the file.
#[test]
fn digits_of_seconds_are_cut() {
    let place = Place::new();
    place.ok(&["sql", "-c", "CREATE TABLE t (k INT, v TIMESTAMP(3), z TIMESTAMP_LTZ(0), l ARRAY<TIMESTAMP(3)>)"]);
    let (late, early) = ("2026-01-01 10:00:00.123999999999", "1969-12-31 23:59:59.999999");
    let row = |k: u8, time: &str| format!("{{\"k\":{k},\"v\":\"{time}\",\"z\":\"{time}\",\"l\":[\"{time}\"]}}\n");
    place.write("t.ndjson", &format!("{}{}", row(1, late), row(2, early)));
    let query = format!("SELECT 3 AS k, v, v AS z, [v] AS l FROM (SELECT TIMESTAMP '{early}' AS v)");
    place.ok(&["sql", "-c", &format!("COPY ({query}) TO '{}'", place.path().join("t.parquet").display())]);
    place.write("t.csv", &format!("k,v,z\n4,{late},{early}\n"));
    for name in ["t.ndjson", "t.parquet", "t.csv"] {
        place.ok(&["table", "import", "default.t", name]);
    }
    place.ok(&["sql", "-c", &format!("COPY t FROM '{}'", place.path().join("t.csv").display())]);
    let (late, early) = ("2026-01-01T10:00:00.123", "1969-12-31T23:59:59.999");
    let line = |k: u8, v: &str, z: &str, l: &str| format!("{{\"k\":{k},\"v\":\"{v}\",\"z\":\"{z}\",\"l\":{l}}}\n");
    let (late_second, early_second) = ("2026-01-01T10:00:00Z", "1969-12-31T23:59:59Z");
    let listed = |time: &str| format!("[\"{time}\"]");
    let expected = [
        line(1, late, late_second, &listed(late)),
        line(2, early, early_second, &listed(early)),
        line(3, early, early_second, &listed(early)),
        line(4, late, early_second, "null"),
        line(4, late, early_second, "null"),
    ];
    assert_eq!(all(&place, "t"), expected.concat());
}

#[test]
fn json_may_take_several_lines() {
    let place = Place::new();
    let check = |name: &str, text: &str, expected: &str| {
        place.write(name, text);
        place.ok(&["table", "import", "default.t", name, "--create"]);
        assert_eq!(all(&place, "t"), expected, "{name}");
        place.ok(&["table", "drop", "default.t", "--yes"]);
    };
    check(
        "a.json",
        "{\n  \"a\": 1,\n  \"b\": {\n    \"\": \"x\"\n  },\n  \"e\": []\n}\n",
        "{\"a\":1,\"b\":{\"_\":\"x\"},\"e\":[]}\n",
    );
    check("b.json", "{\n\"a\": 1\n}\n{\n\"a\": 2\n}\n", "{\"a\":1}\n{\"a\":2}\n");
    let features = "{\"type\":\"FeatureCollection\",\"features\":[\n{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\
        \"coordinates\":[1.5,2]},\"properties\":{\"name\":\"x\"}}\n]}";
    let expected = "{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[1.5,2.0]},\"properties\":{\"name\":\"x\"}}\n";
    check("c.geojson", features, expected);
}

#[test]
fn commits_have_as_many_rows_as_they_should() {
    let place = Place::new();
    let rows: String = (0..10_500).map(|id| format!("{id}\n")).collect();
    place.write("rows.csv", &format!("id\n{rows}"));
    place.ok(&["table", "import", "default.t", "rows.csv", "--create", "--commit-rows", "4000"]);
    let query = "SELECT delta_record_count AS n FROM \"t$snapshots\" ORDER BY snapshot_id";
    assert_eq!(place.ok(&["-o", "csv", "sql", "-c", query]), "n\n4000\n4000\n2500\n");
}

#[cfg(unix)]
#[test]
fn exported_files_have_the_permissions_of_new_files() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.ok(&["sql", "-c", "CREATE TABLE t (a INT)"]);
    place.ok(&["table", "export", "default.t", "--file", "t.csv"]);
    place.write("usual", "");
    let mode = |name: &str| std::fs::metadata(place.path().join(name)).unwrap().permissions().mode();
    assert_eq!(mode("t.csv"), mode("usual"));
}

#[test]
fn keys_without_a_header_are_in_the_order_of_the_table() {
    let place = Place::new();
    place.ok(&[
        "sql",
        "-c",
        "CREATE TABLE t (a INT NOT NULL, b INT NOT NULL, v INT, PRIMARY KEY (b, a)) WITH ('bucket' = '1')",
    ]);
    place.ok(&["sql", "-c", "INSERT INTO t VALUES (1, 2, 0), (2, 1, 0), (3, 4, 0)"]);
    place.write("keys.csv", "1,2\n");
    place.ok(&["table", "delete", "default.t", "keys.csv", "--no-header"]);
    assert_eq!(all(&place, "t"), "{\"a\":2,\"b\":1,\"v\":0}\n{\"a\":3,\"b\":4,\"v\":0}\n");
    place.write("rows.csv", "3,4,0\n");
    place.ok(&["table", "delete", "default.t", "rows.csv", "--no-header"]);
    assert_eq!(all(&place, "t"), "{\"a\":2,\"b\":1,\"v\":0}\n");
}

#[test]
fn a_warehouse_must_be_there_to_be_listed() {
    let place = Place::new();
    place.write("file", "");
    for command in
        [&["table", "list"][..], &["db", "list"], &["sql", "-c", "SHOW TABLES"], &["table", "read", "default.t"]]
    {
        assert!(place.fails(&[&["-w", "missing"][..], command].concat(), 3).contains("there is no such warehouse"));
        assert!(place.fails(&[&["-w", "file"][..], command].concat(), 2).contains("the warehouse is a file"));
    }
    place.ok(&["-w", "missing", "sql", "-c", "CREATE TABLE t (a INT)"]);
    assert!(place.ok(&["-w", "missing", "table", "list"]).contains('t'));
}
