//! How two states of rows without a key differ: a row that one of them has more often came or went that many times.
//!
//! Rows are counted by 128 bits of a keyed hash of all their columns, a share of the hashes at a time, so that memory is
//! bounded by rows and not by their size: every share reads both states, and the rows that differ once more.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hasher};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int8Array, RecordBatch, UInt32Array};
use arrow_row::{RowConverter, SortField};
use arrow_schema::{Field, Schema};
use arrow_select::take::take;
use futures::{StreamExt, TryStreamExt};
use linn_format::types::{RowKind, VALUE_KIND};
use linn_format::{BatchStream, Result};
use parking_lot::Mutex;

use super::Read;
use super::difference::Told;
use crate::scan::{Sides, Split};

/// Rows of both states that are counted at a time.
const ROWS: u64 = 8 << 20;

/// How often the later state has a row more than the earlier one.
type Counts = HashMap<u128, i64>;

/// Two states whose rows are counted.
pub(super) struct Count {
    read: Read,
    sides: Arc<Sides>,
    told: Told,
    shares: u128,
}

impl Count {
    pub(super) fn new(read: Read, sides: Arc<Sides>, told: Told) -> Result<Self> {
        let rows: i64 = sides.before.iter().chain(&sides.after).map(Split::row_count).fold(0, i64::saturating_add);
        let shares = u128::from(u64::try_from(rows).unwrap_or(0) / ROWS + 1);
        Ok(Self { read, sides, told, shares })
    }

    /// The rows that went as deletions, then those that came; the kind is the last column.
    pub(super) fn differences(self) -> BatchStream {
        let this = Arc::new(self);
        futures::stream::iter(0..this.shares).then(move |share| Arc::clone(&this).share(share)).try_flatten().boxed()
    }

    async fn share(self: Arc<Self>, share: u128) -> Result<BatchStream> {
        let mut counts = Counts::new();
        for (splits, one) in [(&self.sides.before, -1), (&self.sides.after, 1)] {
            let mut rows = self.read.in_turn(splits)?;
            while let Some(batch) = rows.try_next().await? {
                for hash in self.hashes(&batch)?.into_iter().filter(|hash| hash % self.shares == share) {
                    *counts.entry(hash).or_default() += one;
                }
            }
            counts.retain(|_, count| *count != 0);
        }
        let counts = Arc::new(Mutex::new(counts));
        let mut parts = Vec::new();
        for (splits, kind) in [(&self.sides.before, RowKind::Delete), (&self.sides.after, RowKind::Insert)] {
            let wanted = kind == RowKind::Insert || self.told != Told::Additions;
            if !wanted || counts.lock().is_empty() {
                continue;
            }
            let (this, counts) = (Arc::clone(&self), Arc::clone(&counts));
            parts.push(self.read.in_turn(splits)?.map(move |batch| this.pick(&batch?, &counts, kind)).boxed());
        }
        let filled = |batch: &RecordBatch| std::future::ready(batch.num_rows() > 0);
        Ok(futures::stream::iter(parts).flatten().try_filter(filled).boxed())
    }

    /// The rows of a batch that the counts still ask for, with their kind.
    fn pick(&self, batch: &RecordBatch, counts: &Mutex<Counts>, kind: RowKind) -> Result<RecordBatch> {
        let step = if kind == RowKind::Insert { 1 } else { -1 };
        let hashes = self.hashes(batch)?;
        let mut counts = counts.lock();
        let mut asked = |hash: &u128| match counts.get_mut(hash) {
            Some(count) if count.signum() == step => {
                *count -= step;
                true
            }
            _ => false,
        };
        let rows = (0..).zip(&hashes).filter_map(|(row, hash)| asked(hash).then_some(row));
        let rows = UInt32Array::from_iter_values(rows);
        let mut columns = Vec::with_capacity(batch.num_columns() + 1);
        for column in batch.columns() {
            columns.push(take(column, &rows, None)?);
        }
        let kinds: ArrayRef = Arc::new(Int8Array::from_value(kind as i8, rows.len()));
        columns.push(kinds);
        let mut fields: Vec<Arc<Field>> = batch.schema().fields().iter().cloned().collect();
        fields.push(Arc::new(Field::new(VALUE_KIND, arrow_schema::DataType::Int8, false)));
        Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
    }

    fn hashes(&self, batch: &RecordBatch) -> Result<Vec<u128>> {
        let columns = batch.columns().get(..self.read.all_fields().len()).unwrap_or_default();
        let fields = columns.iter().map(|column| SortField::new(column.data_type().clone())).collect();
        let rows = RowConverter::new(fields)?.convert_columns(columns)?;
        let build = BuildHasherDefault::<DefaultHasher>::default();
        let half = |salt: u8, row: &[u8]| {
            let mut hasher = build.build_hasher();
            hasher.write_u8(salt);
            hasher.write(row);
            u128::from(hasher.finish())
        };
        Ok(rows.iter().map(|row| half(0, row.as_ref()) << 64 | half(1, row.as_ref())).collect())
    }
}
