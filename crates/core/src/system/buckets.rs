//! Files summed up: `partitions` and `buckets`. An entry that deletes takes away what the one that added brought, so that no
//! file has to be kept in mind.

use std::collections::BTreeMap;

use futures::{StreamExt, TryStreamExt, stream};
use linn_format::Result;
use linn_format::datum::Datum;
use linn_format::manifest::{EntryBatch, FileKind, StatsColumns};
use linn_format::partition::partition_values;
use linn_format::row::BinaryRow;
use linn_format::snapshot::Snapshot;

use super::SystemRows;
use super::columns::{Column, rows};
use super::text::row_text;
use super::wanted::Wanted;
use crate::manifest::{Manifests, run};
use crate::seam::Pool;
use crate::snapshot::Snapshots;
use crate::table::Table;

/// Sums over some files.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sum {
    pub(crate) records: i64,
    pub(crate) bytes: i64,
    pub(crate) files: i64,
    /// When the newest file was made that the manifests tell of, also of those that are gone; local wall clock.
    pub(crate) newest: Option<i64>,
    pub(crate) total_buckets: i32,
}

impl Sum {
    fn merge(&mut self, other: &Self) {
        self.records = self.records.saturating_add(other.records);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.files = self.files.saturating_add(other.files);
        self.newest = self.newest.max(other.newest);
        if other.total_buckets != 0 {
            self.total_buckets = other.total_buckets;
        }
    }
}

/// By serialised partition and bucket.
type Sums = BTreeMap<(Vec<u8>, i32), Sum>;

/// The buckets of a snapshot that have files. A few manifests are in memory at a time.
async fn sums_of(table: &Table, snapshot: &Snapshot) -> Result<Sums> {
    let manifests = Manifests::new(table);
    let metas = manifests.of_snapshot(snapshot).await?;
    let at_once = table.env().spawn.parallelism(Pool::Work).max(1);
    let tasks = metas.into_iter().map(|meta| {
        let manifests = manifests.clone();
        run(table.env(), Pool::Work, async move { Ok(sum(&*manifests.manifest_of(&meta, StatsColumns::Keys).await?)) })
    });
    let mut all = stream::iter(tasks)
        .buffer_unordered(at_once)
        .try_fold(Sums::new(), |mut all, own| async {
            for (bucket, sum) in own {
                all.entry(bucket).or_default().merge(&sum);
            }
            Ok(all)
        })
        .await?;
    all.retain(|_, sum| sum.files > 0);
    Ok(all)
}

/// What the entries of one manifest bring less what they take away.
fn sum(batch: &EntryBatch) -> Sums {
    let mut own = Sums::new();
    for i in 0..batch.len() {
        let sign = match batch.kind(i) {
            FileKind::Add => 1,
            FileKind::Delete => -1,
        };
        let entry = Sum {
            records: sign * batch.row_count(i),
            bytes: sign * batch.file_size(i),
            files: sign,
            newest: batch.creation_time(i),
            total_buckets: if sign > 0 { batch.total_buckets(i) } else { 0 },
        };
        own.entry((batch.partition(i).to_vec(), batch.bucket(i))).or_default().merge(&entry);
    }
    own
}

/// A line of `partitions`: its name, its sums, and the rows that vectors delete, where that is known.
pub(crate) type Partition = (String, Sum, Option<i64>);

pub(super) async fn partitions(table: &Table) -> Result<SystemRows> {
    partition_rows(&partition_sums(table).await?)
}

pub(crate) async fn partition_sums(table: &Table) -> Result<Vec<Partition>> {
    let Some(snapshot) = Snapshots::new(table).travel().await? else { return Ok(Vec::new()) };
    let mut deleted: BTreeMap<Vec<u8>, Option<i64>> = BTreeMap::new();
    for entry in Manifests::new(table).index_of(&snapshot).await? {
        let vectors = entry.deletion_vectors.iter().flatten().filter(|_| entry.kind == FileKind::Add);
        let sum = deleted.entry(entry.partition.to_serialized().to_vec()).or_insert(Some(0));
        for vector in vectors {
            *sum = sum.zip(vector.cardinality).map(|(sum, more)| sum.saturating_add(more));
        }
    }
    let mut sums: BTreeMap<Vec<u8>, Sum> = BTreeMap::new();
    for ((partition, _), sum) in sums_of(table, &snapshot).await? {
        sums.entry(partition).or_default().merge(&sum);
    }
    let mut all = Vec::with_capacity(sums.len());
    for (bytes, sum) in sums {
        let rows_deleted = deleted.get(&bytes).copied().unwrap_or(Some(0));
        all.push((plain_name(table, &BinaryRow::from_serialized(bytes)?)?, sum, rows_deleted));
    }
    all.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    Ok(all)
}

/// The columns that only a catalog could fill are null.
pub(super) fn partition_rows(all: &[Partition]) -> Result<SystemRows> {
    let none = || all.iter().map(|_| None::<&str>);
    rows([
        Column::text("partition", all.iter().map(|(name, ..)| Some(name))),
        Column::long("record_count", all.iter().map(|(_, s, _)| Some(s.records))).required(),
        Column::long("file_size_in_bytes", all.iter().map(|(_, s, _)| Some(s.bytes))).required(),
        Column::long("file_count", all.iter().map(|(_, s, _)| Some(s.files))).required(),
        Column::time("last_update_time", all.iter().map(|(_, s, _)| s.newest)),
        Column::time("created_at", all.iter().map(|_| None)),
        Column::text("created_by", none()),
        Column::text("updated_by", none()),
        Column::text("options", none()),
        Column::int("total_buckets", all.iter().map(|(_, s, _)| s.total_buckets)),
        Column::boolean("done", all.iter().map(|_| false)),
        Column::long("deleted_record_count", all.iter().map(|(.., deleted)| *deleted)),
    ])
}

pub(super) async fn buckets(table: &Table, wanted: &Wanted) -> Result<SystemRows> {
    let Some(snapshot) = Snapshots::new(table).travel().await? else { return bucket_rows(&[]) };
    let fields = table.schema().partition_fields();
    let mut all = Vec::new();
    for ((partition, bucket), sum) in sums_of(table, &snapshot).await? {
        let text = row_text(&BinaryRow::from_serialized(partition)?, &fields)?;
        if wanted.may(&[("partition", Datum::String(text.clone())), ("bucket", Datum::Int(bucket))]) {
            all.push((text, bucket, sum));
        }
    }
    all.sort_by(|(a, i, _), (b, j, _)| (a, i).cmp(&(b, j)));
    bucket_rows(&all)
}

pub(super) fn bucket_rows(all: &[(String, i32, Sum)]) -> Result<SystemRows> {
    rows([
        Column::text("partition", all.iter().map(|(partition, ..)| Some(partition))),
        Column::int("bucket", all.iter().map(|(_, bucket, _)| *bucket)),
        Column::long("record_count", all.iter().map(|(.., s)| Some(s.records))).required(),
        Column::long("file_size_in_bytes", all.iter().map(|(.., s)| Some(s.bytes))).required(),
        Column::long("file_count", all.iter().map(|(.., s)| Some(s.files))).required(),
        Column::time("last_update_time", all.iter().map(|(.., s)| s.newest)),
    ])
}

/// `k=v/k=v` without escapes or quotes, as Java writes it in these tables: partitions that share a folder share this name.
fn plain_name(table: &Table, partition: &BinaryRow) -> Result<String> {
    let fields = table.schema().partition_fields();
    let values = partition_values(partition, &fields, false, table.options().partition_default_name())?;
    let pairs: Vec<String> =
        fields.iter().zip(values).map(|(field, value)| format!("{}={value}", field.name)).collect();
    Ok(pairs.join("/"))
}
