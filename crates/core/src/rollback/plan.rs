//! What a rollback takes away.

use std::sync::Arc;

use linn_format::snapshot::Snapshot;
use linn_format::{Error, ErrorKind, Result, SnapshotId};

use super::RollbackTo;
use crate::snapshot::{Snapshots, numbered};
use crate::snapshot::{TagOf, Tags};
use crate::table::Table;

/// What a rollback takes away.
#[derive(Debug, Clone, PartialEq)]
pub struct RollbackPlan {
    /// The snapshot that will be the latest.
    pub target: Arc<Snapshot>,
    /// Whether its file has expired and comes back from a tag.
    pub expired: bool,
    /// Later snapshots, in order.
    pub snapshots: Vec<SnapshotId>,
    /// Later changelogs that outlived their snapshots, in order.
    pub changelogs: Vec<SnapshotId>,
    /// Tags of later snapshots, in the order of these.
    pub tags: Vec<(SnapshotId, String)>,
    /// The newest changelog that stays.
    pub(super) last_changelog: Option<SnapshotId>,
    /// Whether the target will be the oldest snapshot too.
    pub(super) first: bool,
}

pub(super) async fn plan(table: &Table, to: &RollbackTo) -> Result<RollbackPlan> {
    let target = target(table, to).await?;
    since(table, target).await
}

async fn target(table: &Table, to: &RollbackTo) -> Result<Arc<Snapshot>> {
    let snapshots = Snapshots::new(table);
    let absent = |what: String| Error::not_found(what).with("table", table.name());
    let found = match to {
        RollbackTo::Snapshot(id) => {
            return table.snapshot_to_tag(TagOf::Id(*id)).await.map_err(|e| match e.kind() {
                ErrorKind::NotFound => absent(format!("snapshot {id} does not exist")),
                _ => e,
            });
        }
        RollbackTo::Tag(name) => return Ok(Arc::new(Tags::new(table).get(name).await?.snapshot)),
        RollbackTo::Time(millis) => snapshots.at_or_before_time(*millis).await?,
        RollbackTo::Watermark(watermark) => snapshots.at_or_before_watermark(*watermark).await?,
    };
    found.ok_or_else(|| match to {
        RollbackTo::Watermark(watermark) => absent(format!("no snapshot has watermark {watermark} or an earlier one")),
        _ => absent("no snapshot is as old as that".to_owned()),
    })
}

/// Everything after the target as it is now.
pub(super) async fn since(table: &Table, target: Arc<Snapshot>) -> Result<RollbackPlan> {
    let after = target.id;
    let all = Snapshots::new(table).list().await?;
    let first = all.iter().all(|id| *id >= after);
    let expired = !all.contains(&after);
    let snapshots = all.into_iter().filter(|id| *id > after).collect();
    let changelogs = numbered(&**table.storage(), &table.changelog_dir(), "changelog-").await?;
    let (kept, changelogs): (Vec<_>, Vec<_>) = changelogs.into_iter().map(SnapshotId).partition(|id| *id <= after);
    let tagged = Tags::new(table).snapshots().await?;
    let later = tagged.into_iter().filter(|(id, _)| *id > after);
    let tags = later.flat_map(|(id, tagged)| tagged.names.into_iter().map(move |name| (id, name))).collect();
    Ok(RollbackPlan { target, expired, snapshots, changelogs, tags, last_changelog: kept.last().copied(), first })
}
