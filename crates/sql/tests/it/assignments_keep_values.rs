//! A value goes into a column as it is, or not at all: what would be rounded, cut or taken for something else needs a CAST. Digits
//! of a second that the column has not are cut all the same.

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
        ("tm", "TIMESTAMP '2026-01-01 10:00:00'"),
        ("ts", "1700000000000"),
        ("t9", "TIMESTAMP '9999-12-31 23:59:59'"),
        ("t9", "'9999-12-31 23:59:59'"),
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
async fn digits_of_seconds_are_cut_toward_the_past() {
    let s = session();
    let columns = "tm TIME(3), t0 TIMESTAMP(0), t3 TIMESTAMP(3), z3 TIMESTAMP_LTZ(3), t6 TIMESTAMP(6), l ARRAY<TIMESTAMP(3)>, \
         r ROW<n INT, t TIMESTAMP(1)>, m MAP<STRING, TIMESTAMP(3)>";
    run(&s, &format!("CREATE TABLE t (k INT NOT NULL, {columns}, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1')"))
        .await;
    run(&s, &format!("CREATE TABLE a (k INT, {columns})")).await;
    run(&s, "INSERT INTO t (k) VALUES (1); INSERT INTO a (k) VALUES (1)").await;
    const LATE: &str = "2026-01-01 10:00:00.123456789";
    const EARLY: &str = "1969-12-31 23:59:59.9999999";
    for (column, value, expected) in [
        ("tm", "'10:00:00.1239'", "10:00:00.123"),
        ("tm", "TIME '10:00:00.1239'", "10:00:00.123"),
        ("t0", "TIMESTAMP '{LATE}'", "2026-01-01T10:00:00"),
        ("t0", "TIMESTAMP '{EARLY}'", "1969-12-31T23:59:59"),
        ("t0", "TIMESTAMP '1969-12-31 23:59:59.5'", "1969-12-31T23:59:59"),
        ("t3", "TIMESTAMP '{LATE}'", "2026-01-01T10:00:00.123"),
        ("t3", "TIMESTAMP '{EARLY}'", "1969-12-31T23:59:59.999"),
        ("t3", "'{LATE}'", "2026-01-01T10:00:00.123"),
        ("t3", "'{LATE}123456789'", "2026-01-01T10:00:00.123"),
        ("t3", "'{EARLY}'", "1969-12-31T23:59:59.999"),
        ("t3", "arrow_cast('{EARLY}', 'Timestamp(Nanosecond, Some(\"UTC\"))')", "1969-12-31T23:59:59.999"),
        ("t3", "CAST(TIMESTAMP '{EARLY}' AS TIMESTAMP(3))", "1969-12-31T23:59:59.999"),
        ("t6", "CAST(TIMESTAMP '{EARLY}' AS TIMESTAMP(0))", "1969-12-31T23:59:59"),
        ("t6", "CAST(-1 AS TIMESTAMP(0))", "1969-12-31T23:59:59"),
        ("t3", "CAST(TIMESTAMP '{EARLY}' AS TIMESTAMP(1))", "1969-12-31T23:59:59.900"),
        ("z3", "arrow_cast('{LATE}', 'Timestamp(Nanosecond, Some(\"UTC\"))')", "2026-01-01T10:00:00.123Z"),
        ("z3", "TIMESTAMP '{EARLY}'", "1969-12-31T23:59:59.999Z"),
        ("t6", "TIMESTAMP '{EARLY}'", "1969-12-31T23:59:59.999999"),
        (
            "l",
            "[TIMESTAMP '{LATE}', TIMESTAMP '{EARLY}', NULL]",
            "[2026-01-01T10:00:00.123, 1969-12-31T23:59:59.999, ]",
        ),
        ("r", "named_struct('t', TIMESTAMP '{EARLY}', 'n', 7)", "{n: 7, t: 1969-12-31T23:59:59.900}"),
        ("m", "MAP {'a': TIMESTAMP '{EARLY}'}", "{a: 1969-12-31T23:59:59.999}"),
    ] {
        let value = value.replace("{LATE}", LATE).replace("{EARLY}", EARLY);
        for table in ["t", "a"] {
            for sql in [
                format!("INSERT OVERWRITE {table} (k, {column}) VALUES (1, {value})"),
                format!("INSERT OVERWRITE {table} (k, {column}) SELECT 1, {value} FROM {table}"),
                format!("UPDATE {table} SET {column} = {value}"),
                format!(
                    "MERGE INTO {table} t USING (SELECT 1 AS k) q ON t.k = q.k WHEN MATCHED THEN UPDATE SET {column} = {value}"
                ),
            ] {
                run(&s, &sql).await;
                assert_eq!(rows(&s, &format!("SELECT {column} FROM {table}")).await, [expected], "{sql}");
            }
        }
    }
    run(&s, "INSERT OVERWRITE t (k, t0, t3, z3, t6) VALUES (1, now(), now(), current_timestamp, current_timestamp)")
        .await;
    run(&s, "UPDATE t SET t0 = now(), t3 = current_timestamp, tm = current_time()").await;
    assert_eq!(
        rows(&s, "SELECT k FROM t WHERE t0 <= now() AND t3 <= now() AND z3 <= now() AND t6 <= now()").await,
        ["1"]
    );
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
