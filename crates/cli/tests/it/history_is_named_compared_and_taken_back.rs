//! Tags, branches, rollbacks, differences and statistics from the command line.

use crate::run::Place;

/// Three snapshots of a table with a primary key, the tag `t1` on the first.
fn orders() -> Place {
    let place = Place::new();
    place.ok(&["sql", "-c", "CREATE TABLE o (k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1')"]);
    place.ok(&["sql", "-c", "INSERT INTO o VALUES (1, 'a'), (2, 'b')"]);
    place.ok(&["tag", "create", "default.o", "t1"]);
    place.ok(&["sql", "-c", "INSERT INTO o VALUES (2, 'bb'), (3, 'c'); DELETE FROM o WHERE k = 1"]);
    place
}

fn read(place: &Place, table: &str) -> String {
    let out = place.ok(&["-o", "csv", "table", "read", table]);
    let mut lines: Vec<&str> = out.lines().skip(1).collect();
    lines.sort_unstable();
    lines.join(" ")
}

#[test]
fn versions_are_compared() {
    let place = orders();
    let rows = place.ok(&["-o", "csv", "table", "diff", "default.o", "t1", "3"]);
    assert_eq!(rows, "change,k,v\nremoved,1,a\nbefore,2,b\nafter,2,bb\nadded,3,c\n");
    assert_eq!(place.ok(&["-o", "csv", "table", "diff", "default.o", "tag:t1", "latest"]), rows);
    let back = place.ok(&["-o", "csv", "snapshot", "diff", "default.o", "3", "1", "--count"]);
    assert_eq!(back, "change,rows\nadded,1\nafter,1\nbefore,1\nremoved,1\n");
    let files = place.ok(&["-o", "csv", "table", "diff", "default.o", "1", "3", "--files"]);
    assert_eq!(files.lines().filter(|line| line.starts_with("added,")).count(), 2, "{files}");
    place.ok(&["sql", "-c", "CREATE TABLE l (a INT, b STRING); INSERT INTO l VALUES (1, 'x'), (1, 'x')"]);
    place.ok(&["sql", "-c", "ALTER TABLE l ADD COLUMN c INT; INSERT INTO l VALUES (1, 'x', NULL), (2, 'y', 5)"]);
    let lines = place.ok(&["-o", "csv", "table", "diff", "default.l", "1", "2"]);
    assert_eq!(lines, "change,rows,a,b,c\nadded,1,1,x,\nadded,1,2,y,5\n");
    assert_eq!(place.ok(&["-o", "csv", "table", "diff", "default.l", "2", "2"]).lines().count(), 1);
    place.fails(&["table", "diff", "default.o", "1", "nope"], 3);
}

/// Whatever the columns are called and hold, and however many they are.
#[test]
fn regress_every_change_of_a_row_is_shown() {
    let place = Place::new();
    place.ok(&[
        "sql",
        "-c",
        "CREATE TABLE w (change INT NOT NULL, a BOOLEAN, b BOOLEAN, \"rows\" STRING, l ARRAY<INT>, m MAP<STRING, INT>, \
         PRIMARY KEY (change) NOT ENFORCED) WITH ('bucket' = '3')",
    ]);
    let insert = |values: &str| place.ok(&["sql", "-c", &format!("INSERT INTO w VALUES {values}")]);
    insert("(1, true, false, 'x', [1], NULL), (2, true, true, 'y', NULL, NULL), (3, NULL, NULL, NULL, NULL, NULL)");
    insert("(1, true, true, 'x', [1], NULL), (4, false, NULL, 'z', NULL, NULL), (3, NULL, NULL, NULL, NULL, NULL)");
    let rows = place.ok(&["-o", "csv", "table", "diff", "default.w", "1", "2"]);
    let lines: Vec<&str> = rows.lines().map(|line| line.rsplitn(3, ',').last().unwrap_or_default()).collect();
    assert_eq!(
        lines,
        ["_change,change,a,b,rows", "before,1,true,false,x", "after,1,true,true,x", "added,4,false,,z"],
        "{rows}"
    );
    assert_eq!(place.ok(&["-o", "csv", "table", "diff", "default.w", "2", "2"]).lines().count(), 1);
    let back = place.ok(&["-o", "csv", "table", "diff", "default.w", "2", "1", "--count"]);
    assert_eq!(back, "_change,_rows\nafter,1\nbefore,1\nremoved,1\n");
    // Without a key, with a nested column that has no order.
    place.ok(&[
        "sql",
        "-c",
        "CREATE TABLE u (a INT, b STRING, l ARRAY<INT>); INSERT INTO u VALUES (1, 'x', [1]), (2, 'y', [2])",
    ]);
    place.ok(&["sql", "-c", "INSERT OVERWRITE u VALUES (1, 'x', [1]), (1, 'x', [1]), (2, 'y', [3])"]);
    let rows = place.ok(&["-o", "csv", "table", "diff", "default.u", "1", "2"]);
    let mut lines: Vec<&str> =
        rows.lines().skip(1).map(|line| line.rsplitn(2, ',').last().unwrap_or_default()).collect();
    lines.sort_unstable();
    assert_eq!(lines, ["added,1,1,x", "added,1,2,y", "removed,1,2,y"], "{rows}");
}

#[test]
fn tags_are_listed_changed_and_deleted() {
    let place = orders();
    place.ok(&["tag", "create", "default.o", "t2", "--snapshot", "2", "--time-retained", "1 h"]);
    place.ok(&["tag", "rename", "default.o", "t2", "t3"]);
    let list = place.ok(&["-o", "csv", "tag", "list", "default.o"]);
    assert!(list.contains("t1,1,") && list.contains("t3,2,") && list.contains("1 h"), "{list}");
    place.fails(&["tag", "delete", "default.o", "t3"], 2);
    let ended = place.run(&["tag", "delete", "default.o", "t3", "--dry-run"]);
    assert!(ended.code == 0 && ended.err.contains("Would delete tag t3 of snapshot 2."), "{}", ended.err);
    place.ok(&["tag", "replace", "default.o", "t3", "--snapshot", "3", "--yes"]);
    place.ok(&["tag", "delete", "default.o", "t1", "--yes"]);
    let list = place.ok(&["-o", "csv", "tag", "list", "default.o"]);
    assert!(list.lines().count() == 2 && list.contains("t3,3,"), "{list}");
    place.ok(&["tag", "expire", "default.o", "--older-than", "2999-01-01", "--yes"]);
    assert_eq!(place.ok(&["-o", "csv", "tag", "list", "default.o"]).lines().count(), 1);
}

#[test]
fn a_table_goes_back_or_forward() {
    let place = orders();
    place.ok(&["branch", "create", "default.o", "b", "--tag", "t1"]);
    place.ok(&["sql", "-c", "INSERT INTO \"o$branch_b\" VALUES (9, 'z')"]);
    assert_eq!(read(&place, "default.o$branch_b"), "1,a 2,b 9,z");
    let shown = place.ok(&["-o", "csv", "snapshot", "rollback", "default.o", "--snapshot", "1", "--dry-run"]);
    assert_eq!(shown, "kind,name\nsnapshot,2\nsnapshot,3\n");
    place.ok(&["snapshot", "rollback", "default.o", "--tag", "t1", "--as-latest", "--yes"]);
    assert_eq!(read(&place, "default.o"), "1,a 2,b");
    place.fails(&["snapshot", "rollback", "default.o", "--snapshot", "2"], 2);
    place.ok(&["snapshot", "rollback", "default.o", "--snapshot", "2", "--yes"]);
    assert_eq!(read(&place, "default.o"), "1,a 2,bb 3,c");
    place.ok(&["sql", "-c", "INSERT INTO o VALUES (8, 'y')"]);
    let clean = ["-o", "csv", "snapshot", "rollback", "default.o", "--snapshot", "2", "--clean"];
    let plan = place.ok(&[&clean[..], &["--dry-run"]].concat());
    let files: Vec<&str> = plan.lines().filter_map(|line| line.strip_prefix("file,")).collect();
    assert!(plan.contains("\nsnapshot,3\n") && files.iter().any(|path| path.contains("bucket-0/data-")), "{plan}");
    place.ok(&[&clean[..], &["--yes"]].concat());
    assert!(files.iter().all(|path| !place.path().join("warehouse").join(path).exists()), "{files:?}");
    assert_eq!(read(&place, "default.o"), "1,a 2,bb 3,c");
    place.ok(&["check", "default.o", "--deep"]);
    place.ok(&["branch", "fast-forward", "default.o", "b", "--yes"]);
    assert_eq!(read(&place, "default.o"), "1,a 2,b 9,z");
    place.ok(&["branch", "rename", "default.o", "b", "c"]);
    assert!(place.ok(&["-o", "csv", "branch", "list", "default.o"]).contains("c,2,"));
    place.ok(&["branch", "delete", "default.o", "c", "--yes"]);
    place.fails(&["branch", "delete", "default.o", "c", "--yes"], 3);
}

#[test]
fn a_branch_comes_back_key_by_key() {
    let place = orders();
    place.ok(&["branch", "create", "default.o", "b", "--tag", "t1"]);
    place.ok(&["sql", "-c", "UPDATE o OPTIONS('branch' = 'b') SET v = 'fixed' WHERE k = 2"]);
    place.ok(&["sql", "-c", "INSERT INTO \"o$branch_b\" VALUES (9, 'z')"]);
    let before = read(&place, "default.o");
    let shown = place.ok(&["-o", "csv", "branch", "merge", "default.o", "b", "--dry-run"]);
    assert_eq!(shown.lines().count(), 3, "{shown}");
    assert!(shown.contains("theirs,+U,2,fixed"), "{shown}");
    let error = place.fails(&["branch", "merge", "default.o", "b"], 6);
    assert!(error.contains("1 key was changed on both sides"), "{error}");
    assert_eq!(read(&place, "default.o"), before);
    place.ok(&["branch", "merge", "default.o", "b", "--theirs"]);
    assert!(read(&place, "default.o").contains("2,fixed"), "{}", read(&place, "default.o"));
    assert!(read(&place, "default.o").contains("9,z"));
    place.fails(&["branch", "merge", "default.o", "b", "--theirs", "--ours"], 2);
    place.ok(&["branch", "fast-forward", "default.o", "b", "--dry-run"]);
}

#[test]
fn rows_and_columns_are_analyzed() {
    let place = orders();
    let shown = place.ok(&["-o", "csv", "table", "analyze", "default.o", "--all-columns"]);
    assert_eq!(shown, "column,distinct,nulls,min,max,avg_len,max_len\nk,2,0,2,3,4,4\nv,2,0,\"\",\"\",2,2\n");
    let statistics = place.ok(&["-o", "csv", "sql", "-c", "SELECT \"mergedRecordCount\" AS n FROM o$statistics"]);
    assert_eq!(statistics, "n\n2\n");
}
