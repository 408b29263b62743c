//! Rows as JSON objects: numbers that JSON has no spelling for are texts, and so are keys of maps.

use std::sync::Arc;

use datafusion::arrow::array::types::{ArrowPrimitiveType, Float32Type, Float64Type};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::writer::NullableEncoder;
use datafusion::arrow::json::{Encoder, EncoderFactory, EncoderOptions};
use linn::Result;

/// Writes NaN and infinities as texts.
#[derive(Debug)]
pub(in crate::file) struct Floats;

struct Float<'a, T: ArrowPrimitiveType>(&'a PrimitiveArray<T>);

impl<T: ArrowPrimitiveType> Encoder for Float<'_, T>
where
    T::Native: Into<f64> + std::fmt::Display,
{
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        let value = self.0.value(row);
        let text = match value.into() {
            wide if wide.is_nan() => "\"NaN\"".to_owned(),
            f64::INFINITY => "\"Infinity\"".to_owned(),
            f64::NEG_INFINITY => "\"-Infinity\"".to_owned(),
            wide if wide.abs() >= 1e16 || (wide != 0.0 && wide.abs() < 1e-5) => spelled(value),
            _ => decimal(&value.to_string()),
        };
        out.extend_from_slice(text.as_bytes());
    }
}

/// With an exponent, so that a large number has not hundreds of digits.
fn spelled<N: Into<f64> + std::fmt::Display + Copy>(value: N) -> String {
    // The shortest digits of its own width, moved behind the exponent.
    let digits = value.to_string();
    let wide: f64 = digits.parse().unwrap_or_else(|_| value.into());
    format!("{wide:e}")
}

/// A whole number with a point, so that it is read as a number of the same kind.
fn decimal(digits: &str) -> String {
    if digits.contains('.') { digits.to_owned() } else { format!("{digits}.0") }
}

impl EncoderFactory for Floats {
    fn make_default_encoder<'a>(
        &self,
        _field: &'a FieldRef,
        array: &'a dyn Array,
        _options: &'a EncoderOptions,
    ) -> std::result::Result<Option<NullableEncoder<'a>>, ArrowError> {
        let nulls = array.nulls().cloned();
        Ok(match array.data_type() {
            DataType::Float32 => {
                Some(NullableEncoder::new(Box::new(Float(array.as_primitive::<Float32Type>())), nulls))
            }
            DataType::Float64 => {
                Some(NullableEncoder::new(Box::new(Float(array.as_primitive::<Float64Type>())), nulls))
            }
            _ => None,
        })
    }
}

/// The batch with texts for the keys of its maps, at any depth.
///
/// # Errors
/// For keys that have no text.
pub(in crate::file) fn with_text_keys(batch: &RecordBatch) -> Result<RecordBatch> {
    let schema = batch.schema();
    let fields: Vec<FieldRef> = schema.fields().iter().map(text_keys).collect();
    if fields.iter().zip(schema.fields()).all(|(new, old)| new.data_type() == old.data_type()) {
        return Ok(batch.clone());
    }
    let columns = batch.columns().iter().zip(&fields).map(|(column, field)| {
        if column.data_type() == field.data_type() { Ok(Arc::clone(column)) } else { cast(column, field.data_type()) }
    });
    let columns: Vec<ArrayRef> = columns.collect::<std::result::Result<_, _>>()?;
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

fn text_keys(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::List(item) => DataType::List(text_keys(item)),
        DataType::LargeList(item) => DataType::LargeList(text_keys(item)),
        DataType::FixedSizeList(item, n) => DataType::FixedSizeList(text_keys(item), *n),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(text_keys).collect()),
        DataType::Map(entries, sorted) => match entries.data_type() {
            DataType::Struct(pair) => {
                let pair: Vec<FieldRef> = pair
                    .iter()
                    .enumerate()
                    .map(|(at, part)| match at {
                        0 => Arc::new(part.as_ref().clone().with_data_type(DataType::Utf8)),
                        _ => text_keys(part),
                    })
                    .collect();
                let entries = Field::new(entries.name(), DataType::Struct(pair.into()), entries.is_nullable());
                DataType::Map(Arc::new(entries), *sorted)
            }
            _ => return Arc::clone(field),
        },
        _ => return Arc::clone(field),
    };
    Arc::new(field.as_ref().clone().with_data_type(data_type))
}
