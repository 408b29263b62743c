//! INSERT, UPDATE, DELETE, MERGE, INSERT OVERWRITE on a primary-key table, before and after compaction.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use linn::{ErrorKind, Identifier};

use crate::{ORDERS, fails, rows, run, session};

const ALL: &str = "SELECT id, dt, amount, note FROM orders ORDER BY id";

#[tokio::test(flavor = "multi_thread")]
async fn updates_and_deletes_take_effect() {
    let s = session();
    run(&s, ORDERS).await;
    run(&s, "INSERT INTO orders (id, dt, amount) VALUES (4, 'd2', 1.25)").await;
    run(&s, "UPDATE orders SET amount = amount * 2, note = 'x' WHERE id = 2; DELETE FROM orders WHERE id = 3").await;
    let expected = ["1|d1|10.50|a", "2|d1|40.00|x", "4|d2|1.25|"];
    assert_eq!(rows(&s, ALL).await, expected);
    run(&s, "CALL sys.compact(`table` => 'default.orders')").await;
    assert_eq!(rows(&s, ALL).await, expected);
    assert_eq!(rows(&s, "SELECT DISTINCT level FROM orders$files").await, ["5"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delete_leaves_rows_whose_condition_is_unknown() {
    let s = session();
    run(&s, ORDERS).await;
    run(&s, "INSERT INTO orders VALUES (9, 'd1', 1, NULL); DELETE FROM orders WHERE note = 'a'").await;
    assert_eq!(rows(&s, "SELECT id FROM orders ORDER BY id").await, ["2", "3", "9"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn merge_gives_every_row_its_action() {
    let s = session();
    run(&s, ORDERS).await;
    run(&s, "CREATE TABLE src (id BIGINT, dt STRING, amount DECIMAL(10, 2))").await;
    run(&s, "INSERT INTO src VALUES (1, 'd1', 99), (7, 'd1', 7), (3, 'd2', 0)").await;
    let merge = "MERGE INTO orders AS t USING src AS s ON t.id = s.id AND t.dt = s.dt \
         WHEN MATCHED AND s.amount = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET amount = s.amount \
         WHEN NOT MATCHED THEN INSERT (id, dt, amount) VALUES (s.id, s.dt, s.amount)";
    run(&s, merge).await;
    assert_eq!(rows(&s, ALL).await, ["1|d1|99.00|a", "2|d1|20.00|b", "7|d1|7.00|"]);
    run(&s, "INSERT INTO src VALUES (1, 'd1', 5)").await;
    assert_eq!(fails(&s, merge).await.kind(), ErrorKind::Invalid);
}

#[tokio::test(flavor = "multi_thread")]
async fn merge_takes_all_columns_of_the_source_by_name() {
    let s = session();
    run(&s, ORDERS).await;
    run(&s, "CREATE TABLE src (note STRING, more INT, amount DOUBLE, dt STRING, id BIGINT)").await;
    run(&s, "INSERT INTO src VALUES ('new', 0, 1.5, 'd1', 1), ('add', 0, 7, 'd2', 7)").await;
    let merge = "MERGE INTO orders USING src ON orders.id = src.id AND orders.dt = src.dt \
         WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED AND src.id > 5 THEN INSERT *";
    run(&s, merge).await;
    assert_eq!(rows(&s, ALL).await, ["1|d1|1.50|new", "2|d1|20.00|b", "3|d2|30.00|c", "7|d2|7.00|add"]);
    run(&s, "ALTER TABLE src DROP COLUMN note").await;
    let error = fails(&s, merge).await;
    assert!(error.kind() == ErrorKind::Invalid && error.to_string().contains("note"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_deleted_by_their_keys() {
    let s = session();
    run(
        &s,
        "CREATE TABLE seq (K INT, \"p.q\" STRING, v INT NOT NULL, s INT, PRIMARY KEY (K, \"p.q\") NOT ENFORCED) \
         WITH ('bucket' = '1', 'sequence.field' = 's')",
    )
    .await;
    run(&s, "INSERT INTO seq VALUES (1, 'a', 1, 5), (1, 'b', 1, 5), (2, 'a', 1, NULL)").await;
    let keys = RecordBatch::try_from_iter([
        ("K", Arc::new(Int32Array::from(vec![1, 2, 9])) as ArrayRef),
        ("p.q", Arc::new(StringArray::from(vec!["a", "a", "a"])) as ArrayRef),
    ]);
    let id = Identifier::new("default", "seq").unwrap();
    assert_eq!(s.delete_keys(&id, vec![keys.unwrap()]).await.unwrap(), 2);
    assert_eq!(rows(&s, "SELECT * FROM seq").await, ["1|b|1|5"]);
    assert_eq!(s.delete_keys(&id, Vec::new()).await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_from_a_query_is_there_with_its_rows_or_not_at_all() {
    let s = session();
    run(&s, ORDERS).await;
    run(&s, "CREATE TABLE copy AS SELECT id, amount FROM orders WHERE id > 1").await;
    run(&s, "CREATE TABLE IF NOT EXISTS copy AS SELECT id, amount FROM orders").await;
    assert_eq!(rows(&s, "SELECT id FROM copy ORDER BY id").await, ["2", "3"]);
    assert_eq!(fails(&s, "CREATE TABLE copy AS SELECT 1 AS x").await.kind(), ErrorKind::AlreadyExists);
    fails(&s, "CREATE TABLE broken AS SELECT CAST(note AS INT) AS n FROM orders").await;
    assert_eq!(rows(&s, "SHOW TABLES").await, ["copy", "orders"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_is_made_like_another_one() {
    let s = session();
    run(&s, ORDERS).await;
    run(&s, "CREATE TABLE other LIKE orders WITH ('bucket' = '3'); INSERT INTO other SELECT * FROM orders").await;
    let made = rows(&s, "SHOW CREATE TABLE other").await.join(" ");
    assert!(made.contains("PRIMARY KEY (\"id\", \"dt\")") && made.contains("'bucket' = '3'"), "{made}");
    assert_eq!(rows(&s, "SELECT count(*) FROM other").await, ["3"]);
    assert_eq!(rows(&s, "SHOW TABLES LIKE 'ot%'").await, ["other"]);
    assert_eq!(rows(&s, "SHOW COLUMNS FROM other").await.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_and_partitions_of_an_insert_must_make_sense() {
    let s = session();
    run(&s, ORDERS).await;
    for sql in [
        "INSERT INTO orders (id, id, dt) VALUES (1, 1, 'd1')",
        "INSERT INTO orders PARTITION (note = 'x') (id, dt, amount) VALUES (1, 'd1', 1)",
        "INSERT INTO orders PARTITION (dt = 'd1') (id, dt) VALUES (1, 'd1')",
        "INSERT INTO orders PARTITION (dt = 'd1') (id) VALUES (1, 2)",
        "INSERT INTO orders$files VALUES (1)",
    ] {
        assert_eq!(fails(&s, sql).await.kind(), ErrorKind::Invalid, "{sql}");
    }
    assert_eq!(rows(&s, "SELECT count(*) FROM orders").await, ["3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn overwrite_replaces_the_partitions_of_the_rows() {
    let s = session();
    run(&s, ORDERS).await;
    run(&s, "INSERT OVERWRITE orders SELECT 8, 'd2', 8, 'n'").await;
    assert_eq!(rows(&s, "SELECT id FROM orders ORDER BY id").await, ["1", "2", "8"]);
    run(&s, "INSERT OVERWRITE orders PARTITION (dt = 'd1') (id, amount, note) SELECT 100, 1, 'o'").await;
    assert_eq!(rows(&s, "SELECT id FROM orders ORDER BY id").await, ["8", "100"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_take_no_null_and_cannot_be_assigned() {
    let s = session();
    run(&s, ORDERS).await;
    let error = fails(&s, "INSERT INTO orders VALUES (NULL, 'd1', 1, 'a')").await;
    assert!(error.to_string().contains("id"), "{error}");
    assert_eq!(fails(&s, "UPDATE orders SET id = 3").await.kind(), ErrorKind::Invalid);
    assert_eq!(fails(&s, "INSERT INTO orders (nope) VALUES (1)").await.kind(), ErrorKind::Invalid);
    assert_eq!(rows(&s, "SELECT count(*) FROM orders").await, ["3"]);
}

/// A table of two rows whose values are their keys times ten, with these options.
async fn of_engine(options: &str) -> linn_sql::Session {
    let s = session();
    let create = "CREATE TABLE t (k INT NOT NULL, g INT, v INT, w INT, kind STRING, n INT NOT NULL, PRIMARY KEY (k) NOT ENFORCED)";
    run(&s, &format!("{create} WITH ('bucket' = '1', {options})")).await;
    run(&s, "INSERT INTO t VALUES (1, 1, 10, 10, '+I', 0), (2, 1, 20, 20, '+I', 0), (3, NULL, 30, 30, '+i', 0)").await;
    s
}

const ENGINES: &str = "SELECT k, v, w FROM t ORDER BY k";
const START: [&str; 3] = ["1|10|10", "2|20|20", "3|30|30"];

#[tokio::test(flavor = "multi_thread")]
async fn regress_changes_that_an_engine_would_not_make_are_refused() {
    const SUM: &str = "'merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'sum'";
    const GROUP: &str = "'merge-engine' = 'partial-update', 'fields.g.sequence-group' = 'v', \
         'fields.v.aggregate-function' = 'sum', 'partial-update.remove-record-on-sequence-group' = 'g'";
    const MERGE: &str = "MERGE INTO t USING (SELECT 1 AS k) AS s ON t.k = s.k WHEN MATCHED THEN";
    for (options, change) in [
        (SUM, "DELETE FROM t WHERE k = 1".to_owned()),
        (SUM, "UPDATE t SET v = 5 WHERE k = 1".to_owned()),
        (SUM, format!("{MERGE} DELETE")),
        (SUM, format!("{MERGE} UPDATE SET v = 5")),
        (GROUP, "UPDATE t SET v = 5 WHERE k = 1".to_owned()),
        (GROUP, "DELETE FROM t".to_owned()),
        (GROUP, format!("{MERGE} UPDATE SET v = 5")),
        (
            "'merge-engine' = 'aggregation', 'fields.n.aggregate-function' = 'sum'",
            "UPDATE t SET w = 5 WHERE k = 1".to_owned(),
        ),
        ("'merge-engine' = 'first-row'", "UPDATE t SET v = 5".to_owned()),
        ("'merge-engine' = 'first-row', 'ignore-delete' = 'true'", "DELETE FROM t WHERE k = 1".to_owned()),
        ("'ignore-delete' = 'true'", "DELETE FROM t WHERE k = 1".to_owned()),
        ("'merge-engine' = 'partial-update'", "DELETE FROM t WHERE k = 1".to_owned()),
        ("'merge-engine' = 'partial-update', 'fields.g.sequence-group' = 'v'", "DELETE FROM t WHERE k = 1".to_owned()),
    ] {
        let s = of_engine(options).await;
        let error = fails(&s, &change).await;
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{options}: {change}: {error}");
        assert!(error.hint().is_some() && error.to_string().contains("t"), "{error}");
        assert_eq!(rows(&s, ENGINES).await, START, "{options}: {change}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_changes_that_an_engine_makes_take_effect() {
    const SUM: &str = "'merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'sum', \
         'aggregation.remove-record-on-delete' = 'true'";
    const GROUP: &str = "'merge-engine' = 'partial-update', 'fields.g.sequence-group' = 'v', \
         'fields.v.aggregate-function' = 'sum', 'partial-update.remove-record-on-sequence-group' = 'g'";
    for options in
        [SUM, GROUP, "'rowkind.field' = 'kind'", "'rowkind.field' = 'kind', 'deletion-vectors.enabled' = 'true'"]
    {
        let s = of_engine(options).await;
        run(&s, "DELETE FROM t WHERE k = 1").await;
        run(&s, "UPDATE t SET w = 7 WHERE k = 2").await;
        assert_eq!(rows(&s, "SELECT k, v, w FROM t WHERE k < 3").await, ["2|20|7"], "{options}");
        let merge = "MERGE INTO t USING (SELECT 2 AS k, 0 AS x UNION ALL SELECT 3, 1) AS s ON t.k = s.k \
             WHEN MATCHED AND s.x = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET w = 8";
        run(&s, merge).await;
        assert_eq!(rows(&s, "SELECT k, w FROM t").await, ["3|8"], "{options}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_what_cannot_be_written_says_where() {
    let s = session();
    run(&s, "CREATE TABLE t (k INT NOT NULL, kind STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1', 'rowkind.field' = 'kind')").await;
    for (values, column) in
        [("(NULL, '+I')", "k"), ("(99999999999, '+I')", "k"), ("(1, 'I')", "kind"), ("(1, NULL)", "kind")]
    {
        for insert in ["INSERT INTO", "INSERT OVERWRITE"] {
            let error = fails(&s, &format!("{insert} t VALUES {values}")).await;
            let says = |key, value| error.context().contains(&(key, String::from(value)));
            assert!(
                error.kind() == ErrorKind::Invalid && says("table", "default.t") && says("column", column),
                "{error}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_decimals_are_inserted_digit_by_digit() {
    let s = session();
    run(
        &s,
        "CREATE TABLE t (k INT NOT NULL, d DECIMAL(38, 18), w DECIMAL(38, 2), f DOUBLE, PRIMARY KEY (k) NOT ENFORCED)",
    )
    .await;
    run(
        &s,
        "INSERT INTO t VALUES (1, 1.1, 123456789012345678901234567890123456.78, 1.1), \
         (2, -0.000000000000000001, -7, 1e300), (3, NULL, 0.05, NULL); \
         INSERT INTO t (w, k) VALUES (-98765432109876543.21, 4), (CAST(1.555 AS DECIMAL(38, 2)), 5); INSERT INTO t (k, w) VALUES (6, 1e3 + 0.5)",
    )
    .await;
    let expected = [
        "1|1.100000000000000000|123456789012345678901234567890123456.78|1.1",
        "2|-0.000000000000000001|-7.00|1e300",
        "3||0.05|",
        "4||-98765432109876543.21|",
        "5||1.56|",
        "6||1000.50|",
    ];
    assert_eq!(rows(&s, "SELECT k, d, w, f FROM t ORDER BY k").await, expected);
    let error = fails(&s, "INSERT INTO t (k, d) VALUES (7, 123456789012345678901.5)").await;
    assert!(error.kind() == ErrorKind::Invalid && error.to_string().contains("column: d"), "{error}");
}
