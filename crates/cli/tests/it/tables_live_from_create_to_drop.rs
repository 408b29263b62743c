//! Create, import, upsert, delete, compact, travel in time, alter, drop.

use crate::run::Place;

fn orders() -> Place {
    let place = Place::new();
    place.write("orders.csv", "id,name,amount\n1,ada,10\n2,bob,20\n3,cy,30\n");
    let create = ["table", "import", "default.o", "orders.csv", "--create", "--primary-key", "id", "-O", "bucket=1"];
    let ended = place.run(&create);
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(ended.err.contains("inferred schema") && ended.err.contains("BIGINT"), "{}", ended.err);
    place
}

fn rows(place: &Place, more: &[&str]) -> String {
    let mut args = vec!["-o", "csv", "table", "read", "default.o", "-s", "id,name,amount"];
    args.extend(more);
    let out = place.ok(&args);
    let mut lines: Vec<&str> = out.lines().skip(1).collect();
    lines.sort_unstable();
    lines.join(" ")
}

#[test]
fn rows_are_upserted_deleted_compacted_and_found_again() {
    let place = orders();
    place.write("more.ndjson", "{\"id\":2,\"name\":\"bea\",\"amount\":21}\n{\"id\":4,\"name\":\"dan\"}\n");
    place.ok(&["table", "upsert", "default.o", "more.ndjson"]);
    assert_eq!(rows(&place, &[]), "1,ada,10 2,bea,21 3,cy,30 4,dan,");

    place.write("gone.csv", "id\n1\n7\n");
    let told = place.run(&["table", "delete", "default.o", "gone.csv", "--dry-run"]);
    assert!(told.err.contains("Would delete 1 row from default.o (2 keys in gone.csv)"), "{}", told.err);
    assert_eq!(rows(&place, &[]), "1,ada,10 2,bea,21 3,cy,30 4,dan,");
    place.ok(&["table", "delete", "default.o", "gone.csv"]);
    assert_eq!(rows(&place, &[]), "2,bea,21 3,cy,30 4,dan,");

    let before = place.ok(&["files", "tree", "default.o"]);
    assert!(before.contains("level 0  3 files"), "{before}");
    let plan = place.ok(&["-o", "csv", "compact", "plan", "default.o", "--full"]);
    assert!(plan.lines().nth(1).is_some_and(|line| line.contains("Full")), "{plan}");
    place.ok(&["compact", "run", "default.o", "--full"]);
    let after = place.ok(&["files", "tree", "default.o"]);
    assert!(after.contains("level 5  1 file,") && !after.contains("level 0"), "{after}");
    assert_eq!(rows(&place, &[]), "2,bea,21 3,cy,30 4,dan,");

    assert_eq!(rows(&place, &["--snapshot", "1"]), "1,ada,10 2,bob,20 3,cy,30");
    assert_eq!(rows(&place, &["--snapshot", "2", "--where", "amount > 20", "-n", "9"]), "2,bea,21 3,cy,30");
    let history = place.ok(&["-o", "csv", "snapshot", "list", "default.o"]);
    assert_eq!(history.lines().count(), 5, "{history}");
    let latest: serde_json::Value = serde_json::from_str(&place.ok(&["snapshot", "show", "default.o"])).unwrap();
    assert_eq!(latest["commitKind"], "COMPACT");
    assert!(place.ok(&["table", "explain", "default.o"]).contains("snapshot   4"));
}

#[test]
fn a_file_keeps_its_statistics_when_it_moves_to_another_level() {
    let place = Place::new();
    place.write("o.csv", "id,amount\n1,10\n2,\n");
    place.ok(&["table", "import", "default.o", "o.csv", "--create", "--primary-key", "id", "-O", "bucket=1"]);
    place.ok(&["compact", "run", "default.o", "--full"]);
    let files = "SELECT level, null_value_counts AS nulls, max_value_stats AS max FROM o$files";
    let shown = place.ok(&["-o", "ndjson", "sql", "-c", files]);
    assert_eq!(shown, "{\"level\":5,\"nulls\":\"{amount=1, id=0}\",\"max\":\"{amount=10, id=2}\"}\n");
}

#[test]
fn rows_go_by_a_condition() {
    let place = orders();
    let told = place.run(&["table", "delete", "default.o", "--where", "amount >= 20", "--dry-run"]);
    assert!(told.err.contains("Would delete 2 rows from default.o"), "{}", told.err);
    place.ok(&["table", "delete", "default.o", "--where", "amount >= 20"]);
    assert_eq!(rows(&place, &[]), "1,ada,10");
}

#[test]
fn rows_go_by_their_keys_alone() {
    let place = Place::new();
    let columns = ["-C", "id INT", "-C", "day DATE", "-C", "n INT NOT NULL", "-C", "s INT"];
    let keys = ["--primary-key", "day,id", "--partition-by", "day", "-O", "bucket=1", "-O", "sequence.field=s"];
    place.ok(&[&["table", "create", "default.k"], &columns[..], &keys[..]].concat());
    place.write("k.csv", "id,day,n,s\n1,2020-01-01,1,7\n2,2020-01-01,1,7\n1,2020-01-02,1,7\n");
    place.ok(&["table", "import", "default.k", "k.csv"]);
    place.write("gone.ndjson", "{\"id\":1,\"day\":\"2020-01-01\",\"why\":\"x\"}\n{\"id\":9,\"day\":\"2020-01-01\"}\n");
    let ended = place.run(&["table", "delete", "default.k", "gone.ndjson"]);
    assert!(ended.code == 0 && ended.err.contains("Deleted 1 row"), "{}", ended.err);
    let left = place.ok(&["-o", "csv", "sql", "-c", "SELECT id, day FROM k ORDER BY day, id"]);
    assert_eq!(left, "id,day\n2,2020-01-01\n1,2020-01-02\n");
    place.write("short.csv", "id\n1\n");
    let refused = place.fails(&["table", "delete", "default.k", "short.csv"], 2);
    assert!(refused.contains("column: day"), "{refused}");
}

#[test]
fn partitions_are_drawn_in_the_order_of_their_values() {
    let place = Place::new();
    place.write("m.csv", "id,month\n1,10\n2,2\n3,1\n");
    place.ok(&["table", "import", "default.m", "m.csv", "--create", "--partition-by", "month"]);
    let tree = place.ok(&["files", "tree", "default.m"]);
    let months: Vec<&str> = tree.split("month=").skip(1).filter_map(|rest| rest.split(' ').next()).collect();
    assert_eq!(months, ["1", "2", "10"], "{tree}");
    let shown = place.ok(&["-o", "csv", "sql", "-c", "SHOW PARTITIONS m"]);
    assert_eq!(shown, "partition\nmonth=1\nmonth=2\nmonth=10\n");
}

#[test]
fn an_explanation_counts_what_the_condition_leaves() {
    let place = Place::new();
    place.write("m.csv", "id,month\n1,10\n2,2\n3,1\n4,1\n");
    place.ok(&["table", "import", "default.m", "m.csv", "--create", "--partition-by", "month"]);
    let explained = place.ok(&["table", "explain", "default.m", "--where", "month = 1"]);
    let line = |start: &str| explained.lines().find(|line| line.starts_with(start)).unwrap_or_default().to_owned();
    assert!(line("files").starts_with("files      3 of ") && line("files").ends_with("with 4 records"), "{explained}");
    assert!(line("to read").starts_with("to read    1 of ") && line("to read").ends_with("2 records"), "{explained}");
    assert!(explained.contains("LinnScan: table=default.m, files=1"), "{explained}");
}

#[test]
fn an_overwrite_replaces_what_was_there() {
    let place = orders();
    place.write("new.csv", "id,name,amount\n9,zoe,90\n");
    place.ok(&["table", "import", "default.o", "new.csv", "--overwrite"]);
    assert_eq!(rows(&place, &[]), "9,zoe,90");
}

#[test]
fn schemas_change_and_tables_are_dropped() {
    let place = orders();
    place.ok(&[
        "table",
        "alter",
        "default.o",
        "--add-column",
        "note STRING",
        "--set-option",
        "snapshot.num-retained.min=3",
    ]);
    let json = place.ok(&["table", "show", "default.o", "--schema-json"]);
    assert!(json.contains("\"note\"") && json.contains("snapshot.num-retained.min"), "{json}");
    place.ok(&["table", "alter", "default.o", "--rename-to", "default.p"]);
    assert_eq!(place.ok(&["-o", "csv", "table", "list"]), "table\np\n");
    let refused = place.fails(&["table", "drop", "default.p"], 2);
    assert!(refused.contains("--yes") && refused.contains(" files, "), "{refused}");
    let plan = place.ok(&["-o", "csv", "table", "drop", "default.p", "--dry-run"]);
    assert!(plan.starts_with("kind,files,bytes\n") && plan.contains("\nschema,"), "{plan}");
    assert_eq!(place.ok(&["-o", "csv", "table", "list"]), "table\np\n");
    let plan = place.ok(&["-o", "csv", "db", "drop", "default", "--cascade", "--dry-run"]);
    assert!(plan.starts_with("table,files,bytes\np,"), "{plan}");
    place.fails(&["table", "drop", "default.p$snapshots", "--dry-run"], 2);
    place.ok(&["table", "drop", "default.p", "--yes"]);
    assert_eq!(place.ok(&["-o", "csv", "table", "list"]), "table\n");
    place.fails(&["table", "drop", "default.p"], 3);
    place.ok(&["table", "drop", "default.p", "--if-exists"]);
    place.ok(&["db", "create", "d"]);
    place.fails(&["db", "drop", "d"], 2);
    place.ok(&["db", "drop", "d", "--yes"]);
    place.fails(&["db", "drop", "d", "--yes"], 3);
    place.ok(&["db", "drop", "d", "--if-exists"]);
}
