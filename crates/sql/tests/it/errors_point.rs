//! Errors say where and what, and nothing of the machinery.

use linn::ErrorKind;

use crate::{ORDERS, fails, run, session};

async fn pointed(s: &linn_sql::Session, sql: &str, at: &str, caret: &str) {
    let error = fails(s, sql).await;
    let value = |key: &str| error.context().iter().find(|(k, _)| *k == key).map(|(_, v)| v.as_str());
    assert_eq!(value("at"), Some(at), "{sql}: {error:?}");
    let text = value("text").unwrap_or_default();
    assert!(text.ends_with(&format!("\n    {caret}")), "{sql}: {text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn at_a_line_and_a_column() {
    let s = session();
    run(&s, ORDERS).await;
    pointed(&s, "SELECT id\nFROM orders\nWHERE )", "line 3, column 7", "      ^").await;
    pointed(&s, "SELEC * FROM orders", "line 1, column 1", "^").await;
    pointed(&s, "SELECT id FROM orders ORDER id", "line 1, column 23", &format!("{}^", " ".repeat(22))).await;
    pointed(&s, "CREATE TABLE t (a INT", "line 1, column 22", &format!("{}^", " ".repeat(21))).await;
    pointed(&s, "DROP TABLE )", "line 1, column 12", "           ^").await;
    pointed(&s, "SELECT 'open", "line 1, column 8", "       ^").await;
    pointed(&s, "SELECT id FROM", "line 1, column 15", &format!("{}^", " ".repeat(14))).await;
    pointed(&s, "SELECT id +\n  ", "line 1, column 12", &format!("{}^", " ".repeat(11))).await;
    pointed(&s, "SELECT nothing FROM orders", "line 1, column 8", "       ^").await;
    pointed(&s, "SELECT *\nFROM\n  nothing", "line 3, column 3", "  ^").await;
    pointed(&s, "SELECT * FROM orders VERSION AS OF ,", "line 1, column 36", &format!("{}^", " ".repeat(35))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_what_was_meant() {
    let s = session();
    run(&s, ORDERS).await;
    run(&s, "CREATE DATABASE shop").await;
    for (sql, kind, hint) in [
        ("SELECT * FROM ordes", ErrorKind::NotFound, "did you mean orders?"),
        ("SELECT * FROM ordres$snapshots", ErrorKind::NotFound, "did you mean orders?"),
        ("SELECT * FROM shpo.orders", ErrorKind::NotFound, "did you mean shop?"),
        ("DESCRIBE ordesr", ErrorKind::NotFound, "did you mean orders?"),
        ("INSERT INTO ordesr VALUES (1)", ErrorKind::NotFound, "did you mean orders?"),
        ("SELECT amuont FROM orders", ErrorKind::Invalid, "did you mean amount?"),
        ("SELECT o.amuont FROM orders o", ErrorKind::Invalid, "did you mean amount?"),
        ("SELECT ammount FROM orders GROUP BY 1", ErrorKind::Invalid, "did you mean amount?"),
        ("SELECT uper(note) FROM orders", ErrorKind::Invalid, "did you mean upper?"),
        ("SELECT summ(amount) FROM orders", ErrorKind::Invalid, "did you mean sum?"),
        ("CALL sys.compat('orders')", ErrorKind::NotFound, "did you mean compact?"),
        (
            "SELECT * FROM orders OPTIONS('scan.snapshot-idd' = '1')",
            ErrorKind::Invalid,
            "did you mean 'scan.snapshot-id'?",
        ),
        ("UPDATE orders OPTIONS('bukcet' = '1') SET note = 'x'", ErrorKind::Invalid, "did you mean 'bucket'?"),
        ("CALL sys.compact(tabel => 'orders')", ErrorKind::Invalid, "did you mean table?"),
    ] {
        let error = fails(&s, sql).await;
        assert_eq!((error.kind(), error.hint()), (kind, Some(hint)), "{sql}: {error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_internals() {
    let s = session();
    run(&s, ORDERS).await;
    run(&s, "CREATE TABLE other (id BIGINT, l ARRAY<INT>, m TIMESTAMP(3))").await;
    let internals = [
        "Utf8",
        "Int64",
        "Int32",
        "Float64",
        "Decimal128",
        "Timestamp(",
        "Some(",
        "None",
        "Sign(",
        "Schema error",
        "Error during planning",
        "datafusion",
        "Arrow error",
        "\u{1}",
        "\u{2}",
        "caused by",
        "type_coercion",
        "Optimizer",
        "PARQUET:",
        "List(",
        "linn.default",
        "Execution error",
    ];
    let mut bad = Vec::new();
    for sql in [
        "SELECT nothing FROM orders",
        "SELECT x.id FROM orders",
        "SELECT id FROM orders, other",
        "SELECT nothing() FROM orders",
        "SELECT sum(note) FROM orders",
        "SELECT note + 1 FROM orders WHERE note = 'a'",
        "SELECT l + 1 FROM other",
        "SELECT l = id FROM other",
        "SELECT m + id FROM other",
        "SELECT id / 0 FROM orders",
        "SELECT CAST(note AS INT) FROM orders",
        "SELECT CAST(note AS TIMESTAMP) FROM orders",
        "SELECT id, count(*) FROM orders",
        "SELECT * FROM orders WHERE id",
        "SELECT 1 UNION SELECT 1, 2",
        "SELECT (SELECT id FROM orders)",
        "SELECT upper() FROM orders",
        "SELECT upper(1, 2) FROM orders",
        "SELECT date_trunc(id, id) FROM orders",
        "SELECT * FROM orders o JOIN orders o ON true",
        "WITH a AS (SELECT 1), a AS (SELECT 2) SELECT * FROM a",
        "SELECT id AS a, dt AS a FROM orders ORDER BY a",
        "CREATE TABLE z (a NOTATYPE)",
        "CREATE TABLE z (a ROW<b INT)",
        "CREATE TABLE z (a DECIMAL(99))",
        "INSERT INTO orders VALUES ('x', 'd', 1, 'n')",
        "INSERT INTO orders SELECT 1",
        "SELECT id FROM orders OPTIONS('scan.snapshot-id' = '1') WHERE nothing = 1",
        "SELECT * FROM orders VERSION AS OF 1 WHERE dt",
        "UPDATE orders SET nothing = 1",
        "DELETE FROM orders WHERE nothing = 1",
        "SELECT generate_series(1)",
        "SELECT interval 'x' day",
        "SELECT DATE 'x'",
        "VALUES (1), (1, 2)",
        "SELECT * FROM nothing(1)",
        "SELECT row_number() FROM orders",
        "SELECT id FROM orders LIMIT -1",
        "SELECT id FROM orders LIMIT 'x'",
        "EXPLAIN FORMAT nothing SELECT 1",
    ] {
        let Err(error) = run_to_end(&s, sql).await else { continue };
        let shown = format!("{error:?}");
        let found = internals.iter().find(|internal| shown.contains(**internal));
        if found.is_some() || error.kind() == ErrorKind::Internal {
            bad.push(format!("{sql}: {shown}"));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

async fn run_to_end(s: &linn_sql::Session, sql: &str) -> linn::Result<()> {
    use futures::TryStreamExt;
    match s.execute(sql).await? {
        linn_sql::Output::Rows { stream, .. } => stream.try_collect::<Vec<_>>().await.map(drop),
        linn_sql::Output::Done { .. } => Ok(()),
    }
}
