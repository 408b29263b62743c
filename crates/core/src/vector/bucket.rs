//! The deletion vectors of one bucket while it changes: as the table has them, what compactions made of them since, and
//! what a commit must be told.

use std::collections::BTreeMap;
use std::sync::Arc;

use linn_format::Result;
use linn_format::manifest::{FileKind, IndexManifestEntry};
use roaring::RoaringTreemap;

use super::file::read;
use crate::file::{BucketFiles, Positions};
use crate::table::Table;

/// Deletion vectors of the files of a bucket.
#[derive(Debug, Clone, Default)]
pub(crate) struct BucketVectors {
    vectors: Positions,
    /// Lines of the index files that the table has, or will have once what was handed over is committed.
    lines: Vec<IndexManifestEntry>,
    state: State,
    /// Index files that were written for nothing.
    unwanted: Vec<IndexManifestEntry>,
}

/// Whether the vectors are those of the lines.
#[derive(Debug, Clone, Default)]
enum State {
    #[default]
    Same,
    Changed,
    /// Written, but not handed over.
    Written(Vec<IndexManifestEntry>),
}

impl BucketVectors {
    /// The vectors that these lines of the index manifest name.
    ///
    /// # Errors
    /// `NotFound` when an index file is gone, `Corrupt` with its path.
    pub(crate) async fn load(table: &Table, lines: Vec<IndexManifestEntry>) -> Result<Self> {
        let mut vectors = Positions::new();
        for line in &lines {
            vectors.extend(read(table, line).await?);
        }
        Ok(Self { vectors, lines, ..Self::default() })
    }

    /// The deleted positions of a file.
    pub(crate) fn get(&self, file: &str) -> Option<&Arc<RoaringTreemap>> {
        self.vectors.get(file)
    }

    /// Deletes more rows.
    pub(crate) fn mark(&mut self, marks: &BTreeMap<String, RoaringTreemap>) {
        for (file, positions) in marks.iter().filter(|(_, positions)| !positions.is_empty()) {
            let vector = self.vectors.entry(file.clone()).or_default();
            *Arc::make_mut(vector) |= positions;
            self.change();
        }
    }

    /// Forgets a file that is no longer part of the bucket.
    pub(crate) fn remove(&mut self, file: &str) {
        if self.vectors.remove(file).is_some() {
            self.change();
        }
    }

    fn change(&mut self) {
        if let State::Written(lines) = std::mem::replace(&mut self.state, State::Changed) {
            self.unwanted.extend(lines);
        }
    }

    /// Writes what changed, and hands over the lines that the commit removes and adds; none when nothing changed.
    ///
    /// # Errors
    /// As [`BucketFiles::write_vectors`]; a later call tries again.
    pub(crate) async fn hand_over(&mut self, files: &dyn BucketFiles) -> Result<Vec<IndexManifestEntry>> {
        self.clean(files).await;
        if matches!(self.state, State::Changed) {
            self.state = State::Written(files.write_vectors(&self.vectors).await?);
        }
        let State::Written(added) = std::mem::take(&mut self.state) else { return Ok(Vec::new()) };
        let removed = std::mem::replace(&mut self.lines, added.clone());
        let removed = removed.into_iter().map(|line| IndexManifestEntry { kind: FileKind::Delete, ..line });
        Ok(removed.chain(added).collect())
    }

    /// Takes back what was handed over and will not be committed now; the next call hands it over again.
    pub(crate) fn take_back(&mut self, changes: Vec<IndexManifestEntry>) {
        if changes.is_empty() {
            return;
        }
        let (added, removed) = changes.into_iter().partition(|line| line.kind == FileKind::Add);
        self.lines = removed;
        self.lines.iter_mut().for_each(|line| line.kind = FileKind::Add);
        match self.state {
            State::Same => self.state = State::Written(added),
            _ => self.unwanted.extend(added),
        }
    }

    /// Deletes the index files that no commit was told of.
    pub(crate) async fn abort(&mut self, files: &dyn BucketFiles) {
        self.change();
        self.clean(files).await;
    }

    async fn clean(&mut self, files: &dyn BucketFiles) {
        for line in self.unwanted.drain(..) {
            files.delete_vectors(&line).await.ok();
        }
    }
}
