//! Arithmetic is exact, or an error that says which expression left its type.

use linn_sql::Session;

use crate::{fails, rows, run, session};

const MOST: &str = "99999999999999999999999999999999999999";

async fn filled() -> Session {
    let s = session();
    run(
        &s,
        &format!(
            "CREATE TABLE t (k INT NOT NULL, g STRING, a DECIMAL(38, 0), b BIGINT, i INT, y TINYINT, d DECIMAL(20, 2), \
             PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1'); \
             INSERT INTO t VALUES (1, 'x', {MOST}, 9223372036854775807, 2147483647, 127, 1.25), \
             (2, 'x', {MOST}, 1, 1, 1, 2.50), (3, 'y', -{MOST}, -9223372036854775808, -2147483648, -128, -1.00)"
        ),
    )
    .await;
    s
}

#[tokio::test(flavor = "multi_thread")]
async fn what_leaves_its_type_is_an_error() {
    let s = filled().await;
    for expression in [
        "sum(a) FILTER (WHERE k < 3)",
        "sum(b) FILTER (WHERE k < 3)",
        "sum(DISTINCT b) FILTER (WHERE k < 3)",
        "sum(a + a)",
        "min(a * 2)",
        "max(a * a)",
        "max(b + 1)",
        "max(1 + b)",
        "min(b - 1)",
        "max(b * 2)",
        "max(-b)",
        "max(abs(b))",
        "max(i + i)",
        "max(y + CAST(1 AS TINYINT))",
        "min(i - CAST(1 AS INT))",
        "max(-i)",
        "max(-y)",
        "max(a / 0.1)",
        "max(CAST(b AS INT))",
        "max(CAST(a AS BIGINT))",
        "max(CAST(a AS DECIMAL(37, 0)))",
        "max(CAST(b AS DECIMAL(18, 0)))",
        "max(CAST(i AS SMALLINT))",
        "max(CAST(d * 1e30 AS DECIMAL(20, 2)))",
        "max(CAST(b AS DECIMAL(20, 5)))",
        "max(9223372036854775807 + k)",
    ] {
        // INT and TINYINT are added as wider types where literals stand beside them.
        let error = fails(&s, &format!("SELECT {expression} FROM t")).await;
        assert_eq!(error.kind(), linn::ErrorKind::Invalid, "{expression}: {error}");
    }
    for sql in [
        "SELECT g, sum(b) FROM t GROUP BY g",
        "SELECT g, sum(a) FROM t GROUP BY g",
        "SELECT sum(b) OVER (ORDER BY k) FROM t WHERE k < 3",
        "SELECT sum(b) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t WHERE k < 3",
        "SELECT sum(a) OVER (PARTITION BY g) FROM t",
        "SELECT 9223372036854775807 + 1",
        "SELECT -(-9223372036854775807 - 1)",
        "SELECT 9223372036854775807 * 2",
        "SELECT k FROM t WHERE b + 1 > 0",
        "SELECT k FROM t WHERE a + 1 > 0",
        "SELECT k FROM t ORDER BY b * 2",
        "SELECT x.k FROM t x JOIN t y ON x.b + y.b = 0",
        "SELECT CASE WHEN k = 1 THEN b + 1 ELSE 0 END FROM t",
        "UPDATE t SET b = b + 1",
        "UPDATE t SET a = a * 2 WHERE k = 1",
        "UPDATE t SET i = i + 1 WHERE k = 1",
        "DELETE FROM t WHERE b + 1 = 0",
        "MERGE INTO t USING (SELECT 1 AS k) s ON t.k = s.k WHEN MATCHED THEN UPDATE SET b = t.b + 1",
        "INSERT INTO t (k, b) SELECT 9, sum(b) FROM t WHERE k < 3",
        "INSERT INTO t (k, a) SELECT 9, sum(a) FROM t WHERE k < 3",
        "INSERT INTO t (k, i) SELECT 9, b FROM t WHERE k = 1",
    ] {
        let error = fails(&s, sql).await;
        assert_eq!(error.kind(), linn::ErrorKind::Invalid, "{sql}: {error}");
    }
    assert_eq!(
        rows(&s, "SELECT count(*), min(b), max(b) FROM t").await,
        ["3|-9223372036854775808|9223372036854775807"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_name_the_expression() {
    let s = filled().await;
    for (sql, words) in [
        ("SELECT b + 1 FROM t WHERE k = 1", "BIGINT overflow in t.b + 1: 9223372036854775807 + 1"),
        ("SELECT sum(b) FROM t WHERE k < 3", "BIGINT overflow in sum(t.b)"),
        ("SELECT sum(a) FROM t WHERE k < 3", "DECIMAL(38, 0) overflow in sum(t.a)"),
        ("SELECT a + a FROM t WHERE k = 1", "DECIMAL(38, 0) overflow in t.a + t.a"),
    ] {
        let error = fails(&s, sql).await.to_string();
        assert!(error.contains(words), "{sql}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stays_in_its_type_is_exact() {
    let s = filled().await;
    for (expression, expected) in [
        // Sums may leave the type on the way.
        ("sum(b)", "0"),
        ("sum(a)", MOST),
        ("sum(DISTINCT a)", "0"),
        ("sum(d)", "2.75"),
        ("sum(i)", "0"),
        ("sum(y)", "0"),
        ("sum(b) FILTER (WHERE k > 9)", ""),
        ("avg(b) FILTER (WHERE k <> 2)", "-0.5"),
        ("avg(DISTINCT b) FILTER (WHERE k <> 2)", "-0.5"),
        ("avg(k)", "2.0"),
        ("avg(d)", "0.916666"),
        ("avg(b) FILTER (WHERE k > 9)", ""),
        ("count(*) + sum(k)", "9"),
        ("max(a) - 1", "99999999999999999999999999999999999998"),
        ("max(b) - 1", "9223372036854775806"),
        ("max(d * d)", "6.2500"),
        ("-max(b)", "-9223372036854775807"),
        ("abs(min(b) + 1)", "9223372036854775807"),
        ("min(b) + 1 + max(b)", "0"),
    ] {
        assert_eq!(rows(&s, &format!("SELECT {expression} FROM t")).await, [expected], "{expression}");
    }
    for (sql, expected) in [
        (
            "SELECT sum(b) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t WHERE k > 1",
            "1 -9223372036854775807",
        ),
        ("SELECT avg(k) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t", "1.0 1.5 2.5"),
        ("SELECT avg(k) FROM t GROUP BY g ORDER BY 1", "1.5 3.0"),
        ("SELECT sum(k) + sum(k + 1) FROM t", "15"),
        ("SELECT -(-9223372036854775807)", "9223372036854775807"),
        ("SELECT -9223372036854775808", "-9223372036854775808"),
        ("SELECT 7 / 2, 7 % 2, -7 / 2", "3|1|-3"),
    ] {
        assert_eq!(rows(&s, sql).await.join(" "), expected, "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_keep_their_names() {
    let s = filled().await;
    let linn_sql::Output::Rows { schema, .. } =
        s.execute("SELECT b - 1, -k, sum(k + 1) OVER (), (k + 1) * 2, sum(k * 2) FROM t GROUP BY b, k").await.unwrap()
    else {
        panic!("no rows")
    };
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["b - 1", "-k", "sum(k + 1) OVER ()", "(k + 1) * 2", "sum(k * 2)"]);
}
