//! A value goes into a column as it is, or not at all: what would be rounded, cut or taken for something else needs a CAST.

use linn::ErrorKind;

use crate::{fails, rows, run, session};

const TABLE: &str = "CREATE TABLE t (k INT NOT NULL, i INT, b BIGINT, d DECIMAL(10, 2), f FLOAT, x DOUBLE, s STRING, o BOOLEAN, \
     day DATE, tm TIME(3), ts TIMESTAMP(3), t6 TIMESTAMP(6), t9 TIMESTAMP(9), l ARRAY<INT>, r ROW<n INT, m DECIMAL(4, 1)>, \
     m MAP<STRING, INT>, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1')";

#[tokio::test(flavor = "multi_thread")]
async fn what_would_change_is_refused() {
    let s = session();
    run(&s, TABLE).await;
    run(&s, "INSERT INTO t (k) VALUES (1)").await;
    for (column, value) in [
        ("i", "77.9"),
        ("i", "1e10"),
        ("i", "2147483648"),
        ("i", "'77.9'"),
        ("i", "'x'"),
        ("i", "CAST(0.5 AS DECIMAL(3, 1))"),
        ("i", "CAST('NaN' AS DOUBLE)"),
        ("i", "DATE '2026-01-01'"),
        ("b", "9223372036854775807.5"),
        ("b", "1e19"),
        ("d", "1.005"),
        ("d", "123456789.0"),
        ("d", "'1.005'"),
        ("d", "'1e-3'"),
        ("d", "0.125e0"),
        ("f", "1e39"),
        ("f", "'1e39'"),
        ("o", "2"),
        ("day", "TIMESTAMP '2026-01-01 10:00:00'"),
        ("day", "'2026-01-01 10:00:00'"),
        ("day", "20454"),
        ("day", "'2026-02-30'"),
        ("tm", "'10:00:00.1234'"),
        ("tm", "TIME '10:00:00.1234'"),
        ("tm", "TIMESTAMP '2026-01-01 10:00:00'"),
        ("ts", "TIMESTAMP '2026-01-01 10:00:00.1234'"),
        ("ts", "'2026-01-01 10:00:00.1234'"),
        ("ts", "1700000000000"),
        ("t6", "TIMESTAMP '2026-01-01 10:00:00.1234567'"),
        ("l", "[1.5]"),
        ("l", "[1, 3000000000]"),
        ("r", "named_struct('n', 1.5, 'm', 1.5)"),
        ("r", "named_struct('n', 1, 'm', 1.55)"),
        ("m", "MAP {'a': 1.5}"),
    ] {
        for sql in [
            format!("INSERT INTO t (k, {column}) VALUES (2, {value})"),
            format!("INSERT INTO t (k, {column}) SELECT 2, {value}"),
            format!("UPDATE t SET {column} = {value}"),
            format!(
                "MERGE INTO t USING (SELECT 1 AS k) q ON t.k = q.k WHEN MATCHED THEN UPDATE SET {column} = {value} \
                 WHEN NOT MATCHED THEN INSERT (k) VALUES (q.k)"
            ),
        ] {
            let error = fails(&s, &sql).await;
            assert_eq!(error.kind(), ErrorKind::Invalid, "{sql}: {error}");
            assert!(error.to_string().contains(&format!("column: {column}")), "{sql}: {error}");
        }
    }
    assert_eq!(rows(&s, "SELECT count(*), count(i), count(d), count(l) FROM t").await, ["1|0|0|0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stays_the_same_goes_in() {
    let s = session();
    run(&s, TABLE).await;
    run(&s, "INSERT INTO t (k) VALUES (1)").await;
    for (column, value, expected) in [
        ("i", "77.0", "77"),
        ("i", "'77'", "77"),
        ("i", "CAST(77.9 AS INT)", "77"),
        ("i", "CAST(5 AS BIGINT)", "5"),
        ("b", "CAST(9223372036854775807 AS DECIMAL(30, 0))", "9223372036854775807"),
        ("d", "1.5", "1.50"),
        ("d", "'1.500'", "1.50"),
        ("d", "1.5e0", "1.50"),
        ("d", "CAST(1.5 AS DOUBLE)", "1.50"),
        ("d", "3", "3.00"),
        ("f", "0.1", "0.1"),
        ("f", "'Infinity'", "inf"),
        ("x", "0.1", "0.1"),
        ("x", "CAST(1.25 AS DECIMAL(5, 2))", "1.25"),
        ("s", "5", "5"),
        ("o", "'true'", "true"),
        ("day", "'2026-01-02'", "2026-01-02"),
        ("day", "TIMESTAMP '2026-01-02 00:00:00'", "2026-01-02"),
        ("tm", "'10:00:00.120'", "10:00:00.120"),
        ("tm", "TIME '10:00:00.120'", "10:00:00.120"),
        ("ts", "TIMESTAMP '2026-01-01 10:00:00.123000'", "2026-01-01T10:00:00.123"),
        ("ts", "TIMESTAMP '9999-12-31 23:59:59'", "9999-12-31T23:59:59"),
        ("ts", "DATE '2026-01-01'", "2026-01-01T00:00:00"),
        ("t6", "'2026-01-01 10:00:00.123456'", "2026-01-01T10:00:00.123456"),
        ("t9", "TIMESTAMP '2026-01-01 10:00:00.123456789'", "2026-01-01T10:00:00.123456789"),
        ("l", "[1.0, 2.0]", "[1, 2]"),
        ("r", "named_struct('n', 1.0, 'm', 1.5)", "{n: 1, m: 1.5}"),
        ("m", "MAP {'a': 1}", "{a: 1}"),
        ("i", "NULL", ""),
    ] {
        for sql in [
            format!("INSERT INTO t (k, {column}) VALUES (1, {value})"),
            format!("UPDATE t SET {column} = {value}"),
            format!(
                "MERGE INTO t USING (SELECT 1 AS k) q ON t.k = q.k WHEN MATCHED THEN UPDATE SET {column} = {value}"
            ),
        ] {
            run(&s, &sql).await;
            assert_eq!(rows(&s, &format!("SELECT {column} FROM t")).await, [expected], "{sql}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn branches_of_a_merge_do_not_meet() {
    let s = session();
    run(&s, "CREATE TABLE t (k INT NOT NULL, b BIGINT, d DECIMAL(38, 18), PRIMARY KEY (k) NOT ENFORCED)").await;
    run(&s, "INSERT INTO t VALUES (1, 9007199254740993, 1.000000000000000001), (2, 2, 2)").await;
    run(
        &s,
        "MERGE INTO t USING (SELECT 2 AS k, CAST(5 AS DOUBLE) AS v, 'x' AS w UNION ALL SELECT 1, 7, '8') s ON t.k = s.k \
         WHEN MATCHED AND t.k = 2 THEN UPDATE SET b = s.v, d = s.v WHEN MATCHED THEN UPDATE SET d = t.d",
    )
    .await;
    let expected = ["1|9007199254740993|1.000000000000000001", "2|5|5.000000000000000000"];
    assert_eq!(rows(&s, "SELECT * FROM t ORDER BY k").await, expected);
}
