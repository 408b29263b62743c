//! Data files that are to go unless something that stays has them. The many files that stay are streamed past the few that
//! may go, so memory is bounded by these.

use std::collections::HashMap;

use linn_format::manifest::{EntryBatch, FileKind, ManifestEntry, ManifestMeta};
use linn_format::{Result, ResultExt};

use super::removal::RemovedFile;
use crate::file::{extra_file_path, place_of};
use crate::table::Table;

/// A data file with what belongs to it.
#[derive(Debug)]
struct Candidate {
    files: Vec<RemovedFile>,
    /// Whether it is in the snapshot that is being looked at.
    there: bool,
}

/// Files by partition, bucket and name; a file that changes its level stays the same file.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    files: HashMap<Box<[u8]>, HashMap<i32, HashMap<Box<str>, Candidate>>>,
    count: usize,
    /// The name that is looked for.
    scratch: String,
}

impl Candidates {
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds the file of an entry. One that lies where Linn cannot delete it stays.
    pub(crate) fn insert(&mut self, table: &Table, entry: &ManifestEntry) {
        let files = match paths(table, entry) {
            Ok(files) => files,
            Err(e) => {
                tracing::warn!(table = table.name(), file = entry.file.file_name, error = %e, "a data file stays");
                return;
            }
        };
        let partition = entry.partition.to_serialized().to_vec().into_boxed_slice();
        let bucket = self.files.entry(partition).or_default().entry(entry.bucket).or_default();
        let candidate = Candidate { files, there: false };
        self.count += usize::from(bucket.insert(entry.file.file_name.as_str().into(), candidate).is_none());
    }

    /// Takes out the file of entry `i`: something that stays has it.
    pub(crate) fn keep(&mut self, batch: &EntryBatch, i: usize) {
        let bucket = self.files.get_mut(batch.partition(i)).and_then(|buckets| buckets.get_mut(&batch.bucket(i)));
        if let Some(bucket) = bucket {
            self.count -= usize::from(bucket.remove(batch.file_name(i).in_one(&mut self.scratch)).is_some());
        }
    }

    /// Takes out what any of these entries adds.
    pub(crate) fn keep_added(&mut self, batch: &EntryBatch) {
        for i in (0..batch.len()).filter(|i| batch.kind(*i) == FileKind::Add) {
            self.keep(batch, i);
        }
    }

    /// Follows a snapshot's entries in order; [`keep_there`](Self::keep_there) ends it.
    pub(crate) fn follow(&mut self, batch: &EntryBatch) {
        for i in 0..batch.len() {
            let buckets = self.files.get_mut(batch.partition(i));
            let found = buckets
                .and_then(|buckets| buckets.get_mut(&batch.bucket(i)))
                .and_then(|files| files.get_mut(batch.file_name(i).in_one(&mut self.scratch)));
            if let Some(found) = found {
                found.there = batch.kind(i) == FileKind::Add;
            }
        }
    }

    /// Takes out the files that the snapshot whose entries were followed has.
    pub(crate) fn keep_there(&mut self) {
        for files in self.files.values_mut().flat_map(HashMap::values_mut) {
            let before = files.len();
            files.retain(|_, candidate| !candidate.there);
            self.count -= before - files.len();
        }
    }

    /// Whether a manifest may tell of a candidate: by its buckets.
    pub(crate) fn may_be_in(&self, manifest: &ManifestMeta) -> bool {
        let (Some(min), Some(max)) = (manifest.min_bucket, manifest.max_bucket) else { return true };
        let any = |buckets: &HashMap<i32, HashMap<Box<str>, Candidate>>| {
            buckets.iter().any(|(bucket, files)| !files.is_empty() && (min..=max).contains(bucket))
        };
        self.files.values().any(any)
    }

    /// The files that are left, each once, in order of their paths.
    pub(crate) fn into_files(self) -> Vec<RemovedFile> {
        let buckets = self.files.into_values().flat_map(HashMap::into_values);
        let mut files: Vec<RemovedFile> = buckets.flat_map(HashMap::into_values).flat_map(|c| c.files).collect();
        files.sort_unstable();
        files.dedup_by(|a, b| a.path == b.path);
        files
    }
}

/// The data file, then the files beside it.
fn paths(table: &Table, entry: &ManifestEntry) -> Result<Vec<RemovedFile>> {
    let (partition, bucket, file) = (&entry.partition, entry.bucket, &entry.file);
    let place = place_of(table, partition, bucket, file).context("file", &file.file_name)?;
    let mut files = vec![RemovedFile::new(place.path, file.file_size)];
    for extra in &file.extra_files {
        files.push(RemovedFile::new(extra_file_path(table, partition, bucket, file, extra)?, 0));
    }
    Ok(files)
}
