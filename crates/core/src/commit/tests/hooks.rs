//! What follows commits is what the table handle carries.

use std::sync::Arc;

use async_trait::async_trait;
use linn_format::SnapshotId;
use parking_lot::Mutex;

use crate::commit::{Commit, CommitOutcome};
use crate::fixture::{added, memory, schema, table};
use crate::table::{AfterCommit, CommitHooks, Table};

/// Keeps what it was told; asks for snapshots of steps without changes.
#[derive(Debug, Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

#[async_trait]
impl AfterCommit for Told {
    async fn wants_snapshot(&self, _: &Table) -> bool {
        true
    }

    async fn committed(&self, _: &Table, identifier: i64) {
        self.0.lock().push(format!("committed {identifier}"));
    }

    async fn settled(&self, _: &Table, newest: SnapshotId, identifier: i64) {
        self.0.lock().push(format!("settled {identifier} in {newest}"));
    }
}

impl CommitHooks for Told {
    fn begin(&self) -> Arc<dyn AfterCommit> {
        Arc::new(self.clone())
    }
}

#[tokio::test]
async fn hooks_are_told_of_what_was_committed() {
    let told = Told::default();
    let table = table(memory(), schema(false, false, &[("bucket", "-1")])).await.with_hooks(Arc::new(told.clone()));
    let committer = table.committer("u");
    committer.commit(Commit::streaming(1, vec![added(&["a"])])).await.unwrap();
    let empty = committer.commit(Commit::streaming(2, Vec::new())).await.unwrap();
    assert_eq!(empty, CommitOutcome::Committed(vec![SnapshotId(2)]), "a step without changes for which a tag waits");
    // A snapshot that changes no rows makes nothing due.
    committer.statistics("stat".to_owned()).await.unwrap();
    let told = told.0.lock().clone();
    assert_eq!(
        told,
        ["committed 1", "settled 1 in 1", "committed 2", "settled 2 in 2", &format!("committed {}", i64::MAX)]
    );
}
