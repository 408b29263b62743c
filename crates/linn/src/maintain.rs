//! Compaction and expiry as a job.

use linn_core::maintain::{Retention, SnapshotExpiry};
use linn_core::{Commit, CommitOutcome};
use linn_format::{Result, SnapshotId};

use crate::once::committed;
use crate::table::WarehouseTable;

/// How much is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compaction {
    /// What the options of the table say is due.
    Due,
    /// Everything: each bucket becomes one sorted run.
    Full,
}

impl WarehouseTable {
    /// Compacts the table and commits the result. The snapshots are those of the compaction; there is none when nothing was due.
    ///
    /// # Errors
    /// `Conflict` when another job compacted the same files, `UnknownOutcome` when it is not known whether the commit was made.
    pub async fn compact(&self, how: Compaction) -> Result<Vec<SnapshotId>> {
        let table = self.core();
        let messages = table.compact(None, how == Compaction::Full).await?;
        let committer = table.committer(table.new_user());
        let outcome = committer.commit(Commit::batch(messages.clone())).await?;
        if matches!(outcome, CommitOutcome::Conflict(_) | CommitOutcome::CompactionLost { .. }) {
            committer.abort(&messages).await?;
        }
        committed(outcome)
    }

    /// Expires the snapshots that the options of the table (`snapshot.num-retained.min`, `snapshot.time-retained` …) do not keep, with
    /// the files that only they need. Returns how many expired.
    ///
    /// # Errors
    /// `Invalid` for bad values of the options, `Corrupt` for metadata that cannot be read.
    pub async fn expire(&self) -> Result<usize> {
        let table = self.core();
        let expiry = SnapshotExpiry::new(table)?;
        match expiry.range(&Retention::of_snapshots(table)?).await? {
            Some((begin, end)) => Ok(expiry.run(begin, end).await?.snapshots.len()),
            None => Ok(0),
        }
    }
}
