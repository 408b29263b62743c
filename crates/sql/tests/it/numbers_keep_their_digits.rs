//! A number with a point is a DECIMAL beside decimals, and a DOUBLE beside floats.

use arrow::datatypes::DataType;
use linn_sql::{Output, Session};

use crate::{fails, rows, run, session};

const TABLE: &str = "CREATE TABLE t (k INT NOT NULL, d DECIMAL(22, 4), w DECIMAL(38, 18), f DOUBLE, g FLOAT, \
     PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1')";

/// The keys of the rows for which a condition holds.
async fn keys(session: &Session, condition: &str) -> String {
    rows(session, &format!("SELECT k FROM t WHERE {condition} ORDER BY k")).await.join(" ")
}

async fn filled() -> Session {
    let s = session();
    run(&s, TABLE).await;
    run(
        &s,
        "INSERT INTO t VALUES (1, 123456789012345678.9012, 1.000000000000000001, 0.1, 0.1), \
         (2, 123456789012345678.9013, 1.000000000000000002, 1e300, 1e30), (3, 1234567890123.45, 0.1, -1e-300, 1.5), \
         (4, 1.5, NULL, 12345678901234567890.5, 0.3), (5, NULL, -0.5, 'NaN', 'Infinity')",
    )
    .await;
    s
}

#[tokio::test(flavor = "multi_thread")]
async fn in_conditions() {
    let s = filled().await;
    for (condition, expected) in [
        ("d = 123456789012345678.9012", "1"),
        ("123456789012345678.9012 < d", "2"),
        ("d <> 123456789012345678.9012", "2 3 4"),
        ("d = 1234567890123.45", "3"),
        ("d = 1.5", "4"),
        ("d = 1.50004", ""),
        ("d IN (123456789012345678.9013, 1234567890123.45)", "2 3"),
        ("d BETWEEN 1.5 AND 1234567890123.45", "3 4"),
        ("d + 0.0001 = 123456789012345678.9013", "1"),
        ("d - 123456789012345678.9012 = 0.0001", "2"),
        ("w = 1.000000000000000002", "2"),
        ("w = 0.1", "3"),
        ("w < -0.4", "5"),
        ("coalesce(w, 0.1) = 0.1", "3 4"),
        ("CASE k WHEN 1 THEN d ELSE 0.5 END > 123456789012345678.9011", "1"),
        ("d = (SELECT max(d) - 0.0001 FROM t)", "1"),
        ("EXISTS (SELECT 1 FROM t u WHERE u.k = t.k AND u.d = 123456789012345678.9012)", "1"),
        ("NOT (d > 1.5)", "4"),
        // Beside floats nothing is brought to fifteen digits behind the point.
        ("f = 0.1", "1"),
        ("f = 1e300", "2"),
        ("f > 1.5", "2 4 5"),
        ("f < 0.0", "3"),
        ("f = -1e-300", "3"),
        ("f = 12345678901234567890.5", "4"),
        ("f BETWEEN 0.05 AND 0.15", "1"),
        ("f IN (0.1, 0.2)", "1"),
        ("f * 0.5 = 0.05", "1"),
        ("g > 1.0", "2 3 5"),
        ("g = 1.5", "3"),
        // And beside integers they are what they were.
        ("k > 1.5", "2 3 4 5"),
        ("k * 0.5 = 1.5", "3"),
        ("k < 99999999999999999999", "1 2 3 4 5"),
    ] {
        assert_eq!(keys(&s, condition).await, expected, "{condition}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn in_what_is_written() {
    for key in ["PRIMARY KEY (k) NOT ENFORCED", ""] {
        let s = session();
        let with = if key.is_empty() { "" } else { "," };
        run(&s, &format!("CREATE TABLE t (k INT NOT NULL, d DECIMAL(22, 4), f DOUBLE{with} {key})")).await;
        run(
            &s,
            "INSERT INTO t SELECT 1, 123456789012345678.9012, 0.1; \
             INSERT INTO t SELECT * FROM (SELECT 2, 123456789012345678.9013, 1e300 UNION ALL SELECT 3, -0.5, 2.5); \
             INSERT INTO t (f, d, k) SELECT f, d, k FROM (VALUES (123456789012345678.9, 123456789012345678.9012, 4)) AS v (f, d, k)",
        )
        .await;
        let all = "SELECT k, d, f FROM t ORDER BY k";
        assert_eq!(
            rows(&s, all).await,
            [
                "1|123456789012345678.9012|0.1",
                "2|123456789012345678.9013|1e300",
                "3|-0.5000|2.5",
                "4|123456789012345678.9012|1.2345678901234568e17",
            ]
        );
        run(
            &s,
            "UPDATE t SET d = 1234567890123456.78, f = 0.30000000000000004 WHERE d = 123456789012345678.9013; \
             UPDATE t SET d = d + 0.0001 WHERE k = 1; \
             UPDATE t SET d = CASE WHEN k = 3 THEN 123456789012345678.0001 ELSE 0.5 END WHERE k > 2",
        )
        .await;
        run(
            &s,
            "MERGE INTO t USING (SELECT 5 AS k UNION ALL SELECT 3) AS u ON t.k = u.k \
             WHEN MATCHED THEN UPDATE SET d = d + 0.0001, f = 0.1 \
             WHEN NOT MATCHED THEN INSERT (k, d, f) VALUES (u.k, 123456789012345678.9011, 0.1)",
        )
        .await;
        assert_eq!(
            rows(&s, all).await,
            [
                "1|123456789012345678.9013|0.1",
                "2|1234567890123456.7800|0.30000000000000004",
                "3|123456789012345678.0002|0.1",
                "4|0.5000|1.2345678901234568e17",
                "5|123456789012345678.9011|0.1",
            ]
        );
        run(&s, "DELETE FROM t WHERE d = 123456789012345678.9011").await;
        assert_eq!(rows(&s, "SELECT count(*) FROM t").await, ["4"]);
        let error = fails(&s, "INSERT INTO t SELECT 9, 123456789012345678901.5, 1").await;
        assert!(error.to_string().contains("column: d"), "{error}");
    }
}

/// The type and the name of a query's first column, and its value in the first row.
async fn first(session: &Session, sql: &str) -> (DataType, String, String) {
    let Output::Rows { schema, .. } = session.execute(sql).await.unwrap() else { panic!("{sql} gives no rows") };
    let row = rows(session, sql).await.swap_remove(0);
    (schema.field(0).data_type().clone(), schema.field(0).name().clone(), row)
}

#[tokio::test(flavor = "multi_thread")]
async fn in_results() {
    let s = filled().await;
    for (sql, data_type, name, value) in [
        ("SELECT 1.5", DataType::Float64, "1.5", "1.5"),
        ("SELECT 0.1 + 0.2", DataType::Float64, "0.1 + 0.2", "0.30000000000000004"),
        ("SELECT 1e3", DataType::Float64, "1e3", "1000.0"),
        ("SELECT 10 / 4.0", DataType::Float64, "10 / 4.0", "2.5"),
        ("SELECT sqrt(2.25)", DataType::Float64, "sqrt(2.25)", "1.5"),
        ("SELECT round(2.345, 2)", DataType::Float64, "round(2.345, 2)", "2.35"),
        ("SELECT sum(k * 0.5) FROM t", DataType::Float64, "sum(k * 0.5)", "7.5"),
        ("SELECT avg(f) * 1.5 FROM t WHERE k = 1", DataType::Float64, "avg(f) * 1.5", "0.15000000000000002"),
        ("SELECT max(x) FROM (SELECT k + 0.5 AS x FROM t) WHERE x < 5.25", DataType::Float64, "max(x)", "4.5"),
        ("SELECT x FROM (VALUES (1.5), (2), (NULL)) AS v (x) ORDER BY x LIMIT 1", DataType::Float64, "x", "1.5"),
        (
            "SELECT 123456789012345678.9012",
            DataType::Decimal128(22, 4),
            "123456789012345678.9012",
            "123456789012345678.9012",
        ),
        ("SELECT d + 0.5 FROM t WHERE k = 4", DataType::Decimal128(23, 4), "d + 0.5", "2.0000"),
        ("SELECT sum(d + 0.5) FROM t WHERE k = 4", DataType::Decimal128(33, 4), "sum(d + 0.5)", "2.0000"),
        ("SELECT count(*) FROM t GROUP BY d + 0.5 HAVING d + 0.5 = 2.0", DataType::Int64, "count(*)", "1"),
        ("SELECT d * 1.5 AS x FROM t WHERE k = 4 ORDER BY d * 1.5", DataType::Decimal128(25, 5), "x", "2.25000"),
    ] {
        assert_eq!(first(&s, sql).await, (data_type, name.to_owned(), value.to_owned()), "{sql}");
    }
}
