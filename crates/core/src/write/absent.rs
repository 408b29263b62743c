//! Columns that the rows of a batch do not have. On their way to a bucket they are arrays without values, which cost nothing to
//! take apart; in its buffer all batches share one array of nulls for each type.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use linn_format::Result;

/// A batch whose columns are those of `schema`, of which some may be absent.
///
/// # Errors
/// `Invalid` when a column is of another type.
pub(super) fn with_absent(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let field = |(field, column): (&Arc<Field>, &ArrayRef)| match column.data_type() {
        DataType::Null => Arc::new(Field::new(field.name(), DataType::Null, true)),
        _ => Arc::clone(field),
    };
    let fields: Vec<Arc<Field>> = schema.fields().iter().zip(&columns).map(field).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)?)
}

/// Arrays of nulls, one for each type.
#[derive(Debug, Default)]
pub(super) struct Absent {
    nulls: HashMap<DataType, ArrayRef>,
}

impl Absent {
    /// The columns of a batch, those that are absent as nulls of the types of `schema`.
    pub(super) fn filled(&mut self, rows: &RecordBatch, schema: &SchemaRef) -> Vec<ArrayRef> {
        let columns = rows.columns().iter().zip(schema.fields());
        columns
            .map(|(column, field)| match column.data_type() {
                DataType::Null => self.null(field.data_type(), rows.num_rows()),
                _ => Arc::clone(column),
            })
            .collect()
    }

    fn null(&mut self, data_type: &DataType, rows: usize) -> ArrayRef {
        match self.nulls.get(data_type).filter(|nulls| nulls.len() >= rows) {
            Some(nulls) => nulls.slice(0, rows),
            None => {
                let nulls = new_null_array(data_type, rows);
                self.nulls.insert(data_type.clone(), Arc::clone(&nulls));
                nulls
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{Array, Int64Array, NullArray};

    use super::*;

    #[test]
    fn nulls_are_shared() {
        let schema = Arc::new(Schema::new(vec![
            Field::new("k", DataType::Int64, false),
            Field::new("a", DataType::Utf8, true),
            Field::new("b", DataType::Utf8, true),
        ]));
        let key: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        let absent: ArrayRef = Arc::new(NullArray::new(2));
        let batch = with_absent(&schema, vec![key, Arc::clone(&absent), absent], 2).unwrap();
        let mut nulls = Absent::default();
        let filled = nulls.filled(&batch, &schema);
        assert_eq!(filled[1].null_count(), 2);
        assert_eq!(filled[1].data_type(), &DataType::Utf8);
        let shorter = nulls.filled(&batch.slice(0, 1), &schema);
        assert_eq!(shorter[2].len(), 1);
        let of = |array: &ArrayRef| array.to_data().buffers()[0].as_ptr();
        assert_eq!(of(&filled[1]), of(&filled[2]));
        assert_eq!(of(&filled[1]), of(&shorter[2]));
    }
}
