//! What waits in a table, and how many buckets its partitions have.

use std::collections::HashMap;
use std::sync::Arc;

use linn_format::file::DataFileMeta;
use linn_format::manifest::{EntryBatch, StatsColumns};
use linn_format::row::BinaryRow;
use linn_format::schema::Bucketing;
use linn_format::snapshot::Snapshot;
use linn_format::{Error, Result};

use crate::manifest::{Manifests, Selection};
use crate::table::Table;

/// The files of a partition whose rows wait, in the order in which they are to be placed.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    pub(crate) partition: BinaryRow,
    pub(crate) files: Vec<Arc<DataFileMeta>>,
}

impl Waiting {
    /// Files of one partition; those of one writer must be in the order in which they were written where that is not
    /// told by their times.
    pub(crate) fn new(partition: BinaryRow, mut files: Vec<Arc<DataFileMeta>>) -> Self {
        files.sort_by_key(|file| file.creation_time);
        Self { partition, files }
    }
}

/// What waits at a snapshot, in all or some partitions. Files come in the order of the commits, which plans do not keep.
pub(crate) async fn waiting(
    table: &Table,
    snapshot: &Snapshot,
    partitions: Option<&[BinaryRow]>,
) -> Result<Vec<Waiting>> {
    let manifests = Manifests::new(table);
    let mut metas = manifests.of_snapshot(snapshot).await?;
    metas.retain(|meta| meta.min_bucket.is_none_or(|min| min <= Bucketing::POSTPONED));
    let select =
        |batch: Arc<EntryBatch>| async move { Ok(Selection::of(&batch, |i| batch.bucket(i) == Bucketing::POSTPONED)) };
    let live = manifests.live(metas, StatsColumns::All, select).await?;
    let mut found: Vec<(BinaryRow, Vec<Arc<DataFileMeta>>)> = Vec::new();
    let mut places: HashMap<BinaryRow, usize> = HashMap::new();
    for (batch, entries) in &live.batches {
        let names = batch.partitions()?;
        for i in entries.iter().map(|i| *i as usize) {
            let Some(partition) = names.get(batch.partition_id(i) as usize) else { continue };
            if partitions.is_some_and(|wanted| !wanted.contains(partition)) {
                continue;
            }
            let at = *places.entry(partition.clone()).or_insert_with(|| {
                found.push((partition.clone(), Vec::new()));
                found.len() - 1
            });
            found[at].1.push(Arc::new(batch.file(i)?));
        }
    }
    Ok(found.into_iter().map(|(partition, files)| Waiting::new(partition, files)).collect())
}

/// The number of buckets of every partition that has files in real buckets.
///
/// # Errors
/// `Corrupt` when a partition has two.
pub(crate) async fn known_counts(table: &Table, snapshot: &Snapshot) -> Result<HashMap<BinaryRow, i32>> {
    let manifests = Manifests::new(table);
    let metas = manifests.of_snapshot(snapshot).await?;
    let select = |batch: Arc<EntryBatch>| async move {
        Ok(Selection::of(&batch, |i| batch.bucket(i) != Bucketing::POSTPONED && batch.total_buckets(i) > 0))
    };
    let files = manifests.live(metas, StatsColumns::Keys, select).await?;
    let mut counts: HashMap<BinaryRow, i32> = HashMap::new();
    for (batch, entries) in &files.batches {
        let partitions = batch.partitions()?;
        let mut seen: HashMap<(u32, i32), ()> = HashMap::new();
        for i in entries.iter().map(|i| *i as usize) {
            let (id, count) = (batch.partition_id(i), batch.total_buckets(i));
            if seen.insert((id, count), ()).is_some() {
                continue;
            }
            let Some(partition) = partitions.get(id as usize) else { continue };
            let known = *counts.entry(partition.clone()).or_insert(count);
            if known != count {
                return Err(Error::corrupt(format!("a partition has files of {known} and of {count} buckets"))
                    .with("table", table.name()));
            }
        }
    }
    Ok(counts)
}
