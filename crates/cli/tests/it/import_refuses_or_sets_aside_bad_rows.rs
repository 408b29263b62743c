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
        ("id,n\n1\n", "row 1: the row has 1 fields, the file 2 columns"),
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
fn a_dry_run_writes_nothing() {
    let place = table();
    place.write("good.csv", "id,n\n1,1\n");
    let ended = place.run(&["table", "import", "default.t", "good.csv", "--dry-run"]);
    assert!(ended.code == 0 && ended.err.contains("1 rows would be imported"), "{}", ended.err);
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
