//! What follows the commits of a table: tags, expiry, whatever a program adds. A table handle carries who does it, so that commits know
//! nothing of it. Nothing of it can fail a commit, which is made by then.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use linn_format::SnapshotId;

use super::Table;

/// Does what follows the commits of one committer. Failures are its own affair.
#[async_trait]
pub trait AfterCommit: Send + Sync + fmt::Debug {
    /// Whether a step of a stream that changes nothing is to make a snapshot all the same.
    async fn wants_snapshot(&self, _table: &Table) -> bool {
        false
    }

    /// A commit has made at least one snapshot; the committer takes the next commit when this returns.
    async fn committed(&self, _table: &Table, _identifier: i64) {}

    /// A commit of rows or files has made `newest`; by now the committer may be busy with the next one.
    async fn settled(&self, _table: &Table, _newest: SnapshotId, _identifier: i64) {}

    /// The table was rolled back: what is known of its snapshots does not hold any more.
    async fn rewound(&self) {}
}

/// Chooses what follows the commits to a table.
pub trait CommitHooks: Send + Sync + fmt::Debug {
    /// For a new committer.
    fn begin(&self) -> Arc<dyn AfterCommit>;
}

/// Nothing follows.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHooks;

impl AfterCommit for NoHooks {}

impl CommitHooks for NoHooks {
    fn begin(&self) -> Arc<dyn AfterCommit> {
        Arc::new(Self)
    }
}
