//! Files that are to be removed, and their removal: the history first, so that no new reader finds what is about to go, then
//! the metadata that led to the data, then the data (spec: reliability.md H7, H9).
//!
//! When this ends half-way, what is left is reachable as a whole or not reachable at all; the rest is for orphan cleaning.

use std::collections::BTreeSet;

use futures::StreamExt;
use linn_format::Result;

use crate::seam::Pool;
use crate::table::Table;

/// A file that is to go.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RemovedFile {
    /// Path relative to the store's root.
    pub path: String,
    /// Size in bytes, as the metadata tells; 0 where it does not.
    pub bytes: u64,
}

impl RemovedFile {
    pub(crate) fn new(path: String, bytes: i64) -> Self {
        Self { path, bytes: u64::try_from(bytes).unwrap_or(0) }
    }
}

/// What one step of maintenance removes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Removal {
    /// Snapshots, tags and changelogs, in the order in which they go.
    pub history: Vec<RemovedFile>,
    /// Manifest lists, manifests, index manifests, statistics.
    pub metadata: Vec<RemovedFile>,
    /// Data files, changelog files, indexes.
    pub data: Vec<RemovedFile>,
}

impl Removal {
    /// Whether nothing goes.
    pub fn is_empty(&self) -> bool {
        self.history.is_empty() && self.metadata.is_empty() && self.data.is_empty()
    }

    /// Everything that goes, in order.
    pub fn iter(&self) -> impl Iterator<Item = &RemovedFile> {
        self.history.iter().chain(&self.metadata).chain(&self.data)
    }

    /// How many files go.
    pub fn files(&self) -> usize {
        self.history.len() + self.metadata.len() + self.data.len()
    }

    /// How many bytes go, as far as the metadata tells.
    pub fn bytes(&self) -> u64 {
        self.iter().map(|file| file.bytes).sum()
    }

    /// Adds what goes with another step.
    pub fn extend(&mut self, other: Self) {
        self.history.extend(other.history);
        self.metadata.extend(other.metadata);
        self.data.extend(other.data);
    }

    /// Removes metadata and data; what cannot be removed stays for orphan cleaning. How many that were. The history must be
    /// removed by then, so that nobody is led to what goes.
    pub async fn sweep(&self, table: &Table) -> u64 {
        let left = delete_all(table, &self.metadata).await + delete_all(table, &self.data).await;
        let empty = table.options().snapshot_clean_empty_directories().unwrap_or(false);
        if empty {
            clean_folders(table, self.data.iter().map(|file| file.path.as_str())).await;
        }
        left
    }
}

/// How many operations on files run at once: `file-operation.thread-num`, else as many as there are threads.
///
/// # Errors
/// `Invalid` for a value that is no number.
pub(crate) fn at_once(table: &Table) -> Result<usize> {
    let set = table.options().file_operation_threads()?;
    let threads = table.env().spawn.parallelism(Pool::Work);
    Ok(set.filter(|n| *n > 0).and_then(|n| usize::try_from(n).ok()).unwrap_or(threads).max(1))
}

/// Deletes files, several at once. How many could not be deleted.
pub(crate) async fn delete_all(table: &Table, files: &[RemovedFile]) -> u64 {
    let at_once = at_once(table).unwrap_or(1);
    let delete = |file: RemovedFile| async move {
        match table.storage().delete(&file.path).await {
            Ok(()) => 0,
            Err(e) => {
                tracing::warn!(table = table.name(), path = file.path, error = %e, "a file that nothing refers to stays");
                1
            }
        }
    };
    let left = futures::stream::iter(files.to_vec()).map(delete).buffer_unordered(at_once);
    left.fold(0, |sum, one| async move { sum + one }).await
}

/// Deletes the folders of buckets and partitions that these files were in, as far as they are empty.
pub(crate) async fn clean_folders<'p>(table: &Table, files: impl Iterator<Item = &'p str>) {
    let root = table.data_root();
    let inside = |folder: &str| folder.strip_prefix(&root).is_some_and(|rest| rest.starts_with('/'));
    let parent = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned()).filter(|f| inside(f));
    let bucket = |folder: &String| folder.rsplit('/').next().is_some_and(|name| name.starts_with("bucket-"));
    let mut folders: BTreeSet<String> = files.filter_map(parent).filter(bucket).collect();
    while !folders.is_empty() {
        let mut above = BTreeSet::new();
        for folder in folders {
            match table.storage().delete_empty_dir(&folder).await {
                Ok(true) => above.extend(parent(&folder)),
                Ok(false) => {}
                Err(e) => tracing::debug!(table = table.name(), folder, error = %e, "an empty folder stays"),
            }
        }
        folders = above;
    }
}
