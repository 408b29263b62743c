//! Commits that replace what they have read: what others did since then must not be lost (spec: format.md C.17; cases B7).
//!
//! Asked for by `commit.strict-mode.last-safe-snapshot`, and by messages that say at which snapshot they were made. Only
//! snapshots of other users in the same partitions matter, and of those only what the change could undo.

use std::collections::HashSet;

use linn_format::schema::Bucketing;
use linn_format::snapshot::{CommitKind, Snapshot};
use linn_format::{ErrorKind, Result, SnapshotId};

use super::change::Change;
use crate::manifest::Manifests;
use crate::snapshot::Snapshots;
use crate::table::Table;

/// Looks at the snapshots after `safe` up to `latest`; the reason against a change, when there is one.
pub(super) async fn check(
    table: &Table,
    snapshots: &Snapshots,
    user: &str,
    safe: SnapshotId,
    latest: SnapshotId,
    kind: CommitKind,
    change: &Change,
) -> Result<Option<String>> {
    let partitions: HashSet<Vec<u8>> = change
        .entries
        .iter()
        .map(|entry| entry.partition.to_serialized().to_vec())
        .chain(change.index.iter().map(|line| line.partition.to_serialized().to_vec()))
        .collect();
    for id in (safe.0.saturating_add(1)..=latest.0).map(SnapshotId) {
        let snapshot = match snapshots.get(id).await {
            Ok(snapshot) => snapshot,
            Err(e) if e.kind() == ErrorKind::NotFound => {
                return Ok(Some(format!("snapshot {id}, after the one that this was made at, has expired")));
            }
            Err(e) => return Err(e),
        };
        if snapshot.commit_user == user {
            continue;
        }
        let real_only = match (snapshot.commit_kind, kind) {
            (CommitKind::Compact | CommitKind::Overwrite, _) => false,
            // New rows that wait for a bucket are not replaced.
            (CommitKind::Append, CommitKind::Overwrite) => true,
            _ => continue,
        };
        let touched = touches(table, &snapshot, &partitions, real_only).await?
            || (!real_only && touches_index(table, snapshots, &snapshot, &partitions).await?);
        if touched {
            return Ok(Some(format!(
                "snapshot {id} ({}) of user {} changed the same partition after this was made",
                snapshot.commit_kind.as_str(),
                snapshot.commit_user
            )));
        }
    }
    Ok(None)
}

/// Whether the snapshot's own files are in one of the partitions.
async fn touches(table: &Table, snapshot: &Snapshot, partitions: &HashSet<Vec<u8>>, real_only: bool) -> Result<bool> {
    let manifests = Manifests::new(table);
    for meta in manifests.of_delta(snapshot).await? {
        let batch = manifests.manifest_of(&meta, linn_format::manifest::StatsColumns::Keys).await?;
        let touched = |i: usize| {
            partitions.contains(batch.partition(i)) && !(real_only && batch.bucket(i) == Bucketing::POSTPONED)
        };
        if (0..batch.len()).any(touched) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the snapshot changed the index, which has lines of one of the partitions: deletion vectors delete rows
/// without touching a file.
async fn touches_index(
    table: &Table,
    snapshots: &Snapshots,
    snapshot: &Snapshot,
    partitions: &HashSet<Vec<u8>>,
) -> Result<bool> {
    let Some(name) = &snapshot.index_manifest else { return Ok(false) };
    let before = match snapshots.get(SnapshotId(snapshot.id.0 - 1)).await {
        Ok(before) => before.index_manifest.clone(),
        Err(e) if e.kind() == ErrorKind::NotFound => None,
        Err(e) => return Err(e),
    };
    if before.as_ref() == Some(name) {
        return Ok(false);
    }
    let lines = Manifests::new(table).read_index(name).await?;
    Ok(lines.iter().any(|line| partitions.contains(&*line.partition.to_serialized())))
}
