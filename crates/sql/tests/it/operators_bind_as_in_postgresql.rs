//! What an operator takes is what it takes in PostgreSQL and DuckDB.

use crate::{rows, run, session};

#[tokio::test(flavor = "multi_thread")]
async fn in_queries() {
    let s = session();
    for (expression, expected) in [
        ("true IS DISTINCT FROM false AND false", "false"),
        ("false AND true IS DISTINCT FROM false", "false"),
        ("1 IS NOT DISTINCT FROM 1 AND false", "false"),
        ("NOT 1 IS DISTINCT FROM 1", "true"),
        ("true IS DISTINCT FROM 2 = 2", "false"),
        ("NULL IS DISTINCT FROM 1 OR false", "true"),
        ("1 + 2 || 'x'", "3x"),
        ("'a' || 'b' = 'ab'", "true"),
        ("'b' || 'c' LIKE 'b' || '%'", "true"),
        ("false = 'a' LIKE 'b'", "true"),
        ("false = 5 BETWEEN 1 AND 2", "true"),
        ("1 + 2 << 3", "24"),
        ("1 << 2 & 3", "0"),
        ("- 2 * 3 + 1", "-5"),
        ("-2::BIGINT", "-2"),
        ("NOT 1 = 2", "true"),
        ("NOT true OR true", "true"),
        ("2 + 3 * 4 % 5", "4"),
        ("10 - 4 - 3", "3"),
        ("2 = 3 IS NULL", "false"),
        ("'a' || 'b' ~ '^ab$'", "true"),
    ] {
        assert_eq!(rows(&s, &format!("SELECT {expression}")).await, [expected], "{expression}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn in_every_statement() {
    let s = session();
    run(
        &s,
        "CREATE TABLE t (k INT NOT NULL, a INT, b INT, p STRING, PRIMARY KEY (k, p) NOT ENFORCED) PARTITIONED BY (p)",
    )
    .await;
    run(&s, "INSERT INTO t VALUES (1, 1, 2, 'x'), (2, 1, 1, 'x'), (3, NULL, 1, 'y')").await;
    assert_eq!(rows(&s, "SELECT k FROM t WHERE a IS DISTINCT FROM b AND k > 1").await, ["3"]);
    run(&s, "UPDATE t SET a = 9 WHERE a IS DISTINCT FROM b AND k > 1").await;
    run(&s, "DELETE FROM t WHERE a IS NOT DISTINCT FROM b AND k = 1").await;
    assert_eq!(rows(&s, "SELECT k, a FROM t ORDER BY k").await, ["1|1", "2|1", "3|9"]);
    run(
        &s,
        "MERGE INTO t USING (SELECT 1 AS k, 'x' AS p) s ON t.k = s.k AND t.p = s.p \
         WHEN MATCHED AND t.a IS DISTINCT FROM t.b AND false THEN DELETE WHEN MATCHED THEN UPDATE SET a = 5",
    )
    .await;
    assert_eq!(rows(&s, "SELECT a FROM t WHERE k = 1").await, ["5"]);
    // A condition of a procedure is read alike.
    run(&s, "CALL sys.compact(`table` => 'default.t', `where` => 'p IS DISTINCT FROM ''y'' AND false')").await;
}
