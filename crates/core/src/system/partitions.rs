//! Files summed up: `partitions` and `buckets`.

use std::collections::BTreeMap;

use linn_format::Result;
use linn_format::file::DataFileMeta;
use linn_format::manifest::{FileKind, StatsColumns};
use linn_format::partition::partition_values;
use linn_format::row::BinaryRow;

use super::SystemRows;
use super::columns::{Column, rows};
use super::live::{LiveBucket, buckets_of, live_buckets};
use crate::manifest::Manifests;
use crate::snapshot::Snapshots;
use crate::table::Table;

/// Sums over some files.
#[derive(Default)]
struct Sum {
    records: i64,
    bytes: i64,
    files: i64,
    newest: Option<i64>,
    total_buckets: i32,
    deleted: Option<i64>,
}

impl Sum {
    fn add(&mut self, bucket: &LiveBucket) {
        self.total_buckets = bucket.total_buckets;
        self.newest = self.newest.max(bucket.newest);
        for DataFileMeta { row_count, file_size, .. } in &bucket.files {
            self.records = self.records.saturating_add(*row_count);
            self.bytes = self.bytes.saturating_add(*file_size);
            self.files += 1;
        }
    }
}

/// The columns that only a catalog could fill are null.
pub(super) async fn partitions(table: &Table) -> Result<SystemRows> {
    let mut sums: BTreeMap<(String, Vec<u8>), Sum> = BTreeMap::new();
    if let Some(snapshot) = Snapshots::new(table).travel().await? {
        let mut deleted: BTreeMap<Vec<u8>, Option<i64>> = BTreeMap::new();
        for entry in Manifests::new(table).index_of(&snapshot).await? {
            let vectors = entry.deletion_vectors.iter().flatten().filter(|_| entry.kind == FileKind::Add);
            let sum = deleted.entry(entry.partition.to_serialized().to_vec()).or_insert(Some(0));
            for vector in vectors {
                *sum = sum.zip(vector.cardinality).map(|(sum, more)| sum.saturating_add(more));
            }
        }
        for bucket in buckets_of(table, &snapshot, StatsColumns::Keys).await? {
            let bytes = bucket.partition.to_serialized().to_vec();
            let rows_deleted = deleted.get(&bytes).copied().unwrap_or(Some(0));
            let sum = sums.entry((path_text(table, &bucket.partition)?, bytes)).or_default();
            sum.deleted = rows_deleted;
            sum.add(&bucket);
        }
    }
    let none = || sums.values().map(|_| None::<&str>);
    rows([
        Column::text("partition", sums.keys().map(|(text, _)| Some(text))),
        Column::long("record_count", sums.values().map(|s| Some(s.records))).required(),
        Column::long("file_size_in_bytes", sums.values().map(|s| Some(s.bytes))).required(),
        Column::long("file_count", sums.values().map(|s| Some(s.files))).required(),
        Column::time("last_update_time", sums.values().map(|s| s.newest)),
        Column::time("created_at", sums.values().map(|_| None)),
        Column::text("created_by", none()),
        Column::text("updated_by", none()),
        Column::text("options", none()),
        Column::int("total_buckets", sums.values().map(|s| s.total_buckets)),
        Column::boolean("done", sums.values().map(|_| false)),
        Column::long("deleted_record_count", sums.values().map(|s| s.deleted)),
    ])
}

pub(super) async fn buckets(table: &Table) -> Result<SystemRows> {
    let buckets = live_buckets(table, StatsColumns::Keys).await?;
    let sums: Vec<(&LiveBucket, Sum)> = buckets
        .iter()
        .map(|bucket| {
            let mut sum = Sum::default();
            sum.add(bucket);
            (bucket, sum)
        })
        .collect();
    rows([
        Column::text("partition", sums.iter().map(|(bucket, _)| Some(&bucket.partition_text))),
        Column::int("bucket", sums.iter().map(|(bucket, _)| bucket.bucket)),
        Column::long("record_count", sums.iter().map(|(_, s)| Some(s.records))).required(),
        Column::long("file_size_in_bytes", sums.iter().map(|(_, s)| Some(s.bytes))).required(),
        Column::long("file_count", sums.iter().map(|(_, s)| Some(s.files))).required(),
        Column::time("last_update_time", sums.iter().map(|(_, s)| s.newest)),
    ])
}

/// `k=v/k=v` without escapes.
fn path_text(table: &Table, partition: &BinaryRow) -> Result<String> {
    let fields = table.schema().partition_fields();
    let values = partition_values(partition, &fields, false, table.options().partition_default_name())?;
    let pairs: Vec<String> =
        fields.iter().zip(values).map(|(field, value)| format!("{}={value}", field.name)).collect();
    Ok(pairs.join("/"))
}
