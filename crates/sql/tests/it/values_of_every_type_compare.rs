//! Columns of every type compare with literals and with each other, in every place and every statement.

use linn_sql::Session;

use crate::{rows, run, session};

/// A type, and two of its values as SQL, the lesser first.
const TYPES: &[(&str, &str, &str)] = &[
    ("BOOLEAN", "false", "true"),
    ("TINYINT", "-5", "7"),
    ("SMALLINT", "-300", "300"),
    ("INT", "-70000", "70000"),
    ("BIGINT", "-9007199254740993", "9007199254740993"),
    ("FLOAT", "-1.5", "2.5"),
    ("DOUBLE", "-1.5e300", "0.1"),
    ("DECIMAL(10, 2)", "-1.25", "99.99"),
    ("DECIMAL(38, 0)", "-12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
    ("STRING", "'a'", "'b'"),
    ("CHAR(3)", "'abc'", "'abd'"),
    ("VARCHAR(5)", "'it''s'", "'z'"),
    ("BYTES", "X'00ff'", "X'01'"),
    ("BINARY(2)", "X'0001'", "X'0002'"),
    ("DATE", "DATE '1960-02-29'", "DATE '2999-12-31'"),
    ("TIME(0)", "TIME '01:02:03'", "TIME '23:00:00'"),
    ("TIME(3)", "TIME '23:00:00.001'", "TIME '23:00:00.500'"),
    ("TIMESTAMP(0)", "TIMESTAMP '1960-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59'"),
    ("TIMESTAMP(3)", "TIMESTAMP '2026-01-01 00:00:00.123'", "TIMESTAMP '2026-01-01 00:00:00.124'"),
    ("TIMESTAMP(6)", "TIMESTAMP '1700-01-01 00:00:00.000001'", "TIMESTAMP '2300-01-01 00:00:00.123456'"),
    ("TIMESTAMP(9)", "TIMESTAMP '2026-01-01 00:00:00.123456788'", "TIMESTAMP '2026-01-01 00:00:00.123456789'"),
    ("TIMESTAMP_LTZ(3)", "TIMESTAMP '2026-01-01 00:00:00'", "TIMESTAMP '2026-01-01 00:00:01'"),
];

async fn filled(kind: &str, low: &str, high: &str, key: &str) -> Session {
    let s = session();
    run(
        &s,
        &format!(
            "CREATE TABLE t (k INT NOT NULL, v {kind}, w {kind}{key}) WITH ('bucket' = '{}')",
            if key.is_empty() { "-1" } else { "1" }
        ),
    )
    .await;
    run(&s, &format!("INSERT INTO t VALUES (1, {low}, {low}), (2, {high}, {low}), (3, NULL, {high})")).await;
    s
}

#[tokio::test(flavor = "multi_thread")]
async fn in_queries() {
    for (kind, low, high) in TYPES {
        let s = filled(kind, low, high, ", PRIMARY KEY (k) NOT ENFORCED").await;
        for (condition, expected) in [
            (format!("v = {low}"), "1"),
            (format!("{high} = v"), "2"),
            (format!("v <> {low}"), "2"),
            (format!("v < {high}"), "1"),
            (format!("v <= {high}"), "1 2"),
            (format!("v > {low}"), "2"),
            (format!("v >= {low}"), "1 2"),
            (format!("NOT v = {low}"), "2"),
            (format!("v IN ({low}, {high})"), "1 2"),
            (format!("v IN ({low})"), "1"),
            (format!("v NOT IN ({low})"), "2"),
            (format!("v BETWEEN {low} AND {high}"), "1 2"),
            (format!("v NOT BETWEEN {low} AND {low}"), "2"),
            (format!("v IS DISTINCT FROM {low}"), "2 3"),
            (format!("v IS NOT DISTINCT FROM {low}"), "1"),
            ("v = w".to_owned(), "1"),
            ("v > w".to_owned(), "2"),
            (format!("v = {low} OR v IS NULL"), "1 3"),
            (format!("CASE WHEN v = {low} THEN true ELSE false END"), "1"),
            (format!("CASE v WHEN {high} THEN 1 WHEN {low} THEN 2 END = 1"), "2"),
            (format!("CASE WHEN k = 1 THEN v ELSE {high} END = {low}"), "1"),
            (format!("coalesce(v, {high}) = {high}"), "2 3"),
            (format!("nullif(v, {low}) IS NULL"), "1 3"),
            ("v = (SELECT max(v) FROM t)".to_owned(), "2"),
            ("v IN (SELECT w FROM t)".to_owned(), "1 2"),
            (format!("EXISTS (SELECT 1 FROM t u WHERE u.v = t.v AND u.v = {low})"), "1"),
            (format!("v = CAST({low} AS {kind})"), "1"),
        ] {
            let sql = format!("SELECT k FROM t WHERE {condition} ORDER BY k");
            assert_eq!(rows(&s, &sql).await.join(" "), expected, "{kind}: {condition}");
        }
        for (sql, expected) in [
            (format!("SELECT min(v) = {low}, max(v) = {high} FROM t"), "true|true"),
            ("SELECT count(DISTINCT v), count(*) FROM t".to_owned(), "2|3"),
            ("SELECT count(*) FROM (SELECT v FROM t GROUP BY v)".to_owned(), "3"),
            ("SELECT a.k, b.k FROM t a JOIN t b ON a.v = b.w ORDER BY a.k, b.k".to_owned(), "1|1 1|2 2|3"),
            ("SELECT k FROM t ORDER BY v DESC NULLS LAST".to_owned(), "2 1 3"),
            (format!("SELECT count(*) FROM (SELECT v FROM t UNION SELECT {low} UNION SELECT {high})"), "3"),
            (
                "SELECT k, row_number() OVER (ORDER BY v NULLS LAST ROWS UNBOUNDED PRECEDING) FROM t ORDER BY k"
                    .to_owned(),
                "1|1 2|2 3|3",
            ),
            ("SELECT count(*) FROM (SELECT v FROM t INTERSECT SELECT w FROM t)".to_owned(), "2"),
        ] {
            assert_eq!(rows(&s, &sql).await.join(" "), expected, "{kind}: {sql}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn in_statements_that_write() {
    for (kind, low, high) in TYPES {
        for key in ["", ", PRIMARY KEY (k) NOT ENFORCED"] {
            let s = filled(kind, low, high, key).await;
            run(&s, &format!("UPDATE t SET w = {high} WHERE v = {low}")).await;
            run(&s, &format!("UPDATE t SET v = CASE WHEN k = 3 THEN {low} ELSE v END WHERE v IS NULL OR v > {low}"))
                .await;
            let sql = format!("SELECT k, v = {low}, w = {high} FROM t ORDER BY k");
            assert_eq!(rows(&s, &sql).await, ["1|true|true", "2|false|false", "3|true|true"], "{kind}{key}");
            run(&s, &format!("DELETE FROM t WHERE v BETWEEN {low} AND {low} AND k = 3")).await;
            run(
                &s,
                &format!(
                    "MERGE INTO t USING (SELECT {high} AS v, 9 AS k) s ON t.v = s.v WHEN MATCHED AND t.v >= {high} THEN \
                     UPDATE SET w = s.v WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)"
                ),
            )
            .await;
            let sql = format!("SELECT k, v = {low}, w = {high} FROM t ORDER BY k");
            assert_eq!(rows(&s, &sql).await, ["1|true|true", "2|false|true"], "{kind}{key}");
        }
    }
}

/// Conditions that go down to files by themselves, as the command line gives them.
#[tokio::test(flavor = "multi_thread")]
async fn in_conditions_of_their_own() {
    for (kind, low, high) in TYPES.iter().filter(|(kind, ..)| !matches!(*kind, "FLOAT" | "DOUBLE")) {
        let s = filled(kind, low, high, ", PRIMARY KEY (k) NOT ENFORCED").await;
        let id = linn::Identifier::new("default", "t").unwrap();
        for condition in [
            format!("v = {low}"),
            format!("v <> {high}"),
            format!("{low} < v"),
            format!("v IN ({low}, {high})"),
            format!("v BETWEEN {low} AND {high} AND k = 1"),
            format!("NOT v = {low} OR v IS NULL"),
        ] {
            s.condition(&id, &condition).await.unwrap_or_else(|e| panic!("{kind}: {condition}: {e}"));
        }
    }
}

/// A literal of more digits than the column has is no value of the column, and is not cut to be one.
#[tokio::test(flavor = "multi_thread")]
async fn with_literals_of_more_digits() {
    let s = session();
    run(&s, "CREATE TABLE t (k INT, m TIMESTAMP(3), u TIMESTAMP(6), z TIMESTAMP(0), t TIME(3))").await;
    run(
        &s,
        "INSERT INTO t VALUES (1, '2026-01-01 00:00:00.123', '2026-01-01 00:00:00.123', '1969-12-31 23:59:59', '10:00:00.123'), \
         (2, '2026-01-01 00:00:00.124', '2026-01-01 00:00:00.1234', '1970-01-01 00:00:00', '10:00:00.124')",
    )
    .await;
    let fine = "2026-01-01 00:00:00.1234";
    for (condition, expected) in [
        ("m = TIMESTAMP '@'", ""),
        ("m = '@'", ""),
        ("m <> TIMESTAMP '@'", "1 2"),
        ("m < TIMESTAMP '@'", "1"),
        ("m <= TIMESTAMP '@'", "1"),
        ("m > TIMESTAMP '@'", "2"),
        ("m >= TIMESTAMP '@'", "2"),
        ("TIMESTAMP '@' > m", "1"),
        ("m < '@'", "1"),
        ("m >= TIMESTAMP '@' - INTERVAL '0' DAY", "2"),
        ("m BETWEEN TIMESTAMP '@' AND TIMESTAMP '2027-01-01 00:00:00'", "2"),
        ("m NOT BETWEEN TIMESTAMP '2025-01-01 00:00:00' AND TIMESTAMP '@'", "2"),
        ("m IN (TIMESTAMP '@')", ""),
        ("m IN (TIMESTAMP '@', TIMESTAMP '2026-01-01 00:00:00.124')", "2"),
        ("m IS DISTINCT FROM TIMESTAMP '@'", "1 2"),
        ("CASE m WHEN TIMESTAMP '@' THEN true ELSE false END", ""),
        ("coalesce(m, TIMESTAMP '@') = TIMESTAMP '@'", ""),
        ("m = u", "1"),
        ("m > u", "2"),
        ("u = TIMESTAMP '@'", "2"),
        ("u >= TIMESTAMP '@'", "2"),
        ("u < TIMESTAMP '2026-01-01 00:00:00.123400001'", "1 2"),
        ("z < TIMESTAMP '1969-12-31 23:59:59.5'", "1"),
        ("z = TIMESTAMP '1969-12-31 23:59:59.5'", ""),
        ("t = TIME '10:00:00.1234'", ""),
        ("t < TIME '10:00:00.1234'", "1"),
        ("t IN (TIME '10:00:00.1234', TIME '10:00:00.124')", "2"),
        ("t > '10:00:00.123'", "2"),
    ] {
        let sql = format!("SELECT k FROM t WHERE {} ORDER BY k", condition.replace('@', fine));
        assert_eq!(rows(&s, &sql).await.join(" "), expected, "{condition}");
    }
}
