//! Changelogs that outlive their snapshots: `changelog/changelog-N` holds what `snapshot/snapshot-N` held when it expired, for
//! readers of changes (spec: format.md C.1, C.2; features.md B14).

use std::sync::Arc;

use linn_format::snapshot::{Snapshot, parse_hint};
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

    async fn hint(&self, name: &str) -> Option<SnapshotId> {
        let bytes = self.table.storage().read(&format!("{}/{name}", self.dir), None).await.ok()?;
        parse_hint(&bytes)
    }
}
