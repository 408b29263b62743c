//! A table as if it were new: no rows, no history, no tags, branches and consumers; only the schemas stay (spec: features.md
//! B14).

use linn_format::{Error, Result};

use super::orphan;
use super::retain::Retention;
use super::snapshot::SnapshotExpiry;
use crate::commit::{BATCH_IDENTIFIER, CommitOutcome};
use crate::table::Table;

/// Empties a table for good. Nobody else may write to it meanwhile: what is being written is taken for unused. How many files
/// went with the history and after it.
///
/// # Errors
/// `Unsupported` for a branch, `Conflict` and `UnknownOutcome` when the rows could not be removed for certain; what is gone by
/// then stays gone, and purging again goes on.
pub async fn purge(table: &Table) -> Result<u64> {
    if table.branch().is_some() {
        return Err(Error::unsupported("purging a branch").with("table", table.name()).with_hint("delete the branch"));
    }
    let storage = table.storage();
    storage.delete_dir(&format!("{}/branch", table.path())).await?;
    storage.delete_dir(&table.tag_dir()).await?;
    storage.delete_dir(&table.consumer_dir()).await?;
    let quiet = table.with_options(&[("write-only", "true")].into_iter().collect())?;
    match quiet.committer(table.env().ids.uuid()).truncate(BATCH_IDENTIFIER).await? {
        CommitOutcome::Committed(_) | CommitOutcome::CompactionLost { .. } => {}
        CommitOutcome::Conflict(why) => return Err(Error::conflict(why).with("table", table.name())),
        CommitOutcome::Unknown(why) => return Err(Error::unknown_outcome(why).with("table", table.name())),
    }
    storage.delete_dir(&table.changelog_dir()).await?;
    let expiry = SnapshotExpiry::new(table)?;
    let one = Retention { max: 1, min: 1, older_than: i64::MAX, limit: i64::MAX, consumers_hold: false };
    let mut files = 0;
    if let Some((begin, end)) = expiry.range(&one).await? {
        files += expiry.run(begin, end).await?.removal.files() as u64;
    }
    Ok(files + orphan::remove_unused(table).await?.removal.files() as u64)
}
