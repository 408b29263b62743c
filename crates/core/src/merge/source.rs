//! The batches that a chunk of merged rows is picked from.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use linn_format::{Error, Result};

/// A key-value batch taken apart. Invariant: every row kind is a byte from 0 to 3.
#[derive(Debug)]
pub(crate) struct Source {
    /// Value columns, as read.
    pub(crate) columns: Vec<ArrayRef>,
    /// Sequence number of each row.
    pub(crate) sequence: ScalarBuffer<i64>,
    /// Row kind of each row.
    pub(crate) kinds: ScalarBuffer<i8>,
    /// Level of the file that the rows lie in; 0 for rows that never were above.
    pub(crate) level: i32,
}

impl Source {
    /// Takes a batch of `values` value columns, `_SEQUENCE_NUMBER` and `_VALUE_KIND` from a file of `level` apart.
    ///
    /// # Errors
    /// `Corrupt` when the system columns have nulls or a row kind is unknown, `Internal` when the layout is another.
    pub(crate) fn new(batch: &RecordBatch, values: usize, level: i32) -> Result<Self> {
        if batch.num_columns() != values + 2 {
            let got = batch.num_columns();
            return Err(Error::internal(format!("a key-value batch has {got} columns instead of {}", values + 2)));
        }
        let sequence = batch
            .column(values)
            .as_primitive_opt::<Int64Type>()
            .ok_or_else(|| Error::internal("_SEQUENCE_NUMBER is not a BIGINT"))?;
        let kinds = batch
            .column(values + 1)
            .as_primitive_opt::<Int8Type>()
            .ok_or_else(|| Error::internal("_VALUE_KIND is not a TINYINT"))?;
        if sequence.null_count() > 0 || kinds.null_count() > 0 {
            return Err(Error::corrupt("null sequence number or row kind"));
        }
        if let Some(kind) = kinds.values().iter().find(|k| !(0..4).contains(*k)) {
            return Err(Error::corrupt(format!("row kind {kind} is not one of 0 to 3")));
        }
        let columns = batch.columns().get(..values).unwrap_or_default().to_vec();
        Ok(Self { columns, sequence: sequence.values().clone(), kinds: kinds.values().clone(), level })
    }

    /// Rows.
    pub(crate) fn len(&self) -> usize {
        self.sequence.len()
    }
}

/// Whether a row kind takes something back (`-U`, `-D`).
#[inline]
pub(crate) fn is_retract(kind: i8) -> bool {
    kind & 1 == 1
}

/// One row of one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pick {
    /// Index of the source.
    pub(crate) source: u32,
    /// Row in it.
    pub(crate) row: u32,
}

/// A record in a group of equal keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    /// Where it is.
    pub(crate) pick: Pick,
    /// What it does.
    pub(crate) kind: i8,
}

/// Where the value of one column of one merged row comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    /// It is null.
    Null,
    /// It is the value of a source row.
    Pick(Pick),
    /// It is a value that the column's function computed, by its index among those since the last chunk.
    Computed(u32),
}

/// The null bits of one column of every source, looked up without touching the arrays.
#[derive(Debug, Default)]
pub(crate) struct Nulls(Vec<Option<NullBuffer>>);

impl Nulls {
    /// Appends a source's column.
    pub(crate) fn push(&mut self, column: &ArrayRef) {
        self.0.push(column.logical_nulls().filter(|n| n.null_count() > 0));
    }

    /// Keeps the sources named, in that order.
    pub(crate) fn retain(&mut self, keep: &[usize]) {
        retain(&mut self.0, keep);
    }

    /// Whether the value of a row is null.
    #[inline]
    pub(crate) fn is_null(&self, pick: Pick) -> bool {
        match &self.0[pick.source as usize] {
            Some(nulls) => nulls.is_null(pick.row as usize),
            None => false,
        }
    }
}

/// Keeps the items at `keep` (ascending), in that order.
pub(crate) fn retain<T>(items: &mut Vec<T>, keep: &[usize]) {
    let mut kept = keep.iter().peekable();
    let mut at = 0;
    items.retain(|_| {
        let stays = kept.peek().is_some_and(|&&k| k == at);
        if stays {
            kept.next();
        }
        at += 1;
        stays
    });
}
