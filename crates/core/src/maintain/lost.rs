//! Data files that the table names but that are gone: what was deleted by mistake is left out, so that the rest can be read
//! (spec: features.md B14). The rows of these files are lost to the table for good.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};
use linn_format::file::DataFileMeta;
use linn_format::manifest::{EntryBatch, ManifestEntry, StatsColumns};
use linn_format::{Error, ErrorKind, Result, SnapshotId};

use crate::commit::{Commit, CommitMessage, CommitOutcome};
use crate::file::place_of;
use crate::manifest::{Manifests, Selection};
use crate::reclaim::at_once;
use crate::snapshot::Snapshots;
use crate::table::Table;

/// A data file that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostFile {
    /// Where it should be.
    pub path: String,
    entry: ManifestEntry,
}

impl LostFile {
    /// What the table knows of it.
    pub fn file(&self) -> &DataFileMeta {
        &self.entry.file
    }
}

/// The data files of the latest snapshot that are gone.
///
/// # Errors
/// `Corrupt` or `NotFound` for metadata that cannot be read, `Unavailable` when it is not certain that a file is gone.
pub async fn lost_files(table: &Table) -> Result<Vec<LostFile>> {
    let Some(snapshot) = Snapshots::new(table).latest().await? else { return Ok(Vec::new()) };
    let manifests = Manifests::new(table);
    let all = |batch: Arc<EntryBatch>| async move { Ok(Selection::of(&batch, |_| true)) };
    let live = manifests.live(manifests.of_snapshot(&snapshot).await?, StatsColumns::All, all).await?;
    let look = |(batch, i): (Arc<EntryBatch>, u32)| async move {
        let entry = batch.entry(i as usize)?;
        let path = place_of(table, &entry.partition, entry.bucket, &entry.file)?.path;
        match table.storage().stat(&path).await {
            Ok(_) => Ok(None),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(Some(LostFile { path, entry })),
            Err(e) => Err::<Option<LostFile>, Error>(e),
        }
    };
    let files =
        live.batches.into_iter().flat_map(|(batch, entries)| entries.into_iter().map(move |i| (Arc::clone(&batch), i)));
    let found: Vec<Option<LostFile>> =
        futures::stream::iter(files.map(look)).buffered(at_once(table)?).try_collect().await?;
    Ok(found.into_iter().flatten().collect())
}

/// Leaves lost files out of the table by a commit, with the deletion vectors of them.
///
/// # Errors
/// `Conflict` when another commit has changed these files, `UnknownOutcome` when it is not known whether the commit is made.
pub async fn remove_lost(table: &Table, lost: &[LostFile]) -> Result<Vec<SnapshotId>> {
    let mut messages: BTreeMap<(Vec<u8>, i32), CommitMessage> = BTreeMap::new();
    for LostFile { entry, .. } in lost {
        let key = (entry.partition.to_serialized().to_vec(), entry.bucket);
        let new = || CommitMessage::new(entry.partition.clone(), entry.bucket, entry.total_buckets);
        messages.entry(key).or_insert_with(new).deleted_files.push(Arc::new(entry.file.clone()));
    }
    if messages.is_empty() {
        return Ok(Vec::new());
    }
    let messages = messages.into_values().collect();
    match table.committer(table.env().ids.uuid()).commit(Commit::batch(messages)).await? {
        CommitOutcome::Committed(snapshots) | CommitOutcome::CompactionLost { snapshots, .. } => Ok(snapshots),
        CommitOutcome::Conflict(why) => Err(Error::conflict(why).with("table", table.name())),
        CommitOutcome::Unknown(why) => Err(Error::unknown_outcome(why).with("table", table.name())),
    }
}

/// The earliest snapshot, when the history can begin with another one: with one behind a gap, from which on all are there.
///
/// # Errors
/// `Invalid` when the table is empty, the number is outside of its history, a snapshot after it is missing, or none before it.
pub async fn earliest_to_repair(table: &Table, id: SnapshotId) -> Result<SnapshotId> {
    let snapshots = Snapshots::new(table);
    let refused = |why: String| Error::invalid(why).with("table", table.name());
    let (Some(earliest), Some(latest)) = (snapshots.earliest_id().await?, snapshots.latest_id().await?) else {
        return Err(refused("the table has no snapshots".to_owned()));
    };
    if id < earliest || id > latest {
        return Err(refused(format!("snapshot {id} is not between {earliest} and {latest}")));
    }
    let there = snapshots.list().await?;
    if let Some(gap) = (id.0..=latest.0).map(SnapshotId).find(|id| there.binary_search(id).is_err()) {
        return Err(refused(format!("snapshot {gap} does not exist")));
    }
    if id != earliest && there.binary_search(&SnapshotId(id.0 - 1)).is_ok() {
        return Err(refused(format!("there is no gap right before snapshot {id}")));
    }
    Ok(earliest)
}

/// Moves the hint for the earliest snapshot to one behind a gap. What comes back is the earliest one before.
///
/// # Errors
/// As [`earliest_to_repair`].
pub async fn repair_earliest(table: &Table, id: SnapshotId) -> Result<SnapshotId> {
    let earliest = earliest_to_repair(table, id).await?;
    Snapshots::new(table).hint_earliest(id).await;
    Ok(earliest)
}
