//! The files that become free when a table goes back.

use std::sync::Arc;

use linn_format::snapshot::Snapshot;
use linn_format::{ErrorKind, Result};

use super::RollbackPlan;
use crate::reclaim::{Removal, Share, freed, guard};
use crate::snapshot::{Changelogs, Snapshots};
use crate::table::Table;

/// What becomes free when a table goes back: the files that of everything that is there only the snapshots, changelogs and tags
/// have which the plan takes away. They must be there still.
///
/// # Errors
/// As [`reclaim`](crate::reclaim::reclaim).
pub(super) async fn free_rolled_back(table: &Table, plan: &RollbackPlan) -> Result<Removal> {
    let (snapshots, changelogs) = (Snapshots::new(table), Changelogs::new(table));
    let mut gone: Vec<(Arc<Snapshot>, Share)> = Vec::new();
    for id in &plan.snapshots {
        let snapshot = snapshots.get(*id).await?;
        // What it builds on has expired, so nothing else has those files.
        if plan.expired && gone.is_empty() {
            gone.push((Arc::clone(&snapshot), Share::All));
        }
        gone.push((snapshot, Share::Added));
    }
    for id in plan.changelogs.iter().filter(|id| !plan.snapshots.contains(id)) {
        gone.extend(changelogs.find(*id).await?.map(|changelog| (changelog, Share::Added)));
    }
    let mut kept = guard::without_files(table).await?;
    kept.as_changelog.retain(|changelog| !plan.changelogs.contains(&changelog.id));
    kept.lists.retain(|changelog| !plan.changelogs.contains(&changelog.id));
    kept.whole.push(Arc::clone(&plan.target));
    for (_, tagged) in guard::tags(table).await? {
        match plan.tags.iter().any(|(id, _)| *id == tagged.id) {
            true if plan.snapshots.contains(&tagged.id) => {}
            true => gone.push((tagged, Share::All)),
            false => kept.whole.push(tagged),
        }
    }
    // Content that was brought back belongs to snapshots far before as well.
    let mut before = snapshots.list().await?;
    before.retain(|id| *id < plan.target.id);
    for (i, id) in before.into_iter().enumerate() {
        match snapshots.get(id).await {
            Ok(snapshot) if i == 0 => {
                kept.whole.push(Arc::clone(&snapshot));
                kept.added.push(snapshot);
            }
            Ok(snapshot) => kept.added.push(snapshot),
            // It expired meanwhile.
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
    }
    freed(table, &gone, kept).await
}
