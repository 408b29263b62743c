//! What a reader of changes can still read: snapshots, and where they outlive them, changelogs (spec: features.md B11).

use std::sync::Arc;

use linn_format::snapshot::{CommitKind, Snapshot};
use linn_format::{ErrorKind, Result, SnapshotId};

use super::travel::last_holding;
use super::{Changelogs, Snapshots};
use crate::table::Table;

/// Identifiers of batch jobs, whose compactions are whole ones.
const BATCH: i64 = i64::MAX;

/// The snapshots of a table followed by their changelogs. Meant for one look, as [`Snapshots`] is.
#[derive(Debug, Clone)]
pub(crate) struct History {
    pub(crate) snapshots: Snapshots,
    changelogs: Option<Changelogs>,
}

/// What there is from some time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    /// There is nothing at all.
    Empty,
    /// Everything there is, from this one on, is as young as that.
    All(SnapshotId),
    /// From this one on, which need not be there yet.
    From(SnapshotId),
}

impl History {
    /// The history of the table's branch.
    ///
    /// # Errors
    /// `Invalid` for a bad value of one of the retention options.
    pub(crate) fn new(table: &Table) -> Result<Self> {
        let changelogs = table.options().changelog_decoupled()?.then(|| Changelogs::new(table));
        Ok(Self { snapshots: Snapshots::new(table), changelogs })
    }

    /// A snapshot, or the changelog that is left of it; `None` when neither is there.
    pub(crate) async fn find(&self, id: SnapshotId) -> Result<Option<Arc<Snapshot>>> {
        match self.snapshots.get(id).await {
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            result => return result.map(Some),
        }
        match &self.changelogs {
            Some(changelogs) => changelogs.find(id).await,
            None => Ok(None),
        }
    }

    async fn get(&self, id: SnapshotId) -> Result<Arc<Snapshot>> {
        match self.find(id).await? {
            Some(found) => Ok(found),
            // The snapshot's own error says what is not there.
            None => self.snapshots.get(id).await,
        }
    }

    /// The number of the oldest one whose changes can be read.
    pub(crate) async fn earliest_id(&self) -> Result<Option<SnapshotId>> {
        if let Some(changelogs) = &self.changelogs
            && let Some(id) = changelogs.earliest_id().await?
        {
            return Ok(Some(id));
        }
        self.snapshots.earliest_id().await
    }

    /// What was committed at `millis` or later.
    pub(crate) async fn since(&self, millis: i64) -> Result<Since> {
        let (Some(earliest), Some(latest)) = (self.earliest_id().await?, self.snapshots.latest_id().await?) else {
            return Ok(Since::Empty);
        };
        let before =
            last_holding(earliest.0, latest.0, |id| self.get(id), |snapshot| snapshot.time_millis < millis).await?;
        Ok(match before {
            Some(snapshot) => Since::From(snapshot.id.next()),
            None => Since::All(earliest),
        })
    }

    /// The newest snapshot of a compaction, with `commits` of one whose identifier is a multiple of that; the latest snapshot
    /// when there is no such one.
    pub(crate) async fn compacted(&self, commits: Option<usize>) -> Result<Option<Arc<Snapshot>>> {
        let (Some(latest), Some(earliest)) = (self.snapshots.latest().await?, self.snapshots.earliest_id().await?)
        else {
            return Ok(None);
        };
        let commits = commits.map(|commits| i64::try_from(commits).unwrap_or(i64::MAX));
        let whole = |identifier: i64| commits.is_none_or(|n| identifier == BATCH || identifier % n == 0);
        for id in (earliest.0..=latest.id.0).rev() {
            match self.snapshots.get(SnapshotId(id)).await {
                Ok(found) if found.commit_kind == CommitKind::Compact && whole(found.commit_identifier) => {
                    return Ok(Some(found));
                }
                Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
        Ok(Some(latest))
    }
}
