//! A clause that is written either does what it says or ends the statement.

use linn::ErrorKind;

use crate::{fails, rows, run, session};

#[tokio::test(flavor = "multi_thread")]
async fn refused() {
    let s = session();
    run(
        &s,
        "CREATE TABLE t (k INT NOT NULL, v INT, PRIMARY KEY (k) NOT ENFORCED); INSERT INTO t VALUES (1, 1), (2, 2)",
    )
    .await;
    for sql in [
        "SELECT * FROM t FOR UPDATE",
        "SELECT * FROM t LIMIT 1 BY v",
        "SELECT k FROM t ORDER BY k FETCH FIRST 1 ROWS WITH TIES",
        "SELECT upper('a') FILTER (WHERE false) FROM t",
        "SELECT abs(DISTINCT v) FROM t",
        "SELECT k FROM t EXCEPT ALL SELECT 1",
        "SELECT k FROM t WHERE 'a' SIMILAR TO 'a|b'",
        "SELECT 2 ^ 3",
        "UPDATE t SET v = 1 LIMIT 1",
        "UPDATE t SET v = 1 RETURNING k",
        "DELETE FROM t LIMIT 1",
        "DELETE FROM t RETURNING k",
        "DELETE FROM t WHERE k IN (SELECT k FROM t FOR SHARE)",
        "INSERT INTO t SELECT * FROM t FOR UPDATE",
        "INSERT INTO t VALUES (3, 3) ON CONFLICT DO NOTHING",
        "INSERT INTO t VALUES (3, 3) RETURNING k",
        "CREATE TABLE u AS SELECT * FROM t SETTINGS a = 1",
        "SELECT * FROM t TABLESAMPLE BERNOULLI (10) REPEATABLE (1)",
    ] {
        let error = fails(&s, sql).await;
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{sql}: {error}");
    }
    assert_eq!(rows(&s, "SELECT * FROM t ORDER BY k").await, ["1|1", "2|2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn done() {
    let s = session();
    run(&s, "CREATE TABLE t (k INT NOT NULL, v INT, PRIMARY KEY (k) NOT ENFORCED)").await;
    run(&s, "INSERT INTO t VALUES (1, 1), (2, 2), (3, 1), (4, NULL)").await;
    for (sql, expected) in [
        ("FROM t ORDER BY k LIMIT 2", "1|1 2|2"),
        ("FROM t WHERE k = 2", "2|2"),
        ("FROM t SELECT v WHERE k = 3", "1"),
        ("FROM t FOR VERSION AS OF 1 WHERE k = 2", "2|2"),
        ("TABLE t ORDER BY k DESC LIMIT 1", "4|"),
        ("SELECT k FROM t ORDER BY k OFFSET 1 ROW FETCH NEXT 2 ROWS ONLY", "2 3"),
        ("SELECT k FROM t ORDER BY k LIMIT 1, 2", "2 3"),
        ("SELECT v, count(*) FROM t GROUP BY ALL ORDER BY v NULLS FIRST", "|1 1|2 2|1"),
        ("SELECT k FROM t QUALIFY row_number() OVER (PARTITION BY v ORDER BY k DESC) = 1 ORDER BY k", "2 3 4"),
        ("SELECT k FROM t WINDOW w AS (ORDER BY k) QUALIFY sum(k) OVER w > 2 ORDER BY sum(k) OVER w DESC", "4 3 2"),
        ("SELECT DISTINCT ON (v) v, k FROM t ORDER BY v NULLS LAST, k DESC", "1|3 2|2 |4"),
        ("SELECT sum(k) FILTER (WHERE v = 1) FROM t", "4"),
        ("SELECT first_value(v IGNORE NULLS ORDER BY k DESC) FROM t", "1"),
        ("SELECT * EXCLUDE (v) FROM t WHERE k = 1", "1"),
        ("SELECT count(*) FROM t TABLESAMPLE (100 PERCENT)", "4"),
        ("SELECT count(*) FROM t TABLESAMPLE BERNOULLI (0)", "0"),
        ("SELECT count(*) FROM t AS x TABLESAMPLE (3 ROWS) WHERE x.k > 0", "3"),
        ("SELECT count(*) FROM t TABLESAMPLE (2 ROWS) JOIN t AS u USING (k)", "2"),
    ] {
        assert_eq!(rows(&s, sql).await.join(" "), expected, "{sql}");
    }
    run(&s, "CREATE TABLE many (k INT); INSERT INTO many SELECT value FROM generate_series(1, 10000)").await;
    let sampled: u32 = rows(&s, "SELECT count(*) FROM many TABLESAMPLE (10 PERCENT)").await[0].parse().unwrap();
    // Nine standard deviations to both sides.
    assert!((730..=1270).contains(&sampled), "{sampled}");
}
