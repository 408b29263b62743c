//! What becomes free with a snapshot that is not in the history any more: a deleted tag, a snapshot that was rolled back.

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};
use linn_format::manifest::{EntryBatch, FileKind, StatsColumns};
use linn_format::snapshot::Snapshot;
use linn_format::{Error, ErrorKind, Result};

use super::back::brought_back;
use super::candidates::Candidates;
use super::gone::{ExpiredSnapshot, Metadata, Parts};
use super::guard::{self, Guard};
use super::removal::{Removal, at_once};
use crate::manifest::{Manifests, Selection};
use crate::snapshot::Snapshots;
use crate::table::Table;

/// Which files of a snapshot may go with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// All data files that it has, not its changelog: it was kept by a tag.
    All,
    /// Those that its changes added, with its changelog: the table goes back to before it.
    Added,
}

/// The data files and metadata of these snapshots which none of `kept`, and no other branch, has. Nothing is deleted: the
/// caller removes the snapshots or tags themselves from the history, and then calls [`Removal::sweep`].
///
/// Files are handed on from snapshot to snapshot, so `kept` need only have the neighbours: of a tag the tags and snapshots
/// before and after it (the nearest of each), of a rollback the snapshot that is gone back to and all tags that stay.
///
/// # Errors
/// `NotFound` or `Corrupt` when something of `kept` cannot be read: then nothing may be deleted. Parts of the snapshots
/// themselves that are gone or damaged are passed over; orphan cleaning knows their files.
pub async fn reclaim(table: &Table, gone: &[Arc<Snapshot>], kept: &[Arc<Snapshot>], share: Share) -> Result<Removal> {
    let gone: Vec<(Arc<Snapshot>, Share)> = gone.iter().map(|snapshot| (Arc::clone(snapshot), share)).collect();
    freed(table, &gone, Guard { whole: kept.to_vec(), ..guard::without_files(table).await? }).await
}

/// As [`reclaim`], of snapshots each with its share, and with all that stays of this branch.
pub(crate) async fn freed(table: &Table, gone: &[(Arc<Snapshot>, Share)], kept: Guard) -> Result<Removal> {
    let mut candidates = Candidates::default();
    let reads = gone.iter().cloned().map(|(snapshot, share)| async move {
        let added = share == Share::Added;
        let parts = Parts { lists: true, delta: added, changelog: added, index: true };
        Ok::<_, Error>((ExpiredSnapshot::read(table, snapshot, parts).await?, share))
    });
    let read: Vec<(ExpiredSnapshot, Share)> =
        futures::stream::iter(reads).buffered(at_once(table)?).try_collect().await?;
    for (one, share) in &read {
        match share {
            Share::All => all(table, &one.snapshot, &mut candidates).await?,
            Share::Added => {
                let batches = one.delta.iter().flatten().chain(&one.changelog);
                batches.for_each(|batch| added(table, batch, &mut candidates));
            }
        }
    }
    let mut guard = guard::of_branches(table).await?;
    guard.whole.extend(kept.whole);
    guard.added.extend(kept.added);
    guard.as_changelog.extend(kept.as_changelog);
    guard.lists.extend(kept.lists);
    guard.spare(table, &mut candidates).await?;
    let mut metadata = Metadata::new(table, guard.names(table).await?);
    read.iter().for_each(|(one, _)| metadata.take(one));
    let mut data = candidates.into_files();
    data.extend(metadata.indexes);
    Ok(Removal { history: Vec::new(), metadata: metadata.files, data })
}

/// All files that a snapshot has, unless part of it cannot be read.
async fn all(table: &Table, snapshot: &Snapshot, candidates: &mut Candidates) -> Result<()> {
    let manifests = Manifests::new(table);
    let whole = |batch: Arc<EntryBatch>| async move { Ok(Selection::of(&batch, |_| true)) };
    let read = async {
        let list = manifests.of_snapshot(snapshot).await?;
        manifests.live(list, StatsColumns::Keys, whole).await
    };
    let live = match read.await {
        Ok(live) => live,
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::Corrupt) => {
            tracing::warn!(table = table.name(), snapshot = snapshot.id.0, error = %e, "data files stay for orphan cleaning");
            return Ok(());
        }
        Err(e) => return Err(e),
    };
    for (batch, i) in live.iter() {
        candidates.insert(table, &batch.entry(i)?);
    }
    Ok::<_, Error>(())
}

/// The files that these entries add. An upgrade adds a file that was there before; what stays has it too.
fn added(table: &Table, batch: &EntryBatch, candidates: &mut Candidates) {
    for i in (0..batch.len()).filter(|i| batch.kind(*i) == FileKind::Add) {
        match batch.entry(i) {
            Ok(entry) => candidates.insert(table, &entry),
            Err(e) => tracing::warn!(table = table.name(), error = %e, "a data file stays"),
        }
    }
}

/// Removes what becomes free with a tag that is deleted by now, unless its snapshot is still there by itself or by another tag.
///
/// # Errors
/// As [`reclaim`]; what is not removed is for orphan cleaning.
pub(crate) async fn free_tagged(table: &Table, tagged: &Snapshot) -> Result<()> {
    let snapshots = Snapshots::new(table);
    let id = tagged.id;
    let tags: Vec<Arc<Snapshot>> = guard::tags(table).await?.into_iter().map(|(_, snapshot)| snapshot).collect();
    if snapshots.exists(id).await? || tags.iter().any(|tag| tag.id == id) {
        return Ok(());
    }
    let before = tags.iter().rfind(|tag| tag.id < id).cloned();
    let after = tags.iter().find(|tag| tag.id > id).cloned();
    let next = snapshots.list().await?.into_iter().find(|next| *next > id);
    let next = match next {
        Some(next) => Some(snapshots.get(next).await?),
        // The snapshots after it were taken away by a rollback; then what is left is older.
        None => snapshots.latest().await?,
    };
    // Snapshots that brought old content back are no neighbours, but have its files.
    let back = brought_back(&snapshots, id).await?;
    let kept: Vec<Arc<Snapshot>> = before.into_iter().chain(after).chain(next).chain(back).collect();
    let removal = reclaim(table, &[Arc::new(tagged.clone())], &kept, Share::All).await?;
    removal.sweep(table).await;
    Ok(())
}
