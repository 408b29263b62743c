//! A partition that is named is replaced by what the query gives, also by nothing.

use crate::{fails, rows, run, session};

#[tokio::test(flavor = "multi_thread")]
async fn by_no_rows() {
    for (key, options) in [
        ("", "'bucket'='-1'"),
        ("", "'bucket'='1', 'bucket-key'='id'"),
        (", PRIMARY KEY (id, dt, h) NOT ENFORCED", "'bucket'='1'"),
        (", PRIMARY KEY (id, dt, h) NOT ENFORCED", "'bucket'='-1'"),
        (", PRIMARY KEY (id) NOT ENFORCED", "'bucket'='-1'"),
        (", PRIMARY KEY (id, dt, h) NOT ENFORCED", "'bucket'='1', 'deletion-vectors.enabled'='true'"),
    ] {
        let s = session();
        run(
            &s,
            &format!(
                "CREATE TABLE t (id INT NOT NULL, v INT, dt STRING NOT NULL, h INT NOT NULL{key}) PARTITIONED BY (dt, h) WITH ({options})"
            ),
        )
        .await;
        run(&s, "INSERT INTO t VALUES (1, 1, 'x', 1), (2, 2, 'x', 2), (3, 3, 'y', 1)").await;
        let before = rows(&s, "SELECT max(snapshot_id) FROM t$snapshots").await[0].parse::<i64>().unwrap();
        run(&s, "INSERT OVERWRITE t PARTITION (dt = 'x', h = 1) SELECT id, v FROM t WHERE false").await;
        let snapshots = rows(&s, "SELECT snapshot_id, commit_kind, delta_record_count FROM t$snapshots").await;
        assert_eq!(rows(&s, "SELECT id FROM t ORDER BY id").await, ["2", "3"], "{key} {options} {snapshots:?}");
        let after = rows(&s, "SELECT max(snapshot_id) FROM t$snapshots").await[0].parse::<i64>().unwrap();
        assert_eq!(after, before + 1, "{key} {options}");
        // Dynamic overwriting replaces what the rows are in, which is nothing.
        run(&s, "INSERT OVERWRITE t SELECT * FROM t WHERE false").await;
        assert_eq!(rows(&s, "SELECT id FROM t ORDER BY id").await, ["2", "3"], "{key} {options}");
        run(&s, "INSERT OVERWRITE t PARTITION (dt = 'y', h = 1) SELECT 4, 4").await;
        assert_eq!(rows(&s, "SELECT id FROM t ORDER BY id").await, ["2", "4"], "{key} {options}");
        // A word is no value.
        fails(&s, "INSERT OVERWRITE t PARTITION (dt = y, h = 1) SELECT 4, 4").await;
    }
}

/// Null, its default name as a text, empty and blank text share a folder, and are four partitions.
#[tokio::test(flavor = "multi_thread")]
async fn each_of_those_that_share_a_folder_is_itself() {
    const ALL: [(i32, &str); 4] = [(1, "NULL"), (2, "'__DEFAULT_PARTITION__'"), (3, "''"), (4, "' '")];
    for options in ["'bucket' = '-1'", "'bucket' = '-1', 'dynamic-partition-overwrite' = 'false'"] {
        for (chosen, value) in ALL {
            let s = session();
            run(&s, &format!("CREATE TABLE t (id INT, dt STRING) PARTITIONED BY (dt) WITH ({options})")).await;
            let fill = ALL.map(|(id, value)| format!("({id}, {value})")).join(", ");
            let left: Vec<String> = ALL.iter().filter(|(id, _)| *id != chosen).map(|(id, _)| id.to_string()).collect();
            let ids = "SELECT id FROM t ORDER BY id";
            for sql in [
                format!("INSERT OVERWRITE t PARTITION (dt = {value}) SELECT id FROM t WHERE false"),
                format!("ALTER TABLE t DROP PARTITION (dt = {value})"),
            ] {
                run(&s, &format!("TRUNCATE TABLE t; INSERT INTO t VALUES {fill}")).await;
                run(&s, &sql).await;
                assert_eq!(rows(&s, ids).await, left, "{options}: {sql}");
            }
            run(&s, &format!("INSERT OVERWRITE t PARTITION (dt = {value}) SELECT 5")).await;
            let all = [left.as_slice(), &["5".to_owned()]].concat();
            assert_eq!(rows(&s, ids).await, all, "{options}: {value}");
            run(&s, &format!("INSERT OVERWRITE t PARTITION (dt = {value}) SELECT 6")).await;
            let all = [left.as_slice(), &["6".to_owned()]].concat();
            assert_eq!(rows(&s, ids).await, all, "{options}: {value}");
        }
    }
    let s = session();
    run(&s, "CREATE TABLE t (id INT, dt STRING) PARTITIONED BY (dt)").await;
    fails(&s, "ALTER TABLE t DROP PARTITION (dt = 'a', dt = 'b')").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn also_that_of_null() {
    let s = session();
    run(&s, "CREATE TABLE t (id INT, dt STRING) PARTITIONED BY (dt)").await;
    run(&s, "INSERT INTO t VALUES (1, NULL), (2, 'x'), (3, 'NULL')").await;
    run(&s, "INSERT OVERWRITE t PARTITION (dt = NULL) SELECT 4").await;
    assert_eq!(rows(&s, "SELECT id, dt FROM t ORDER BY id").await, ["2|x", "3|NULL", "4|"]);
    run(&s, "ALTER TABLE t DROP PARTITION (dt = 'NULL')").await;
    assert_eq!(rows(&s, "SELECT id FROM t ORDER BY id").await, ["2", "4"]);
    run(&s, "ALTER TABLE t DROP PARTITION (dt = NULL)").await;
    assert_eq!(rows(&s, "SELECT id FROM t ORDER BY id").await, ["2"]);
}
