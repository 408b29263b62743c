//! Files of manifests, put together by bucket.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use linn_format::Result;
use linn_format::file::DataFileMeta;
use linn_format::manifest::EntryBatch;
use linn_format::row::BinaryRow;

use super::files::Entry;
use super::select::Selector;
use crate::manifest::LiveFiles;

/// The files of one bucket.
pub(super) struct Bucket {
    pub(super) partition: BinaryRow,
    pub(super) bucket: i32,
    pub(super) total_buckets: i32,
    pub(super) files: Vec<Arc<DataFileMeta>>,
}

/// The files of one bucket, by the entries that name them.
pub(super) struct Named {
    pub(super) partition: BinaryRow,
    pub(super) bucket: i32,
    pub(super) total_buckets: i32,
    pub(super) entries: Vec<Entry>,
    /// Those whose values rule them out.
    pub(super) ruled_out: HashSet<Entry>,
}

impl Named {
    /// Makes the files.
    pub(super) fn files(&self, files: &LiveFiles) -> Result<Vec<Arc<DataFileMeta>>> {
        let make = |(batch, i): (&EntryBatch, usize)| Ok(Arc::new(batch.file(i)?));
        self.entries.iter().filter_map(|entry| place(files, *entry)).map(make).collect()
    }
}

/// The manifest of an entry, and its index there.
pub(super) fn place(files: &LiveFiles, (batch, entry): Entry) -> Option<(&EntryBatch, usize)> {
    Some((&files.batches.get(batch as usize)?.0, entry as usize))
}

/// Materialises the files by bucket, in the order of [`named`].
pub(super) async fn group(files: &LiveFiles, selector: &Selector) -> Result<Vec<Bucket>> {
    let named = named(files, selector, false).await?;
    let make = |bucket: Named| {
        let files = bucket.files(files)?;
        let Named { partition, bucket, total_buckets, .. } = bucket;
        Ok(Bucket { partition, bucket, total_buckets, files })
    };
    named.into_iter().map(make).collect()
}

/// The files by bucket: partitions in the order in which they first come, buckets ascending.
pub(super) async fn named(files: &LiveFiles, selector: &Selector, judge: bool) -> Result<Vec<Named>> {
    let mut order: HashMap<BinaryRow, usize> = HashMap::new();
    let mut buckets: HashMap<(usize, i32), Named> = HashMap::new();
    for (manifest, (batch, entries)) in (0_u32..).zip(&files.batches) {
        if entries.is_empty() {
            continue;
        }
        let partitions = batch.partitions()?;
        let schemas = if judge { selector.schemas_of(batch).await? } else { HashMap::new() };
        let mut numbers: Vec<Option<usize>> = vec![None; partitions.len()];
        for entry in entries.iter().copied() {
            let i = entry as usize;
            let id = batch.partition_id(i) as usize;
            let (Some(partition), Some(number)) = (partitions.get(id), numbers.get_mut(id)) else { continue };
            let next = order.len();
            let number = match *number {
                Some(number) => number,
                None => {
                    selector.filters.partitions.check(partition)?;
                    *number.insert(*order.entry(partition.clone()).or_insert(next))
                }
            };
            let bucket = buckets.entry((number, batch.bucket(i))).or_insert_with(|| Named {
                partition: partition.clone(),
                bucket: batch.bucket(i),
                total_buckets: batch.total_buckets(i),
                entries: Vec::new(),
                ruled_out: HashSet::new(),
            });
            bucket.entries.push((manifest, entry));
            if judge && !selector.has_values(batch, i, &schemas)? {
                bucket.ruled_out.insert((manifest, entry));
            }
        }
    }
    let mut grouped: Vec<_> = buckets.into_iter().collect();
    grouped.sort_unstable_by_key(|(key, _)| *key);
    Ok(grouped.into_iter().map(|(_, bucket)| bucket).collect())
}
