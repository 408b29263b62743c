//! The columns of key-value data files and how batches of the merge tree become them (spec: format.md C.7).
//!
//! In memory: value columns, `_SEQUENCE_NUMBER`, `_VALUE_KIND`. In files: `_KEY_` columns unless in thin mode,
//! `_SEQUENCE_NUMBER`, `_VALUE_KIND`, value columns. The `_KEY_` columns share the arrays of the values; they are not read
//! back, since the values hold the same.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::types::{
    DataField, DataType, Kind, SEQUENCE_NUMBER, SEQUENCE_NUMBER_ID, VALUE_KIND, VALUE_KIND_ID, arrow_schema,
};
use crate::{Error, Result};

/// `_SEQUENCE_NUMBER` as a column.
pub fn sequence_number_field() -> DataField {
    DataField::new(SEQUENCE_NUMBER_ID, SEQUENCE_NUMBER, DataType::required(Kind::BigInt))
}

/// `_VALUE_KIND` as a column.
pub fn value_kind_field() -> DataField {
    DataField::new(VALUE_KIND_ID, VALUE_KIND, DataType::required(Kind::TinyInt))
}

/// Value columns followed by `_SEQUENCE_NUMBER` and `_VALUE_KIND`: the columns of a key-value batch.
pub fn key_value_batch_fields(values: &[DataField]) -> Vec<DataField> {
    values.iter().cloned().chain([sequence_number_field(), value_kind_field()]).collect()
}

/// The layout of the key-value files of one schema.
#[derive(Debug, Clone)]
pub struct KeyValueLayout {
    fields: Vec<DataField>,
    schema: SchemaRef,
    /// For each column of the file the column of the batch.
    columns: Vec<usize>,
    /// For each trimmed primary key column the column of the batch.
    keys: Vec<usize>,
}

impl KeyValueLayout {
    /// The layout of files with these columns, of batches of `values` columns; `keys` are the columns of the batch that are the
    /// trimmed primary key.
    ///
    /// # Errors
    /// `Invalid` for types without an Arrow type.
    pub(crate) fn new(fields: Vec<DataField>, values: usize, keys: Vec<usize>) -> Result<Self> {
        // Without thin mode the file starts with the keys; everything else is there in both modes.
        let stored = fields.len().saturating_sub(values + 2);
        let columns = keys.iter().copied().take(stored).chain([values, values + 1]).chain(0..values).collect();
        Ok(Self { schema: arrow_schema(&fields)?, fields, columns, keys })
    }

    /// The columns of a file in order.
    pub fn fields(&self) -> &[DataField] {
        &self.fields
    }

    /// The columns of the batch that are the trimmed primary key, in key order.
    pub fn keys(&self) -> &[usize] {
        &self.keys
    }

    /// A key-value batch as it is written to a file; arrays are shared.
    ///
    /// # Errors
    /// `Invalid` when a NOT NULL column holds a null, `Internal` when the batch has other columns.
    pub fn to_file(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let column = |i: &usize| {
            batch.columns().get(*i).cloned().ok_or_else(|| Error::internal("a key-value batch lacks a column"))
        };
        let columns = self.columns.iter().map(column).collect::<Result<Vec<_>>>()?;
        for (field, column) in self.schema.fields().iter().zip(&columns) {
            if !field.is_nullable() && column.null_count() > 0 {
                return Err(Error::invalid("a NOT NULL column has a null").with("column", field.name()));
            }
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .map_err(|e| Error::internal("a key-value batch has other columns than its table").with_source(e))
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{Array, ArrayRef, Int8Array, Int32Array, Int64Array, StringArray};

    use super::*;
    use crate::SchemaId;
    use crate::options::Options;
    use crate::schema::TableSchema;

    fn schema(thin: bool) -> TableSchema {
        let field = |id, name: &str, kind, nullable| DataField::new(id, name, DataType { kind, nullable });
        let options: Options = [("data-file.thin-mode", thin.to_string())].into_iter().collect();
        TableSchema {
            version: 3,
            id: SchemaId(0),
            fields: vec![
                field(0, "v", Kind::Varchar(9), true),
                field(1, "pt", Kind::Int, false),
                field(2, "k", Kind::Int, false),
            ],
            highest_field_id: 2,
            partition_keys: vec!["pt".to_owned()],
            primary_keys: vec!["pt".to_owned(), "k".to_owned()],
            options,
            comment: None,
            time_millis: 0,
        }
    }

    fn batch() -> RecordBatch {
        let fields = key_value_batch_fields(&schema(false).fields);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from(vec![Some("a"), None])),
            Arc::new(Int32Array::from(vec![7, 7])),
            Arc::new(Int32Array::from(vec![1, 2])),
            Arc::new(Int64Array::from(vec![10, 11])),
            Arc::new(Int8Array::from(vec![0, 3])),
        ];
        RecordBatch::try_new(arrow_schema(&fields).unwrap(), columns).unwrap()
    }

    fn names(batch: &RecordBatch) -> Vec<String> {
        batch.schema().fields().iter().map(|f| f.name().clone()).collect()
    }

    #[test]
    fn the_file_starts_with_the_key_and_shares_its_arrays() {
        let layout = KeyValueLayout::of(&schema(false)).unwrap();
        let (batch, file) = (batch(), layout.to_file(&batch()).unwrap());
        assert_eq!(names(&file), ["_KEY_k", "_SEQUENCE_NUMBER", "_VALUE_KIND", "v", "pt", "k"]);
        let file = layout.to_file(&batch).unwrap();
        assert!(file.column(0).to_data().ptr_eq(&batch.column(2).to_data()));
        assert_eq!(layout.keys(), [2]);
    }

    #[test]
    fn thin_mode_leaves_the_key_out() {
        let layout = KeyValueLayout::of(&schema(true)).unwrap();
        let file = layout.to_file(&batch()).unwrap();
        assert_eq!(names(&file), ["_SEQUENCE_NUMBER", "_VALUE_KIND", "v", "pt", "k"]);
        assert_eq!(layout.keys(), [2]);
    }
}
