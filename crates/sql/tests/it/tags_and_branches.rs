//! Tags, rollbacks and branches by procedures; statistics; system tables with filters.

use linn::ErrorKind;

use crate::{fails, rows, run, session};

const TABLE: &str = "CREATE TABLE t (k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1'); \
     INSERT INTO t VALUES (1, 'a'); INSERT INTO t VALUES (2, 'b'); INSERT INTO t VALUES (3, 'c')";

#[tokio::test]
async fn tags_keep_snapshots() {
    let session = session();
    run(&session, TABLE).await;
    run(&session, "CALL sys.create_tag('t', 'two', 2); CALL sys.create_tag(`table` => 't', tag => 'now')").await;
    let made = rows(&session, "CALL sys.create_tag_from_timestamp('t', 'first', 0, '1 d')").await;
    assert!(made[0].starts_with("first|1|"), "{made:?}");
    let tags = "SELECT tag_name, snapshot_id, record_count, time_retained FROM \"t$tags\" ORDER BY tag_name";
    assert_eq!(rows(&session, tags).await, ["first|1|1|PT24H", "now|3|3|", "two|2|2|"]);
    assert_eq!(rows(&session, "SELECT snapshot_id FROM \"t$tags\" WHERE tag_name = 'two'").await, ["2"]);
    assert_eq!(rows(&session, "SELECT count(*) FROM t VERSION AS OF 'two'").await, ["2"]);
    run(&session, "CALL sys.rename_tag('t', 'two', 'zwei'); CALL sys.replace_tag('t', 'zwei', 1)").await;
    assert_eq!(rows(&session, "SELECT count(*) FROM t FOR TAG 'zwei'").await, ["1"]);
    run(&session, "CALL sys.delete_tag('t', 'zwei,now')").await;
    assert_eq!(rows(&session, "SELECT tag_name FROM \"t$tags\"").await, ["first"]);
    assert_eq!(rows(&session, "CALL sys.expire_tags('t')").await, ["No expired tags."]);
    assert_eq!(rows(&session, "CALL sys.expire_tags('t', '2999-01-01 00:00:00')").await, ["first"]);
    assert_eq!(fails(&session, "CALL sys.create_tag('t', 'x', 99)").await.kind(), ErrorKind::NotFound);
    assert_eq!(fails(&session, "CALL sys.delete_tag('t', 'x')").await.kind(), ErrorKind::NotFound);
    assert_eq!(fails(&session, "CALL sys.create_tag('t')").await.kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn tables_go_back() {
    let session = session();
    run(&session, TABLE).await;
    run(&session, "CALL sys.create_tag('t', 'two', 2)").await;
    assert_eq!(rows(&session, "CALL sys.rollback_to_as_latest('t', snapshot_id => 1)").await, ["3|1|4"]);
    assert_eq!(rows(&session, "SELECT k FROM t").await, ["1"]);
    run(&session, "INSERT INTO t VALUES (7, 'g')").await;
    assert_eq!(rows(&session, "SELECT k FROM t ORDER BY k").await, ["1", "7"]);
    assert_eq!(rows(&session, "CALL sys.rollback_to('t', 'two')").await, ["5|2"]);
    assert_eq!(rows(&session, "SELECT k FROM t ORDER BY k").await, ["1", "2"]);
    assert_eq!(rows(&session, "SELECT max(snapshot_id) FROM \"t$snapshots\"").await, ["2"]);
    run(&session, "INSERT INTO t VALUES (8, 'h')").await;
    assert_eq!(rows(&session, "SELECT k FROM t ORDER BY k").await, ["1", "2", "8"]);
    assert_eq!(fails(&session, "CALL sys.rollback_to('t')").await.kind(), ErrorKind::Invalid);
    assert_eq!(fails(&session, "CALL sys.rollback_to_timestamp('t', 5)").await.kind(), ErrorKind::NotFound);
    assert_eq!(fails(&session, "CALL sys.rollback_to_watermark('t', 5)").await.kind(), ErrorKind::NotFound);
    assert_eq!(rows(&session, "CALL sys.rollback('t', '1')").await, ["3|1"]);
}

#[tokio::test]
async fn branches_are_tables_of_their_own() {
    let session = session();
    run(&session, TABLE).await;
    run(
        &session,
        "CALL sys.create_tag('t', 'two', 2); CALL sys.create_branch('t', 'b', 'two'); CALL sys.create_branch('t', 'e')",
    )
    .await;
    run(&session, "CALL sys.create_branch('t', 'e', ignoreIfExists => true)").await;
    run(&session, "INSERT INTO \"t$branch_b\" VALUES (9, 'z'); INSERT INTO \"t$branch_e\" VALUES (5, 'x')").await;
    assert_eq!(rows(&session, "SELECT k FROM \"t$branch_b\" ORDER BY k").await, ["1", "2", "9"]);
    assert_eq!(rows(&session, "SELECT k FROM t OPTIONS('branch' = 'e')").await, ["5"]);
    assert_eq!(rows(&session, "SELECT k FROM t ORDER BY k").await, ["1", "2", "3"]);
    assert_eq!(rows(&session, "SELECT branch_name FROM \"t$branches\" ORDER BY 1").await, ["b", "e"]);
    assert_eq!(rows(&session, "SELECT count(*) FROM \"t$branch_b$snapshots\"").await, ["2"]);
    run(&session, "ALTER TABLE \"t$branch_e\" ADD COLUMN more INT").await;
    assert_eq!(rows(&session, "SELECT k, more FROM \"t$branch_e\"").await, ["5|"]);
    assert_eq!(rows(&session, "SELECT k, more FROM t OPTIONS('branch' = 'e')").await, ["5|"]);
    run(
        &session,
        "CALL sys.rename_branch('t', 'b', 'c'); CALL sys.fast_forward('t', 'c'); CALL sys.delete_branch('t', 'e')",
    )
    .await;
    assert_eq!(rows(&session, "SELECT k FROM t ORDER BY k").await, ["1", "2", "9"]);
    assert_eq!(fails(&session, "SELECT * FROM \"t$branch_e\"").await.kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn branches_of_tables_that_only_grow_are_merged() {
    let session = session();
    run(&session, "CREATE TABLE l (a INT, v STRING); INSERT INTO l VALUES (1, 'x'); CALL sys.create_tag('l', 'one')")
        .await;
    run(&session, "CALL sys.create_branch('l', 'b', 'one'); INSERT INTO l VALUES (2, 'y')").await;
    run(&session, "INSERT INTO \"l$branch_b\" VALUES (3, 'z')").await;
    run(&session, "CALL sys.merge_branch(`table` => 'l', source_branch => 'b')").await;
    assert_eq!(rows(&session, "SELECT a FROM l ORDER BY a").await, ["1", "2", "3"]);
    run(&session, "CALL sys.merge_branch('l', source_branch => 'main', target_branch => 'b')").await;
    assert_eq!(rows(&session, "SELECT a FROM \"l$branch_b\" ORDER BY a").await, ["1", "2", "3"]);
    assert_eq!(fails(&session, "CALL sys.merge_branch('l', 'b', 'b')").await.kind(), ErrorKind::Invalid);
    assert_eq!(fails(&session, "CALL sys.merge_branch('l', 'none')").await.kind(), ErrorKind::NotFound);
    run(&session, TABLE).await;
    run(&session, "CALL sys.create_branch('t', 'b')").await;
    run(&session, "CALL sys.merge_branch('t', 'b')").await;
    assert_eq!(rows(&session, "SELECT k FROM t ORDER BY k").await, ["1", "2", "3"]);
    assert_eq!(rows(&session, "SELECT v FROM l WHERE v LIKE 'y%'").await, ["y"]);
    assert_eq!(rows(&session, "SELECT v FROM l WHERE v NOT LIKE 'y%' AND v LIKE '_' ORDER BY v").await, ["x", "z"]);
}

#[tokio::test]
async fn a_branch_fills_in_for_partitions() {
    let session = session();
    run(&session, "CREATE TABLE f (d STRING, k INT) PARTITIONED BY (d); INSERT INTO f VALUES ('a', 1), ('b', 2)").await;
    run(&session, "CALL sys.create_branch('f', 'late')").await;
    run(&session, "INSERT INTO \"f$branch_late\" VALUES ('b', 20), ('c', 30)").await;
    assert_eq!(rows(&session, "SELECT d, k FROM f ORDER BY d").await, ["a|1", "b|2"]);
    run(&session, "ALTER TABLE f SET ('scan.fallback-branch' = 'late')").await;
    assert_eq!(rows(&session, "SELECT d, k FROM f ORDER BY d").await, ["a|1", "b|2", "c|30"]);
    assert_eq!(rows(&session, "SELECT count(*), max(k) FROM f WHERE d > 'a' AND k > 2").await, ["1|30"]);
    assert_eq!(rows(&session, "SELECT k FROM f OPTIONS('scan.fallback-branch' = '') ORDER BY k").await, ["1", "2"]);
    let first = "SELECT d, k FROM f OPTIONS('scan.fallback-branch' = '', 'scan.primary-branch' = 'late') ORDER BY d";
    assert_eq!(rows(&session, first).await, ["a|1", "b|20", "c|30"]);
    assert_eq!(fails(&session, "CALL sys.delete_branch('f', 'late')").await.kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn statistics_are_committed_and_shown() {
    let session = session();
    run(&session, TABLE).await;
    run(&session, "ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS k").await;
    let shown =
        rows(&session, "SELECT \"mergedRecordCount\", colstat LIKE '%\"max\" : \"3\"%' FROM \"t$statistics\"").await;
    assert_eq!(shown, ["3|true"]);
    assert_eq!(rows(&session, "SELECT commit_kind FROM \"t$snapshots\" WHERE snapshot_id > 3").await, ["ANALYZE"]);
    run(&session, "INSERT INTO t VALUES (4, 'd')").await;
    assert_eq!(rows(&session, "SELECT snapshot_id FROM \"t$statistics\"").await, ["3"]);
    assert_eq!(fails(&session, "ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS x").await.kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn system_tables_are_filtered_and_there_are_those_of_all_tables() {
    let session = session();
    run(&session, TABLE).await;
    run(&session, "CREATE TABLE p (a INT, d STRING) PARTITIONED BY (d); INSERT INTO p VALUES (1, 'x'), (2, 'y')").await;
    assert_eq!(rows(&session, "SELECT snapshot_id FROM \"t$snapshots\" WHERE snapshot_id IN (1, 3)").await, ["1", "3"]);
    assert_eq!(rows(&session, "SELECT count(*) FROM \"t$files\" WHERE bucket = 0").await, ["3"]);
    assert_eq!(rows(&session, "SELECT count(*) FROM \"t$files\" WHERE bucket = 1").await, ["0"]);
    assert_eq!(rows(&session, "SELECT record_count FROM \"p$files\" WHERE partition = '{x}'").await, ["1"]);
    assert_eq!(rows(&session, "SELECT record_count FROM \"p$buckets\" WHERE partition = '{y}'").await, ["1"]);
    assert_eq!(
        rows(&session, "SELECT field_name, field_type FROM \"t$aggregation_fields\"").await,
        ["k|INT NOT NULL", "v|STRING"]
    );
    assert_eq!(rows(&session, "SELECT * FROM \"t$consumers\"").await, Vec::<String>::new());
    assert_eq!(
        rows(&session, "SELECT table_name, partitioned, primary_key FROM sys.tables ORDER BY 1").await,
        ["p|true|false", "t|false|true"]
    );
    assert_eq!(
        rows(&session, "SELECT partition_name, record_count FROM sys.partitions ORDER BY 1").await,
        ["d=x|1", "d=y|1"]
    );
    assert_eq!(
        rows(&session, "SELECT value FROM sys.all_table_options WHERE table_name = 't' AND key = 'bucket'").await,
        ["1"]
    );
    run(
        &session,
        "CREATE TABLE i (a INT, b STRING) WITH ('file-index.bloom-filter.columns' = 'a,b', \
         'file-index.bloom-filter.a.items' = '10', 'file-index.bloom-filter.b.items' = '10', \
         'file-index.in-manifest-threshold' = '1 b'); INSERT INTO i VALUES (1, 'x'); \
         ALTER TABLE i SET ('file-index.in-manifest-threshold' = '1 mb'); INSERT INTO i VALUES (2, 'y')",
    )
    .await;
    let indexes = "SELECT column_name, index_type, storage_type, index_file_path LIKE '%.index', record_count, \
                   index_size_in_bytes < index_container_size_in_bytes, is_empty FROM \"i$file_indexes\" ORDER BY 3, 1";
    let expected = [
        "a|bloom-filter|EMBEDDED||1|true|false",
        "b|bloom-filter|EMBEDDED||1|true|false",
        "a|bloom-filter|FILE|true|1|true|false",
        "b|bloom-filter|FILE|true|1|true|false",
    ];
    assert_eq!(rows(&session, indexes).await, expected);
    assert_eq!(rows(&session, "SELECT * FROM \"t$file_indexes\"").await, Vec::<String>::new());
    assert_eq!(rows(&session, "SHOW TABLES IN sys").await, ["tables", "partitions", "all_table_options"]);
    assert_eq!(fails(&session, "SELECT * FROM sys.catalog_options").await.kind(), ErrorKind::NotFound);
    assert_eq!(fails(&session, "SELECT * FROM \"t$row_tracking\"").await.kind(), ErrorKind::Invalid);
}
