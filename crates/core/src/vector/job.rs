//! Deleting rows of an append table by their place: one job that marks positions in files of one snapshot, and commits.

use std::collections::BTreeMap;
use std::sync::Arc;

use linn_format::manifest::{DELETION_VECTORS_INDEX, FileKind, IndexManifestEntry};
use linn_format::row::BinaryRow;
use linn_format::snapshot::Snapshot;
use linn_format::{Error, Result};
use roaring::RoaringTreemap;

use super::bucket::BucketVectors;
use super::file::is_unaware;
use crate::commit::CommitMessage;
use crate::compact::TableFiles;
use crate::manifest::Manifests;
use crate::scan::Split;
use crate::table::Table;

/// Rows to be deleted, by their place in the files of one snapshot.
///
/// The commit that its messages make is a conflict when another one has changed the vector of one of the files, or
/// removed the file, since that snapshot.
#[derive(Debug)]
pub struct RowDeletion {
    table: Table,
    snapshot: Arc<Snapshot>,
    buckets: BTreeMap<(Vec<u8>, i32), Bucket>,
}

#[derive(Debug)]
struct Bucket {
    total_buckets: i32,
    marks: BTreeMap<String, RoaringTreemap>,
}

impl Table {
    /// Starts to delete rows of files of `snapshot` by their place.
    ///
    /// # Errors
    /// `Unsupported` for tables with a primary key, which are told of deletions by retractions, and for those without
    /// deletion vectors.
    pub fn delete_rows(&self, snapshot: Arc<Snapshot>) -> Result<RowDeletion> {
        if self.schema().is_primary_key_table() {
            return Err(Error::unsupported("deleting rows of a primary-key table by their place")
                .with("table", self.name())
                .with_hint("write retractions"));
        }
        if !self.options().deletion_vectors_enabled()? {
            return Err(Error::unsupported("deleting rows of an append table without deletion vectors")
                .with("table", self.name())
                .with_hint("make the table with 'deletion-vectors.enabled' = 'true'"));
        }
        Ok(RowDeletion { table: self.clone(), snapshot, buckets: BTreeMap::new() })
    }
}

impl RowDeletion {
    /// Deletes a row: `file` is the number of a file of the split, `position` counts its rows from 0, with those
    /// that are deleted already.
    ///
    /// # Errors
    /// `Internal` when there is no such row.
    pub fn mark(&mut self, split: &Split, file: usize, position: u64) -> Result<()> {
        let none = || Error::internal("a row to be deleted is not in its file");
        let file = split.files.get(file).ok_or_else(none)?;
        if u64::try_from(file.row_count).is_ok_and(|rows| position >= rows) {
            return Err(none().with("file", &file.file_name));
        }
        let key = (split.partition.to_serialized().to_vec(), split.bucket);
        let total_buckets = split.total_buckets;
        let bucket = self.buckets.entry(key).or_insert_with(|| Bucket { total_buckets, marks: BTreeMap::new() });
        match bucket.marks.get_mut(&file.file_name) {
            Some(marks) => marks.insert(position),
            None => bucket.marks.entry(file.file_name.clone()).or_default().insert(position),
        };
        Ok(())
    }

    /// Rows marked.
    pub fn rows(&self) -> u64 {
        self.buckets.values().flat_map(|bucket| bucket.marks.values()).map(RoaringTreemap::len).sum()
    }

    /// Writes the new vectors and returns what to commit, one message for each bucket.
    ///
    /// # Errors
    /// `Corrupt` for an index file that is not what the table says; `Unavailable` when the store fails. Nothing is left
    /// then.
    pub async fn finish(self) -> Result<Vec<CommitMessage>> {
        let lines = vector_lines(&self.table, &self.snapshot).await?;
        let mut messages: Vec<CommitMessage> = Vec::new();
        for ((partition, bucket), change) in self.buckets {
            let partition = BinaryRow::from_serialized(partition)?;
            match changes(&self.table, &lines, &partition, bucket, &change.marks, &[]).await {
                Ok(changes) => {
                    let mut message = CommitMessage::new(partition, bucket, change.total_buckets);
                    message.index_changes = changes;
                    messages.push(message);
                }
                Err(e) => {
                    let written = messages.iter().flat_map(|message| &message.index_changes);
                    for line in written.filter(|line| line.kind == FileKind::Add) {
                        super::delete(&self.table, line).await.ok();
                    }
                    return Err(e);
                }
            }
        }
        Ok(messages)
    }
}

/// The lines of all deletion vectors of a snapshot.
pub(crate) async fn vector_lines(table: &Table, snapshot: &Snapshot) -> Result<Vec<IndexManifestEntry>> {
    let lines = Manifests::new(table).index_of(snapshot).await?;
    Ok(lines.into_iter().filter(|l| l.kind == FileKind::Add && l.index_type == DELETION_VECTORS_INDEX).collect())
}

/// Marks rows in files of a bucket and forgets others of its files: the lines to remove and to add. `lines` are all of the
/// table. Without buckets only the index files that hold vectors of changed files are written anew.
async fn changes(
    table: &Table,
    lines: &[IndexManifestEntry],
    partition: &BinaryRow,
    bucket: i32,
    marks: &BTreeMap<String, RoaringTreemap>,
    gone: &[&str],
) -> Result<Vec<IndexManifestEntry>> {
    let unaware = is_unaware(table)?;
    let changed = |line: &IndexManifestEntry| {
        let mut files = line.deletion_vectors.iter().flatten().map(|vector| vector.data_file.as_str());
        files.any(|file| marks.contains_key(file) || gone.contains(&file))
    };
    let touched = lines.iter().filter(|l| l.partition == *partition && l.bucket == bucket);
    let touched = touched.filter(|line| !unaware || changed(line)).cloned().collect();
    let mut vectors = BucketVectors::load(table, touched).await?;
    vectors.mark(marks);
    for file in gone {
        vectors.remove(file);
    }
    let files = TableFiles { table: table.clone(), partition: partition.clone(), bucket, batch_size: 0, alone: false };
    vectors.hand_over(&files).await
}
