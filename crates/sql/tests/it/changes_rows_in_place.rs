//! UPDATE, DELETE and MERGE on tables without a primary key, with deletion vectors and without; deletion vectors of
//! primary-key tables.

use super::*;

const TABLES: [&str; 3] = [
    "'deletion-vectors.enabled' = 'true'",
    "'deletion-vectors.enabled' = 'true', 'bucket' = '2', 'bucket-key' = 'id'",
    "'bucket' = '-1'",
];

async fn filled(options: &str) -> Session {
    let s = session();
    run(&s, &format!("CREATE TABLE t (id BIGINT, name STRING, dt STRING) PARTITIONED BY (dt) WITH ({options})")).await;
    run(&s, "INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, NULL, 'y'); INSERT INTO t VALUES (4, 'a', 'y')")
        .await;
    s
}

const ALL: &str = "SELECT id, name, dt FROM t ORDER BY id";

/// Case D7: a row for which the condition is unknown stays.
#[tokio::test]
async fn a_delete_takes_what_its_condition_is_true_for() {
    for options in TABLES {
        let s = filled(options).await;
        run(&s, "DELETE FROM t WHERE name = 'a'").await;
        assert_eq!(rows(&s, ALL).await, ["2|b|x", "3||y"], "{options}");
        assert_eq!(rows(&s, "SELECT COUNT(*) FROM t").await, ["2"]);
        run(&s, "DELETE FROM t AS u WHERE u.id IN (SELECT MAX(id) FROM t)").await;
        assert_eq!(rows(&s, ALL).await, ["2|b|x"]);
        assert_eq!(rows(&s, "SELECT id FROM t LIMIT 2").await, ["2"]);
        run(&s, "CALL sys.compact(`table` => 'default.t'); DELETE FROM t; DELETE FROM t").await;
        assert!(rows(&s, ALL).await.is_empty());
    }
}

#[tokio::test]
async fn an_update_moves_rows_to_new_files() {
    for options in TABLES {
        let s = filled(options).await;
        run(
            &s,
            "UPDATE t SET name = name || '!' WHERE t.id < 4 AND dt = 'x'; UPDATE t SET id = id + 10 WHERE name IS NULL",
        )
        .await;
        let all = ["1|a!|x", "2|b!|x", "4|a|y", "13||y"];
        assert_eq!(rows(&s, ALL).await, all, "{options}");
        run(&s, "CALL sys.compact(`table` => 'default.t')").await;
        assert_eq!(rows(&s, ALL).await, all);
        let error = fails(&s, "UPDATE t SET dt = 'z'").await;
        assert_eq!(error.kind(), linn::ErrorKind::Invalid);
    }
}

#[tokio::test]
async fn a_merge_inserts_updates_and_deletes() {
    for options in TABLES {
        let s = filled(options).await;
        run(&s, "CREATE TABLE u (id BIGINT, name STRING); INSERT INTO u VALUES (1, 'n'), (2, NULL), (9, 'z')").await;
        let merge = "MERGE INTO t USING u AS s ON t.id = s.id WHEN MATCHED AND s.name IS NULL THEN DELETE \
             WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.name, 'x')";
        run(&s, merge).await;
        let all = ["1|n|x", "3||y", "4|a|y", "9|z|x"];
        assert_eq!(rows(&s, ALL).await, all, "{options}");
        run(&s, "INSERT INTO u VALUES (1, 'twice')").await;
        assert_eq!(fails(&s, merge).await.kind(), linn::ErrorKind::Invalid);
        assert_eq!(rows(&s, ALL).await, all);
    }
}

#[tokio::test]
async fn primary_key_tables_show_rows_at_once() {
    let s = session();
    run(
        &s,
        "CREATE TABLE t (id BIGINT, name STRING, dt STRING, PRIMARY KEY (id) NOT ENFORCED) \
         WITH ('bucket' = '2', 'deletion-vectors.enabled' = 'true')",
    )
    .await;
    run(&s, "INSERT INTO t SELECT value, 'a', 'x' FROM generate_series(1, 1000) AS g(value)").await;
    run(&s, "UPDATE t SET name = 'b' WHERE id = 7; DELETE FROM t WHERE id > 990").await;
    assert_eq!(rows(&s, "SELECT COUNT(*), COUNT(DISTINCT id), MAX(id) FROM t").await, ["990|990|990"]);
    assert_eq!(rows(&s, "SELECT * FROM t WHERE id = 7").await, ["7|b|x"]);
    let plan = rows(&s, "EXPLAIN SELECT * FROM t").await.join(" ");
    assert!(plan.contains("merged=0"), "{plan}");
    let error = fails(&s, "ALTER TABLE t SET ('deletion-vectors.enabled' = 'false')").await;
    assert!(error.to_string().contains("deletion-vectors"), "{error}");
}

#[tokio::test]
async fn overwriting_shows_rows_at_once() {
    let s = session();
    run(
        &s,
        "CREATE TABLE t (id BIGINT, n BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', \
         'deletion-vectors.enabled' = 'true', 'write-buffer-size' = '64 kb', 'write-buffer-spillable' = 'false'); \
         INSERT INTO t VALUES (-1, 0); \
         INSERT OVERWRITE t SELECT value % 1000, 1 FROM generate_series(0, 49999) AS g(value)",
    )
    .await;
    assert_eq!(rows(&s, "SELECT COUNT(*), MIN(id), MIN(n) FROM t").await, ["1000|0|1"]);
}

/// Case D4: rows would show twice.
#[tokio::test]
async fn regress_vectors_cannot_be_turned_on_over_data() {
    let s = session();
    run(&s, ORDERS).await;
    let error = fails(&s, "ALTER TABLE orders SET ('deletion-vectors.enabled' = 'true')").await;
    assert_eq!(error.kind(), linn::ErrorKind::Invalid);
    run(
        &s,
        "CALL sys.compact(`table` => 'default.orders'); \
         ALTER TABLE orders SET ('deletion-vectors.modifiable' = 'true'); \
         ALTER TABLE orders SET ('deletion-vectors.enabled' = 'true'); \
         UPDATE orders SET note = 'x' WHERE id = 1",
    )
    .await;
    assert_eq!(rows(&s, "SELECT id, note FROM orders ORDER BY id").await, ["1|x", "2|b", "3|c"]);
}

#[tokio::test]
async fn deletes_at_the_same_time_all_happen() {
    for options in TABLES {
        let s = Arc::new(session());
        run(&s, &format!("CREATE TABLE t (id BIGINT) WITH ({options})")).await;
        run(&s, "INSERT INTO t SELECT value FROM generate_series(0, 99) AS g(value)").await;
        let delete = |job: i64| {
            let s = Arc::clone(&s);
            tokio::spawn(async move { run(&s, &format!("DELETE FROM t WHERE id % 10 = {job}")).await })
        };
        for job in (0..3).map(delete).collect::<Vec<_>>() {
            job.await.unwrap();
        }
        assert_eq!(rows(&s, "SELECT COUNT(*), MIN(id % 10) FROM t").await, ["70|3"], "{options}");
    }
}

#[tokio::test]
async fn statements_at_the_same_time_lose_nothing() {
    let s = Arc::new(session());
    run(
        &s,
        "CREATE TABLE t (id BIGINT, n BIGINT, PRIMARY KEY (id) NOT ENFORCED) \
         WITH ('bucket' = '1', 'deletion-vectors.enabled' = 'true'); \
         INSERT INTO t SELECT value, 0 FROM generate_series(0, 499) AS g(value)",
    )
    .await;
    let update = |job: i64| {
        let s = Arc::clone(&s);
        tokio::spawn(async move {
            for round in 0..3 {
                let sql = format!("UPDATE t SET n = {} WHERE id / 100 = {job}", round + 1);
                run(&s, &sql).await;
            }
        })
    };
    for job in (0..4).map(update).collect::<Vec<_>>() {
        job.await.unwrap();
    }
    let sums = rows(&s, "SELECT id / 100, COUNT(*), MIN(n), MAX(n) FROM t GROUP BY 1 ORDER BY 1").await;
    assert_eq!(sums, ["0|100|3|3", "1|100|3|3", "2|100|3|3", "3|100|3|3", "4|100|0|0"]);
}
