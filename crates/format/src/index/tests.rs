//! Indexes of the reference against its rows, our own against the model (the predicate itself), and damage.

mod columns;
mod property;
mod reference;
mod sliced;

use arrow_array::{ArrayRef, RecordBatch};
use bytes::Bytes;
use roaring::RoaringBitmap;

use super::{IndexResult, evaluate};
use crate::predicate::Predicate;
use crate::types::{DataField, arrow_schema};

/// A batch of these columns.
fn batch(fields: &[DataField], columns: Vec<ArrayRef>) -> RecordBatch {
    RecordBatch::try_new(arrow_schema(fields).unwrap(), columns).unwrap()
}

/// Asks an index and checks that no row is lost; the rows that stay.
fn check(index: &Bytes, batch: &RecordBatch, fields: &[DataField], predicate: &Predicate) -> RoaringBitmap {
    let all = batch.num_rows() as u32;
    let kept = match evaluate(index, fields, predicate).unwrap() {
        IndexResult::Skip => RoaringBitmap::new(),
        IndexResult::Keep => (0..all).collect(),
        IndexResult::Rows(rows) => rows,
    };
    let mask = predicate.mask(batch, fields).unwrap();
    let truth: RoaringBitmap = mask.set_indices().map(|i| i as u32).collect();
    assert!(truth.is_subset(&kept), "{predicate:?}: {truth:?} are not among {kept:?}");
    kept
}
