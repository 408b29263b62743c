//! Rows by their position in a file: row ids, sequence numbers of row tracking, deletion afterwards.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema};
use linn_format::datum::Datum;
use linn_format::file::DataFileMeta;
use linn_format::file::resolve::Resolution;
use linn_format::predicate::Predicate;
use linn_format::types::{DataField, ROW_ID_ID, SEQUENCE_NUMBER_ID, arrow_field};
use linn_format::{Error, Result};
use roaring::RoaringTreemap;

use super::ROW_POSITION_ID;

/// The rows of a batch for which the filter is true; `fields` are its first columns.
pub(crate) fn matching(batch: &RecordBatch, filter: &Predicate, fields: &[DataField]) -> Result<RecordBatch> {
    let keep = filter.evaluate(batch, fields)?;
    Ok(arrow_select::filter::filter_record_batch(batch, &keep)?)
}

/// Columns that an error names a row by.
const NAMED: usize = 4;

/// An error of bringing a batch of a file to the wanted types, with the first row that is at fault.
pub(super) fn named(error: Error, batch: &RecordBatch, resolution: &Resolution) -> Error {
    let fails = |start: usize, rows: usize| resolution.apply(&batch.slice(start, rows)).is_err();
    let (mut start, mut rows) = (0, batch.num_rows());
    while rows > 1 {
        let half = rows / 2;
        if !fails(start, half) {
            start += half;
            rows -= half;
        } else {
            rows = half;
        }
    }
    if rows == 0 || !fails(start, rows) {
        return error;
    }
    let value = |(field, column): (&DataField, &ArrayRef)| match Datum::from_array(column, start, &field.data_type) {
        Ok(Some(value)) => Some(format!("{}={value}", field.name)),
        Ok(None) => Some(format!("{}=null", field.name)),
        Err(_) => None,
    };
    let columns = resolution.file_fields().iter().zip(batch.columns()).filter(|(field, _)| field.id < ROW_ID_ID);
    let values: Vec<String> = columns.filter_map(value).take(NAMED).collect();
    if values.is_empty() { error } else { error.with("row", values.join(", ")) }
}

/// The batch with one number in a column of sequence numbers.
pub(super) fn with_sequence(batch: &RecordBatch, column: usize, number: i64) -> Result<RecordBatch> {
    let mut columns = batch.columns().to_vec();
    let old = columns.get_mut(column).ok_or_else(|| Error::internal("a batch without its sequence numbers"))?;
    *old = Arc::new(Int64Array::from_value(number, batch.num_rows()));
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}

/// Adds what follows from a row's place to the batches of one file, which come complete and in order.
pub(super) struct Tracking {
    fields: Vec<DataField>,
    deleted: Option<Arc<RoaringTreemap>>,
    first_row_id: Option<i64>,
    sequence: i64,
    next: u64,
}

impl Tracking {
    pub(super) fn new(file: &DataFileMeta, fields: Vec<DataField>, deleted: Option<Arc<RoaringTreemap>>) -> Self {
        let (first_row_id, sequence) = (file.first_row_id, file.max_sequence_number);
        Self { fields, deleted, first_row_id, sequence, next: 0 }
    }

    pub(super) fn fields(&self) -> &[DataField] {
        &self.fields
    }

    /// The next batch, which has the columns except row positions; deleted rows are gone afterwards.
    pub(super) fn apply(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let start = i64::try_from(self.next).map_err(|_| Error::internal("a file has too many rows"))?;
        let end = start + rows as i64;
        let mut stored = batch.columns().iter();
        let (mut fields, mut columns) = (Vec::with_capacity(self.fields.len()), Vec::with_capacity(self.fields.len()));
        for field in &self.fields {
            let column: ArrayRef = if field.id == ROW_POSITION_ID {
                Arc::new(Int64Array::from_iter_values(start..end))
            } else {
                let column = stored.next().ok_or_else(|| Error::internal("a file returned too few columns"))?;
                match field.id {
                    ROW_ID_ID => self.row_ids(column, start),
                    SEQUENCE_NUMBER_ID => filled(column, |_| Some(self.sequence)),
                    _ => Arc::clone(column),
                }
            };
            let arrow: Field = arrow_field(field)?;
            fields.push(arrow.with_nullable(field.data_type.nullable || column.null_count() > 0));
            columns.push(column);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let all = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)?;
        let alive = self.alive(rows);
        self.next += rows as u64;
        match alive {
            Some(alive) => Ok(arrow_select::filter::filter_record_batch(&all, &alive)?),
            None => Ok(all),
        }
    }

    /// Row ids are stored when rows were moved from other files; else they count from the file's first.
    fn row_ids(&self, column: &ArrayRef, start: i64) -> ArrayRef {
        filled(column, |row| self.first_row_id.map(|first| first + start + row as i64))
    }

    fn alive(&self, rows: usize) -> Option<BooleanArray> {
        let deleted = self.deleted.as_ref()?;
        Some((self.next..self.next + rows as u64).map(|position| Some(!deleted.contains(position))).collect())
    }
}

/// The column with its nulls filled in.
fn filled(column: &ArrayRef, value: impl Fn(usize) -> Option<i64>) -> ArrayRef {
    if column.null_count() == 0 {
        return Arc::clone(column);
    }
    let column = column.as_primitive::<Int64Type>();
    let pick = |row: usize| if column.is_valid(row) { Some(column.value(row)) } else { value(row) };
    Arc::new((0..column.len()).map(pick).collect::<Int64Array>())
}
