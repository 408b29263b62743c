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
    ] {
        let error = place.fails(&args, code);
        assert!(error.contains(what), "{args:?}: {error}");
        assert!(error.starts_with("error: "), "{error}");
    }
}

#[test]
fn damaged_files_are_named() {
    let place = Place::new();
    place.ok(&["table", "create", "default.t", "-C", "id INT", "--primary-key", "id", "-O", "bucket=1"]);
    place.write("a.csv", "id\n1\n");
    place.ok(&["table", "import", "default.t", "a.csv"]);
    place.write("warehouse/default.db/t/snapshot/snapshot-1", "{ nonsense");
    let error = place.fails(&["table", "read", "default.t"], 9);
    assert!(error.contains("snapshot-1"), "{error}");
}
