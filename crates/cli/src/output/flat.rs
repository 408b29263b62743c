//! Batches for formats that know no nested values: these become JSON text, which an import reads again.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use linn::Result;

use super::json;

/// The batch with its nested columns as text.
pub(super) fn flat(batch: &RecordBatch) -> Result<RecordBatch> {
    let schema = batch.schema();
    if !schema.fields().iter().any(|field| field.data_type().is_nested()) {
        return Ok(batch.clone());
    }
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        if field.data_type().is_nested() {
            fields.push(Arc::new(Field::new(field.name(), DataType::Utf8, true)));
            columns.push(json::texts(column)?);
        } else {
            fields.push(Arc::clone(field));
            columns.push(Arc::clone(column));
        }
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)?)
}

#[cfg(test)]
mod tests {
    use arrow::array::{Array, ArrayRef, Int32Array, ListArray, StringArray};
    use arrow::datatypes::Int32Type;

    use super::*;

    #[test]
    fn lists_become_text() {
        let lists = [Some(vec![Some(1), None]), None, Some(vec![])];
        let list: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists));
        let number: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3]));
        let batch = RecordBatch::try_from_iter_with_nullable([("l", list, true), ("n", number, false)]).unwrap();
        let flat = flat(&batch).unwrap();
        let expected = StringArray::from(vec![Some("[1,null]"), None, Some("[]")]);
        assert_eq!(flat.column(0).as_ref(), &expected as &dyn Array);
        assert_eq!(flat.column(1), batch.column(1));
    }
}
