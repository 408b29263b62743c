//! Exit codes, and what stands in an error.

use crate::run::Place;

#[test]
fn codes_tell_the_kinds_apart() {
    let place = Place::new();
    place.ok(&["db", "create", "d"]);
    let create = ["table", "create", "d.t", "-C", "id INT", "--primary-key", "id", "-O", "bucket=1"];
    place.ok(&create);
    for (args, code, what) in [
        (vec!["table", "show", "d.nothing"], 3, "nothing"),
        (create.to_vec(), 4, "d.t"),
        (vec!["db", "drop", "d"], 2, "not empty"),
        (vec!["table", "create", "d.u", "-C", "id NOTYPE"], 5, "column: id"),
        (vec!["table", "create", "d.u", "-C", "id INT", "-O", "write-buffer-size=much"], 2, "write-buffer-size"),
        (vec!["table", "import", "d.t", "nowhere.csv"], 3, "nowhere.csv"),
        (vec!["table", "import", "d.t", "nowhere.xyz"], 2, "--format"),
        (vec!["table", "read", "d.t", "--snapshot", "9"], 3, "9"),
        (vec!["table", "read", "../x.t"], 2, "../x"),
        (vec!["sql", "-c", "SELEC 1"], 2, "SELEC"),
        (vec!["-w", "ftp://x", "db", "list"], 5, "ftp"),
        (vec!["--config", "none.yaml", "db", "list"], 3, "none.yaml"),
        (vec!["table", "read", "d.t", "--where", "id = 'x'"], 2, "'x'"),
        (vec!["table", "read", "d.t", "-O", "scan.mode=foo"], 2, "scan.mode"),
        (vec!["sql", "-c", "SELECT 1 / 0"], 2, "zero"),
        (vec!["sql", "-c", "INSERT INTO d.t VALUES ('x')"], 2, "INT"),
        (vec!["sql", "-c", "SELECT 1; SELECT 2 FROM nope"], 3, "statement: SELECT 2 FROM nope"),
        (vec!["sql", "-c", "EXPLAIN DROP TABLE d.t"], 5, "EXPLAIN"),
        (vec!["option", "explain", "bukcet"], 3, "did you mean 'bucket'?"),
    ] {
        let ended = place.run(&args);
        let error = ended.err;
        assert_eq!(ended.code, code, "{args:?}: {error}");
        assert!(error.contains(what), "{args:?}: {error}");
        assert!(error.starts_with(&format!("error[LINN-{code}")), "{error}");
    }
}

#[test]
fn slips_in_option_keys_are_pointed_out() {
    let place = Place::new();
    let ended = place.run(&["table", "create", "default.t", "-C", "id INT", "-O", "bukcet=4"]);
    assert!(ended.code == 0 && ended.err.contains("did you mean 'bucket'?"), "{}", ended.err);
    let ended = place.run(&["sql", "-c", "ALTER TABLE t SET ('write-onyl' = 'true')"]);
    assert!(ended.code == 0 && ended.err.contains("did you mean 'write-only'?"), "{}", ended.err);
}

/// A table with one row; its folder.
fn table(place: &Place) -> std::path::PathBuf {
    place.ok(&["table", "create", "default.t", "-C", "id INT", "--primary-key", "id", "-O", "bucket=1"]);
    place.write("a.csv", "id\n1\n");
    place.ok(&["table", "import", "default.t", "a.csv"]);
    place.path().join("warehouse/default.db/t")
}

/// A file of a folder whose name begins like this; lists of manifests are not manifests.
fn file(folder: &std::path::Path, start: &str) -> std::path::PathBuf {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with(start) && name.contains("-list-") == start.contains("-list-")
    };
    let mut found: Vec<_> = files.filter(named).collect();
    found.sort();
    found.pop().unwrap()
}

#[test]
fn damaged_files_are_named() {
    for (folder, start) in [
        ("snapshot", "snapshot-"),
        ("schema", "schema-"),
        ("manifest", "manifest-list-"),
        ("manifest", "manifest-"),
        ("bucket-0", "data-"),
    ] {
        let place = Place::new();
        let path = file(&table(&place).join(folder), start);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let whole = std::fs::read(&path).unwrap();
        let mut flipped = whole.clone();
        flipped[0] ^= 0x40;
        for (bytes, what) in [(&whole[..whole.len() / 2], "cut"), (&flipped, "flipped"), (b"{ nonsense", "nonsense")] {
            // A Parquet file is read from its end; nobody looks at its first bytes.
            if (folder, what) == ("bucket-0", "flipped") {
                continue;
            }
            std::fs::write(&path, bytes).unwrap();
            let error = place.fails(&["table", "read", "default.t"], 9);
            assert!(error.contains(&name) && error.contains("\n  hint: "), "{name} {what}: {error}");
        }
        std::fs::write(&path, &whole).unwrap();
        assert!(place.ok(&["table", "read", "default.t"]).contains('1'));
        std::fs::remove_file(&path).unwrap();
        let ended = place.run(&["table", "read", "default.t"]);
        // A folder without a schema is no table.
        let what = if folder == "schema" { "default.t" } else { name.as_str() };
        assert!(ended.err.contains(what), "{name} gone: {}{}", ended.out, ended.err);
        // A missing file of a table is as bad as a damaged one.
        let (code, hint) = if folder == "schema" { (3, "") } else { (9, "  hint: ") };
        assert!(ended.code == code && ended.err.contains(hint), "{name} gone: {} {}", ended.code, ended.err);
    }
}
