//! Columns of system tables, declared together with their values.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray,
};
use arrow_schema::{DataType, Field, Schema};
use linn_format::Result;

use super::SystemRows;

/// A column and its values.
pub(super) struct Column {
    field: Field,
    values: ArrayRef,
}

impl Column {
    fn new(name: &str, values: ArrayRef) -> Self {
        Self { field: Field::new(name, values.data_type().clone(), true), values }
    }

    /// STRING.
    pub(super) fn text<S: AsRef<str>>(name: &str, values: impl Iterator<Item = Option<S>>) -> Self {
        Self::new(name, Arc::new(values.collect::<StringArray>()))
    }

    /// BIGINT.
    pub(super) fn long(name: &str, values: impl Iterator<Item = Option<i64>>) -> Self {
        Self::new(name, Arc::new(values.collect::<Int64Array>()))
    }

    /// INT.
    pub(super) fn int(name: &str, values: impl Iterator<Item = i32>) -> Self {
        Self::new(name, Arc::new(Int32Array::from_iter_values(values))).required()
    }

    /// BOOLEAN.
    pub(super) fn boolean(name: &str, values: impl Iterator<Item = bool>) -> Self {
        Self::new(name, Arc::new(values.map(Some).collect::<BooleanArray>())).required()
    }

    /// TIMESTAMP(3), from milliseconds of the local wall clock.
    pub(super) fn time(name: &str, values: impl Iterator<Item = Option<i64>>) -> Self {
        Self::new(name, Arc::new(values.collect::<TimestampMillisecondArray>()))
    }

    /// ARRAY of STRING.
    pub(super) fn texts<'a>(name: &str, values: impl Iterator<Item = Option<&'a [String]>>) -> Self {
        let element = Field::new("element", DataType::Utf8, true);
        let mut list = ListBuilder::new(StringBuilder::new()).with_field(element);
        for value in values {
            list.append_option(value.map(|texts| texts.iter().map(Some)));
        }
        Self::new(name, Arc::new(list.finish()))
    }

    /// NOT NULL.
    pub(super) fn required(mut self) -> Self {
        self.field.set_nullable(false);
        self
    }
}

/// The columns as one batch.
pub(super) fn rows(columns: impl IntoIterator<Item = Column>) -> Result<SystemRows> {
    let (fields, values): (Vec<_>, Vec<_>) = columns.into_iter().map(|column| (column.field, column.values)).unzip();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), values)?;
    Ok(SystemRows { schema, batches: vec![batch] })
}
