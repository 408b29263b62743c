//! Columns of system tables, declared together with their values.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Int32Array, Int64Array, ListArray, RecordBatch, StringArray, StructArray,
    TimestampMillisecondArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields, Schema};
use linn_format::Result;

use super::SystemRows;

/// A column and its values.
pub(crate) struct Column {
    field: Field,
    values: ArrayRef,
}

impl Column {
    fn new(name: &str, values: ArrayRef) -> Self {
        Self { field: Field::new(name, values.data_type().clone(), true), values }
    }

    /// STRING.
    pub(crate) fn text<S: AsRef<str>>(name: &str, values: impl Iterator<Item = Option<S>>) -> Self {
        Self::new(name, Arc::new(values.collect::<StringArray>()))
    }

    /// BIGINT.
    pub(crate) fn long(name: &str, values: impl Iterator<Item = Option<i64>>) -> Self {
        Self::new(name, Arc::new(values.collect::<Int64Array>()))
    }

    /// INT.
    pub(crate) fn int(name: &str, values: impl Iterator<Item = i32>) -> Self {
        Self::new(name, Arc::new(Int32Array::from_iter_values(values))).required()
    }

    /// INT that may be null.
    pub(crate) fn int_or_null(name: &str, values: impl Iterator<Item = Option<i32>>) -> Self {
        Self::new(name, Arc::new(values.collect::<Int32Array>()))
    }

    /// ARRAY of rows, from the lengths of the arrays (none for null) and the columns of all their rows.
    pub(crate) fn lists<const N: usize>(name: &str, lengths: &[Option<usize>], columns: [Self; N]) -> Result<Self> {
        let (fields, values): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().map(|c| (c.field, c.values)).unzip();
        let rows = StructArray::try_new(Fields::from(fields), values, None)?;
        let element = Arc::new(Field::new("element", rows.data_type().clone(), true));
        let offsets = OffsetBuffer::from_lengths(lengths.iter().map(|length| length.unwrap_or(0)));
        let nulls: NullBuffer = lengths.iter().map(Option::is_some).collect();
        Ok(Self::new(name, Arc::new(ListArray::try_new(element, offsets, Arc::new(rows), Some(nulls))?)))
    }

    /// BOOLEAN.
    pub(crate) fn boolean(name: &str, values: impl Iterator<Item = bool>) -> Self {
        Self::new(name, Arc::new(values.map(Some).collect::<BooleanArray>())).required()
    }

    /// BOOLEAN that may be null.
    pub(crate) fn maybe(name: &str, values: impl Iterator<Item = Option<bool>>) -> Self {
        Self::new(name, Arc::new(values.collect::<BooleanArray>()))
    }

    /// TIMESTAMP(3), from milliseconds of the local wall clock.
    pub(crate) fn time(name: &str, values: impl Iterator<Item = Option<i64>>) -> Self {
        Self::new(name, Arc::new(values.collect::<TimestampMillisecondArray>()))
    }

    /// ARRAY of STRING.
    pub(crate) fn texts<'a>(name: &str, values: impl Iterator<Item = Option<&'a [String]>>) -> Self {
        let element = Field::new("element", DataType::Utf8, true);
        let mut list = ListBuilder::new(StringBuilder::new()).with_field(element);
        for value in values {
            list.append_option(value.map(|texts| texts.iter().map(Some)));
        }
        Self::new(name, Arc::new(list.finish()))
    }

    /// NOT NULL.
    pub(crate) fn required(mut self) -> Self {
        self.field.set_nullable(false);
        self
    }
}

/// The columns as one batch.
pub(crate) fn rows(columns: impl IntoIterator<Item = Column>) -> Result<SystemRows> {
    let (fields, values): (Vec<_>, Vec<_>) = columns.into_iter().map(|column| (column.field, column.values)).unzip();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), values)?;
    Ok(SystemRows { schema, batches: vec![batch] })
}
