//! Wrong types, overflow, nulls in keys, unknown columns: named, and nothing of them in the table.

use crate::run::Place;

fn table() -> Place {
    let place = Place::new();
    let create =
        ["table", "create", "default.t", "-C", "id INT", "-C", "n TINYINT", "--primary-key", "id", "-O", "bucket=1"];
    place.ok(&create);
    place
}

fn rows(place: &Place) -> String {
    place
        .ok(&["-o", "csv", "sql", "-c", "SELECT id, n FROM t ORDER BY id"])
        .lines()
        .skip(1)
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn the_first_bad_row_ends_the_import_and_nothing_is_written() {
    let place = table();
    for (text, message) in [
        ("id,n\n1,1\n2,abc\n", "row 2, column n: \"abc\" is not a TINYINT"),
        ("id,n\n1,300\n", "row 1, column n: \"300\" is not a TINYINT"),
        ("id,n\n,3\n", "row 1, column id: null where none is allowed"),
        ("id,n\n1\n", "row 1: fields in the row: 1, columns of the file: 2"),
        ("id,m\n1,1\n", "columns: m"),
        ("n\n1\n", "column: id"),
    ] {
        place.write("bad.csv", text);
        let error = place.fails(&["table", "import", "default.t", "bad.csv"], 2);
        assert!(error.contains(message), "{text:?}: {error}");
        assert!(error.contains("bad.csv"), "{error}");
    }
    assert_eq!(rows(&place), "");
}

#[test]
fn bad_rows_go_to_a_file_with_their_text() {
    let place = table();
    place.write("bad.ndjson", "{\"id\":1,\"n\":1}\n{\"id\":2,\"n\":1000}\nnonsense\n{\"id\":3,\"x\":1}\n{\"id\":4}\n");
    place.ok(&["table", "import", "default.t", "bad.ndjson", "--on-error", "skip:aside"]);
    assert_eq!(rows(&place), "1,1 4,");
    let aside = place.read("aside");
    let lines: Vec<serde_json::Value> = aside.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let named: Vec<_> = lines.iter().map(|line| (line["row"].as_u64().unwrap(), line["column"].as_str())).collect();
    assert_eq!(named, [(2, Some("n")), (3, None), (4, Some("x"))]);
    assert_eq!(lines[1]["original"], "nonsense");
}

#[test]
fn columns_that_the_table_lacks_are_refused_or_left_out() {
    let place = table();
    place.write("more.ndjson", "{\"id\":1,\"n\":1,\"x\":[1]}\n{\"id\":2}\n");
    let error = place.fails(&["table", "import", "default.t", "more.ndjson"], 2);
    assert!(error.contains("row 1, column x") && error.contains("--ignore-unknown"), "{error}");
    place.write("more.csv", "x,id\na,3\n");
    let error = place.fails(&["table", "import", "default.t", "more.csv"], 2);
    assert!(error.contains("columns: x") && error.contains("--ignore-unknown"), "{error}");
    place.ok(&["table", "import", "default.t", "more.ndjson", "more.csv", "--ignore-unknown"]);
    assert_eq!(rows(&place), "1,1 2, 3,");
}

#[test]
fn arrays_of_objects_and_tabs_are_read() {
    let place = table();
    place.write("a.json", "[\n  {\"id\": 1, \"n\": 1},\n  {\"id\": 2}\n]\n");
    place.write("b.tsv", "id\tn\n3\t3\n");
    place.ok(&["table", "import", "default.t", "a.json", "b.tsv"]);
    assert_eq!(rows(&place), "1,1 2, 3,3");
    place.ok(&["table", "export", "default.t", "--file", "c.tsv"]);
    assert!(place.read("c.tsv").starts_with("id\tn\n"));
    place.write("open.json", "[{\"id\": 9}");
    let error = place.fails(&["table", "import", "default.t", "open.json"], 2);
    assert!(error.contains("array is not closed") && error.contains("open.json"), "{error}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_import_leaves_nothing() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    let place = table();
    let mut child = Command::new(env!("CARGO_BIN_EXE_linn"))
        .args(["table", "import", "default.t", "-", "--format", "csv", "-v", "-O", "write-buffer-size=1 kb"])
        .current_dir(place.path())
        .env("RUST_LOG", "linn=debug")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let text: String = (0..20_000).map(|i| format!("{i},1\n")).collect();
    input.write_all(format!("id,n\n{text}").as_bytes()).unwrap();
    // The first rows are in: from now on there is something to give up.
    let mut messages = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("first rows") {
        line.clear();
        assert_ne!(messages.read_line(&mut line).unwrap(), 0, "no rows were written");
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(input);
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut messages, &mut rest).unwrap();
    assert!(rest.contains("interrupted"), "{rest}");
    assert_eq!(rows(&place), "");
    let files = std::fs::read_dir(place.path().join("warehouse/default.db/t/bucket-0"));
    assert_eq!(files.map_or(0, Iterator::count), 0);
}

#[test]
fn a_dry_run_writes_nothing() {
    let place = table();
    place.write("good.csv", "id,n\n1,1\n");
    let ended = place.run(&["table", "import", "default.t", "good.csv", "--dry-run"]);
    assert!(ended.code == 0 && ended.err.contains("Would import 1 row"), "{}", ended.err);
    assert_eq!(rows(&place), "");
    place.ok(&["table", "import", "default.new", "good.csv", "--create", "--dry-run"]);
    place.fails(&["table", "show", "default.new"], 3);
}

#[test]
fn rows_come_from_standard_input_and_in_several_commits() {
    let place = table();
    let text: String = (0..20_000).map(|i| format!("{i},1\n")).collect();
    let args = ["table", "import", "default.t", "-", "--format", "csv", "--no-header", "--commit-rows", "8000"];
    let ended = place.feed(&args, &text);
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert_eq!(place.ok(&["-o", "csv", "sql", "-c", "SELECT count(*) AS n FROM t"]), "n\n20000\n");
    let history = place.ok(&["-o", "csv", "snapshot", "list", "default.t"]);
    assert_eq!(history.matches("APPEND").count(), 3, "{history}");
}

#[test]
fn every_type_survives_an_export_and_an_import() {
    let place = Place::new();
    let sql = "CREATE TABLE a (i INT, b BOOLEAN, f FLOAT, d DOUBLE, n DECIMAL(10, 2), s STRING, y BYTES, z BINARY(3), dt DATE, \
         ti TIME, ts TIMESTAMP(3), ts6 TIMESTAMP(6), tz TIMESTAMP_LTZ(6), arr ARRAY<INT>, m MAP<STRING, INT>, \
         r ROW<a INT, b STRING>, PRIMARY KEY (i) NOT ENFORCED) WITH ('bucket' = '1'); CREATE TABLE b LIKE a; \
         INSERT INTO a VALUES (1, true, 1.5, 2.5, 3.14, 'h\u{e9},\"l''lo', X'0102', X'010203', '2020-01-02', '10:11:12', \
         '2020-01-02 03:04:05.678', '2020-01-02 03:04:05.678901', '2020-01-02 03:04:05.678901', [1, 2, NULL], \
         MAP{'a': 1, 'b': NULL}, named_struct('a', 1, 'b', 'x')); INSERT INTO a (i) VALUES (2)";
    place.ok(&["sql", "-c", sql]);
    let read = |table: &str| place.ok(&["-o", "ndjson", "sql", "-c", &format!("SELECT * FROM {table} ORDER BY i")]);
    for file in ["x.csv", "x.tsv", "x.ndjson", "x.parquet", "x.arrow"] {
        place.ok(&["table", "export", "default.a", "--file", file]);
        place.ok(&["table", "import", "default.b", file, "--overwrite"]);
        assert_eq!(read("b"), read("a"), "{file}");
    }
}

#[test]
fn what_is_exported_can_be_imported() {
    let place = table();
    place.write("a.csv", "id,n\n1,1\n2,\n");
    place.ok(&["table", "import", "default.t", "a.csv"]);
    for file in ["x.parquet", "x.arrow", "x.ndjson", "x.csv"] {
        place.ok(&["table", "export", "default.t", "--file", file]);
        place.ok(&["table", "import", "default.t", file, "--overwrite"]);
        assert_eq!(rows(&place), "1,1 2,", "{file}");
    }
}
