//! Compacting level 0 until what was committed can be seen: batch reads leave level 0 out where keys are looked up.

use linn_format::row::BinaryRow;
use linn_format::{Error, Result};

use crate::commit::{Commit, CommitOutcome};
use crate::table::Table;

/// How often a compaction that others keep overtaking is tried.
const TRIES: usize = 20;

impl Table {
    /// Compacts level 0 of these partitions where batch reads leave it out and commits wait for that (`lookup-wait`): for
    /// rows whose own compaction was lost to another commit, or that were written without one. Nothing happens in
    /// tables whose level 0 is read.
    ///
    /// # Errors
    /// `Conflict` when other commits keep coming first; those of [`Table::compact`] and of commits.
    pub async fn show_level_0(&self, partitions: &[BinaryRow]) -> Result<()> {
        let keyed = self.schema().is_primary_key_table();
        if !keyed || !self.options().wait_for_lookup()? || partitions.is_empty() {
            return Ok(());
        }
        for _ in 0..TRIES {
            let messages = self.compact(Some(partitions), false).await?;
            let committer = self.committer(self.new_user());
            match committer.commit(Commit::batch(messages.clone())).await? {
                CommitOutcome::Committed(_) => return Ok(()),
                CommitOutcome::CompactionLost { .. } | CommitOutcome::Conflict(_) => committer.abort(&messages).await?,
                CommitOutcome::Unknown(why) => {
                    return Err(Error::unknown_outcome(why).with("table", self.name()));
                }
            }
        }
        let what =
            "the rows are committed, but other commits keep coming before the compaction that makes them visible";
        Err(Error::conflict(what).with("table", self.name()).with_hint("compact the table"))
    }
}
