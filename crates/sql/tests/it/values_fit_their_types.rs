//! Every statement that writes refuses values that their types do not admit, and says which.

use super::{fails, rows, run, session};

const TABLES: [&str; 4] = [
    "PRIMARY KEY (id)) WITH ('bucket' = '1')",
    "PRIMARY KEY (id)) WITH ('bucket' = '1', 'deletion-vectors.enabled' = 'true')",
    "x INT) WITH ('bucket' = '-1')",
    "x INT) WITH ('bucket' = '-1', 'file.format' = 'avro')",
];

#[tokio::test]
async fn lengths_are_held_by_every_statement() {
    for rest in TABLES {
        let session = session();
        run(&session, &format!("CREATE TABLE t (id INT NOT NULL, c CHAR(3), s VARCHAR(3), y BINARY(2), {rest}")).await;
        run(&session, "INSERT INTO t (id, c, s, y) VALUES (1, '日本語', '😀😀😀', X'0102')").await;
        for (sql, length) in [
            ("INSERT INTO t (id, c) VALUES (2, 'abcd')", 4),
            ("INSERT INTO t (id, s) SELECT 2, 'abcde'", 5),
            ("INSERT INTO t (id, y) VALUES (2, X'010203')", 3),
            ("INSERT OVERWRITE t (id, c) SELECT 2, 'abcd'", 4),
            ("UPDATE t SET s = 'abcd' WHERE id = 1", 4),
            (
                "MERGE INTO t USING (SELECT 2 AS k) AS s ON t.id = s.k WHEN NOT MATCHED THEN INSERT (id, c) \
                 VALUES (s.k, 'abcd')",
                4,
            ),
            ("MERGE INTO t USING (SELECT 1 AS k) AS s ON t.id = s.k WHEN MATCHED THEN UPDATE SET y = X'010203'", 3),
        ] {
            let error = fails(&session, sql).await;
            assert!(error.to_string().contains(&format!("a value of length {length} is too long")), "{sql}: {error}");
            assert!(error.context().iter().any(|(key, _)| *key == "column"), "{sql}: {error:?}");
        }
        assert_eq!(rows(&session, "SELECT id, c, s FROM t").await, ["1|日本語|😀😀😀"], "{rest}");
    }
}

#[tokio::test]
async fn defaults_are_values_of_their_columns() {
    let session = session();
    for column in
        ["c CHAR(2) DEFAULT 'abc'", "b BINARY(1) DEFAULT 'ab'", "i TINYINT DEFAULT 300", "f FLOAT DEFAULT 1e39"]
    {
        fails(&session, &format!("CREATE TABLE t (id INT, {column})")).await;
    }
    run(&session, "CREATE TABLE t (id INT, c CHAR(2) DEFAULT 'ab', i TINYINT DEFAULT 3)").await;
    fails(&session, "ALTER TABLE t ALTER COLUMN c SET DEFAULT 'abc'").await;
}

#[tokio::test]
async fn numbers_do_not_become_infinite_and_sums_keep_to_their_digits() {
    let session = session();
    run(&session, "CREATE TABLE f (id INT, f FLOAT)").await;
    for sql in ["INSERT INTO f VALUES (1, 1e39)", "INSERT INTO f SELECT 1, CAST(1e39 AS DOUBLE)"] {
        fails(&session, sql).await;
    }
    run(&session, "INSERT INTO f VALUES (1, 1e38), (2, CAST('Infinity' AS DOUBLE))").await;
    assert_eq!(rows(&session, "SELECT count(*) FROM f").await, ["2"]);
    run(&session, "CREATE TABLE d (a DECIMAL(38, 0)); CREATE TABLE e (a DECIMAL(38, 0))").await;
    let most = "9".repeat(38);
    run(&session, &format!("INSERT INTO d VALUES ({most}), ({most})")).await;
    fails(&session, "INSERT INTO e SELECT sum(a) FROM d").await;
    assert_eq!(rows(&session, "SELECT count(*) FROM e").await, ["0"]);
}

#[tokio::test]
async fn timestamps_have_the_digits_of_their_type() {
    let session = session();
    run(&session, "CREATE TABLE t (at TIMESTAMP(0), v INT, PRIMARY KEY (at)) WITH ('bucket' = '1')").await;
    run(&session, "INSERT INTO t VALUES (TIMESTAMP '2026-01-01 00:00:01.25', 1)").await;
    run(&session, "INSERT INTO t VALUES (TIMESTAMP '2026-01-01 00:00:01.75', 2)").await;
    assert_eq!(rows(&session, "SELECT v FROM t").await, ["2"]);
    run(&session, "DELETE FROM t WHERE at = TIMESTAMP '2026-01-01 00:00:01'").await;
    assert_eq!(rows(&session, "SELECT count(*) FROM t").await, ["0"]);
}
