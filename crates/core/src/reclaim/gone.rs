//! What a snapshot that is to go has: its own metadata files, what its changes removed, what they added.
//!
//! Part of it may be gone already, when an earlier run was cut off (spec: reliability.md H9). A change that cannot be read as a
//! whole says nothing about its files: they stay for orphan cleaning.

use std::collections::HashSet;
use std::sync::Arc;

use linn_format::manifest::{EntryBatch, IndexManifestEntry, ManifestMeta, StatsColumns};
use linn_format::snapshot::Snapshot;
use linn_format::{ErrorKind, Result};

use super::removal::RemovedFile;
use crate::manifest::{ListName, Manifests};
use crate::table::Table;

/// Which parts of a snapshot are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    /// The files that its base and delta lists name.
    pub(crate) lists: bool,
    /// The entries of its delta.
    pub(crate) delta: bool,
    /// The files that its changelog list names, and the entries.
    pub(crate) changelog: bool,
    /// Index manifest and index files.
    pub(crate) index: bool,
}

/// A snapshot with what could be read of it.
#[derive(Debug)]
pub(crate) struct ExpiredSnapshot {
    pub(crate) snapshot: Arc<Snapshot>,
    lists: Vec<(String, Option<i64>, Vec<ManifestMeta>)>,
    /// The entries of its delta; `None` when any of it is gone or damaged.
    pub(crate) delta: Option<Vec<Arc<EntryBatch>>>,
    /// The entries of its changelog, as far as they are there.
    pub(crate) changelog: Vec<Arc<EntryBatch>>,
    index: Option<(String, Vec<IndexManifestEntry>)>,
}

impl ExpiredSnapshot {
    /// Reads the wanted parts of a snapshot.
    ///
    /// # Errors
    /// `Unavailable` when the store fails; what is gone or damaged is passed over.
    pub(crate) async fn read(table: &Table, snapshot: Arc<Snapshot>, parts: Parts) -> Result<Self> {
        let manifests = Manifests::new(table);
        let mut gone = Self { snapshot, lists: Vec::new(), delta: None, changelog: Vec::new(), index: None };
        let snapshot = Arc::clone(&gone.snapshot);
        if parts.lists {
            for list in ListName::of_data(&snapshot) {
                gone.list(&manifests, list).await?;
            }
        }
        if parts.delta {
            let [_, delta] = ListName::of_data(&snapshot);
            gone.delta = entries(&manifests, delta).await?;
        }
        if parts.changelog
            && let Some(list) = ListName::of_changelog(&snapshot)
        {
            gone.list(&manifests, list).await?;
            for meta in readable(manifests.peek_list(list).await)?.unwrap_or_default() {
                gone.changelog.extend(readable(manifests.peek_manifest(&meta, StatsColumns::Keys).await)?);
            }
        }
        if parts.index
            && let Some(index) = &snapshot.index_manifest
        {
            let lines = readable(manifests.read_index(index).await)?.unwrap_or_default();
            gone.index = Some((index.clone(), lines));
        }
        Ok(gone)
    }

    async fn list(&mut self, manifests: &Manifests, list: ListName<'_>) -> Result<()> {
        let listed = readable(manifests.peek_list(list).await)?.unwrap_or_default();
        self.lists.push((list.name.to_owned(), list.size, listed));
        Ok(())
    }
}

/// Metadata files and index files that go, each name once.
#[derive(Debug)]
pub(crate) struct Metadata<'t> {
    table: &'t Table,
    /// Names that stay, or that are here already.
    known: HashSet<String>,
    pub(crate) files: Vec<RemovedFile>,
    /// Index files, which lie with the data.
    pub(crate) indexes: Vec<RemovedFile>,
}

impl<'t> Metadata<'t> {
    /// Nothing of `kept` will be taken.
    pub(crate) fn new(table: &'t Table, kept: HashSet<String>) -> Self {
        Self { table, known: kept, files: Vec::new(), indexes: Vec::new() }
    }

    /// Adds the lists of a snapshot, and what they name, that nothing that stays has.
    pub(crate) fn take_lists(&mut self, gone: &ExpiredSnapshot) {
        for (name, size, manifests) in &gone.lists {
            self.file(name, size.unwrap_or(0));
            manifests.iter().for_each(|manifest| self.file(&manifest.file_name, manifest.file_size));
        }
    }

    /// Adds the files of a snapshot that nothing that stays has.
    pub(crate) fn take(&mut self, gone: &ExpiredSnapshot) {
        self.take_lists(gone);
        if let Some((name, lines)) = &gone.index {
            self.file(name, 0);
            lines.iter().for_each(|line| self.index_file(line));
        }
        if let Some(name) = &gone.snapshot.statistics
            && self.known.insert(name.clone())
        {
            self.files.push(RemovedFile::new(self.table.statistics_path(name), 0));
        }
    }

    fn file(&mut self, name: &str, bytes: i64) {
        if self.known.insert(name.to_owned()) {
            self.files.push(RemovedFile::new(self.table.manifest_path(name), bytes));
        }
    }

    fn index_file(&mut self, line: &IndexManifestEntry) {
        if !self.known.insert(line.file_name.clone()) {
            return;
        }
        match self.table.index_file_path(line) {
            Ok(path) => self.indexes.push(RemovedFile::new(path, line.file_size)),
            Err(e) => {
                tracing::warn!(table = self.table.name(), file = line.file_name, error = %e, "an index file stays")
            }
        }
    }
}

/// The entries of all manifests of a list; `None` when any of it is gone or damaged.
async fn entries(manifests: &Manifests, list: ListName<'_>) -> Result<Option<Vec<Arc<EntryBatch>>>> {
    let Some(metas) = readable(manifests.peek_list(list).await)? else { return Ok(None) };
    let mut batches = Vec::with_capacity(metas.len());
    for meta in metas {
        match readable(manifests.peek_manifest(&meta, StatsColumns::Keys).await)? {
            Some(batch) => batches.push(batch),
            None => return Ok(None),
        }
    }
    Ok(Some(batches))
}

/// `None` for what is gone or damaged.
fn readable<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::Corrupt) => {
            tracing::debug!(error = %e, "metadata of what is to go cannot be read");
            Ok(None)
        }
        Err(e) => Err(e),
    }
}
