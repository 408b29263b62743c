//! Formats of results, options, configuration, completions; a reader that goes away.

use std::io::Read;
use std::process::{Command, Stdio};

use crate::run::Place;

const QUERY: &str = "SELECT 1 AS a, 'x|y' AS b UNION ALL SELECT 2, NULL ORDER BY a";

#[test]
fn rows_in_every_format() {
    let place = Place::new();
    let of = |format: &str| place.ok(&["-o", format, "sql", "-c", QUERY]);
    assert_eq!(of("csv"), "a,b\n1,x|y\n2,\n");
    assert_eq!(of("ndjson"), "{\"a\":1,\"b\":\"x|y\"}\n{\"a\":2,\"b\":null}\n");
    let json: serde_json::Value = serde_json::from_str(&of("json")).unwrap();
    assert_eq!(json, serde_json::json!([{"a": 1, "b": "x|y"}, {"a": 2, "b": null}]));
    assert!(of("markdown").contains("x\\|y"));
    assert!(of("table").contains("NULL"));
}

#[test]
fn statements_come_from_files_and_standard_input() {
    let place = Place::new();
    place.write("s.sql", "SELECT 1 AS a; SELECT 2 AS b;");
    assert_eq!(place.ok(&["-o", "csv", "sql", "-f", "s.sql"]), "a\n1\nb\n2\n");
    assert_eq!(place.feed(&["-o", "csv", "sql", "-f", "-"], "SELECT 3 AS c").out, "c\n3\n");
}

#[test]
fn options_and_settings_are_explained() {
    let place = Place::new();
    assert!(place.ok(&["option", "list", "bucket"]).contains("bucket-key"));
    assert!(place.ok(&["option", "explain", "bucket"]).starts_with("bucket\n"));
    for (key, word) in [
        ("pk-clustering-override", "neither created nor written"),
        ("chain-table.chain-partition-keys", "goes with chain-table.enabled"),
        ("local-merge-buffer-size", "other engines"),
        ("variant.shreddingSchema", "has no effect"),
    ] {
        assert!(place.ok(&["option", "explain", key]).contains(word), "{key}");
    }
    place.fails(&["option", "explain", "bukket"], 3);
    let shown = place.ok(&["-o", "csv", "config", "show", "--set", "s3.secret-key=hush", "-w", "/w"]);
    assert!(shown.contains("s3.secret-key,******,flag") && shown.contains("warehouse,/w,flag"), "{shown}");
    assert!(!shown.contains("hush"));
    assert!(place.ok(&["completions", "bash"]).contains("linn"));
}

#[test]
fn nested_values_are_json_where_columns_are_text() {
    let place = Place::new();
    let query = "SELECT [1, NULL] AS l, named_struct('a', 'x', 'b', 1) AS r, NULL AS n";
    assert_eq!(
        place.ok(&["-o", "csv", "sql", "-c", query]),
        "l,r,n\n\"[1,null]\",\"{\"\"a\"\":\"\"x\"\",\"\"b\"\":1}\",\n"
    );
    assert_eq!(place.ok(&["-o", "tsv", "sql", "-c", "SELECT 1 AS a, 'x,y' AS b"]), "a\tb\n1\tx,y\n");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::new();
    let query = "SELECT value FROM generate_series(1, 1000000)";
    for args in [
        &["-o", "csv", "sql", "-c", query][..],
        &["-o", "table", "sql", "-c", query],
        &["-o", "json", "sql", "-c", query],
        &["-o", "arrow", "sql", "-c", query],
        &["completions", "bash"],
        &["option", "list"],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_linn"))
            .args(args)
            .current_dir(place.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0u8; 6];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.code() == Some(0) && said.is_empty(), "{args:?}: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_is_full_is_an_error() {
    let place = Place::new();
    for format in ["csv", "json", "ndjson", "arrow", "table", "markdown"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ended = Command::new(env!("CARGO_BIN_EXE_linn"))
            .args(["-o", format, "sql", "-c", "SELECT value FROM generate_series(1, 100000)"])
            .current_dir(place.path())
            .stdout(full)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.code() == Some(7) && said.contains("cannot be written"), "{format}: {said}");
    }
}
