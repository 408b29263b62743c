//! Deletion vectors of the files of a plan, from the index manifest (spec: format.md C.11).

use std::collections::HashMap;
use std::sync::Arc;

use linn_format::Result;
use linn_format::file::DataFileMeta;
use linn_format::manifest::{DELETION_VECTORS_INDEX, FileKind, FileName, IndexManifestEntry};
use linn_format::row::BinaryRow;

use super::DeletionFile;
use crate::table::Table;

/// The deletion vectors of a snapshot by data file.
#[derive(Debug, Default)]
pub(super) struct Vectors {
    buckets: HashMap<(BinaryRow, i32), HashMap<String, DeletionFile>>,
}

impl Vectors {
    pub(super) fn new(table: &Table, entries: Vec<IndexManifestEntry>) -> Result<Self> {
        let mut buckets: HashMap<(BinaryRow, i32), HashMap<String, DeletionFile>> = HashMap::new();
        let vectors = entries.into_iter().filter(|e| e.kind == FileKind::Add && e.index_type == DELETION_VECTORS_INDEX);
        for entry in vectors {
            let path = table.index_file_path(&entry)?;
            let files = buckets.entry((entry.partition, entry.bucket)).or_default();
            for meta in entry.deletion_vectors.into_iter().flatten() {
                files.insert(meta.data_file.clone(), DeletionFile { path: path.clone(), meta });
            }
        }
        Ok(Self { buckets })
    }

    /// The vector of each file, in order; empty when no file has one.
    pub(super) fn of(&self, key: &(BinaryRow, i32), files: &[Arc<DataFileMeta>]) -> Vec<Option<DeletionFile>> {
        let Some(vectors) = self.buckets.get(key) else { return Vec::new() };
        some(files.iter().map(|file| vectors.get(&file.file_name).cloned()).collect())
    }

    /// The same of names of files.
    pub(super) fn of_names<'n>(
        &self,
        key: &(BinaryRow, i32),
        names: impl Iterator<Item = FileName<'n>>,
    ) -> Vec<Option<DeletionFile>> {
        let Some(vectors) = self.buckets.get(key) else { return Vec::new() };
        let mut scratch = String::new();
        some(names.map(|name| vectors.get(name.in_one(&mut scratch)).cloned()).collect())
    }
}

fn some(found: Vec<Option<DeletionFile>>) -> Vec<Option<DeletionFile>> {
    if found.iter().all(Option::is_none) { Vec::new() } else { found }
}
