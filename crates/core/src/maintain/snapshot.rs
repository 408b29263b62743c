//! Expiry of snapshots (spec: features.md B14; reliability.md H7–H9; cases: E5, E6).
//!
//! A file goes with the snapshot that removed it, once all that had it are gone, so only the changes of what expires are read,
//! and what tags have is streamed past them. Work is done in parts, each an expiry of its own: the part is planned as a whole
//! (nothing is deleted when something that stays cannot be read), the hint for the earliest snapshot is moved past it, its
//! snapshots are removed, tags and branches are looked at once more, for those that were made meanwhile, and then its metadata
//! and data are removed.

use std::collections::HashSet;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};
use linn_format::file::FileSource;
use linn_format::manifest::{EntryBatch, FileKind};
use linn_format::options::ChangelogProducer;
use linn_format::snapshot::Snapshot;
use linn_format::{ErrorKind, Result, SnapshotId};

use super::retain::{Reach, Retention};
use crate::reclaim::{Candidates, ExpiredSnapshot, Metadata, Parts, Removal, RemovedFile, at_once, guard};
use crate::snapshot::{Changelogs, Snapshots};
use crate::stream::Consumers;
use crate::table::Table;

/// Snapshots of one part.
const PART: i64 = 500;
/// Data files that may go after which a part ends.
const PART_FILES: usize = 200_000;

/// What an expiry did, or would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expired {
    /// The snapshots that expired, in order.
    pub snapshots: Vec<SnapshotId>,
    /// Those of them that stay as changelogs.
    pub changelogs: Vec<SnapshotId>,
    /// Everything that was removed.
    pub removal: Removal,
    /// Files that could not be removed and stay for orphan cleaning.
    pub left: u64,
}

impl Expired {
    pub(super) fn extend(&mut self, other: Self) {
        self.snapshots.extend(other.snapshots);
        self.changelogs.extend(other.changelogs);
        self.removal.extend(other.removal);
        self.left += other.left;
    }
}

/// One part: what goes, and where what stays begins.
struct Part {
    expired: Expired,
    gone: Vec<ExpiredSnapshot>,
    candidates: Candidates,
    end: SnapshotId,
    tags: HashSet<(String, SnapshotId)>,
    branches: HashSet<String>,
}

/// Expires the snapshots of a table's branch.
#[derive(Debug)]
pub struct SnapshotExpiry<'t> {
    table: &'t Table,
    snapshots: Snapshots,
    decoupled: bool,
    produces: bool,
}

impl<'t> SnapshotExpiry<'t> {
    /// Expiry as the options of the table say of changelogs.
    ///
    /// # Errors
    /// `Invalid` for bad values of options.
    pub fn new(table: &'t Table) -> Result<Self> {
        let produces = table.options().changelog_producer()? != ChangelogProducer::None;
        let decoupled = table.options().changelog_decoupled()?;
        Ok(Self { table, snapshots: Snapshots::new(table), decoupled, produces })
    }

    /// What a retention lets expire: the oldest snapshot, and the first one that stays. All snapshots below are taken, those
    /// too that an expiry which was cut off has left below the hint.
    ///
    /// # Errors
    /// `Invalid` for a retention that makes no sense, `Corrupt` for snapshots and consumers that cannot be read.
    pub async fn range(&self, retention: &Retention) -> Result<Option<(SnapshotId, SnapshotId)>> {
        let Some(earliest) = self.snapshots.list().await?.into_iter().next() else { return Ok(None) };
        self.range_from(retention, earliest).await
    }

    /// As [`range`](Self::range), of the snapshots from `earliest` on.
    ///
    /// # Errors
    /// As [`range`](Self::range).
    pub async fn range_from(
        &self,
        retention: &Retention,
        earliest: SnapshotId,
    ) -> Result<Option<(SnapshotId, SnapshotId)>> {
        let Some(latest) = self.snapshots.latest_id().await? else { return Ok(None) };
        self.range_between(retention, earliest, latest).await
    }

    /// As [`range`](Self::range), of the snapshots from `earliest` to `latest`.
    ///
    /// # Errors
    /// As [`range`](Self::range).
    pub(super) async fn range_between(
        &self,
        retention: &Retention,
        earliest: SnapshotId,
        latest: SnapshotId,
    ) -> Result<Option<(SnapshotId, SnapshotId)>> {
        let consumer = match retention.consumers_hold {
            true => Consumers::new(self.table).smallest_next().await?.map(|next| next.0),
            false => None,
        };
        let reach = retention.reach(earliest.0, latest.0, consumer)?;
        let end = self.first_young(&reach, retention.older_than).await?;
        // The first that is there: a gap in the numbers holds nothing up.
        for id in (end..=latest.0).map(SnapshotId) {
            if self.snapshots.exists(id).await? {
                return Ok((id > earliest).then_some((earliest, id)));
            }
        }
        Ok(None)
    }

    /// The first one that stays because its successor is young.
    async fn first_young(&self, reach: &Reach, older_than: i64) -> Result<i64> {
        let successor =
            |id: i64| async move { Ok::<_, linn_format::Error>((id, self.find(SnapshotId(id + 1)).await?)) };
        let mut successors =
            futures::stream::iter((reach.timed..reach.end).map(successor)).buffered(at_once(self.table)?);
        while let Some((id, next)) = successors.try_next().await? {
            if next.is_some_and(|next| next.time_millis >= older_than) {
                return Ok(id);
            }
        }
        Ok(reach.end)
    }

    /// What would expire from the first up to before the second of two snapshots.
    ///
    /// # Errors
    /// `NotFound` or `Corrupt` for something that stays and cannot be read.
    pub async fn plan(&self, begin: SnapshotId, end: SnapshotId) -> Result<Expired> {
        let (mut all, mut begin) = (Expired::default(), begin);
        while begin < end {
            let part = self.part(begin, end).await?;
            begin = part.end;
            let mut expired = part.expired;
            expired.removal.data.splice(0..0, part.candidates.into_files());
            all.extend(expired);
        }
        Ok(all)
    }

    /// Expires from the first up to before the second of two snapshots.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and `Unavailable` or `UnknownOutcome` when a snapshot cannot be removed: then its data stays.
    pub async fn run(&self, begin: SnapshotId, end: SnapshotId) -> Result<Expired> {
        let (mut all, mut begin) = (Expired::default(), begin);
        while begin < end {
            let part = self.part(begin, end).await?;
            begin = part.end;
            all.extend(self.expire(part).await?);
        }
        if let (Some(first), Some(last)) = (all.snapshots.first(), all.snapshots.last()) {
            let (files, bytes) = (all.removal.files(), all.removal.bytes());
            tracing::info!(table = self.table.name(), from = first.0, to = last.0, files, bytes, "snapshots expired");
        }
        Ok(all)
    }

    /// When the snapshot after this one was committed, after which time decides about this one; `None` when it is not there.
    pub(super) async fn succeeded_at(&self, id: SnapshotId) -> Result<Option<i64>> {
        Ok(self.find(id.next()).await?.map(|next| next.time_millis))
    }

    async fn find(&self, id: SnapshotId) -> Result<Option<Arc<Snapshot>>> {
        match self.snapshots.get(id).await {
            Ok(snapshot) => Ok(Some(snapshot)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Plans the first part of a range.
    async fn part(&self, begin: SnapshotId, end: SnapshotId) -> Result<Part> {
        let last = SnapshotId(end.0.min(begin.0.saturating_add(PART)));
        let find = |id: i64| self.find(SnapshotId(id));
        let found: Vec<Option<Arc<Snapshot>>> =
            futures::stream::iter((begin.0..=last.0).map(find)).buffered(at_once(self.table)?).try_collect().await?;
        let mut found: Vec<Arc<Snapshot>> = found.into_iter().flatten().collect();
        if found.len() < 2 {
            // Only gaps: go on behind them.
            found = self.first_two(begin, end).await?;
        }
        let mut candidates = Candidates::default();
        let mut gone = Vec::new();
        let mut index = None;
        let read = |(i, snapshot): (usize, Arc<Snapshot>)| {
            // Consecutive snapshots mostly share it.
            let parts = self.parts(i, index != snapshot.index_manifest);
            index.clone_from(&snapshot.index_manifest);
            ExpiredSnapshot::read(self.table, snapshot, parts)
        };
        let reads: Vec<_> = found.iter().cloned().enumerate().map(read).collect();
        let mut reads = futures::stream::iter(reads).buffered(at_once(self.table)?);
        let mut stays = None;
        while let Some(next) = reads.try_next().await? {
            self.collect(&mut candidates, &next, gone.is_empty())?;
            let full = candidates.len() >= PART_FILES && !gone.is_empty();
            if full || found.last().is_some_and(|last| last.id == next.snapshot.id) {
                stays = Some(next.snapshot);
                break;
            }
            gone.push(next);
        }
        let stays = stays.ok_or_else(|| linn_format::Error::internal("a part of an expiry without an end"))?;
        for snapshot in &gone {
            self.collect_changelog(&mut candidates, snapshot);
        }
        self.finish(gone, candidates, stays).await
    }

    /// The first snapshot of the range that is there, if any, and the one that stays.
    async fn first_two(&self, begin: SnapshotId, end: SnapshotId) -> Result<Vec<Arc<Snapshot>>> {
        let mut found = Vec::new();
        for id in self.snapshots.list().await?.into_iter().filter(|id| (begin..=end).contains(id)) {
            found.extend(self.find(id).await?);
            if found.len() == 2 {
                break;
            }
        }
        if found.is_empty() {
            found.push(self.snapshots.get(end).await?);
        }
        Ok(found)
    }

    /// Decides what of a part stays.
    async fn finish(
        &self,
        gone: Vec<ExpiredSnapshot>,
        mut candidates: Candidates,
        stays: Arc<Snapshot>,
    ) -> Result<Part> {
        let end = stays.id;
        let begin = gone.first().map_or(end.0, |gone| gone.snapshot.id.0);
        let tagged = guard::tags(self.table).await?;
        let tags = tagged.iter().map(|(name, snapshot)| (name.clone(), snapshot.id)).collect();
        let tagged: Vec<Arc<Snapshot>> = tagged.into_iter().map(|(_, snapshot)| snapshot).collect();
        let (mut guard, branches) = guard::of_new_branches(self.table, &HashSet::new()).await?;
        guard.whole.extend(guard::tags_around(&tagged, begin, end.0));
        guard.spare(self.table, &mut candidates).await?;
        // What the next snapshot does not have, none after it has, unless the table went back to an older one.
        guard.whole.push(stays);
        guard.whole.extend(self.snapshots.latest().await?);
        let mut expired = self.metadata(&gone, guard.names(self.table).await?);
        expired.snapshots = gone.iter().map(|gone| gone.snapshot.id).collect();
        expired.removal.history =
            gone.iter().map(|g| RemovedFile::new(self.snapshots.path(g.snapshot.id), 0)).collect();
        if self.decoupled {
            expired.changelogs.clone_from(&expired.snapshots);
        }
        Ok(Part { expired, gone, candidates, end, tags, branches })
    }

    fn metadata(&self, gone: &[ExpiredSnapshot], kept: HashSet<String>) -> Expired {
        let mut metadata = Metadata::new(self.table, kept);
        gone.iter().for_each(|gone| metadata.take(gone));
        let removal = Removal { history: Vec::new(), metadata: metadata.files, data: metadata.indexes };
        Expired { removal, ..Expired::default() }
    }

    /// What is wanted of a snapshot. Where changelogs live longer, they are kept, and without a producer the data files of
    /// level 0 and the lists that lead to them are the changelog.
    fn parts(&self, place: usize, index: bool) -> Parts {
        let lists = !self.decoupled || self.produces;
        Parts { lists, delta: place > 0, changelog: !self.decoupled, index }
    }

    /// Takes the files that a snapshot's changes removed; those they added stay. The first snapshot's own changes are about
    /// files that are gone.
    fn collect(&self, candidates: &mut Candidates, gone: &ExpiredSnapshot, first: bool) -> Result<()> {
        let batches: &[Arc<EntryBatch>] = match &gone.delta {
            Some(batches) if !first => batches,
            _ => return Ok(()),
        };
        for batch in batches {
            for i in (0..batch.len()).filter(|i| batch.kind(*i) == FileKind::Delete) {
                let entry = batch.entry(i)?;
                let is_changelog = self.decoupled
                    && !self.produces
                    && entry.file.file_source.unwrap_or(FileSource::Append) == FileSource::Append;
                if !is_changelog {
                    candidates.insert(self.table, &entry);
                }
            }
        }
        // A file that changes its level is removed and added by one change; one that comes back later is added by another.
        batches.iter().for_each(|batch| candidates.keep_added(batch));
        Ok(())
    }

    fn collect_changelog(&self, candidates: &mut Candidates, gone: &ExpiredSnapshot) {
        for batch in &gone.changelog {
            for i in (0..batch.len()).filter(|i| batch.kind(*i) == FileKind::Add) {
                match batch.entry(i) {
                    Ok(entry) => candidates.insert(self.table, &entry),
                    Err(e) => tracing::warn!(table = self.table.name(), error = %e, "a changelog file stays"),
                }
            }
        }
    }

    /// Carries a part out.
    async fn expire(&self, part: Part) -> Result<Expired> {
        let Part { mut expired, gone, mut candidates, end, tags, branches } = part;
        if self.decoupled {
            let changelogs = Changelogs::new(self.table);
            for one in &gone {
                changelogs.keep(&one.snapshot).await?;
            }
            if let Some(last) = gone.last() {
                changelogs.hint_latest(last.snapshot.id).await;
            }
        }
        self.snapshots.hint_earliest(end).await;
        let at_once = at_once(self.table)?;
        let remove = |file: &RemovedFile| {
            let path = file.path.clone();
            async move { self.table.storage().delete(&path).await }
        };
        let removals: Vec<_> = expired.removal.history.iter().map(remove).collect();
        futures::stream::iter(removals).buffered(at_once).try_collect::<()>().await?;
        // Whoever tags a snapshot looks for it again afterwards; so either that fails or the tag is here.
        let tagged = guard::tags(self.table).await?;
        let known = |(name, snapshot): &(String, Arc<Snapshot>)| tags.contains(&(name.clone(), snapshot.id));
        let new = tagged.into_iter().filter(|tag| !known(tag)).map(|(_, snapshot)| snapshot);
        // One that has gone again may have left a branch.
        let (mut guard, _) = guard::of_new_branches(self.table, &branches).await?;
        guard.whole.extend(new);
        if !guard.is_empty() {
            guard.spare(self.table, &mut candidates).await?;
            let names = guard.names(self.table).await?;
            let stays = |file: &RemovedFile| file.path.rsplit('/').next().is_some_and(|name| names.contains(name));
            expired.removal.metadata.retain(|file| !stays(file));
            expired.removal.data.retain(|file| !stays(file));
        }
        expired.removal.data.splice(0..0, candidates.into_files());
        expired.left = expired.removal.sweep(self.table).await;
        Ok(expired)
    }
}
