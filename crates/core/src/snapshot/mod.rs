//! The snapshots of a table on disk: the latest, the earliest, one by its number; tags; time travel (spec: format.md C.1,
//! C.2; features.md B11).
//!
//! Hints only save a listing: a wrong or missing hint costs time, never a wrong answer.

mod changelog;
mod history;
mod mark;
mod pair;
mod period;
mod tagging;
mod tags;
mod travel;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use linn_format::snapshot::{Snapshot, format_hint, parse_hint};
use linn_format::{Error, ErrorKind, Result, ResultExt, SnapshotId};
use parking_lot::Mutex;

pub(crate) use history::{History, Since};
pub(crate) use travel::{KEYS, travels, wall_time, watermark_of};

use crate::seam::Storage;
use crate::table::Table;
pub use changelog::Changelogs;
pub(crate) use mark::mark;
pub(crate) use pair::automatic_pair;
pub(crate) use period::Period;
pub use tagging::{Retained, TagOf};
pub(crate) use tags::local_time;
pub use tags::{Tagged, Tags};

/// Snapshots kept in memory by one [`Snapshots`].
const CACHED: usize = 64;

/// Reads the snapshots of one table. Meant for one piece of work: what it has read by number it does not read again, so a
/// rollback that gives a number to another snapshot is seen by the next one.
#[derive(Debug, Clone)]
pub struct Snapshots {
    table: Table,
    dir: String,
    cache: Arc<Mutex<BTreeMap<SnapshotId, Arc<Snapshot>>>>,
}

impl Snapshots {
    /// The snapshots of the table's branch.
    pub fn new(table: &Table) -> Self {
        Self { table: table.clone(), dir: table.snapshot_dir(), cache: Arc::default() }
    }

    /// The path of a snapshot.
    pub fn path(&self, id: SnapshotId) -> String {
        format!("{}/snapshot-{id}", self.dir)
    }

    fn storage(&self) -> &dyn Storage {
        &**self.table.storage()
    }

    /// The newest snapshot, read afresh; `None` in an empty table.
    ///
    /// # Errors
    /// `Corrupt` when it cannot be read as one, `Unavailable` when the store fails.
    pub async fn latest(&self) -> Result<Option<Arc<Snapshot>>> {
        // Expiry never removes the newest one, but a rollback may while we look: then look again.
        let mut attempts = 3;
        loop {
            let Some(id) = self.latest_id().await? else { return Ok(None) };
            match self.load(id).await {
                Err(e) if e.kind() == ErrorKind::NotFound && attempts > 0 => attempts -= 1,
                result => return result.map(Some),
            }
        }
    }

    /// The number of the newest snapshot. The hint is trusted only when there is no snapshot after it.
    ///
    /// # Errors
    /// `Corrupt` when the hint tells of a snapshot but there is none at all: the table is not empty, its history is lost.
    pub async fn latest_id(&self) -> Result<Option<SnapshotId>> {
        let hint = self.hint("LATEST").await?.filter(|hint| hint.0 > 0);
        if let Some(hint) = hint
            && !self.exists(hint.next()).await?
            && self.exists(hint).await?
        {
            return Ok(Some(hint));
        }
        match (self.list().await?.pop(), hint) {
            (None, Some(hint)) => Err(Error::corrupt("all snapshots of the table are missing")
                .with("path", self.path(hint))
                .with_hint("restore the snapshot files; without the file LATEST beside them the table is empty")),
            (latest, _) => Ok(latest),
        }
    }

    /// The oldest snapshot that is still there.
    pub async fn earliest(&self) -> Result<Option<Arc<Snapshot>>> {
        let mut attempts = 3;
        loop {
            let Some(id) = self.earliest_id().await? else { return Ok(None) };
            match self.get(id).await {
                Err(e) if e.kind() == ErrorKind::NotFound && attempts > 0 => attempts -= 1,
                result => return result.map(Some),
            }
        }
    }

    /// The number of the oldest snapshot. The hint is trusted only when that snapshot exists.
    pub async fn earliest_id(&self) -> Result<Option<SnapshotId>> {
        if let Some(hint) = self.hint("EARLIEST").await?
            && self.exists(hint).await?
        {
            return Ok(Some(hint));
        }
        Ok(self.list().await?.into_iter().next())
    }

    /// The number of the oldest snapshot as the hint tells, which may be too small; without a hint as the snapshots tell.
    pub(crate) async fn hinted_earliest_id(&self) -> Result<Option<SnapshotId>> {
        match self.hint("EARLIEST").await?.filter(|hint| hint.0 > 0) {
            Some(hint) => Ok(Some(hint)),
            None => Ok(self.list().await?.into_iter().next()),
        }
    }

    /// The numbers of all snapshots, in order.
    pub async fn list(&self) -> Result<Vec<SnapshotId>> {
        numbered(self.storage(), &self.dir, "snapshot-").await.map(|ids| ids.into_iter().map(SnapshotId).collect())
    }

    /// One snapshot.
    ///
    /// # Errors
    /// `NotFound` when it is not there (any more), `Corrupt` with its path when it cannot be read as one.
    pub async fn get(&self, id: SnapshotId) -> Result<Arc<Snapshot>> {
        let cached = self.cache.lock().get(&id).cloned();
        match cached {
            Some(snapshot) => Ok(snapshot),
            None => self.load(id).await,
        }
    }

    /// One snapshot as it is on disk now.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub(crate) async fn get_afresh(&self, id: SnapshotId) -> Result<Arc<Snapshot>> {
        self.load(id).await
    }

    /// Whether a snapshot of this number is there.
    pub async fn exists(&self, id: SnapshotId) -> Result<bool> {
        match self.storage().stat(&self.path(id)).await {
            Ok(_) => Ok(true),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
            Err(e) => Err(e),
        }
    }

    async fn load(&self, id: SnapshotId) -> Result<Arc<Snapshot>> {
        let path = self.path(id);
        let bytes = match self.storage().read(&path, None).await {
            Err(e) if e.kind() == ErrorKind::NotFound => {
                return Err(
                    Error::not_found(format!("snapshot {id} of {} does not exist", self.table.name())).with_source(e)
                );
            }
            result => result?,
        };
        let snapshot = Snapshot::from_json(&bytes).context("path", &path)?;
        if snapshot.id != id {
            return Err(
                Error::corrupt(format!("the file of snapshot {id} holds snapshot {}", snapshot.id)).with("path", path)
            );
        }
        let snapshot = Arc::new(snapshot);
        self.remember(Arc::clone(&snapshot));
        Ok(snapshot)
    }

    /// Takes a snapshot that the caller knows to be on disk.
    pub(crate) fn remember(&self, snapshot: Arc<Snapshot>) {
        let mut cache = self.cache.lock();
        cache.insert(snapshot.id, snapshot);
        while cache.len() > CACHED {
            cache.pop_first();
        }
    }

    async fn hint(&self, name: &str) -> Result<Option<SnapshotId>> {
        match self.storage().read(&format!("{}/{name}", self.dir), None).await {
            Ok(bytes) => Ok(parse_hint(&bytes)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => {
                tracing::debug!(table = self.table.name(), hint = name, error = %e, "hint not readable");
                Ok(None)
            }
        }
    }

    /// Notes the newest snapshot in the hint. The commit is done by now, so a failure is only worth a line in the log.
    pub(crate) async fn hint_latest(&self, id: SnapshotId) {
        self.write_hint("LATEST", id).await;
    }

    /// Forgets what was read by number: after a rollback the numbers are given anew.
    pub(crate) fn forget(&self) {
        self.cache.lock().clear();
    }

    /// Notes the oldest snapshot in the hint.
    pub(crate) async fn hint_earliest(&self, id: SnapshotId) {
        self.write_hint("EARLIEST", id).await;
    }

    async fn write_hint(&self, name: &str, id: SnapshotId) {
        let bytes = Bytes::from(format_hint(id));
        if let Err(e) = self.storage().put(&format!("{}/{name}", self.dir), bytes).await {
            tracing::warn!(table = self.table.name(), hint = name, snapshot = id.0, error = %e, "hint not written");
        }
    }
}

/// The numbers behind `prefix` among the files of a folder, in order.
pub(crate) async fn numbered(storage: &dyn Storage, dir: &str, prefix: &str) -> Result<Vec<i64>> {
    let entries = storage.list(dir).await?;
    let mut numbers: Vec<i64> = entries
        .iter()
        .filter(|entry| !entry.is_dir())
        .filter_map(|entry| entry.path.rsplit('/').next()?.strip_prefix(prefix)?.parse().ok())
        .collect();
    numbers.sort_unstable();
    Ok(numbers)
}

#[cfg(test)]
mod tests;
