//! The changelog of a merge: what a key's row was before and what it is now (spec: features.md B4).
//!
//! Nothing to a row is `+I`, a row to nothing `-D`, a row to another `-U` and `+U` next to each other, also where new records
//! left the row as it was, unless equal rows are not to be told. The rows are selections of the merge's sources like its result, so a change costs two picks and one gather.

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, UInt32Array};
use arrow_buffer::BooleanBuffer;
use arrow_ord::ord::make_comparator;
use arrow_schema::SortOptions;
use linn_format::datum::one_nan;
use linn_format::types::RowKind;
use linn_format::{Error, Result};

use super::output::Output;
use super::source::{Record, is_retract};

const INSERT: i8 = RowKind::Insert as i8;
const UPDATE_BEFORE: i8 = RowKind::UpdateBefore as i8;
const UPDATE_AFTER: i8 = RowKind::UpdateAfter as i8;
const DELETE: i8 = RowKind::Delete as i8;

/// What a merge gives out at a time: batches of [`MergeSpec::output_schema`](super::MergeSpec::output_schema).
#[derive(Debug, Default)]
pub(crate) struct Merged {
    /// Merged rows, one per key, in key order.
    pub(crate) rows: Option<RecordBatch>,
    /// Further rows of keys whose rows stay apart, by their rank from 1 on; each in key order.
    pub(crate) apart: Vec<Option<RecordBatch>>,
    /// What they change, in key order.
    pub(crate) changes: Option<RecordBatch>,
}

impl Merged {
    /// Whether nothing came out.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_none() && self.changes.is_none() && self.apart.iter().all(Option::is_none)
    }
}

/// The changes since the last batch.
#[derive(Debug)]
pub(crate) struct Changelog {
    output: Output,
    /// Columns of which one must differ for an update to be told; `None` when every update is.
    compared: Option<Vec<usize>>,
}

impl Changelog {
    /// No changes.
    pub(crate) fn new(compared: Option<Vec<usize>>) -> Self {
        Self { output: Output::default(), compared }
    }

    /// Rows of the changelog so far.
    pub(crate) fn len(&self) -> usize {
        self.output.len()
    }

    /// A range of rows that were not there before.
    pub(crate) fn insert_range(&mut self, source: u32, start: usize, len: usize) {
        self.output.push_same(source, start, len, INSERT);
    }

    /// The record that a key had before, if any, and the one it has now, if any, but for the cells of the key that was
    /// `folded`. Retractions count as nothing.
    pub(crate) fn push(&mut self, before: Option<Record>, after: Option<Record>, folded: Option<u32>) {
        let before = before.filter(|r| !is_retract(r.kind));
        let after = after.filter(|r| !is_retract(r.kind));
        match (before, after) {
            (None, None) => {}
            (None, Some(new)) => self.output.push(new.pick, INSERT, folded),
            (Some(old), None) => self.output.push(old.pick, DELETE, None),
            (Some(old), Some(new)) => {
                self.output.push(old.pick, UPDATE_BEFORE, None);
                self.output.push(new.pick, UPDATE_AFTER, folded);
            }
        }
    }

    /// The changes since the last call as a batch that `gather` makes.
    pub(crate) fn take(
        &mut self,
        gather: impl FnOnce(&mut Output) -> Result<Option<RecordBatch>>,
    ) -> Result<Option<RecordBatch>> {
        let changes = gather(&mut self.output)?;
        match (changes, &self.compared) {
            (Some(changes), Some(compared)) => without_equal(changes, compared),
            (changes, _) => Ok(changes),
        }
    }
}

/// A changelog without the updates whose two rows are equal in the `compared` columns.
fn without_equal(changes: RecordBatch, compared: &[usize]) -> Result<Option<RecordBatch>> {
    let kinds = changes.columns().last().and_then(|c| c.as_primitive_opt::<Int8Type>());
    let kinds = kinds.ok_or_else(|| Error::internal("a changelog without row kinds"))?.values();
    let before: Vec<u32> = (0..kinds.len()).filter(|&at| kinds[at] == UPDATE_BEFORE).map(|at| at as u32).collect();
    if before.is_empty() {
        return Ok(Some(changes));
    }
    let (old, new) = (UInt32Array::from(before.clone()), UInt32Array::from_iter_values(before.iter().map(|at| at + 1)));
    let mut equal = BooleanBuffer::new_set(before.len());
    for &column in compared {
        let column = changes.columns().get(column).ok_or_else(|| Error::internal("a changelog lacks a column"))?;
        let old = arrow_select::take::take(column, &old, None)?;
        let new = arrow_select::take::take(column, &new, None)?;
        equal = &equal & &equal_rows(&old, &new)?;
    }
    if equal.count_set_bits() == 0 {
        return Ok(Some(changes));
    }
    let mut keep = vec![true; kinds.len()];
    for (pair, at) in before.iter().enumerate().filter(|(pair, _)| equal.value(*pair)) {
        let at = *at as usize;
        debug_assert_eq!(kinds.get(at + 1), Some(&UPDATE_AFTER), "pair {pair} is broken");
        keep[at] = false;
        if let Some(after) = keep.get_mut(at + 1) {
            *after = false;
        }
    }
    let kept = arrow_select::filter::filter_record_batch(&changes, &BooleanArray::from(keep))?;
    Ok((kept.num_rows() > 0).then_some(kept))
}

/// Which rows of two columns are the same; two nulls are, and two NaN.
pub(crate) fn equal_rows(a: &ArrayRef, b: &ArrayRef) -> Result<BooleanBuffer> {
    let (a, b) = (one_nan(a)?, one_nan(b)?);
    if !a.data_type().is_nested() {
        return Ok(arrow_ord::cmp::not_distinct(&a, &b)?.values().clone());
    }
    let compare = make_comparator(&a, &b, SortOptions::default())?;
    Ok(BooleanBuffer::collect_bool(a.len(), |row| compare(row, row).is_eq()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Float64Array, StructArray};
    use arrow_schema::{DataType as ArrowType, Field};

    use super::*;

    #[test]
    fn rows_are_equal_as_the_reference_compares_floats() {
        let a: ArrayRef =
            Arc::new(Float64Array::from(vec![Some(f64::NAN), Some(-f64::NAN), Some(0.0), None, Some(1.5)]));
        let b: ArrayRef = Arc::new(Float64Array::from(vec![Some(-f64::NAN), None, Some(-0.0), None, Some(1.5)]));
        let row = |column: &ArrayRef| -> ArrayRef {
            let fields = vec![Field::new("x", ArrowType::Float64, true)];
            Arc::new(StructArray::new(fields.into(), vec![column.clone()], None))
        };
        let expected = BooleanBuffer::from(vec![true, false, false, true, true]);
        assert_eq!(equal_rows(&a, &b).unwrap(), expected);
        assert_eq!(equal_rows(&row(&a), &row(&b)).unwrap(), expected);
    }
}
