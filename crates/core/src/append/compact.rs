//! Compaction of append tables: small files, and those with many deleted rows, are read one after the other and written as
//! larger ones. Deleted rows are left out, and the deletion vectors of what was read go with it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use futures::StreamExt;
use linn_format::file::{DataFileMeta, FileSource};
use linn_format::manifest::FileKind as ManifestFileKind;
use linn_format::row::BinaryRow;
use linn_format::snapshot::Snapshot;
use linn_format::{BatchStream, Error, Result};
use roaring::RoaringTreemap;

use super::pick::Policy;
use super::vectors::changes;
use super::write::delete;
use crate::commit::CommitMessage;
use crate::compact::limited;
use crate::file::{DeletionFile, FileKind, FileQuery, RollingWriter, read_file, read_remaining};
use crate::manifest::run;
use crate::seam::Pool;
use crate::snapshot::Snapshots;
use crate::storage::IoLimit;
use crate::table::Table;
use crate::vector::{self, vector_lines};

/// Files of one bucket to be put together, in order.
#[derive(Debug, Clone)]
pub(crate) struct Bin {
    pub(crate) partition: BinaryRow,
    pub(crate) bucket: i32,
    pub(crate) total_buckets: i32,
    pub(crate) files: Vec<Arc<DataFileMeta>>,
    /// Deletion vector of each file.
    deletion_files: Vec<Option<DeletionFile>>,
}

/// Files of one bucket that may be put together, and their deletion vectors by name.
struct Candidates {
    partition: BinaryRow,
    bucket: i32,
    total_buckets: i32,
    files: Vec<Arc<DataFileMeta>>,
    vectors: HashMap<String, DeletionFile>,
}

/// What [`compact`] would put together at the latest snapshot.
pub(crate) async fn plan(table: &Table, partitions: Option<&[BinaryRow]>, full: bool) -> Result<Vec<Bin>> {
    match Snapshots::new(table).latest().await? {
        Some(snapshot) => plan_at(table, snapshot, partitions, full).await,
        None => Ok(Vec::new()),
    }
}

async fn plan_at(
    table: &Table,
    snapshot: Arc<Snapshot>,
    partitions: Option<&[BinaryRow]>,
    full: bool,
) -> Result<Vec<Bin>> {
    super::check(table)?;
    let policy = Policy::of(table.options())?;
    let mut bins = Vec::new();
    for candidates in candidates(table, snapshot, partitions).await? {
        let Candidates { partition, bucket, total_buckets, files, mut vectors } = candidates;
        let deleted =
            |file: &DataFileMeta| vectors.get(&file.file_name).map(|v| v.meta.cardinality.unwrap_or(i64::MAX));
        let picked = match total_buckets {
            -1 => policy.unaware(files, full, deleted),
            _ => policy.ordered(files, full, deleted),
        };
        for files in picked {
            let deletion_files = files.iter().map(|file| vectors.remove(&file.file_name)).collect();
            bins.push(Bin { partition: partition.clone(), bucket, total_buckets, files, deletion_files });
        }
    }
    Ok(bins)
}

async fn candidates(
    table: &Table,
    snapshot: Arc<Snapshot>,
    partitions: Option<&[BinaryRow]>,
) -> Result<Vec<Candidates>> {
    let mut scan = table.scan().snapshot(snapshot);
    if let Some(partitions) = partitions {
        scan = scan.partitions(partitions.to_vec());
    }
    let mut buckets: BTreeMap<(Vec<u8>, i32), Candidates> = BTreeMap::new();
    for split in scan.plan().await?.splits {
        let key = (split.partition.to_serialized().to_vec(), split.bucket);
        let candidates = buckets.entry(key).or_insert_with(|| {
            let (partition, bucket, total_buckets) = (split.partition.clone(), split.bucket, split.total_buckets);
            Candidates { partition, bucket, total_buckets, files: Vec::new(), vectors: HashMap::new() }
        });
        let vectors = split.deletion_files.into_iter().flatten();
        candidates.vectors.extend(vectors.map(|vector| (vector.meta.data_file.clone(), vector)));
        candidates.files.extend(split.files);
    }
    Ok(buckets.into_values().collect())
}

/// Puts small files together and returns what to commit, one message a bucket. When one of them fails, the new files of
/// all are deleted.
pub(crate) async fn compact(table: &Table, partitions: Option<&[BinaryRow]>, full: bool) -> Result<Vec<CommitMessage>> {
    let env = table.env();
    let Some(snapshot) = Snapshots::new(table).latest().await? else { return Ok(Vec::new()) };
    let lines = vector_lines(table, &snapshot).await?;
    let within = table.options().compaction_io_limit()?.map(|limit| limited(table, &Arc::new(IoLimit::new(limit))));
    let files = within.as_ref().unwrap_or(table);
    let tasks = plan_at(table, snapshot, partitions, full).await?.into_iter().map(|bin| {
        let (task, table) = (bin.clone(), files.clone());
        let work = run(env, Pool::Compaction, async move { rewrite(&table, &task).await });
        async move { (bin, work.await) }
    });
    let parallelism = env.spawn.parallelism(Pool::Compaction).max(1);
    let mut results = futures::stream::iter(tasks).buffered(parallelism);
    let mut messages: BTreeMap<(Vec<u8>, i32), CommitMessage> = BTreeMap::new();
    let mut failure: Option<Error> = None;
    while let Some((bin, result)) = results.next().await {
        match result {
            Ok(files) => {
                let message = messages
                    .entry((bin.partition.to_serialized().to_vec(), bin.bucket))
                    .or_insert_with(|| CommitMessage::new(bin.partition, bin.bucket, bin.total_buckets));
                message.compact_before.extend(bin.files);
                message.compact_after.extend(files);
            }
            Err(e) => {
                failure = Some(e);
                break;
            }
        }
    }
    if failure.is_none() {
        for message in messages.values_mut() {
            let gone: Vec<&str> = message.compact_before.iter().map(|file| file.file_name.as_str()).collect();
            let none = BTreeMap::new();
            match changes(table, &lines, &message.partition, message.bucket, &none, &gone).await {
                Ok(changes) => message.compact_index_changes = changes,
                Err(e) => failure = Some(e),
            }
        }
    }
    let Some(failure) = failure else { return Ok(messages.into_values().collect()) };
    // Those that are still running are waited for, so that nothing is left behind.
    while let Some((bin, result)) = results.next().await {
        for file in result.unwrap_or_default() {
            delete(table, &bin.partition, bin.bucket, &file).await.ok();
        }
    }
    for message in messages.into_values() {
        for file in &message.compact_after {
            delete(table, &message.partition, message.bucket, file).await.ok();
        }
        for line in message.compact_index_changes.iter().filter(|line| line.kind == ManifestFileKind::Add) {
            vector::delete(table, line).await.ok();
        }
    }
    Err(failure)
}

async fn rewrite(table: &Table, bin: &Bin) -> Result<Vec<Arc<DataFileMeta>>> {
    let table = &table.widened();
    let first_sequence = bin.files.first().map_or(0, |file| file.min_sequence_number);
    let kind = FileKind::Append { first_sequence };
    let mut writer = RollingWriter::new(table, &bin.partition, bin.bucket, 0, FileSource::Compact, kind)?.in_parallel();
    let copied = async {
        for (file, deletion) in bin.files.iter().zip(&bin.deletion_files) {
            let rows =
                read_file(table, &bin.partition, bin.bucket, file, deletion.as_ref(), everything(table)?).await?;
            copy(rows, &mut writer).await?;
        }
        Ok(())
    };
    match copied.await {
        Ok(()) => writer.close().await,
        Err(e) => {
            writer.abort().await.ok();
            Err(e)
        }
    }
}

/// Writes a file anew without the rows at some positions; no file when nothing is left of it.
pub(crate) async fn rewrite_without(
    table: &Table,
    partition: &BinaryRow,
    bucket: i32,
    file: &DataFileMeta,
    deleted: RoaringTreemap,
) -> Result<Vec<Arc<DataFileMeta>>> {
    let table = &table.widened();
    let kind = FileKind::Append { first_sequence: file.min_sequence_number };
    let mut writer = RollingWriter::new(table, partition, bucket, 0, FileSource::Append, kind)?;
    let copied = async {
        let rows = read_remaining(table, partition, bucket, file, Some(Arc::new(deleted)), everything(table)?).await?;
        copy(rows, &mut writer).await
    };
    match copied.await {
        Ok(()) => writer.close().await,
        Err(e) => {
            writer.abort().await.ok();
            Err(e)
        }
    }
}

fn everything(table: &Table) -> Result<FileQuery> {
    let batch_size = table.options().read_batch_size()?.max(1);
    Ok(FileQuery::all(table.schema().fields.clone(), batch_size))
}

async fn copy(mut rows: BatchStream, writer: &mut RollingWriter) -> Result<()> {
    while let Some(batch) = rows.next().await {
        writer.write(&batch?).await?;
    }
    Ok(())
}
