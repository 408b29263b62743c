//! Beginning, rows by their keys, pictures, the state of tables, man pages.

use crate::run::Place;

fn place() -> Place {
    let place = Place::new();
    let create =
        "CREATE TABLE t (k INT, day STRING, v STRING, PRIMARY KEY (day, k)) PARTITIONED BY (day) WITH ('bucket' = '2')";
    place.ok(&["sql", "-c", create]);
    for value in ["a", "b"] {
        let rows = (0..50).map(|k| format!("({k}, 'd,1', '{value}{k}')")).collect::<Vec<_>>().join(", ");
        place.ok(&["sql", "-c", &format!("INSERT INTO t VALUES {rows}")]);
    }
    place
}

fn get<'a>(keys: &[&'a str]) -> Vec<&'a str> {
    [&["-o", "csv", "get", "default.t"], keys].concat()
}

#[test]
fn keys_find_their_rows() {
    let place = place();
    assert_eq!(place.ok(&get(&["\"d,1\",7"])), "k,day,v\n7,\"d,1\",b7\n");
    assert_eq!(place.ok(&get(&["k=7,day=\"d,1\"", "-s", "v"])), "v\nb7\n");
    assert_eq!(place.ok(&get(&["\"d,1\",1", "\"d,1\",2", "--snapshot", "1", "-s", "v"])), "v\na1\na2\n");
    let error = place.fails(&get(&["\"d,1\",700"]), 3);
    assert!(error.starts_with("error[LINN-307]: no row with key \"d,1\",700"), "{error}");
    let error = place.fails(&get(&["7"]), 2);
    assert!(error.contains("day, k"), "{error}");
    place.ok(&["sql", "-c", "CREATE TABLE a (x INT)"]);
    assert!(place.fails(&["get", "default.a", "1"], 2).contains("no primary key"));
}

#[test]
fn a_folder_is_set_up_once() {
    let place = Place::new();
    let ended = place.run(&["init", "lake"]);
    assert!(ended.code == 0 && ended.err.contains("Created table default.events"), "{}", ended.err);
    assert!(place.read("lake/linn.yaml").contains("warehouse: ./warehouse"));
    place.ok(&["-w", "lake/warehouse", "sql", "-c", "INSERT INTO events VALUES (1, 'hello', now())"]);
    assert_eq!(
        place.ok(&["-w", "lake/warehouse", "-o", "csv", "get", "default.events", "1", "-s", "message"]),
        "message\nhello\n"
    );
    place.fails(&["init", "lake"], 4);
}

#[test]
fn pictures_show_runs_and_growth() {
    let place = place();
    let picture = place.ok(&["files", "picture", "default.t"]);
    for part in ["day='d,1'", "run", "█", "Growth", "Files by size", "Records by k"] {
        assert!(picture.contains(part), "{part}: {picture}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&place.ok(&["-o", "json", "files", "picture", "default.t"])).unwrap();
    assert_eq!((&json["rows"], json["growth"].as_array().unwrap().len()), (&serde_json::json!(100), 2));
    place.ok(&["files", "picture", "default.t", "--html", "p.html"]);
    let page = place.read("p.html");
    assert!(page.starts_with("<!doctype html>") && page.contains("<svg") && !page.contains("http"), "{page}");
}

#[test]
fn top_tells_runs_rates_and_lags() {
    let place = place();
    place.ok(&["consumer", "reset", "default.t", "reader", "--next-snapshot", "1", "--yes"]);
    let text = place.ok(&["top", "--once"]);
    for part in ["default.t", "ROWS/S", "reader", "APPEND", "RUNS"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json: serde_json::Value = serde_json::from_str(&place.ok(&["-o", "json", "top", "--once", "default"])).unwrap();
    assert_eq!(json[0]["consumers"][0]["behind"], 2);
    assert_eq!(json[0]["buckets"][0]["runs"], 2);
    assert!(json[0]["rows_per_second"].as_f64().unwrap() > 0.0);
    assert!(place.fails(&["top"], 2).contains("--once"));
}

#[test]
fn every_command_has_a_man_page() {
    let place = Place::new();
    place.ok(&["man", "man1"]);
    let page = place.read("man1/linn-table-import.1");
    assert!(page.contains(".TH") && page.contains("commit"), "{page}");
    for name in ["linn", "linn-sql", "linn-get", "linn-files-picture"] {
        assert!(place.path().join(format!("man1/{name}.1")).exists(), "{name}");
    }
}

#[test]
fn messages_can_be_left_out_and_results_be_json() {
    let place = place();
    assert_eq!(place.run(&["-q", "db", "create", "quiet"]).err, "");
    assert_eq!(place.run(&["db", "create", "loud"]).err, "Created database loud.\n");
    for args in [
        &["table", "show", "default.t"][..],
        &["table", "explain", "default.t"],
        &["files", "tree", "default.t"],
        &["check", "default.t", "--deep"],
        &["option", "explain", "bucket"],
        &["option", "explain", "fields.v.aggregate-function"],
        &["option", "explain", "file-index.*"],
        &["snapshot", "show", "default.t"],
        &["error", "explain", "301"],
        &["doctor"],
    ] {
        let out = place.ok(&[&["-o", "json"], args].concat());
        let json: Result<serde_json::Value, _> = serde_json::from_str(&out);
        assert!(json.is_ok(), "{args:?}: {out}");
    }
    assert!(place.ok(&["option", "explain", "fields.v.nested-key"]).starts_with("fields.<column>.nested-key\n"));
}

#[cfg(unix)]
#[test]
fn what_may_not_be_written_is_told_as_that() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    let folder = place.path().join("warehouse/default.db/t/snapshot");
    let mode = |mode: u32| std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o555);
    // Those who may do everything are not refused.
    let refused = std::fs::write(folder.join("probe"), b"").is_err();
    let ended = place.run(&["sql", "-c", "INSERT INTO t VALUES (1, 'x', 'y')"]);
    mode(0o755);
    if refused {
        assert!(ended.code == 7 && ended.err.starts_with("error[LINN-701]: permission denied"), "{}", ended.err);
    }
}
