//! Files of manifests, put together by bucket.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use linn_format::Result;
use linn_format::file::DataFileMeta;
use linn_format::row::BinaryRow;

use super::select::Selector;
use crate::manifest::LiveFiles;

/// The files of one bucket.
pub(super) struct Bucket {
    pub(super) partition: BinaryRow,
    pub(super) bucket: i32,
    pub(super) total_buckets: i32,
    pub(super) files: Vec<Arc<DataFileMeta>>,
    /// Names of files whose values rule them out.
    pub(super) ruled_out: HashSet<String>,
}

/// Materialises the files by bucket: partitions in the order in which they first come, buckets ascending.
pub(super) async fn group(files: &LiveFiles, selector: &Selector, judge: bool) -> Result<Vec<Bucket>> {
    let mut order: HashMap<BinaryRow, usize> = HashMap::new();
    let mut buckets: HashMap<(usize, i32), Bucket> = HashMap::new();
    for (batch, entries) in &files.batches {
        if entries.is_empty() {
            continue;
        }
        let partitions = batch.partitions()?;
        let schemas = if judge { selector.schemas_of(batch).await? } else { HashMap::new() };
        let mut numbers: Vec<Option<usize>> = vec![None; partitions.len()];
        for i in entries.iter().map(|i| *i as usize) {
            let id = batch.partition_id(i) as usize;
            let (Some(partition), Some(number)) = (partitions.get(id), numbers.get_mut(id)) else { continue };
            let next = order.len();
            let number = *number.get_or_insert_with(|| *order.entry(partition.clone()).or_insert(next));
            let bucket = buckets.entry((number, batch.bucket(i))).or_insert_with(|| Bucket {
                partition: partition.clone(),
                bucket: batch.bucket(i),
                total_buckets: batch.total_buckets(i),
                files: Vec::new(),
                ruled_out: HashSet::new(),
            });
            bucket.files.push(Arc::new(batch.file(i)?));
            if judge && !selector.has_values(batch, i, &schemas)? {
                bucket.ruled_out.insert(batch.file_name(i).to_owned());
            }
        }
    }
    let mut grouped: Vec<_> = buckets.into_iter().collect();
    grouped.sort_unstable_by_key(|(key, _)| *key);
    Ok(grouped.into_iter().map(|(_, bucket)| bucket).collect())
}
