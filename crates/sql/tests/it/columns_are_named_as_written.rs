//! A column without an alias is called what was written for it, and no two columns of a list block each other.

use arrow::datatypes::Schema;
use linn_sql::{Output, Session};

use crate::{rows, run, session};

async fn filled() -> Session {
    let s = session();
    run(
        &s,
        "CREATE TABLE t (k INT NOT NULL, v INT, s STRING, p ROW<x INT, y STRING>, PRIMARY KEY (k) NOT ENFORCED) \
         WITH ('bucket' = '1'); \
         CREATE TABLE u (k INT NOT NULL, w INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1'); \
         INSERT INTO t VALUES (1, 10, 'a', ROW(7, 'x')), (2, 10, 'b', NULL); INSERT INTO u VALUES (1, 5), (2, 6)",
    )
    .await;
    s
}

async fn names(s: &Session, sql: &str) -> String {
    let mut names = String::new();
    s.run(sql, async |output| {
        if let Output::Rows { schema, .. } = output {
            let of = |schema: &Schema| schema.fields().iter().map(|f| f.name().clone()).collect::<Vec<_>>();
            names = of(&schema).join(" | ");
        }
        Ok(())
    })
    .await
    .unwrap_or_else(|e| panic!("{sql}: {e:?}"));
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn by_their_text_and_apart() {
    let s = filled().await;
    for (sql, expected) in [
        ("SELECT 1, 'x', v + 1, -v FROM t", "1 | 'x' | v + 1 | -v"),
        ("SELECT true IS DISTINCT FROM false AND false", "true IS DISTINCT FROM false AND false"),
        ("SELECT sum(v), count(*), max(s) FROM t", "sum(v) | count(*) | max(s)"),
        ("SELECT v, CAST(v AS STRING), v::BIGINT FROM t", "v | CAST(v AS STRING) | v::BIGINT"),
        ("SELECT v, v, v FROM t", "v | v_1 | v_2"),
        ("SELECT *, k FROM t", "k | v | s | p | k_1"),
        ("SELECT t.*, t.k, u.k FROM t JOIN u ON t.k = u.k", "k | v | s | p | k_1 | k_2"),
        ("SELECT * EXCLUDE (k), k FROM t", "v | s | p | k"),
        ("SELECT t.k, u.k FROM t, u WHERE t.k = u.k", "k | k_1"),
        ("SELECT 1, 1 UNION ALL SELECT 2, 2", "1 | 1_1"),
        ("SELECT p.x, t.p.y FROM t", "x | y"),
        ("SELECT (v) FROM t", "v"),
        ("SELECT (SELECT max(w) FROM u FOR VERSION AS OF 1)", "(SELECT max(w) FROM \"u\")"),
        ("SELECT * FROM (SELECT v + 1, upper(s) FROM t)", "v + 1 | upper(s)"),
        ("WITH c AS (SELECT upper(s) FROM t) SELECT \"upper(s)\" FROM c", "upper(s)"),
        ("SELECT 1.5, 0.10", "1.5 | 0.10"),
    ] {
        assert_eq!(names(&s, sql).await, expected, "{sql}");
    }
    run(&s, "CREATE TABLE made AS SELECT k + 1, upper(s) FROM t").await;
    assert_eq!(names(&s, "SELECT * FROM made").await, "k + 1 | upper(s)");
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_and_groups_find_them() {
    let s = filled().await;
    for (sql, expected) in [
        ("SELECT DISTINCT v + 1 FROM t ORDER BY v + 1", "11"),
        ("SELECT v + k FROM t ORDER BY v + k DESC", "12 11"),
        ("SELECT sum(w) FROM u GROUP BY k HAVING sum(w) > 5 ORDER BY sum(w)", "6"),
        ("SELECT -k FROM t ORDER BY k", "-1 -2"),
        ("SELECT k, k FROM t ORDER BY k DESC", "2|2 1|1"),
        ("SELECT t.k, u.k FROM t, u ORDER BY u.k DESC, t.k LIMIT 2", "1|2 2|2"),
        ("SELECT DISTINCT t.k FROM t ORDER BY t.k", "1 2"),
        ("SELECT upper(s) FROM t GROUP BY upper(s) ORDER BY upper(s) DESC", "B A"),
        ("SELECT k + 1 FROM t UNION ALL SELECT 1 ORDER BY 1", "1 2 3"),
        ("SELECT max(v) FROM t GROUP BY ALL ORDER BY ALL", "10"),
        ("SELECT -k, s FROM t ORDER BY ALL", "-2|b -1|a"),
        ("SELECT v, k FROM t ORDER BY ALL DESC", "10|2 10|1"),
        ("SELECT w, k FROM u UNION ALL SELECT 5, 0 ORDER BY ALL", "5|0 5|1 6|2"),
        ("SELECT * FROM u ORDER BY ALL DESC", "2|6 1|5"),
        ("VALUES (2), (1) ORDER BY ALL", "1 2"),
    ] {
        assert_eq!(rows(&s, sql).await.join(" "), expected, "{sql}");
    }
}
