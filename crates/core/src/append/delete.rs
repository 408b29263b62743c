//! Deleting rows of an append table by their place: one job that marks positions in files of one snapshot, and what it
//! commits. With deletion vectors these say which rows are gone; without, the files are written anew.

use std::collections::BTreeMap;
use std::sync::Arc;

use linn_format::file::DataFileMeta;
use linn_format::manifest::FileKind;
use linn_format::row::BinaryRow;
use linn_format::snapshot::Snapshot;
use linn_format::{Error, Result};
use roaring::RoaringTreemap;

use super::vectors::changes;
use crate::commit::CommitMessage;
use crate::scan::Split;
use crate::table::Table;
use crate::vector::{self, vector_lines};

/// Rows to be deleted, by their place in the files of one snapshot.
///
/// The commit that its messages make is a conflict when another one has changed the vector of one of the files, or
/// removed the file, since that snapshot. Without deletion vectors files are replaced.
#[derive(Debug)]
pub struct RowDeletion {
    table: Table,
    snapshot: Arc<Snapshot>,
    buckets: BTreeMap<(Vec<u8>, i32), Bucket>,
}

#[derive(Debug, Default)]
struct Bucket {
    total_buckets: i32,
    files: BTreeMap<String, Arc<DataFileMeta>>,
    marks: BTreeMap<String, RoaringTreemap>,
}

impl Table {
    /// Starts to delete rows of files of `snapshot` by their place.
    ///
    /// # Errors
    /// `Unsupported` for tables with a primary key, which are told of deletions by retractions, and for those whose files
    /// hold more than rows.
    pub fn delete_rows(&self, snapshot: Arc<Snapshot>) -> Result<RowDeletion> {
        if self.schema().is_primary_key_table() {
            return Err(Error::unsupported("deleting rows of a primary-key table by position")
                .with("table", self.name())
                .with_hint("write retractions"));
        }
        super::check(self)?;
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
        let bucket = self.buckets.entry(key).or_insert_with(|| Bucket { total_buckets, ..Bucket::default() });
        match bucket.marks.get_mut(&file.file_name) {
            Some(marks) => marks.insert(position),
            None => {
                bucket.files.insert(file.file_name.clone(), Arc::clone(file));
                bucket.marks.entry(file.file_name.clone()).or_default().insert(position)
            }
        };
        Ok(())
    }

    /// Rows marked.
    pub fn rows(&self) -> u64 {
        self.buckets.values().flat_map(|bucket| bucket.marks.values()).map(RoaringTreemap::len).sum()
    }

    /// Writes the new vectors, or the files anew, and returns what to commit, one message for each bucket.
    ///
    /// # Errors
    /// `Corrupt` for an index file that is not what the table says; `Unavailable` when the store fails. Nothing is left
    /// then.
    pub async fn finish(self) -> Result<Vec<CommitMessage>> {
        let vectors = self.table.options().deletion_vectors_enabled()?;
        let lines = vector_lines(&self.table, &self.snapshot).await?;
        let mut messages: Vec<CommitMessage> = Vec::new();
        let (table, mut failure) = (self.table, None);
        for ((partition, bucket), change) in self.buckets {
            let mut message = CommitMessage::new(BinaryRow::from_serialized(partition)?, bucket, change.total_buckets);
            let done = match vectors {
                true => {
                    let changed = changes(&table, &lines, &message.partition, bucket, &change.marks, &[]).await;
                    changed.map(|changes| message.index_changes = changes)
                }
                false => replace(&table, change, &mut message).await,
            };
            messages.push(message);
            if let Err(e) = done {
                failure = Some(e);
                break;
            }
        }
        let Some(failure) = failure else { return Ok(messages) };
        for message in messages {
            for line in message.index_changes.iter().filter(|line| line.kind == FileKind::Add) {
                vector::delete(&table, line).await.ok();
            }
            for file in &message.new_files {
                super::delete_file(&table, &message.partition, message.bucket, file).await.ok();
            }
        }
        Err(failure)
    }
}

/// Writes the files of a bucket anew without the marked rows.
async fn replace(table: &Table, mut change: Bucket, message: &mut CommitMessage) -> Result<()> {
    for (name, file) in change.files {
        let deleted = change.marks.remove(&name).unwrap_or_default();
        let made = super::rewrite_without(table, &message.partition, message.bucket, &file, deleted).await?;
        message.new_files.extend(made);
        message.deleted_files.push(file);
    }
    Ok(())
}
