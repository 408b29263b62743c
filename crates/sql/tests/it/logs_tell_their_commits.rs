//! The audit log and the binlog tell the snapshot and the commit time of each change where that is asked for.

use crate::{rows, run, session};

#[tokio::test]
async fn each_change_has_its_own() {
    let session = session();
    run(
        &session,
        "CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1', 'changelog-producer' = 'input'); \
         INSERT INTO t VALUES (1, 1); INSERT INTO t VALUES (2, 2); INSERT INTO t VALUES (3, 3)",
    )
    .await;
    let asked =
        "OPTIONS('incremental-between' = '1,3', 'linn.read.snapshot-id' = 'true', 'linn.read.commit-time' = 'true')";
    let changes = format!("SELECT \"_SNAPSHOT_ID\", k FROM \"t$audit_log\" {asked} ORDER BY k");
    assert_eq!(rows(&session, &changes).await, ["2|2", "3|3"]);
    let times = format!(
        "SELECT count(*) FROM \"t$audit_log\" {asked} l JOIN \"t$snapshots\" s ON l.\"_SNAPSHOT_ID\" = s.snapshot_id \
         WHERE l.\"_COMMIT_TIME\" IS NOT NULL"
    );
    assert_eq!(rows(&session, &times).await, ["2"]);
    // Rows of a state have that of the state.
    let state =
        "SELECT \"_SNAPSHOT_ID\", rowkind, k FROM \"t$audit_log\" OPTIONS('linn.read.snapshot-id' = 'true') ORDER BY k";
    assert_eq!(rows(&session, state).await, ["3|+I|1", "3|+I|2", "3|+I|3"]);
    let lists = format!("SELECT \"_SNAPSHOT_ID\", k FROM \"t$binlog\" {asked} ORDER BY 1");
    assert_eq!(rows(&session, &lists).await, ["2|[2]", "3|[3]"]);
    let columns = rows(&session, "SELECT * FROM \"t$audit_log\" ORDER BY k").await;
    assert_eq!(columns, ["+I|1|1", "+I|2|2", "+I|3|3"]);
}
