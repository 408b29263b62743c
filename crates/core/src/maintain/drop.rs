//! Dropping partitions, by commits that overwrite them with nothing; their files go when the snapshots before expire.

use linn_format::row::BinaryRow;
use linn_format::{Error, Result};

use crate::commit::{BATCH_IDENTIFIER, Commit, CommitOutcome, Overwrite};
use crate::table::Table;

/// Drops partitions, as many in one commit as `partition.expiration-batch-size` says.
///
/// # Errors
/// `Conflict` or `UnknownOutcome` when a commit is not made for certain; what is dropped by then stays dropped.
pub async fn drop_partitions(table: &Table, partitions: &[BinaryRow]) -> Result<()> {
    let batch = table.options().partition_expiration_batch()?.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0);
    let committer = table.committer(table.env().ids.uuid());
    for rows in partitions.chunks(batch.unwrap_or(usize::MAX)) {
        let commit = Commit { identifier: BATCH_IDENTIFIER, operation: Some("DELETE".to_owned()), ..Commit::default() };
        match committer.overwrite(Overwrite::Rows(rows.to_vec()), commit).await? {
            CommitOutcome::Committed(_) | CommitOutcome::CompactionLost { .. } => {}
            CommitOutcome::Conflict(why) => return Err(Error::conflict(why).with("table", table.name())),
            CommitOutcome::Unknown(why) => return Err(Error::unknown_outcome(why).with("table", table.name())),
        }
    }
    Ok(())
}
