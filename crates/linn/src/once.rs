//! Committing a job that commits once: what is done around its commit, whatever the outcome.

use std::collections::BTreeSet;

use linn_core::commit::Overwrite;
use linn_core::job::Growth;
use linn_core::write::TableWriter;
use linn_core::{Commit, CommitMessage, CommitOutcome, Table};
use linn_format::row::BinaryRow;
use linn_format::{Error, Result, SnapshotId};

/// Commits what a writer has prepared, and closes it. Where a compaction was lost to another job, the rows are compacted again as
/// far as readers need it; where partitions have outgrown their buckets, later rows get more.
///
/// # Errors
/// `Conflict` when another commit ruled this one out, and its files are deleted; `UnknownOutcome` when it is not known whether it
/// was made: nothing is deleted then.
pub async fn commit_once(
    table: &Table,
    user: &str,
    mut writer: TableWriter,
    messages: Vec<CommitMessage>,
) -> Result<Vec<SnapshotId>> {
    let committer = table.committer(user);
    let mut growth = Growth::default();
    growth.note(&messages);
    let outcome = committer.commit(Commit::batch(messages.clone())).await?;
    writer.settle(&outcome).await?;
    writer.close().await?;
    if matches!(outcome, CommitOutcome::Conflict(_)) {
        committer.abort(&messages).await?;
    }
    if matches!(outcome, CommitOutcome::CompactionLost { .. }) {
        let partitions = partitions(&messages)?;
        committer.abort(&messages.into_iter().map(CommitMessage::compaction).collect::<Vec<_>>()).await?;
        table.show_level_0(&partitions).await?;
    }
    let snapshots = committed(outcome)?;
    if let Err(e) = table.enlarge(&growth).await {
        tracing::warn!(table = table.name(), error = %e, "the rows are committed, but the number of buckets of their partitions could not be increased");
    }
    Ok(snapshots)
}

/// Replaces what a target holds by what a writer has prepared, and closes the writer.
///
/// # Errors
/// As [`commit_once`].
pub async fn overwrite_once(
    table: &Table,
    user: &str,
    writer: TableWriter,
    target: Overwrite,
    messages: Vec<CommitMessage>,
) -> Result<Vec<SnapshotId>> {
    let partitions = partitions(&messages)?;
    let committer = table.committer(user);
    let outcome = committer.overwrite(target, Commit::batch(messages.clone())).await?;
    writer.close().await?;
    if matches!(outcome, CommitOutcome::Conflict(_)) {
        committer.abort(&messages).await?;
    }
    let snapshots = committed(outcome)?;
    table.show_level_0(&partitions).await?;
    Ok(snapshots)
}

/// The snapshots of a commit.
///
/// # Errors
/// `Conflict` and `UnknownOutcome`, with what to do.
pub fn committed(outcome: CommitOutcome) -> Result<Vec<SnapshotId>> {
    match outcome {
        CommitOutcome::Committed(snapshots) => Ok(snapshots),
        CommitOutcome::CompactionLost { snapshots, why } => {
            tracing::warn!("the rows are committed, but the compaction committed with them is not: {why}");
            Ok(snapshots)
        }
        CommitOutcome::Conflict(why) => Err(Error::conflict(format!("another commit came first: {why}"))
            .with_hint("run the statement again, after doing what the reason asks for, if anything")),
        CommitOutcome::Unknown(why) => {
            Err(Error::unknown_outcome(why).with_hint("check the latest snapshots before running the statement again"))
        }
    }
}

/// The partitions that messages change.
fn partitions(messages: &[CommitMessage]) -> Result<Vec<BinaryRow>> {
    let distinct: BTreeSet<Vec<u8>> = messages.iter().map(|m| m.partition.to_serialized().to_vec()).collect();
    distinct.into_iter().map(BinaryRow::from_serialized).collect()
}
