//! Statements about the session: settings, prepared statements, temporary tables, views, lists.

use linn::ErrorKind;

use crate::{ORDERS, fails, rows, run, session};

#[tokio::test(flavor = "multi_thread")]
async fn settings_hold_until_they_are_reset() {
    let s = session();
    run(&s, ORDERS).await;
    run(&s, "INSERT INTO orders VALUES (9, 'd9', 1, 'z')").await;
    run(&s, "CREATE DATABASE other; CREATE TABLE other.orders AS SELECT * FROM orders").await;
    let count = "SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM other.orders)";
    run(&s, "SET 'linn.*.default.*.scan.snapshot-id' = '1'").await;
    assert_eq!(rows(&s, count).await, ["3|4"]);
    assert_eq!(rows(&s, "SELECT count(*) FROM orders OPTIONS('scan.snapshot-id' = '2')").await, ["4"]);
    assert_eq!(fails(&s, "UPDATE orders SET note = 'x'").await.kind(), ErrorKind::Invalid);
    assert_eq!(rows(&s, "SET").await, ["linn.*.default.*.scan.snapshot-id|1"]);
    run(&s, "RESET 'linn.*.default.*.scan.snapshot-id'").await;
    assert_eq!(rows(&s, count).await, ["4|4"]);
    run(&s, "SET 'scan.snapshot-id' = 1").await;
    assert_eq!(rows(&s, count).await, ["3|4"]);
    run(&s, "RESET ALL; UPDATE orders SET note = 'x'").await;
    run(&s, "SET batch_size = 100; SET datafusion.execution.target_partitions TO 3; SET TIME ZONE '+02:00'").await;
    assert_eq!(rows(&s, "SHOW batch_size").await, ["batch_size|100"]);
    assert_eq!(
        rows(&s, "SHOW datafusion.execution.target_partitions").await,
        ["datafusion.execution.target_partitions|3"]
    );
    assert_eq!(rows(&s, "SHOW TIME ZONE").await, ["timezone|+02:00"]);
    assert_eq!(rows(&s, "SHOW 'scan.snapshot-id'").await, ["scan.snapshot-id|"]);
    assert!(rows(&s, "SHOW ALL").await.len() > 50);
    run(&s, "RESET batch_size").await;
    assert_eq!(rows(&s, "SHOW batch_size").await, ["batch_size|8192"]);
    for (sql, hint) in [
        ("SET 'scan.snapshotid' = '1'", "did you mean scan.snapshot-id?"),
        ("SET bach_size = 1", "did you mean batch_size?"),
        ("SHOW batch_sise", "did you mean batch_size?"),
    ] {
        let error = fails(&s, sql).await;
        assert_eq!((error.kind(), error.hint()), (ErrorKind::Invalid, Some(hint)), "{sql}: {error:?}");
    }
    for sql in [
        "SET bucket = 3",
        "SET batch_size = many",
        "SET datafusion.sql_parser.dialect = 'x'",
        "SET 'scan.snapshot-id' = 'x'",
    ] {
        assert_eq!(fails(&s, sql).await.kind(), ErrorKind::Invalid, "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn prepared_statements_take_values() {
    let s = session();
    run(&s, ORDERS).await;
    run(&s, "PREPARE one AS SELECT note FROM orders WHERE id = $1 AND dt = $2").await;
    assert_eq!(rows(&s, "EXECUTE one(1 + 1, 'd1')").await, ["b"]);
    assert_eq!(rows(&s, "EXECUTE one USING 3, 'd2'").await, ["c"]);
    run(&s, "PREPARE put (BIGINT, STRING) AS INSERT INTO orders VALUES (?, 'd3', 1, ?)").await;
    run(&s, "EXECUTE put('7', 'seven''s')").await;
    assert_eq!(rows(&s, "EXECUTE one(7, 'd3')").await, ["seven's"]);
    run(&s, "PREPARE back AS SELECT count(*) FROM orders FOR VERSION AS OF $1").await;
    assert_eq!(rows(&s, "EXECUTE back(1)").await, ["3"]);
    assert_eq!(fails(&s, "EXECUTE one(1)").await.kind(), ErrorKind::Invalid);
    assert_eq!(fails(&s, "EXECUTE one(1, 'x'), 3)").await.kind(), ErrorKind::Invalid);
    assert_eq!(fails(&s, "PREPARE one AS SELECT 1").await.kind(), ErrorKind::AlreadyExists);
    let error = fails(&s, "EXECUTE onee(1)").await;
    assert_eq!((error.kind(), error.hint()), (ErrorKind::NotFound, Some("did you mean one?")));
    run(&s, "DEALLOCATE one").await;
    assert_eq!(fails(&s, "EXECUTE one(1, 'd1')").await.kind(), ErrorKind::NotFound);
    run(&s, "DEALLOCATE ALL").await;
    assert_eq!(fails(&s, "EXECUTE back(1)").await.kind(), ErrorKind::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn temporary_tables_go_before_others() {
    let s = session();
    run(&s, "CREATE TABLE t (a INT); INSERT INTO t VALUES (1)").await;
    run(&s, "CREATE TEMP TABLE t (a INT, b STRING, PRIMARY KEY (a) NOT ENFORCED) WITH ('bucket' = '1')").await;
    run(&s, "INSERT INTO t VALUES (2, 'x'), (3, 'y'); UPDATE t SET b = 'z' WHERE a = 3; DELETE FROM t WHERE a = 2")
        .await;
    assert_eq!(rows(&s, "SELECT * FROM t").await, ["3|z"]);
    assert_eq!(rows(&s, "SELECT * FROM pg_temp.t").await, ["3|z"]);
    assert_eq!(rows(&s, "SELECT * FROM \"default\".t").await, ["1"]);
    assert_eq!(rows(&s, "SELECT max(snapshot_id) FROM t$snapshots").await, ["3"]);
    run(&s, "CREATE TEMPORARY TABLE u AS SELECT a + 1 AS a FROM \"default\".t").await;
    assert_eq!(rows(&s, "SELECT u.a FROM u").await, ["2"]);
    assert_eq!(rows(&s, "SHOW TABLES").await, ["t", "u"]);
    assert_eq!(fails(&s, "CREATE TEMP TABLE t (a INT)").await.kind(), ErrorKind::AlreadyExists);
    assert_eq!(fails(&s, "CREATE TEMP TABLE other.t (a INT)").await.kind(), ErrorKind::Invalid);
    run(&s, "DROP TABLE t; DROP TABLE u").await;
    assert_eq!(rows(&s, "SELECT * FROM t").await, ["1"]);
    assert_eq!(rows(&s, "SHOW TABLES").await, ["t"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn views_are_queries_with_names() {
    let s = session();
    run(&s, ORDERS).await;
    run(&s, "CREATE TEMP VIEW big AS SELECT id, amount FROM orders WHERE amount >= 20").await;
    run(&s, "CREATE TEMPORARY VIEW named (number, worth) AS SELECT * FROM big; CREATE DATABASE other; USE other").await;
    assert_eq!(rows(&s, "SELECT number FROM named WHERE worth > 20").await, ["3"]);
    assert_eq!(rows(&s, "SELECT v.number FROM named v JOIN big ON big.id = v.number ORDER BY 1").await, ["2", "3"]);
    run(&s, "USE default; CREATE OR REPLACE TEMP VIEW big AS SELECT id, amount FROM orders VERSION AS OF 1").await;
    run(&s, "INSERT INTO orders VALUES (5, 'd1', 50, 'e')").await;
    assert_eq!(rows(&s, "SELECT count(*) FROM named").await, ["3"]);
    assert_eq!(rows(&s, "DESCRIBE named").await, ["number|BIGINT", "worth|DECIMAL(10, 2)"]);
    assert_eq!(rows(&s, "SHOW VIEWS LIKE 'n%'").await.len(), 1);
    assert!(rows(&s, "SHOW CREATE VIEW big").await[0].starts_with("CREATE TEMPORARY VIEW \"big\" AS SELECT"));
    let error = fails(&s, "CREATE VIEW v AS SELECT 1").await;
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error:?}");
    for (sql, kind) in [
        ("CREATE TEMP VIEW big AS SELECT 1", ErrorKind::AlreadyExists),
        ("CREATE OR REPLACE TEMP VIEW big AS SELECT * FROM big", ErrorKind::Invalid),
        ("CREATE TEMP VIEW w (a, b) AS SELECT 1", ErrorKind::Invalid),
        ("CREATE TEMP VIEW w AS SELECT * FROM nothing", ErrorKind::NotFound),
        ("CREATE TEMP VIEW w AS DELETE FROM orders", ErrorKind::Invalid),
        ("INSERT INTO big VALUES (1, 2)", ErrorKind::Invalid),
        ("DROP TABLE big", ErrorKind::Invalid),
        ("DROP VIEW bog", ErrorKind::NotFound),
    ] {
        let error = fails(&s, sql).await;
        assert_eq!(error.kind(), kind, "{sql}: {error:?}");
    }
    run(&s, "DROP VIEW big; DROP VIEW IF EXISTS big").await;
    assert_eq!(fails(&s, "SELECT * FROM named").await.kind(), ErrorKind::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replaced_table_is_the_old_one_or_the_new_one() {
    let s = session();
    run(&s, "CREATE OR REPLACE TABLE t AS SELECT 1 AS a").await;
    run(&s, "CREATE OR REPLACE TABLE t AS SELECT a + 1 AS b, 'x' AS c FROM t").await;
    assert_eq!(rows(&s, "SELECT b, c FROM t").await, ["2|x"]);
    fails(&s, "CREATE OR REPLACE TABLE t AS SELECT CAST(v AS INT) AS a FROM (VALUES ('1'), ('x')) n(v)").await;
    fails(&s, "CREATE OR REPLACE TABLE t (a INT, a INT)").await;
    assert_eq!(rows(&s, "SELECT b, c FROM t").await, ["2|x"]);
    assert_eq!(rows(&s, "SHOW TABLES").await, ["t"]);
    run(&s, "CREATE OR REPLACE TABLE t (z INT)").await;
    assert_eq!(rows(&s, "SELECT count(z) FROM t").await, ["0"]);
    assert_eq!(fails(&s, "CREATE OR REPLACE TABLE IF NOT EXISTS t (z INT)").await.kind(), ErrorKind::Invalid);
    run(&s, "INSERT INTO t VALUES (1); CALL sys.create_branch('t', 'b')").await;
    assert_eq!(fails(&s, "CREATE OR REPLACE TABLE t (z INT)").await.kind(), ErrorKind::Invalid);
    run(&s, "CREATE TABLE IF NOT EXISTS t AS SELECT 5 AS z").await;
    assert_eq!(rows(&s, "SELECT z FROM t").await, ["1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_ask_the_information_schema() {
    let s = session();
    run(&s, ORDERS).await;
    run(&s, "CREATE TEMP VIEW v AS SELECT id FROM orders; CREATE TEMP TABLE tt (x TIME(3) NOT NULL)").await;
    assert_eq!(
        rows(&s, "SELECT table_schema, table_name, table_type FROM information_schema.tables WHERE table_schema <> 'sys' ORDER BY 2").await,
        ["default|orders|BASE TABLE", "pg_temp|tt|LOCAL TEMPORARY", "pg_temp|v|VIEW"]
    );
    assert_eq!(
        rows(&s, "SELECT column_name, ordinal_position, is_nullable, data_type, numeric_precision, numeric_scale FROM linn.information_schema.columns WHERE table_name = 'orders' ORDER BY 2").await,
        ["id|1|NO|BIGINT|64|0", "dt|2|NO|STRING||", "amount|3|YES|DECIMAL(10, 2)|10|2", "note|4|YES|STRING||"]
    );
    assert_eq!(
        rows(&s, "SELECT data_type, datetime_precision FROM information_schema.columns WHERE table_name = 'tt'").await,
        ["TIME(3)|3"]
    );
    assert_eq!(rows(&s, "SELECT view_definition FROM information_schema.views").await, ["SELECT id FROM orders"]);
    assert_eq!(
        rows(&s, "SELECT schema_name FROM information_schema.schemata ORDER BY 1").await,
        ["default", "information_schema", "sys"]
    );
    assert_eq!(
        rows(&s, "SELECT current_database(), current_schema(), version() LIKE 'Linn %'").await,
        ["default|default|true"]
    );
    let error = fails(&s, "SELECT * FROM information_schema.table").await;
    assert_eq!((error.kind(), error.hint()), (ErrorKind::NotFound, Some("did you mean tables?")));
    rows(&s, "SELECT * FROM information_schema.df_settings").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_and_summaries() {
    let s = session();
    run(&s, ORDERS).await;
    run(&s, "CALL sys.create_tag('orders', 'one', 1); CALL sys.create_branch('orders', 'b')").await;
    assert!(rows(&s, "SHOW TAGS FROM orders").await[0].starts_with("one|1|"));
    assert!(rows(&s, "SHOW BRANCHES IN orders").await[0].starts_with("b|"));
    assert_eq!(rows(&s, "SHOW SNAPSHOTS FROM orders").await.len(), 1);
    assert_eq!(rows(&s, "SHOW PARTITIONS FROM orders").await.len(), 2);
    assert_eq!(rows(&s, "SHOW PROCEDURES LIKE '%compact'").await.len(), 1);
    assert_eq!(rows(&s, "SHOW FUNCTIONS LIKE 'current_database'").await, ["current_database|scalar"]);
    assert_eq!(
        rows(&s, "DESCRIBE SELECT id, count(*) AS n, now() AS at FROM orders GROUP BY id").await,
        ["id|BIGINT|NO", "n|BIGINT|NO", "at|TIMESTAMP(9)|NO"]
    );
    assert_eq!(
        rows(&s, "SUMMARIZE SELECT amount, note, CASE WHEN id = 1 THEN 5 END AS part FROM orders").await,
        [
            "amount|DECIMAL(10, 2)|10.50|30.00|3|20.166666666666668|9.75106831754005|12.875|20.0|27.5|3|0.00",
            "note|STRING|a|c|3||||||3|0.00",
            "part|BIGINT|5|5|1|5.0||5.0|5.0|5.0|3|66.67",
        ]
    );
    assert_eq!(rows(&s, "SUMMARIZE orders").await.len(), 4);
    assert_eq!(rows(&s, "SUMMARIZE SELECT 1 AS a WHERE false").await, ["a|BIGINT|||0||||||0|"]);
}
