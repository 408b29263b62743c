//! The files of a table at the snapshot that its options travel to, of all levels, in partition and bucket order.

use std::collections::BTreeMap;
use std::sync::Arc;

use linn_format::Result;
use linn_format::file::DataFileMeta;
use linn_format::manifest::{EntryBatch, StatsColumns};
use linn_format::row::BinaryRow;
use linn_format::snapshot::Snapshot;
use parking_lot::Mutex;

use super::text::row_text;
use crate::manifest::{Manifests, Selection};
use crate::snapshot::Snapshots;
use crate::table::Table;

/// The files of one bucket.
pub(super) struct LiveBucket {
    pub(super) partition: BinaryRow,
    /// `{value, value}`.
    pub(super) partition_text: String,
    pub(super) bucket: i32,
    pub(super) total_buckets: i32,
    pub(super) files: Vec<DataFileMeta>,
    /// When the newest file was made that the manifests tell of, also of those that are gone; local wall clock.
    pub(super) newest: Option<i64>,
}

/// The buckets of a snapshot, by the text of the partition and the bucket.
pub(super) async fn live_buckets(table: &Table, stats: StatsColumns) -> Result<Vec<LiveBucket>> {
    let Some(snapshot) = Snapshots::new(table).travel().await? else { return Ok(Vec::new()) };
    buckets_of(table, &snapshot, stats).await
}

/// The buckets of this snapshot.
pub(super) async fn buckets_of(table: &Table, snapshot: &Snapshot, stats: StatsColumns) -> Result<Vec<LiveBucket>> {
    let manifests = Manifests::new(table);
    let newest = Arc::new(Mutex::new(BTreeMap::<(Vec<u8>, i32), Option<i64>>::new()));
    let noted = Arc::clone(&newest);
    let all = move |batch: Arc<EntryBatch>| {
        let noted = Arc::clone(&noted);
        async move {
            for i in 0..batch.len() {
                let made = batch.file(i)?.creation_time;
                let mut noted = noted.lock();
                let newest = noted.entry((batch.partition(i).to_vec(), batch.bucket(i))).or_default();
                *newest = (*newest).max(made);
            }
            Ok(Selection::of(&batch, |_| true))
        }
    };
    let files = manifests.live(manifests.of_snapshot(snapshot).await?, stats, all).await?;
    let newest = std::mem::take(&mut *newest.lock());
    let fields = table.schema().partition_fields();
    // Partitions may look alike and still be different: the bytes tell them apart.
    let mut buckets: BTreeMap<(String, Vec<u8>, i32), LiveBucket> = BTreeMap::new();
    for (batch, i) in files.iter() {
        let bytes = batch.partition(i).to_vec();
        let partition = BinaryRow::from_serialized(bytes.clone())?;
        let text = row_text(&partition, &fields)?;
        let made = newest.get(&(bytes.clone(), batch.bucket(i))).copied().flatten();
        let bucket = buckets.entry((text.clone(), bytes, batch.bucket(i))).or_insert_with(|| LiveBucket {
            partition,
            partition_text: text,
            bucket: batch.bucket(i),
            total_buckets: batch.total_buckets(i),
            files: Vec::new(),
            newest: made,
        });
        bucket.files.push(batch.file(i)?);
    }
    Ok(buckets.into_values().collect())
}
