//! INSERTs of a statement set: shared sources are read once, one commit for each table, all or nothing.

use linn::ErrorKind;
use linn_sql::Session;

use crate::{fails, rows, run, session};

async fn wide(engine: &str) -> Session {
    let session = session();
    let table = format!(
        "CREATE TABLE wide (k INT, a INT, b STRING DEFAULT 'none', c INT, PRIMARY KEY (k) NOT ENFORCED) \
         WITH ('bucket' = '1', 'merge-engine' = '{engine}')"
    );
    run(&session, &table).await;
    run(&session, "CREATE TABLE src (k INT, a INT, b STRING, kind STRING)").await;
    run(&session, "INSERT INTO src VALUES (1, 10, 'x', 'p'), (2, 20, 'y', 'q'), (3, 30, 'z', 'p')").await;
    session
}

async fn snapshots(session: &Session, table: &str) -> String {
    rows(session, &format!("SELECT count(*) FROM \"{table}$snapshots\"")).await.remove(0)
}

#[tokio::test]
async fn columns_of_others_are_left_alone() {
    let session = wide("partial-update").await;
    run(&session, "INSERT INTO wide VALUES (1, 0, 'old', 7)").await;
    run(
        &session,
        "BEGIN STATEMENT SET; INSERT INTO wide (k, a) SELECT k, a FROM src; \
         INSERT INTO wide (k, b) SELECT k, b FROM src WHERE kind = 'p'; END;",
    )
    .await;
    let found = rows(&session, "SELECT * FROM wide ORDER BY k").await;
    assert_eq!(found, ["1|10|x|7", "2|20||", "3|30|z|"]);
    assert_eq!(snapshots(&session, "wide").await, "2");
}

#[tokio::test]
async fn shared_sources_are_read_once() {
    let session = wide("partial-update").await;
    let explained = |set: &str| format!("EXPLAIN STATEMENT SET BEGIN {set} END");
    let scans =
        "INSERT INTO wide (k, a) SELECT k, a FROM src; INSERT INTO wide (k, b) SELECT k, b FROM src WHERE kind = 'p';";
    let plan = rows(&session, &explained(scans)).await.join("\n");
    assert_eq!(plan.matches("LinnScan").count(), 1, "{plan}");
    assert_eq!(plan.matches("Shared: 1").count(), 2, "{plan}");
    // A subquery is shared as a whole, and reads what is shared with others.
    let sums = "(SELECT kind, max(k) AS k, sum(a) AS s FROM src GROUP BY kind)";
    let set = format!(
        "INSERT INTO wide (k, a) SELECT k, cast(s AS INT) FROM {sums} x; INSERT INTO wide (k, b) SELECT k, kind FROM {sums} x; \
         INSERT INTO wide (k, c) SELECT k, k FROM src;"
    );
    let plan = rows(&session, &explained(&set)).await.join("\n");
    assert_eq!(plan.matches("LinnScan").count(), 1, "{plan}");
    assert_eq!(plan.matches("mode=Partial").count(), 1, "{plan}");
    run(&session, &format!("EXECUTE STATEMENT SET BEGIN {set} END")).await;
    let found = rows(&session, "SELECT * FROM wide ORDER BY k").await;
    assert_eq!(found, ["1|||1", "2|20|q|2", "3|40|p|3"]);
}

#[tokio::test]
async fn joins_of_what_is_shared_end() {
    let session = wide("partial-update").await;
    run(&session, "CREATE TABLE dim (k INT, name STRING); INSERT INTO dim VALUES (1, 'one'), (3, 'three')").await;
    // Each reads the other's table first.
    run(
        &session,
        "BEGIN STATEMENT SET; \
         INSERT INTO wide (k, b) SELECT s.k, d.name FROM src s JOIN dim d ON s.k = d.k; \
         INSERT INTO wide (k, a) SELECT d.k, s.a FROM dim d LEFT JOIN src s ON s.k = d.k; \
         INSERT INTO wide (k, c) SELECT x.k, y.k FROM src x JOIN src y ON x.k = y.k WHERE x.k IN (SELECT k FROM dim); \
         END",
    )
    .await;
    assert_eq!(rows(&session, "SELECT * FROM wide ORDER BY k").await, ["1|10|one|1", "3|30|three|3"]);
}

#[tokio::test]
async fn the_last_statement_stands_where_rows_are_replaced() {
    let session = wide("deduplicate").await;
    run(
        &session,
        "BEGIN STATEMENT SET; INSERT INTO wide (k, a) SELECT k, a FROM src; INSERT INTO wide (k, a, b) VALUES (1, 5, 'v'); \
         INSERT INTO wide SELECT k, a + 1, b, 9 FROM src WHERE k = 2; END",
    )
    .await;
    let found = rows(&session, "SELECT * FROM wide ORDER BY k").await;
    assert_eq!(found, ["1|5|v|", "2|21|y|9", "3|30|none|"]);
}

#[tokio::test]
async fn several_tables_get_a_commit_each() {
    let session = wide("partial-update").await;
    run(&session, "CREATE TABLE log (k INT, note STRING DEFAULT 'n')").await;
    run(
        &session,
        "BEGIN STATEMENT SET; INSERT INTO wide (k, a) SELECT k, a FROM src; INSERT INTO log (k) SELECT k FROM src; \
         INSERT INTO log SELECT k, b FROM src; END",
    )
    .await;
    assert_eq!(rows(&session, "SELECT count(*) FROM wide").await, ["3"]);
    let found = rows(&session, "SELECT * FROM log ORDER BY k, note").await;
    assert_eq!(found, ["1|n", "1|x", "2|n", "2|y", "3|n", "3|z"]);
    assert_eq!((snapshots(&session, "wide").await, snapshots(&session, "log").await), ("1".into(), "1".into()));
}

#[tokio::test]
async fn an_error_names_its_statement_and_nothing_is_there() {
    let session = wide("partial-update").await;
    run(&session, "CREATE TABLE log (k INT NOT NULL, note STRING)").await;
    let set = "BEGIN STATEMENT SET; INSERT INTO wide (k, a) SELECT k, a FROM src; \
               INSERT INTO log SELECT cast(b AS INT), b FROM src; END";
    let error = fails(&session, set).await;
    assert!(format!("{error}").contains("INSERT 2"), "{error}");
    assert_eq!(rows(&session, "SELECT count(*) FROM wide").await, ["0"]);
    assert_eq!(rows(&session, "SELECT count(*) FROM \"wide$snapshots\"").await, ["0"]);
    for (set, kind) in [
        ("INSERT INTO wide (k, nope) SELECT k, a FROM src;", ErrorKind::Invalid),
        ("INSERT INTO wide (k, a) SELECT k FROM src;", ErrorKind::Invalid),
        ("INSERT INTO nowhere SELECT k FROM src;", ErrorKind::NotFound),
        ("INSERT OVERWRITE wide SELECT k, a, b, k FROM src;", ErrorKind::Unsupported),
        ("INSERT INTO log (note) SELECT b FROM src;", ErrorKind::Invalid),
    ] {
        let error = fails(&session, &format!("BEGIN STATEMENT SET; {set} END")).await;
        assert_eq!(error.kind(), kind, "{set}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_some_columns_reach_buckets_of_every_kind() {
    let groups = "'merge-engine' = 'partial-update', 'fields.g.sequence-group' = 'a', 'fields.h.sequence-group' = 'b'";
    for options in [
        "'bucket' = '3'",
        "'bucket' = '-1'",
        "'bucket' = '-2'",
        "'bucket' = '2', 'write-buffer-size' = '64 kb', 'write-buffer-spillable' = 'true'",
        "'bucket' = '1', 'changelog-producer' = 'lookup'",
        "'bucket' = '1', 'deletion-vectors.enabled' = 'true'",
    ] {
        let session = session();
        let table = format!(
            "CREATE TABLE w (k INT, p INT, g INT, a STRING, h INT, b STRING, PRIMARY KEY (k, p) NOT ENFORCED) \
             PARTITIONED BY (p) WITH ({options}, {groups})"
        );
        run(&session, &table).await;
        run(&session, "CREATE TABLE src AS SELECT cast(value AS INT) AS k FROM generate_series(1, 5000)").await;
        run(&session, "INSERT INTO w SELECT k, k % 3, 5, 'old', 5, 'old' FROM src WHERE k <= 100").await;
        run(
            &session,
            "BEGIN STATEMENT SET; \
             INSERT INTO w (k, p, g, a) SELECT k, k % 3, 6, 'a' || k FROM src; \
             INSERT INTO w (k, p, h, b) SELECT k, k % 3, 4, 'b' || k FROM src WHERE k % 2 = 0; END",
        )
        .await;
        let counts = "SELECT count(*), count(a), count(DISTINCT a), count(b), sum(g) FROM w";
        assert_eq!(rows(&session, counts).await, ["5000|5000|5000|2550|30000"], "{options}");
        // What is older by its sequence stays away; what has no sequence leaves its group alone.
        let some = "SELECT k, g, a, h, b FROM w WHERE k IN (1, 2, 101, 102) ORDER BY k";
        let expected = ["1|6|a1|5|old", "2|6|a2|5|old", "101|6|a101||", "102|6|a102|4|b102"];
        assert_eq!(rows(&session, some).await, expected, "{options}");
    }
}
