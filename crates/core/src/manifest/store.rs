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

/// A manifest list as a snapshot names it: with its size, where the snapshot says one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListName<'s> {
    /// Its name.
    pub(crate) name: &'s str,
    /// Its size in bytes.
    pub(crate) size: Option<i64>,
}

impl<'s> ListName<'s> {
    /// The list of what a snapshot builds on, and the list of its changes.
    pub(crate) fn of_data(snapshot: &'s Snapshot) -> [Self; 2] {
        let base = Self { name: &snapshot.base_manifest_list, size: snapshot.base_manifest_list_size };
        [base, Self { name: &snapshot.delta_manifest_list, size: snapshot.delta_manifest_list_size }]
    }

    /// The list of its changelog.
    pub(crate) fn of_changelog(snapshot: &'s Snapshot) -> Option<Self> {
        let size = snapshot.changelog_manifest_list_size;
        snapshot.changelog_manifest_list.as_deref().map(|name| Self { name, size })
    }

    /// A list that was cut between two blocks can be read as a shorter one.
    fn check(self, bytes: &Bytes) -> Result<()> {
        match self.size {
            Some(size) if u64::try_from(size) != Ok(bytes.len() as u64) => {
                let why = format!("a manifest list has {} bytes where its snapshot says {size}", bytes.len());
                Err(Error::corrupt(why))
            }
            _ => Ok(()),
        }
    }
}

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
        let [base, delta] = ListName::of_data(snapshot);
        let (base, delta) = futures::try_join!(self.list_of(base), self.list_of(delta))?;
        Ok(base.into_iter().chain(delta).collect())
    }

    /// The manifests of a snapshot's own changes.
    ///
    /// # Errors
    /// As [`Manifests::read_list`].
    pub async fn of_delta(&self, snapshot: &Snapshot) -> Result<Vec<ManifestMeta>> {
        let [_, delta] = ListName::of_data(snapshot);
        self.list_of(delta).await
    }

    /// The manifests of a snapshot's changelog; none when it has none.
    ///
    /// # Errors
    /// As [`Manifests::read_list`].
    pub async fn of_changelog(&self, snapshot: &Snapshot) -> Result<Vec<ManifestMeta>> {
        match ListName::of_changelog(snapshot) {
            Some(list) => self.list_of(list).await,
            None => Ok(Vec::new()),
        }
    }

    /// A manifest list, from the cache if it is there.
    ///
    /// # Errors
    /// `NotFound` or `Corrupt` with the path.
    pub async fn read_list(&self, name: &str) -> Result<Vec<ManifestMeta>> {
        self.list_of(ListName { name, size: None }).await
    }

    async fn list_of(&self, list: ListName<'_>) -> Result<Vec<ManifestMeta>> {
        let cache = self.table.manifest_cache();
        let path = self.table.manifest_path(list.name);
        if let Some(list) = cache.list(&path) {
            self.count_hit();
            return Ok((*list).clone());
        }
        let read = Arc::new(self.list_on_disk(list, &path).await?);
        cache.put_list(&path, Arc::clone(&read));
        Ok((*read).clone())
    }

    fn count_hit(&self) {
        if let Some(counts) = self.table.counts() {
            counts.cached.add(1);
        }
    }

    async fn list_on_disk(&self, list: ListName<'_>, path: &str) -> Result<Vec<ManifestMeta>> {
        let bytes = self.read(path).await?;
        list.check(&bytes).and_then(|()| read_manifest_list(&bytes)).context("path", path)
    }

    /// The manifest of a line of a manifest list, which must have as many entries as the line says.
    ///
    /// # Errors
    /// As [`Manifests::read_manifest`].
    pub async fn manifest_of(&self, meta: &ManifestMeta, stats: StatsColumns) -> Result<Arc<EntryBatch>> {
        let batch = self.read_manifest(&meta.file_name, stats).await?;
        let forget = || self.table.manifest_cache().forget(&self.table.manifest_path(&meta.file_name));
        self.check(meta, &batch).inspect_err(|_| forget())?;
        Ok(batch)
    }

    fn check(&self, meta: &ManifestMeta, batch: &EntryBatch) -> Result<()> {
        let entries = meta.num_added_files.saturating_add(meta.num_deleted_files);
        if u64::try_from(entries) == Ok(batch.len() as u64) {
            return Ok(());
        }
        let why = format!("a manifest has {} entries where its manifest list says {entries}", batch.len());
        Err(Error::corrupt(why).with("path", self.table.manifest_path(&meta.file_name)))
    }

    /// A manifest, from the cache if it is there.
    ///
    /// # Errors
    /// `NotFound` or `Corrupt` with the path.
    pub async fn read_manifest(&self, name: &str, stats: StatsColumns) -> Result<Arc<EntryBatch>> {
        let cache = self.table.manifest_cache();
        let path = self.table.manifest_path(name);
        if let Some(batch) = cache.get(&path, stats) {
            self.count_hit();
            return Ok(batch);
        }
        let batch = self.manifest_on_disk(&path, stats).await?;
        cache.put(&path, stats, Arc::clone(&batch));
        Ok(batch)
    }

    async fn manifest_on_disk(&self, path: &str, stats: StatsColumns) -> Result<Arc<EntryBatch>> {
        let bytes = self.read(path).await?;
        Ok(Arc::new(read_manifest_columns(&bytes, stats).context("path", path)?))
    }

    /// A manifest list that is read once: from the cache if it is there, but not kept in it.
    pub(crate) async fn peek_list(&self, list: ListName<'_>) -> Result<Vec<ManifestMeta>> {
        let path = self.table.manifest_path(list.name);
        match self.table.manifest_cache().list(&path) {
            Some(list) => Ok((*list).clone()),
            None => self.list_on_disk(list, &path).await,
        }
    }

    /// As [`Manifests::manifest_of`], of one that is read once: from the cache if it is there, but not kept in it.
    pub(crate) async fn peek_manifest(&self, meta: &ManifestMeta, stats: StatsColumns) -> Result<Arc<EntryBatch>> {
        let path = self.table.manifest_path(&meta.file_name);
        let batch = match self.table.manifest_cache().get(&path, stats) {
            Some(batch) => batch,
            None => self.manifest_on_disk(&path, stats).await?,
        };
        self.check(meta, &batch)?;
        Ok(batch)
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
                let gone = Error::not_found("a manifest of the table is missing").with("table", self.table.name());
                let hint = "the snapshot may have expired while it was read; read a newer one";
                Err(gone.with("path", path).with_hint(hint).with_source(e))
            }
            result => result,
        }
    }
}
