//! Reading two states to compare them: each as its rows, in the order of the keys where there are keys.

use std::sync::Arc;

use arrow_array::RecordBatch;
use futures::{StreamExt, TryStreamExt};
use linn_format::types::DataField;
use linn_format::{BatchStream, Error, Result};

use super::count::Count;
use super::difference::{Told, difference};
use super::{Inner, Merge, Read};
use crate::file::matching;
use crate::merge::{Columns, SizedRun, bounded, merge_levels};
use crate::scan::{Sides, Split};

impl Read {
    /// How the rows of two states differ, in all columns.
    pub(super) fn compared(&self, sides: &Sides, told: Told) -> Result<BatchStream> {
        // Other filters would hide one state of a key and not the other.
        let whole = self.inner.table.read().filter(self.inner.key_filter()).build()?;
        let Some(merge) = &whole.inner.merge else {
            return Err(Error::internal("tables without a primary key cannot be compared by key"));
        };
        let (before, after) = (whole.in_order(merge, &sides.before)?, whole.in_order(merge, &sides.after)?);
        let read = &whole.inner.read_fields;
        let columns = places(read, &self.inner.read_fields, &[read.len(), read.len() + 1])?;
        let differences = difference(before, after, &merge.spec, told)?;
        let this = Arc::clone(&self.inner);
        Ok(differences.map(move |batch| this.passed(batch?.project(&columns)?)).boxed())
    }

    /// How the rows of two states without keys differ: how often each of them is there.
    pub(super) fn counted(&self, sides: &Arc<Sides>, told: Told) -> Result<BatchStream> {
        let whole = self.inner.table.read().filter(self.inner.filter.clone()).build()?;
        let read = whole.inner.read_fields.clone();
        let columns = places(&read, &self.inner.read_fields, &[read.len()])?;
        let count = Count::new(whole, Arc::clone(sides), told)?;
        Ok(count.differences().map(move |batch| Ok(batch?.project(&columns)?)).boxed())
    }

    /// The rows of some buckets by key. A key is in one of them.
    fn in_order(&self, merge: &Merge, splits: &[Split]) -> Result<BatchStream> {
        if let [split] = splits {
            return self.merged(merge, split, false);
        }
        let mut runs = Vec::with_capacity(splits.len());
        for split in splits {
            let stream = self.merged(merge, split, false)?.map_ok(|batch| (batch, 0)).boxed();
            runs.push(SizedRun { stream, bytes: u64::try_from(split.files.bytes()).unwrap_or(0) });
        }
        let (spec, batch_size) = (Arc::clone(&merge.spec), self.inner.batch_size);
        Ok(bounded(self.inner.table.env(), merge.spill, runs, &merge.spec, move |runs| {
            merge_levels(runs, spec, false, batch_size, Columns::Beside)
        }))
    }

    /// The rows of some buckets, of a table without a primary key.
    pub(super) fn in_turn(&self, splits: &[Split]) -> Result<BatchStream> {
        let streams = splits.iter().map(|split| self.unmerged(split)).collect::<Result<Vec<BatchStream>>>()?;
        Ok(futures::stream::iter(streams).flatten().boxed())
    }

    /// The columns of the batches that [`in_turn`](Self::in_turn) returns.
    pub(super) fn all_fields(&self) -> &[DataField] {
        &self.inner.read_fields
    }
}

impl Inner {
    fn passed(&self, batch: RecordBatch) -> Result<RecordBatch> {
        match &self.filter {
            Some(filter) => matching(&batch, filter, &self.read_fields),
            None => Ok(batch),
        }
    }
}

/// Where the columns that are wanted stand, and then others.
fn places(read: &[DataField], wanted: &[DataField], others: &[usize]) -> Result<Vec<usize>> {
    let at = |field: &DataField| {
        let found = read.iter().position(|read| read.id == field.id);
        found.ok_or_else(|| {
            Error::unsupported("a difference of states has a column that the table does not have")
                .with("column", &field.name)
        })
    };
    let mut columns = wanted.iter().map(at).collect::<Result<Vec<_>>>()?;
    columns.extend(others);
    Ok(columns)
}
