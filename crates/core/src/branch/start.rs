//! Where two branches parted: the snapshot of a tag that one was made with, which the other one has too.

use std::sync::Arc;

use linn_format::snapshot::Snapshot;
use linn_format::{Error, ErrorKind, Result, SnapshotId};

use super::store::Branches;
use crate::snapshot::Snapshots;
use crate::snapshot::Tags;
use crate::table::Table;

/// What two branches both began with.
#[derive(Debug, Clone)]
pub(super) enum Start {
    /// Nothing: one of them was made empty.
    Empty,
    /// A snapshot.
    At(Arc<Snapshot>),
}

impl Branches {
    /// Where two branches parted.
    ///
    /// # Errors
    /// `Invalid` when it cannot be told any more.
    pub(super) async fn start_of(&self, from: &Table, into: &Table) -> Result<Start> {
        for (one, other) in [(from, into), (into, from)] {
            if one.branch().is_none() {
                continue;
            }
            // Made empty, and nothing was written to it.
            let Some(first) = oldest(one).await? else { return Ok(Start::Empty) };
            match named(other, first.id).await? {
                Some(same) if is_same(&same, &first) => return Ok(Start::At(Arc::new(first))),
                _ if first.id == SnapshotId::FIRST && !was_tagged(one, &first).await? => return Ok(Start::Empty),
                _ => {}
            }
        }
        Err(Error::invalid("the common snapshot of the branches is no longer known")
            .with("table", self.table.name())
            .with_hint(
                "both need the snapshot of the tag that the branch was made from: keep that tag, here and on the branch, until \
                 the branch is merged",
            ))
    }
}

/// The oldest snapshot that a branch has, as a snapshot or as a tag.
async fn oldest(branch: &Table) -> Result<Option<Snapshot>> {
    let tagged = Tags::new(branch).snapshots().await?.into_iter().next().map(|(_, tagged)| tagged.snapshot);
    let first = Snapshots::new(branch).earliest().await?.map(|first| (*first).clone());
    Ok(match (tagged, first) {
        (Some(tagged), Some(first)) if first.id < tagged.id => Some(first),
        (Some(tagged), _) => Some(tagged),
        (None, first) => first,
    })
}

/// Whether a tag of a branch is on this snapshot.
async fn was_tagged(branch: &Table, snapshot: &Snapshot) -> Result<bool> {
    Ok(Tags::new(branch).snapshots().await?.contains_key(&snapshot.id))
}

/// A snapshot of a branch, which a tag may hold.
async fn named(branch: &Table, id: SnapshotId) -> Result<Option<Snapshot>> {
    match Snapshots::new(branch).get(id).await {
        Ok(snapshot) => return Ok(Some((*snapshot).clone())),
        Err(e) if e.kind() == ErrorKind::NotFound => {}
        Err(e) => return Err(e),
    }
    Ok(Tags::new(branch).snapshots().await?.remove(&id).map(|tagged| tagged.snapshot))
}

/// Whether two snapshots of one number are the same one: they name the same lists of manifests, whose names are unique.
fn is_same(a: &Snapshot, b: &Snapshot) -> bool {
    (a.id, &a.base_manifest_list, &a.delta_manifest_list) == (b.id, &b.base_manifest_list, &b.delta_manifest_list)
}
