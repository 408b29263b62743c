//! What a branch changed of a table with a primary key comes back key by key; keys that both changed are conflicts.

use linn::ErrorKind;
use linn_sql::Session;

use crate::{fails, rows, run, session};

/// Keys 1 to 6 and a branch of them; then the branch changes 1, 2 and 7 and deletes 3, and the table changes 4 and deletes 5.
async fn parted(options: &str) -> Session {
    let session = session();
    run(
        &session,
        &format!(
            "CREATE TABLE t (k INT, v STRING, p STRING, PRIMARY KEY (k, p) NOT ENFORCED) PARTITIONED BY (p) \
             WITH ('bucket' = '2'{options}); \
             INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'y'), (4, 'd', 'y'), (5, 'e', 'y'), (6, 'f', 'x'); \
             CALL sys.create_tag('t', 'start'); CALL sys.create_branch('t', 'fix', 'start')"
        ),
    )
    .await;
    run(&session, "UPDATE t OPTIONS('branch' = 'fix') SET v = upper(v) WHERE k <= 2").await;
    run(&session, "DELETE FROM t OPTIONS('branch' = 'fix') WHERE k = 3").await;
    run(&session, "INSERT INTO \"t$branch_fix\" VALUES (7, 'g', 'z')").await;
    run(&session, "UPDATE t SET v = 'dd' WHERE k = 4; DELETE FROM t WHERE k = 5").await;
    session
}

async fn all(session: &Session) -> Vec<String> {
    rows(session, "SELECT k, v FROM t ORDER BY k").await
}

#[tokio::test]
async fn changes_of_both_are_kept() {
    for options in ["", ", 'deletion-vectors.enabled' = 'true'", ", 'changelog-producer' = 'lookup'"] {
        let session = parted(options).await;
        assert_eq!(rows(&session, "CALL sys.merge_branch('t', 'fix', dry_run => true)").await, [""; 0]);
        run(&session, "CALL sys.merge_branch('t', 'fix')").await;
        assert_eq!(all(&session).await, ["1|A", "2|B", "4|dd", "6|f", "7|g"], "{options}");
        // Done again nothing is left to do.
        let before = rows(&session, "SELECT max(snapshot_id) FROM \"t$snapshots\"").await;
        run(&session, "CALL sys.merge_branch('t', 'fix')").await;
        assert_eq!(rows(&session, "SELECT max(snapshot_id) FROM \"t$snapshots\"").await, before);
        // And the branch takes what the table did.
        run(&session, "CALL sys.merge_branch('t', 'main', 'fix')").await;
        let branch = rows(&session, "SELECT k, v FROM \"t$branch_fix\" ORDER BY k").await;
        assert_eq!(branch, all(&session).await);
    }
}

#[tokio::test]
async fn keys_that_both_changed_are_settled_by_somebody() {
    for (side, expected) in
        [("ours", ["1|main", "2|B", "4|dd", "6|f", "7|g"]), ("theirs", ["1|A", "2|B", "4|dd", "6|f", "7|g"])]
    {
        let session = parted("").await;
        run(
            &session,
            "UPDATE t SET v = 'main' WHERE k = 1; UPDATE t SET v = 'B' WHERE k = 2; DELETE FROM t WHERE k = 3",
        )
        .await;
        let before = all(&session).await;
        let error = fails(&session, "CALL sys.merge_branch('t', 'fix')").await;
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert!(format!("{error}").contains("1 key was changed on both sides"), "{error}");
        assert_eq!(all(&session).await, before);
        let shown = rows(&session, "CALL sys.merge_branch('t', 'fix', dry_run => true)").await;
        assert_eq!(shown, ["ours|+U|1|main|x", "theirs|+U|1|A|x"]);
        run(&session, &format!("CALL sys.merge_branch('t', 'fix', conflicts => '{side}')")).await;
        assert_eq!(all(&session).await, expected, "{side}");
    }
}

#[tokio::test]
async fn a_branch_that_began_empty_brings_its_rows() {
    let session = session();
    run(&session, "CREATE TABLE t (k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1')").await;
    run(&session, "INSERT INTO t VALUES (1, 'a'), (2, 'b'); CALL sys.create_branch('t', 'b')").await;
    run(&session, "INSERT INTO \"t$branch_b\" VALUES (2, 'b'), (3, 'c')").await;
    run(&session, "CALL sys.merge_branch('t', 'b')").await;
    assert_eq!(all(&session).await, ["1|a", "2|b", "3|c"]);
}

#[tokio::test]
async fn what_cannot_be_told_is_refused() {
    let session = parted("").await;
    run(
        &session,
        "CALL sys.expire_snapshots('t', retain_max => 1, retain_min => 1); CALL sys.delete_tag('t', 'start')",
    )
    .await;
    assert_eq!(fails(&session, "CALL sys.merge_branch('t', 'fix')").await.kind(), ErrorKind::Invalid);
    let session = crate::session();
    run(
        &session,
        "CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) \
         WITH ('bucket' = '1', 'merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'sum'); \
         INSERT INTO t VALUES (1, 1); CALL sys.create_tag('t', 'start'); CALL sys.create_branch('t', 'fix', 'start')",
    )
    .await;
    assert_eq!(fails(&session, "CALL sys.merge_branch('t', 'fix')").await.kind(), ErrorKind::Unsupported);
}
