//! Placing waiting rows: they are read in their order and written like new ones to the buckets of their partition.

use std::collections::{BTreeSet, HashMap};

use arrow_array::Int8Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use futures::StreamExt;
use linn_format::file::DataFileMeta;
use linn_format::row::BinaryRow;
use linn_format::schema::Bucketing;
use linn_format::snapshot::Snapshot;
use linn_format::{Error, Result};

use super::count::{By, Load, choose};
use super::fold::fold;
use crate::append::delete_file;
use crate::commit::CommitMessage;
use crate::file::{FileQuery, read_file};
use crate::merge::key_value_fields;
use crate::scan::{Waiting, known_counts};
use crate::spill::MemoryBudget;
use crate::table::Table;
use crate::write::TableWriter;

/// Rows in a batch.
const BATCH: usize = 8192;

/// Places what waits, and compacts the buckets of those partitions that are there or get rows. The messages are those
/// of a compaction; they are refused when another job has compacted or overwritten the same partitions meanwhile.
///
/// # Errors
/// As writing and compacting; files that were made are deleted then.
pub(crate) async fn compact(
    table: &Table,
    snapshot: &Snapshot,
    waiting: Vec<Waiting>,
    buckets: &HashMap<BinaryRow, BTreeSet<i32>>,
    full: bool,
) -> Result<Vec<CommitMessage>> {
    let known = known_counts(table, snapshot).await?;
    let budget = MemoryBudget::new(table.options().write_buffer_size()?);
    let user = table.new_user();
    let mut messages = Vec::new();
    for waiting in waiting {
        let made = async {
            let count = match known.get(&waiting.partition) {
                Some(count) => *count,
                None => choose(table.options(), load(&waiting), By::Compaction)?,
            };
            let real = real(table, count, &[("write-only", "false")])?;
            let mut writer = real.writer_within(&user, budget.clone())?;
            let there = buckets.get(&waiting.partition).cloned().unwrap_or_default();
            let placed = replay(table, &waiting, &mut writer, &there, Some(full)).await;
            finish(writer, placed).await
        };
        match made.await {
            Ok(placed) => {
                for message in placed {
                    let folded = fold(message);
                    let (partition, bucket) = (&folded.message.partition, folded.message.bucket);
                    for file in &folded.dropped {
                        delete_file(table, partition, bucket, file).await.ok();
                    }
                    messages.push(folded.message);
                }
                let mut emptied = CommitMessage::new(waiting.partition, Bucketing::POSTPONED, Bucketing::POSTPONED);
                emptied.compact_before = waiting.files;
                messages.push(emptied);
            }
            Err(e) => {
                table.committer(user).abort(&messages).await.ok();
                return Err(e);
            }
        }
    }
    for message in &mut messages {
        message.made_at = Some(snapshot.id);
    }
    Ok(messages)
}

/// Places rows of a batch job that are in no snapshot yet, and deletes the files in which they waited.
///
/// # Errors
/// As writing; files that were made are deleted then, the waiting ones stay.
pub(crate) async fn place_staged(
    table: &Table,
    user: &str,
    staged: Vec<Waiting>,
    restore: bool,
) -> Result<Vec<CommitMessage>> {
    let budget = MemoryBudget::new(table.options().write_buffer_size()?);
    let mut messages = Vec::new();
    for waiting in &staged {
        let made = async {
            let real = real(table, choose(table.options(), load(waiting), By::Batch)?, &[])?;
            let mut writer = match restore {
                true => real.writer_within(user, budget.clone())?,
                false => real.overwriter(user)?,
            };
            let placed = replay(table, waiting, &mut writer, &BTreeSet::new(), None).await;
            finish(writer, placed).await
        };
        match made.await {
            Ok(placed) => messages.extend(placed),
            Err(e) => {
                table.committer(user).abort(&messages).await.ok();
                return Err(e);
            }
        }
    }
    for waiting in staged {
        for file in waiting.files {
            delete_file(table, &waiting.partition, Bucketing::POSTPONED, &file).await.ok();
        }
    }
    Ok(messages)
}

/// The table as one with so many buckets.
fn real(table: &Table, count: i32, more: &[(&str, &str)]) -> Result<Table> {
    let count = count.to_string();
    let options = [("bucket", count.as_str())].into_iter().chain(more.iter().copied()).collect();
    table.with_options(&options)
}

/// Writes the rows, compacts if that is asked for, and hands everything over.
async fn replay(
    table: &Table,
    waiting: &Waiting,
    writer: &mut TableWriter,
    buckets: &BTreeSet<i32>,
    compact: Option<bool>,
) -> Result<Vec<CommitMessage>> {
    let columns: Vec<usize> = (0..table.schema().fields.len()).collect();
    let query = FileQuery::all(key_value_fields(&table.schema().fields), BATCH);
    for file in &waiting.files {
        let mut batches = read_file(table, &waiting.partition, Bucketing::POSTPONED, file, None, query.clone()).await?;
        while let Some(batch) = batches.next().await {
            let batch = batch?;
            let kinds = batch.columns().get(columns.len() + 1).and_then(|c| c.as_primitive_opt::<Int8Type>());
            let kinds: Int8Array = kinds.cloned().ok_or_else(|| Error::internal("a waiting file without kinds"))?;
            writer.write_stored(&batch.project(&columns)?, Some(&kinds)).await?;
        }
    }
    if let Some(full) = compact {
        let written = writer.buckets_of(&waiting.partition);
        for bucket in buckets.iter().copied().chain(written).collect::<BTreeSet<i32>>() {
            writer.compact(&waiting.partition, bucket, full).await?;
        }
    }
    writer.prepare_commit(true).await
}

/// Closes the writer, whatever came of its work.
async fn finish(writer: TableWriter, placed: Result<Vec<CommitMessage>>) -> Result<Vec<CommitMessage>> {
    let closed = writer.close().await;
    let placed = placed?;
    closed?;
    Ok(placed)
}

/// What the rows that wait in a partition come to.
fn load(waiting: &Waiting) -> Load {
    let sum = |of: fn(&DataFileMeta) -> i64| waiting.files.iter().map(|file| of(file).unsigned_abs()).sum();
    Load { rows: sum(|file| file.row_count), bytes: sum(|file| file.file_size) }
}
