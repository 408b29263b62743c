//! A file that is damaged is an error that says where, and nothing of it comes into the table.

use crate::run::Place;

/// A table `default.t` with ten rows, and a Parquet file of 20,000 rows for it whose last column is damaged.
fn place() -> Place {
    let place = Place::new();
    place.ok(&["sql", "-c", "CREATE TABLE t (id INT NOT NULL, v STRING, PRIMARY KEY (id)) WITH ('bucket' = '1')"]);
    place.ok(&["sql", "-c", "INSERT INTO t SELECT CAST(value AS INT), 'old' FROM generate_series(1, 10)"]);
    let rows: String =
        (1..=20_000).map(|id| format!("{{\"id\":{id},\"v\":\"value {}\"}}\n", id * 7919 % 20_011)).collect();
    place.write("rows.ndjson", &rows);
    place.ok(&["table", "import", "default.u", "rows.ndjson", "--create", "--primary-key", "id", "-O", "bucket=1"]);
    place.ok(&["table", "export", "default.u", "--file", "whole.parquet"]);
    let mut bytes = std::fs::read(place.path().join("whole.parquet")).unwrap();
    // In the middle of the values, far from the footer.
    let middle = bytes.len() / 2;
    bytes[middle..middle + 16].iter_mut().for_each(|byte| *byte ^= 0x5a);
    std::fs::write(place.path().join("bad.parquet"), bytes).unwrap();
    place
}

fn count(place: &Place) -> String {
    place.ok(&["-o", "csv", "sql", "-c", "SELECT count(*) AS n, min(v) AS v FROM t"])
}

#[test]
fn nothing_of_a_damaged_file_is_committed() {
    let place = place();
    for flags in [&[][..], &["--overwrite"], &["--commit-rows", "50000"]] {
        let error = place.fails(&[&["table", "import", "default.t", "bad.parquet"][..], flags].concat(), 9);
        assert!(
            error.contains("file: bad.parquet") && error.contains("row group: 0") && error.contains("column:"),
            "{error}"
        );
        assert_eq!(count(&place), "n,v\n10,old\n");
    }
    place.fails(&["table", "delete", "default.t", "bad.parquet"], 9);
    assert_eq!(count(&place), "n,v\n10,old\n");
    assert!(place.ok(&["table", "import", "default.t", "whole.parquet"]).is_empty());
    assert!(count(&place).starts_with("n,v\n20000,"), "{}", count(&place));
}

#[test]
fn a_file_that_ends_early_is_damaged() {
    let place = Place::new();
    for format in ["avro", "orc"] {
        let with = format!("WITH ('bucket' = '-1', 'file.format' = '{format}')");
        place.ok(&[
            "sql",
            "-c",
            &format!("CREATE TABLE {format} {with} AS SELECT value FROM generate_series(1, 10000)"),
        ]);
        let folder = place.path().join(format!("warehouse/default.db/{format}/bucket-0"));
        let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
        let bytes = std::fs::read(&file).unwrap();
        let name = format!("cut.{format}");
        for cut in [bytes.len() / 2, bytes.len() - 1] {
            std::fs::write(place.path().join(&name), &bytes[..cut]).unwrap();
            let ended = place.run(&["table", "import", "default.t", &name, "--create"]);
            assert!(matches!(ended.code, 2 | 9), "{cut} of {name}: {}", ended.err);
            assert!(ended.err.contains(&name), "{}", ended.err);
        }
        std::fs::write(place.path().join(&name), &bytes).unwrap();
        place.ok(&["table", "import", &format!("default.whole_{format}"), &name, "--create"]);
    }
}

/// Whatever a tail says of types and lengths.
#[test]
fn no_orc_file_ends_the_program() {
    let place = Place::new();
    let with = "WITH ('bucket' = '-1', 'file.format' = 'orc', 'file.compression' = 'none')";
    let query = "SELECT value, named_struct('a', [value], 'b', MAP {'x': value}) AS r FROM generate_series(1, 10)";
    place.ok(&["sql", "-c", &format!("CREATE TABLE o {with} AS {query}")]);
    let folder = place.path().join("warehouse/default.db/o/bucket-0");
    let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let bytes = std::fs::read(&file).unwrap();
    for back in (1..bytes.len().min(400)).step_by(9) {
        let mut bytes = bytes.clone();
        let at = bytes.len() - back;
        bytes[at] ^= 0x7f;
        std::fs::write(place.path().join("odd.orc"), bytes).unwrap();
        let ended = place.run(&["table", "import", &format!("default.t{back}"), "odd.orc", "--create"]);
        assert!(matches!(ended.code, 0 | 2 | 5 | 9), "{back}: {} {}", ended.code, ended.err);
    }
}

#[test]
fn a_table_made_for_a_damaged_file_is_dropped_again() {
    let place = place();
    place.fails(&["table", "import", "default.made", "bad.parquet", "--create"], 9);
    assert!(!place.ok(&["table", "list"]).contains("made"));
    place.write("bad.csv", "a,b\n1,2\n3\n");
    place.fails(&["table", "import", "default.made", "bad.csv", "--create"], 2);
    assert!(!place.ok(&["table", "list"]).contains("made"));
    // Rows that were committed before stay.
    let rows: String = (0..10_000).map(|id| format!("{id}\n")).collect();
    place.write("partly.csv", &format!("a\n{rows}x,y\n"));
    place.fails(&["table", "import", "default.made", "partly.csv", "--create", "--commit-rows", "4000"], 2);
    assert_eq!(place.ok(&["-o", "csv", "sql", "-c", "SELECT count(*) AS n FROM made"]), "n\n8000\n");
}
