//! Changelogs that outlive their snapshots: `changelog/changelog-N` holds what `snapshot/snapshot-N` held when it expired, for
//! readers of changes (spec: format.md C.1, C.2; features.md B14).

use std::sync::Arc;

use bytes::Bytes;
use linn_format::snapshot::{Snapshot, format_hint, parse_hint};
use linn_format::{ErrorKind, Result, ResultExt, SnapshotId};

use super::numbered;
use crate::table::Table;

/// The changelogs of one table.
#[derive(Debug, Clone)]
pub struct Changelogs {
    table: Table,
    dir: String,
}

impl Changelogs {
    /// The changelogs of the table's branch.
    pub fn new(table: &Table) -> Self {
        Self { table: table.clone(), dir: table.changelog_dir() }
    }

    /// The path of a changelog.
    pub fn path(&self, id: SnapshotId) -> String {
        format!("{}/changelog-{id}", self.dir)
    }

    /// The numbers of all changelogs, in order.
    pub async fn list(&self) -> Result<Vec<SnapshotId>> {
        let ids = numbered(&**self.table.storage(), &self.dir, "changelog-").await?;
        Ok(ids.into_iter().map(SnapshotId).collect())
    }

    /// One changelog, if it is there.
    ///
    /// # Errors
    /// `Corrupt` with the path when it cannot be read as one.
    pub async fn find(&self, id: SnapshotId) -> Result<Option<Arc<Snapshot>>> {
        let path = self.path(id);
        match self.table.storage().read(&path, None).await {
            Ok(bytes) => Snapshot::from_json(&bytes).context("path", path).map(|found| Some(Arc::new(found))),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// The number of the oldest changelog. The hint is trusted only when that changelog is there.
    pub async fn earliest_id(&self) -> Result<Option<SnapshotId>> {
        if let Some(hint) = self.hint("EARLIEST").await
            && self.find(hint).await?.is_some()
        {
            return Ok(Some(hint));
        }
        Ok(self.list().await?.into_iter().next())
    }

    /// Keeps a snapshot as changelog. Doing it again changes nothing.
    pub(crate) async fn keep(&self, snapshot: &Snapshot) -> Result<()> {
        self.table.storage().put(&self.path(snapshot.id), Bytes::from(snapshot.to_json()?)).await
    }

    async fn hint(&self, name: &str) -> Option<SnapshotId> {
        let bytes = self.table.storage().read(&format!("{}/{name}", self.dir), None).await.ok()?;
        parse_hint(&bytes)
    }

    pub(crate) async fn hint_latest(&self, id: SnapshotId) {
        self.write_hint("LATEST", id).await;
    }

    pub(crate) async fn hint_earliest(&self, id: SnapshotId) {
        self.write_hint("EARLIEST", id).await;
    }

    async fn write_hint(&self, name: &str, id: SnapshotId) {
        let path = format!("{}/{name}", self.dir);
        if let Err(e) = self.table.storage().put(&path, Bytes::from(format_hint(id))).await {
            tracing::warn!(table = self.table.name(), hint = path, error = %e, "hint not written");
        }
    }
}
