//! Reading the files of the `manifest` folder.

use std::sync::Arc;

use bytes::Bytes;
use linn_format::manifest::{
    EntryBatch, IndexManifestEntry, ManifestMeta, StatsColumns, read_index_manifest, read_manifest_columns,
    read_manifest_list,
};
use linn_format::snapshot::Snapshot;
use linn_format::{Error, ErrorKind, Result, ResultExt};

use crate::table::Table;

/// The manifests of one table. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Manifests {
    table: Table,
}

impl Manifests {
    /// The manifests of a table.
    pub fn new(table: &Table) -> Self {
        Self { table: table.clone() }
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The manifests of the whole table at a snapshot, in the order in which their entries apply.
    ///
    /// # Errors
    /// `NotFound` or `Corrupt` with the path of a manifest list.
    pub async fn of_snapshot(&self, snapshot: &Snapshot) -> Result<Vec<ManifestMeta>> {
        let (base, delta) = futures::try_join!(
            self.read_list(&snapshot.base_manifest_list),
            self.read_list(&snapshot.delta_manifest_list)
        )?;
        Ok(base.into_iter().chain(delta).collect())
    }

    /// The manifests of a snapshot's own changes.
    ///
    /// # Errors
    /// As [`Manifests::read_list`].
    pub async fn of_delta(&self, snapshot: &Snapshot) -> Result<Vec<ManifestMeta>> {
        self.read_list(&snapshot.delta_manifest_list).await
    }

    /// The manifests of a snapshot's changelog; none when it has none.
    ///
    /// # Errors
    /// As [`Manifests::read_list`].
    pub async fn of_changelog(&self, snapshot: &Snapshot) -> Result<Vec<ManifestMeta>> {
        match &snapshot.changelog_manifest_list {
            Some(list) => self.read_list(list).await,
            None => Ok(Vec::new()),
        }
    }

    /// A manifest list, from the cache if it is there.
    ///
    /// # Errors
    /// `NotFound` or `Corrupt` with the path.
    pub async fn read_list(&self, name: &str) -> Result<Vec<ManifestMeta>> {
        let cache = self.table.manifest_cache();
        if let Some(list) = cache.list(name) {
            return Ok((*list).clone());
        }
        let path = self.table.manifest_path(name);
        let bytes = self.read(&path).await?;
        let list = Arc::new(read_manifest_list(&bytes).context("path", path)?);
        cache.put_list(name, Arc::clone(&list));
        Ok((*list).clone())
    }

    /// A manifest, from the cache if it is there.
    ///
    /// # Errors
    /// `NotFound` or `Corrupt` with the path.
    pub async fn read_manifest(&self, name: &str, stats: StatsColumns) -> Result<Arc<EntryBatch>> {
        let cache = self.table.manifest_cache();
        if let Some(batch) = cache.get(name, stats) {
            return Ok(batch);
        }
        let path = self.table.manifest_path(name);
        let bytes = self.read(&path).await?;
        let batch = Arc::new(read_manifest_columns(&bytes, stats).context("path", path)?);
        cache.put(name, stats, Arc::clone(&batch));
        Ok(batch)
    }

    /// A manifest list that is read once: from the cache if it is there, but not kept in it.
    pub(crate) async fn peek_list(&self, name: &str) -> Result<Vec<ManifestMeta>> {
        if let Some(list) = self.table.manifest_cache().list(name) {
            return Ok((*list).clone());
        }
        let path = self.table.manifest_path(name);
        read_manifest_list(&self.read(&path).await?).context("path", path)
    }

    /// A manifest that is read once: from the cache if it is there, but not kept in it.
    pub(crate) async fn peek_manifest(&self, name: &str) -> Result<Arc<EntryBatch>> {
        if let Some(batch) = self.table.manifest_cache().get(name, StatsColumns::Keys) {
            return Ok(batch);
        }
        let path = self.table.manifest_path(name);
        read_manifest_columns(&self.read(&path).await?, StatsColumns::Keys).context("path", path).map(Arc::new)
    }

    /// The index manifest of a snapshot; empty when it has none.
    ///
    /// # Errors
    /// `NotFound` or `Corrupt` with the path.
    pub async fn index_of(&self, snapshot: &Snapshot) -> Result<Vec<IndexManifestEntry>> {
        match &snapshot.index_manifest {
            Some(name) => self.read_index(name).await,
            None => Ok(Vec::new()),
        }
    }

    /// An index manifest.
    ///
    /// # Errors
    /// `NotFound` or `Corrupt` with the path.
    pub async fn read_index(&self, name: &str) -> Result<Vec<IndexManifestEntry>> {
        let path = self.table.manifest_path(name);
        let bytes = self.read(&path).await?;
        read_index_manifest(&bytes).context("path", path)
    }

    async fn read(&self, path: &str) -> Result<Bytes> {
        match self.table.storage().read(path, None).await {
            Err(e) if e.kind() == ErrorKind::NotFound => {
                let gone = Error::not_found("a manifest of the table is gone").with("table", self.table.name());
                let hint = "the snapshot that was read may have expired meanwhile; read a newer one";
                Err(gone.with("path", path).with_hint(hint).with_source(e))
            }
            result => result,
        }
    }
}
