//! Picking rows and columns out of batches.

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{BooleanArray, Int8Array, RecordBatch};
use arrow_select::filter::filter_record_batch;
use futures::StreamExt;
use linn_format::types::RowKind;
use linn_format::{BatchStream, Error, Result};

/// The first columns of a batch.
pub(super) fn take_columns(batch: &RecordBatch, columns: usize) -> Result<RecordBatch> {
    if batch.num_columns() == columns {
        return Ok(batch.clone());
    }
    let all: Vec<usize> = (0..columns).collect();
    Ok(batch.project(&all)?)
}

/// The row kinds of a key-value batch: its last column.
pub(super) fn kinds(batch: &RecordBatch) -> Result<&Int8Array> {
    let kinds = batch.columns().last().and_then(|c| c.as_primitive_opt::<Int8Type>());
    kinds.ok_or_else(|| Error::internal("a key-value batch has no row kinds"))
}

/// The rows of a key-value batch that are there: `+I` and `+U`.
pub(super) fn without_retractions(batch: &RecordBatch) -> Result<RecordBatch> {
    let kinds = kinds(batch)?;
    let added = |kind: i8| kind == RowKind::Insert as i8 || kind == RowKind::UpdateAfter as i8;
    if kinds.values().iter().all(|&kind| added(kind)) {
        return Ok(batch.clone());
    }
    let mask = BooleanArray::from_unary(kinds, added);
    Ok(filter_record_batch(batch, &mask)?)
}

/// At most `limit` rows.
pub fn limit(rows: BatchStream, limit: usize) -> BatchStream {
    futures::stream::unfold((rows, limit), |(mut rows, left)| async move {
        if left == 0 {
            return None;
        }
        match rows.next().await? {
            Ok(batch) if batch.num_rows() > left => Some((Ok(batch.slice(0, left)), (rows, 0))),
            Ok(batch) => {
                let left = left - batch.num_rows();
                Some((Ok(batch), (rows, left)))
            }
            Err(e) => Some((Err(e), (rows, 0))),
        }
    })
    .boxed()
}
