//! Compaction of append tables: small files are read one after the other and written as larger ones.
//!
//! Files with deletion vectors stay as they are, and in buckets nothing is put together across them.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt;
use linn_format::file::{DataFileMeta, FileSource};
use linn_format::row::BinaryRow;
use linn_format::{Error, Result};

use super::pick::Policy;
use super::write::delete;
use crate::commit::CommitMessage;
use crate::file::{FileKind, FileQuery, RollingWriter, read_file};
use crate::manifest::run;
use crate::seam::Pool;
use crate::snapshot::Snapshots;
use crate::table::Table;

/// Files of one bucket to be put together, in order.
#[derive(Debug, Clone)]
pub(crate) struct Bin {
    pub(crate) partition: BinaryRow,
    pub(crate) bucket: i32,
    pub(crate) total_buckets: i32,
    pub(crate) files: Vec<Arc<DataFileMeta>>,
}

/// Files of one bucket that may be put together; in buckets with order, one list for each stretch.
struct Candidates {
    partition: BinaryRow,
    bucket: i32,
    total_buckets: i32,
    stretches: Vec<Vec<Arc<DataFileMeta>>>,
}

/// What [`compact`] would put together at the latest snapshot.
pub(crate) async fn plan(table: &Table, partitions: Option<&[BinaryRow]>, full: bool) -> Result<Vec<Bin>> {
    super::check(table)?;
    let policy = Policy::of(table.options())?;
    let mut bins = Vec::new();
    for candidates in candidates(table, partitions).await? {
        let Candidates { partition, bucket, total_buckets, stretches } = candidates;
        for files in stretches {
            let picked = if total_buckets == -1 { policy.unaware(files, full) } else { policy.ordered(files, full) };
            bins.extend(picked.into_iter().map(|files| Bin {
                partition: partition.clone(),
                bucket,
                total_buckets,
                files,
            }));
        }
    }
    Ok(bins)
}

async fn candidates(table: &Table, partitions: Option<&[BinaryRow]>) -> Result<Vec<Candidates>> {
    let Some(snapshot) = Snapshots::new(table).latest().await? else { return Ok(Vec::new()) };
    let mut scan = table.scan().snapshot(snapshot);
    if let Some(partitions) = partitions {
        scan = scan.partitions(partitions.to_vec());
    }
    let mut buckets: BTreeMap<(Vec<u8>, i32), (Candidates, Vec<(Arc<DataFileMeta>, bool)>)> = BTreeMap::new();
    for split in scan.plan().await?.splits {
        let key = (split.partition.to_serialized().to_vec(), split.bucket);
        let (_, files) = buckets.entry(key).or_insert_with(|| {
            let (partition, bucket, total_buckets) = (split.partition.clone(), split.bucket, split.total_buckets);
            (Candidates { partition, bucket, total_buckets, stretches: Vec::new() }, Vec::new())
        });
        let vector = |i: usize| split.deletion_files.get(i).is_some_and(Option::is_some);
        files.extend(split.files.iter().cloned().enumerate().map(|(i, file)| (file, vector(i))));
    }
    let stretched = |(mut candidates, mut files): (Candidates, Vec<(Arc<DataFileMeta>, bool)>)| {
        files.sort_by_key(|(file, _)| file.min_sequence_number);
        candidates.stretches = match candidates.total_buckets {
            -1 => vec![files.into_iter().filter(|(_, deleted)| !deleted).map(|(file, _)| file).collect()],
            _ => files
                .split(|(_, deleted)| *deleted)
                .map(|stretch| stretch.iter().map(|(file, _)| Arc::clone(file)).collect())
                .collect(),
        };
        candidates
    };
    Ok(buckets.into_values().map(stretched).collect())
}

/// Puts small files together and returns what to commit, one message a bucket. When one of them fails, the new files of
/// all are deleted.
pub(crate) async fn compact(table: &Table, partitions: Option<&[BinaryRow]>, full: bool) -> Result<Vec<CommitMessage>> {
    let env = table.env();
    let tasks = plan(table, partitions, full).await?.into_iter().map(|bin| {
        let (task, table) = (bin.clone(), table.clone());
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
    }
    Err(failure)
}

async fn rewrite(table: &Table, bin: &Bin) -> Result<Vec<Arc<DataFileMeta>>> {
    let first_sequence = bin.files.first().map_or(0, |file| file.min_sequence_number);
    let kind = FileKind::Append { first_sequence };
    let mut writer = RollingWriter::new(table, &bin.partition, bin.bucket, 0, FileSource::Compact, kind)?.in_parallel();
    match copy(table, bin, &mut writer).await {
        Ok(()) => writer.close().await,
        Err(e) => {
            writer.abort().await.ok();
            Err(e)
        }
    }
}

async fn copy(table: &Table, bin: &Bin, writer: &mut RollingWriter) -> Result<()> {
    let batch_size = table.options().read_batch_size()?.max(1);
    for file in &bin.files {
        let query = FileQuery { fields: table.schema().fields.clone(), filter: None, exact_filter: false, batch_size };
        let mut batches = read_file(table, &bin.partition, bin.bucket, file, None, query).await?;
        while let Some(batch) = batches.next().await {
            writer.write(&batch?).await?;
        }
    }
    Ok(())
}
