//! Expiry of changelogs that outlive their snapshots (spec: features.md B14; cases: E5).
//!
//! A changelog takes along only what it was kept for: its changelog files, or, without a producer, the files that its change
//! removed, with the lists that lead to them. Everything else went with its snapshot.

use std::sync::Arc;

use linn_format::manifest::FileKind;
use linn_format::snapshot::Snapshot;
use linn_format::{Result, SnapshotId};

use super::retain::Retention;
use super::snapshot::Expired;
use crate::reclaim::{Candidates, ExpiredSnapshot, Metadata, Parts, Removal, RemovedFile, guard};
use crate::snapshot::{Changelogs, Snapshots};
use crate::stream::Consumers;
use crate::table::Table;

/// Changelogs that are planned together.
const PART: usize = 200;

/// Expires the changelogs of a table's branch.
#[derive(Debug)]
pub struct ChangelogExpiry<'t> {
    table: &'t Table,
    snapshots: Snapshots,
    changelogs: Changelogs,
}

impl<'t> ChangelogExpiry<'t> {
    /// Expiry of the changelogs of a table.
    pub fn new(table: &'t Table) -> Self {
        Self { table, snapshots: Snapshots::new(table), changelogs: Changelogs::new(table) }
    }

    /// The changelogs that a retention lets go, in order. The newest one always stays.
    ///
    /// # Errors
    /// `Invalid` for a retention that makes no sense, `Corrupt` for what cannot be read.
    pub async fn due(&self, retention: &Retention) -> Result<Vec<SnapshotId>> {
        let ids = self.changelogs.list().await?;
        let (Some(first), Some(last)) = (ids.first(), ids.last()) else { return Ok(Vec::new()) };
        let Some(latest) = self.snapshots.latest_id().await? else { return Ok(Vec::new()) };
        let consumer = Consumers::new(self.table).smallest_next().await?.map(|next| next.0);
        let reach = retention.reach(first.0, latest.0, consumer)?;
        let mut end = reach.end.min(last.0);
        for id in ids.iter().filter(|id| (reach.timed..=end).contains(&id.0)) {
            if self.changelogs.find(*id).await?.is_some_and(|found| found.time_millis >= retention.older_than) {
                end = id.0;
                break;
            }
        }
        Ok(ids.into_iter().filter(|id| id.0 < end).collect())
    }

    /// All changelogs.
    ///
    /// # Errors
    /// `Unavailable` when the store fails.
    pub async fn all(&self) -> Result<Vec<SnapshotId>> {
        self.changelogs.list().await
    }

    /// What would go with these changelogs, which are in order.
    ///
    /// # Errors
    /// `NotFound` or `Corrupt` when something that stays cannot be read: then nothing may be deleted.
    pub async fn plan(&self, ids: &[SnapshotId]) -> Result<Expired> {
        let mut all = Expired::default();
        for part in ids.chunks(PART) {
            all.extend(self.part(part).await?);
        }
        Ok(all)
    }

    /// Removes these changelogs, which are in order.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and `Unavailable` or `UnknownOutcome` when a changelog cannot be removed: then its files stay.
    pub async fn run(&self, ids: &[SnapshotId]) -> Result<Expired> {
        let mut all = Expired::default();
        for part in ids.chunks(PART) {
            let mut expired = self.part(part).await?;
            let after = self.changelogs.list().await?.into_iter().find(|id| part.last().is_some_and(|last| id > last));
            if let Some(after) = after {
                self.changelogs.hint_earliest(after).await;
            }
            for file in &expired.removal.history {
                self.table.storage().delete(&file.path).await?;
            }
            expired.left = expired.removal.sweep(self.table).await;
            all.extend(expired);
        }
        Ok(all)
    }

    async fn part(&self, ids: &[SnapshotId]) -> Result<Expired> {
        let mut gone = Vec::new();
        for id in ids {
            // One that is gone by now was expired by another job.
            let Some(changelog) = self.changelogs.find(*id).await? else { continue };
            let produced = changelog.changelog_manifest_list.is_some();
            let parts = Parts { lists: !produced, delta: !produced, changelog: produced, index: false };
            gone.push(ExpiredSnapshot::read(self.table, changelog, parts).await?);
        }
        let mut candidates = Candidates::default();
        for one in &gone {
            self.collect(&mut candidates, one)?;
        }
        let (begin, end) = (ids.first().map_or(0, |id| id.0), ids.last().map_or(0, |id| id.0.saturating_add(1)));
        let tagged: Vec<Arc<Snapshot>> =
            guard::tags(self.table).await?.into_iter().map(|(_, snapshot)| snapshot).collect();
        let mut guard = guard::of_branches(self.table).await?;
        guard.whole.extend(guard::tags_around(&tagged, begin, end));
        guard.spare(self.table, &mut candidates).await?;
        // The snapshots that stay, and the next changelog, may have the same lists.
        guard.whole.extend(self.snapshots.earliest().await?);
        guard.whole.extend(self.snapshots.latest().await?);
        let mut names = guard.names(self.table).await?;
        if let Some(next) = self.changelogs.list().await?.into_iter().find(|id| id.0 >= end)
            && let Some(next) = self.changelogs.find(next).await?
        {
            names.extend(guard::names_that_are_there(self.table, &next).await?);
        }
        let mut metadata = Metadata::new(self.table, names);
        // A statistics file went with the snapshot, unless the next one has it too.
        gone.iter().for_each(|one| metadata.take_lists(one));
        let history = gone.iter().map(|one| RemovedFile::new(self.changelogs.path(one.snapshot.id), 0)).collect();
        let removal = Removal { history, metadata: metadata.files, data: candidates.into_files() };
        let changelogs = gone.iter().map(|one| one.snapshot.id).collect();
        Ok(Expired { snapshots: Vec::new(), changelogs, removal, left: 0 })
    }

    fn collect(&self, candidates: &mut Candidates, gone: &ExpiredSnapshot) -> Result<()> {
        for batch in &gone.changelog {
            for i in (0..batch.len()).filter(|i| batch.kind(*i) == FileKind::Add) {
                candidates.insert(self.table, &batch.entry(i)?);
            }
        }
        for batch in gone.delta.iter().flatten() {
            for i in (0..batch.len()).filter(|i| batch.kind(*i) == FileKind::Delete) {
                candidates.insert(self.table, &batch.entry(i)?);
            }
        }
        for batch in gone.delta.iter().flatten() {
            candidates.keep_added(batch);
        }
        Ok(())
    }
}
