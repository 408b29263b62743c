//! Handing a built snapshot to whoever makes it atomic.

use linn_format::Result;
use linn_format::snapshot::Snapshot;

use crate::seam::{Attempt, NewSnapshot, Published};
use crate::snapshot::Snapshots;
use crate::table::Table;

/// Commits a snapshot of which everything else is written.
///
/// # Errors
/// As [`SnapshotCommit::commit`](crate::seam::SnapshotCommit::commit).
pub(super) async fn publish(
    table: &Table,
    snapshots: &Snapshots,
    snapshot: &Snapshot,
    attempt: Attempt,
) -> Result<Published> {
    let path = snapshots.path(snapshot.id);
    let new = NewSnapshot { table: table.name(), branch: table.branch(), path: &path, snapshot, attempt };
    table.env().commit.commit(table.env(), new).await
}
