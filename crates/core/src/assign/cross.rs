//! Keys across partitions: the primary key lacks partition columns, so a key that comes with another partition than the
//! one it is in must not be in both (spec: features.md B6; cases B5).
//!
//! What happens then the merge engine says: deduplicate deletes the old row and writes the new one; partial-update and
//! aggregation keep the row where it is; first-row drops the new one. Invariant: a message says since when its writer must
//! have been alone, so that of two writers the second one to commit is refused.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

use arrow_array::{ArrayRef, Int8Array, RecordBatch, UInt32Array};
use arrow_row::{RowConverter, SortField};
use linn_format::datum::one_nan;
use linn_format::options::MergeEngine;
use linn_format::options::table::lookup::LOOKUP_CACHE_MAX_MEMORY_SIZE;
use linn_format::row::{BinaryRow, columns_from_rows};
use linn_format::types::RowKind;
use linn_format::{Error, Result, ResultExt, SnapshotId};

use super::Messages;
use super::fill::Fill;
use super::keys::{Entry, Fingerprint, KeyIndex};
use super::{Columns, Kept, Partitions};
use crate::table::Table;

/// Rows of a batch with their places; not the rows that came, where keys were in other partitions.
pub(crate) struct Moved {
    pub(crate) rows: RecordBatch,
    pub(crate) kinds: Int8Array,
    pub(crate) partitions: Partitions,
    pub(crate) buckets: Vec<i32>,
}

/// The keys of one table.
pub(crate) struct CrossPartition {
    table: Table,
    key: Columns,
    partition: Columns,
    engine: MergeEngine,
    target: u64,
    /// Most buckets of a partition.
    most: i32,
    index: KeyIndex,
    /// What of the table stays: elsewhere its keys do not matter.
    kept: Kept,
    /// The snapshot that the keys were read at, once they were.
    loaded_at: Option<SnapshotId>,
    places: Places,
}

/// Partitions and their buckets by number.
#[derive(Debug, Default)]
pub(super) struct Places {
    partitions: Vec<BinaryRow>,
    numbers: HashMap<BinaryRow, u32>,
    fills: Vec<Fill>,
    /// Partition number and bucket of each place.
    places: Vec<(u32, i32)>,
    by_bucket: HashMap<(u32, i32), u32>,
}

impl Places {
    pub(super) fn partition(&mut self, row: &BinaryRow) -> u32 {
        if let Some(number) = self.numbers.get(row) {
            return *number;
        }
        let number = self.partitions.len() as u32;
        self.partitions.push(row.clone());
        self.fills.push(Fill::default());
        self.numbers.insert(row.clone(), number);
        number
    }

    pub(super) fn place(&mut self, partition: u32, bucket: i32) -> u32 {
        *self.by_bucket.entry((partition, bucket)).or_insert_with(|| {
            self.places.push((partition, bucket));
            self.places.len() as u32 - 1
        })
    }

    pub(super) fn fill(&mut self, partition: u32) -> Result<&mut Fill> {
        self.fills.get_mut(partition as usize).ok_or_else(|| Error::internal("a partition without a number"))
    }

    fn at(&self, place: u32) -> Result<(u32, i32)> {
        self.places.get(place as usize).copied().ok_or_else(|| Error::internal("a key without a place"))
    }
}

/// A row to be written.
struct Target {
    row: u32,
    kind: i8,
    partition: u32,
    bucket: i32,
    /// Whether the partition is not the row's own.
    moved: bool,
}

impl CrossPartition {
    /// The keys of a table of which `kept` stays.
    ///
    /// # Errors
    /// `Invalid` for a bad option value.
    pub(crate) fn new(table: &Table, kept: Kept) -> Result<Self> {
        let (schema, options) = (table.schema(), table.options());
        let ttl = options.cross_partition_index_ttl()?;
        let ttl = ttl.map(|ttl| u32::try_from(ttl.as_secs()).unwrap_or(u32::MAX));
        Ok(Self {
            table: table.clone(),
            key: Columns::of(schema, schema.primary_keys.clone())?,
            partition: Columns::of(schema, schema.partition_keys.clone())?,
            engine: options.merge_engine()?,
            target: options.dynamic_bucket_target_row_num()?,
            most: options.dynamic_bucket_max_buckets()?.unwrap_or(i32::MAX),
            index: KeyIndex::new(table.env(), options.require(&LOOKUP_CACHE_MAX_MEMORY_SIZE)?, ttl),
            kept,
            loaded_at: None,
            places: Places::default(),
        })
    }

    /// Gives rows their places.
    ///
    /// # Errors
    /// `Corrupt` when the table has a key twice, and those of reading it; `Unavailable`.
    pub(crate) async fn assign(&mut self, rows: &RecordBatch, kinds: &Int8Array, of: &Partitions) -> Result<Moved> {
        if !self.kept.is_nothing() && self.loaded_at.is_none() {
            let (index, places) = (&mut self.index, &mut self.places);
            let loaded = super::bootstrap::load(&self.table, &self.kept, index, places, self.target).await;
            self.loaded_at = Some(loaded.context("table", self.table.name())?);
        }
        self.index.make_room().context("table", self.table.name())?;
        let targets = self.targets(rows, kinds, of).context("table", self.table.name())?;
        self.gather(rows, targets)
    }

    fn targets(&mut self, rows: &RecordBatch, kinds: &Int8Array, of: &Partitions) -> Result<Vec<Target>> {
        let keys = fingerprints(&self.key.pick(rows))?;
        let mut distinct = keys.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let mut known = self.index.get(&distinct)?;
        let numbers: Vec<u32> = of.rows.iter().map(|row| self.places.partition(row)).collect();
        let since = self.index.now();
        let mut targets = Vec::with_capacity(keys.len());
        for (row, (key, number)) in keys.iter().zip(&of.of_row).enumerate() {
            let partition =
                *numbers.get(*number as usize).ok_or_else(|| Error::internal("a row without a partition"))?;
            let (row, kind) = (row as u32, kinds.value(row));
            if let Some(entry) = known.get(key) {
                let (old, bucket) = self.places.at(entry.place)?;
                if old == partition {
                    targets.push(Target { row, kind, partition, bucket, moved: false });
                    continue;
                }
                match self.engine {
                    MergeEngine::Deduplicate => {
                        let kind = RowKind::Delete as i8;
                        targets.push(Target { row, kind, partition: old, bucket, moved: true });
                        self.places.fill(old)?.leave(bucket, self.target);
                    }
                    MergeEngine::PartialUpdate | MergeEngine::Aggregate => {
                        targets.push(Target { row, kind, partition: old, bucket, moved: true });
                        continue;
                    }
                    MergeEngine::FirstRow => continue,
                }
            }
            let bucket = self.places.fill(partition)?.choose(self.target, self.most);
            let entry = Entry { place: self.places.place(partition, bucket), since };
            known.insert(*key, entry);
            self.index.put(*key, entry);
            targets.push(Target { row, kind, partition, bucket, moved: false });
        }
        Ok(targets)
    }

    /// The rows of the targets, with the partition columns of the partition that they go to.
    fn gather(&self, rows: &RecordBatch, targets: Vec<Target>) -> Result<Moved> {
        let mut partitions = Partitions { of_row: Vec::with_capacity(targets.len()), rows: Vec::new() };
        let mut local: HashMap<u32, u32> = HashMap::new();
        for target in &targets {
            let next = partitions.rows.len() as u32;
            let number = *local.entry(target.partition).or_insert(next);
            if number == next {
                let row = self.places.partitions.get(target.partition as usize);
                partitions.rows.push(row.cloned().ok_or_else(|| Error::internal("a partition without a row"))?);
            }
            partitions.of_row.push(number);
        }
        let kinds = Int8Array::from_iter_values(targets.iter().map(|target| target.kind));
        let buckets = targets.iter().map(|target| target.bucket).collect();
        let in_place = targets.len() == rows.num_rows() && targets.iter().all(|target| !target.moved);
        if in_place {
            return Ok(Moved { rows: rows.clone(), kinds, partitions, buckets });
        }
        let indices = UInt32Array::from_iter_values(targets.iter().map(|target| target.row));
        let mut columns = arrow_select::take::take_record_batch(rows, &indices)?.columns().to_vec();
        if targets.iter().any(|target| target.moved) {
            let others = columns_from_rows(&partitions.rows, self.partition.types())?;
            for (place, other) in self.partition.places().iter().zip(&others) {
                let picks: Vec<(usize, usize)> = targets
                    .iter()
                    .zip(&partitions.of_row)
                    .enumerate()
                    .map(|(row, (target, number))| if target.moved { (1, *number as usize) } else { (0, row) })
                    .collect();
                let column = columns.get_mut(*place).ok_or_else(|| Error::internal("a partition column is missing"))?;
                *column = arrow_select::interleave::interleave(&[column.as_ref(), other.as_ref()], &picks)?;
            }
        }
        Ok(Moved { rows: RecordBatch::try_new(rows.schema(), columns)?, kinds, partitions, buckets })
    }

    /// Says in the messages since when the writer must have been alone.
    pub(crate) fn hand_over(&self, messages: &mut Messages) {
        for message in messages.values_mut().filter(|message| !message.new_files.is_empty()) {
            message.alone_since = self.loaded_at;
        }
    }
}

/// What stands for each row's key: two hashes of its bytes.
pub(super) fn fingerprints(columns: &[ArrayRef]) -> Result<Vec<Fingerprint>> {
    let fields = columns.iter().map(|c| SortField::new(c.data_type().clone())).collect();
    let columns = columns.iter().map(one_nan).collect::<Result<Vec<_>>>()?;
    let rows = RowConverter::new(fields)?.convert_columns(&columns)?;
    let hash = |salt: u8, bytes: &[u8]| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(salt);
        hasher.write(bytes);
        u128::from(hasher.finish())
    };
    Ok(rows.iter().map(|row| hash(0, row.as_ref()) << 64 | hash(1, row.as_ref())).collect())
}
