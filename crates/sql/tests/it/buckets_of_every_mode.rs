//! The same statements on tables whose rows get their buckets in different ways give the same rows.

use linn::ErrorKind;

use crate::{fails, rows, run, session};

const ALL: &str = "SELECT id, dt, amount FROM t ORDER BY id";

async fn check(key: &str, options: &str) {
    let s = session();
    run(&s, &format!(
        "CREATE TABLE t (id BIGINT, dt STRING, amount INT, PRIMARY KEY ({key}) NOT ENFORCED) PARTITIONED BY (dt) WITH ({options})"
    ))
    .await;
    run(&s, "INSERT INTO t VALUES (1, 'd1', 10), (2, 'd1', 20), (3, 'd2', 30)").await;
    run(&s, "INSERT INTO t VALUES (4, 'd2', 40), (1, 'd1', 11)").await;
    run(&s, "UPDATE t SET amount = amount * 2 WHERE id = 2; DELETE FROM t WHERE id = 3").await;
    let expected = ["1|d1|11", "2|d1|40", "4|d2|40"];
    assert_eq!(rows(&s, ALL).await, expected, "{options}");
    run(&s, "CALL sys.compact(`table` => 'default.t')").await;
    assert_eq!(rows(&s, ALL).await, expected, "{options}, compacted");
    run(&s, "CREATE TABLE src (id BIGINT, dt STRING, amount INT)").await;
    run(&s, "INSERT INTO src VALUES (1, 'd1', 0), (2, 'd1', 1), (5, 'd3', 5)").await;
    run(
        &s,
        "MERGE INTO t USING src ON t.id = src.id AND t.dt = src.dt WHEN MATCHED AND src.amount = 0 THEN DELETE \
         WHEN MATCHED THEN UPDATE SET amount = t.amount + src.amount \
         WHEN NOT MATCHED THEN INSERT (id, dt, amount) VALUES (src.id, src.dt, src.amount)",
    )
    .await;
    assert_eq!(rows(&s, ALL).await, ["2|d1|41", "4|d2|40", "5|d3|5"], "{options}, merged");
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_do_not_depend_on_the_mode() {
    check("dt, id", "'bucket' = '2'").await;
    check("dt, id", "'bucket' = '-1', 'dynamic-bucket.target-row-num' = '1'").await;
    check("dt, id", "'bucket' = '-2'").await;
    check("id", "'bucket' = '-1'").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_moves_with_its_key() {
    let s = session();
    run(
        &s,
        "CREATE TABLE t (id BIGINT, dt STRING, amount INT, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) \
         WITH ('bucket' = '-1')",
    )
    .await;
    run(&s, "INSERT INTO t VALUES (1, 'd1', 10), (2, 'd1', 20)").await;
    run(&s, "INSERT INTO t VALUES (1, 'd2', 11)").await;
    assert_eq!(rows(&s, ALL).await, ["1|d2|11", "2|d1|20"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_partitions_that_rows_are_in_are_replaced() {
    let s = session();
    run(
        &s,
        "CREATE TABLE t (id BIGINT, dt STRING, hr INT, amount INT, PRIMARY KEY (id) NOT ENFORCED) \
         PARTITIONED BY (dt, hr) WITH ('bucket' = '-1')",
    )
    .await;
    run(&s, "INSERT INTO t VALUES (1, 'd1', 1, 10), (2, 'd1', 2, 20), (3, 'd2', 1, 30), (4, 'd2', 2, 40)").await;
    // 2 moves to the partition that is replaced, and 1 is gone with what was in it.
    run(&s, "INSERT OVERWRITE t VALUES (2, 'd1', 1, 21), (5, 'd3', 1, 50)").await;
    let all = "SELECT id, dt, hr, amount FROM t ORDER BY id";
    assert_eq!(rows(&s, all).await, ["2|d1|1|21", "3|d2|1|30", "4|d2|2|40", "5|d3|1|50"]);
    run(&s, "INSERT OVERWRITE t PARTITION (dt = 'd2') (id, hr, amount) VALUES (6, 1, 60), (5, 1, 51)").await;
    assert_eq!(rows(&s, all).await, ["2|d1|1|21", "4|d2|2|40", "5|d2|1|51", "6|d2|1|60"]);
    run(&s, "INSERT OVERWRITE t SELECT * FROM t WHERE false").await;
    assert_eq!(rows(&s, "SELECT count(*) FROM t").await, ["4"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rescale_is_called() {
    let s = session();
    run(
        &s,
        "CREATE TABLE t (id BIGINT, dt STRING, amount INT, PRIMARY KEY (dt, id) NOT ENFORCED) PARTITIONED BY (dt) \
         WITH ('bucket' = '1')",
    )
    .await;
    let values: Vec<String> = (0..40).map(|i| format!("({i}, 'd{}', {i})", i % 2)).collect();
    run(&s, &format!("INSERT INTO t VALUES {}", values.join(", "))).await;
    run(&s, "CALL sys.rescale(`table` => 'default.t', bucket_num => 3, `partition` => 'dt=d1')").await;
    assert_eq!(rows(&s, "SELECT count(*) FROM t").await, ["40"]);
    let buckets = "SELECT count(*) FROM t$buckets";
    assert_eq!(rows(&s, buckets).await, ["4"]);
    run(&s, "CALL sys.rescale(`table` => 'default.t', bucket_num => 5, `where` => 'dt > ''d0''')").await;
    assert_eq!(rows(&s, buckets).await, ["6"]);
    run(&s, "CALL sys.rescale(`table` => 'default.t', bucket_num => 7, `where` => 'dt in (''d2'', ''d3'')')").await;
    assert_eq!(rows(&s, buckets).await, ["6"], "no partition is chosen");
    assert_eq!(rows(&s, "SELECT count(*), count(DISTINCT id) FROM t").await, ["40|40"]);
    let other = fails(&s, "CALL sys.rescale(`table` => 'default.t', bucket_num => 2, `where` => 'id > 1')").await;
    assert!(other.hint().is_some_and(|hint| hint.contains("dt")), "{other}");
    let wrong = fails(&s, "CALL sys.rescale(`table` => 'default.t', bucket_num => 0)").await;
    assert_eq!(wrong.kind(), ErrorKind::Invalid);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_condition_chooses_partitions_in_which_rows_only_wait() {
    let s = session();
    run(
        &s,
        "CREATE TABLE t (id BIGINT, dt STRING, amount INT, PRIMARY KEY (dt, id) NOT ENFORCED) PARTITIONED BY (dt) \
         WITH ('bucket' = '-2', 'postpone.batch-write-fixed-bucket' = 'false')",
    )
    .await;
    run(&s, "INSERT INTO t VALUES (1, 'd1', 10), (2, 'd1', 20), (3, 'd2', 30)").await;
    let shown = "SELECT id, dt, amount FROM t OPTIONS('postpone.merge-on-read' = 'true') ORDER BY id";
    assert_eq!(rows(&s, ALL).await, [""; 0]);
    assert_eq!(rows(&s, shown).await, ["1|d1|10", "2|d1|20", "3|d2|30"]);
    run(&s, "CALL sys.compact(`table` => 'default.t', `where` => 'dt = ''d1''')").await;
    assert_eq!(rows(&s, ALL).await, ["1|d1|10", "2|d1|20"]);
    run(&s, "INSERT INTO t VALUES (1, 'd1', 11)").await;
    assert_eq!(rows(&s, shown).await, ["1|d1|11", "2|d1|20", "3|d2|30"]);
    let both = "CALL sys.compact(`table` => 'default.t', partitions => 'dt=d1', `where` => 'dt = ''d1''')";
    assert_eq!(fails(&s, both).await.kind(), ErrorKind::Invalid);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_insert_that_outgrows_its_partition_enlarges_it() {
    let s = session();
    run(
        &s,
        "CREATE TABLE t (id BIGINT, dt STRING, amount INT, PRIMARY KEY (dt, id) NOT ENFORCED) PARTITIONED BY (dt) \
         WITH ('bucket' = '-2', 'postpone.target-row-num-per-bucket' = '5', \
         'postpone.batch-write-fixed-bucket.rescale-load-factor' = '1')",
    )
    .await;
    let buckets = "SELECT count(*) > 1 FROM t$buckets";
    run(&s, "INSERT INTO t VALUES (1, 'd1', 0), (2, 'd1', 0)").await;
    assert_eq!(rows(&s, buckets).await, ["false"]);
    let values: Vec<String> = (2..40).map(|i| format!("({i}, 'd1', {i})")).collect();
    run(&s, &format!("INSERT INTO t VALUES {}", values.join(", "))).await;
    assert_eq!(rows(&s, buckets).await, ["true"]);
    assert_eq!(rows(&s, "SELECT count(*), sum(amount), max(id) FROM t").await, ["39|779|39"]);
}
