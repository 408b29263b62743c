//! Reading which keys a table has, and where: all splits of the latest snapshot, files of level 0 included, some of them at
//! once, only the columns of the key (cases B5).

use std::sync::Arc;

use futures::{FutureExt, StreamExt, TryStreamExt};
use linn_format::{Error, Result, SnapshotId};

use super::Kept;
use super::cross::{Places, fingerprints};
use super::keys::{Entry, KeyIndex, Twice};
use crate::scan::Split;
use crate::snapshot::Snapshots;
use crate::table::Table;

/// Fills an empty index with what stays; the snapshot that it holds, 0 for an empty table. Buckets are counted up to `target` keys.
///
/// # Errors
/// `Corrupt` when the table has a key in two partitions, unless keys are only known for a time; those of reading.
pub(super) async fn load(
    table: &Table,
    kept: &Kept,
    index: &mut KeyIndex,
    places: &mut Places,
    target: u64,
) -> Result<SnapshotId> {
    let Some(snapshot) = Snapshots::new(table).latest().await? else { return Ok(SnapshotId(0)) };
    let mut splits = Vec::new();
    for split in table.scan().snapshot(Arc::clone(&snapshot)).every_level().plan().await?.splits {
        if kept.has(&split.partition)? {
            splits.push(split);
        }
    }
    let ttl = table.options().cross_partition_index_ttl()?;
    if let Some(ttl) = ttl {
        let clock = &table.env().clock;
        let age = i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX);
        let oldest = clock.local_millis(clock.now_millis().saturating_sub(age));
        splits.retain(|split| split.files.iter().any(|file| file.creation_time.is_none_or(|time| time >= oldest)));
    }
    let twice = if ttl.is_some() { Twice::Newer } else { Twice::Refuse };
    let read = table.read().project(&table.schema().primary_keys)?.strict().build()?;
    let one = |split: Split| {
        let read = read.clone();
        async move {
            let batches = read.stream(&split).await?;
            Ok::<_, Error>(batches.map_ok(move |batch| (split.clone(), batch)))
        }
        .boxed()
    };
    let parallel = table.options().cross_partition_bootstrap_parallelism()?;
    let mut batches = futures::stream::iter(splits).map(one).buffer_unordered(parallel).try_flatten_unordered(parallel);
    let since = index.now();
    while let Some((split, batch)) = batches.try_next().await? {
        let partition = places.partition(&split.partition);
        let entry = Entry { place: places.place(partition, split.bucket), since };
        let fill = places.fill(partition)?;
        for key in fingerprints(batch.columns())? {
            fill.count(split.bucket, target);
            index.load(key, entry, twice)?;
        }
    }
    index.settle(twice)?;
    Ok(snapshot.id)
}
