//! What JSON has no form for, or the library another one than an import reads: NaN and the infinities as strings, maps with
//! any keys, timestamps of any year, decimals as strings where that is wanted.

use std::io::Write;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray, make_array};
use arrow::datatypes::{DataType, FieldRef, Float64Type};
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use arrow_json::writer::{NullableEncoder, make_encoder};
use arrow_json::{Encoder, EncoderFactory, EncoderOptions};

use super::cell::{is_utc, per_second};
use super::style::Decimals;
use super::time;

/// Encoders for types that need their own.
#[derive(Debug)]
pub(super) struct Encoders(pub(super) Decimals);

impl EncoderFactory for Encoders {
    fn make_default_encoder<'a>(
        &self,
        _: &'a FieldRef,
        array: &'a dyn Array,
        options: &'a EncoderOptions,
    ) -> Result<Option<NullableEncoder<'a>>, ArrowError> {
        let encoder: Box<dyn Encoder + 'a> = match array.data_type() {
            DataType::Float16 | DataType::Float32 | DataType::Float64 => float(array)?,
            DataType::Date32 => {
                let days = array.as_primitive::<arrow::datatypes::Date32Type>();
                Box::new(Instants(
                    move |row: usize, out: &mut String| time::date(i64::from(days.value(row)), out),
                    String::new(),
                ))
            }
            DataType::Timestamp(unit, zone) if is_utc(zone.as_deref()) => {
                let units = arrow::compute::cast(array, &DataType::Int64)?;
                let units: PrimitiveArray<arrow::datatypes::Int64Type> = units.as_primitive().clone();
                let (per_second, zone) = (per_second(*unit), if zone.is_some() { "Z" } else { "" });
                let write = move |row: usize, out: &mut String| {
                    time::timestamp(units.value(row), per_second, 'T', out);
                    out.push_str(zone);
                };
                Box::new(Instants(write, String::new()))
            }
            data_type if data_type.is_decimal() && self.0 == Decimals::String => {
                Box::new(Quoted(ArrayFormatter::try_new(array, &FormatOptions::new())?))
            }
            DataType::Map(entries, _) => {
                let DataType::Struct(fields) = entries.data_type() else { return Ok(None) };
                let [key, value] = fields.as_ref() else { return Ok(None) };
                let map = array.as_map();
                Box::new(Map {
                    offsets: map.value_offsets(),
                    keys: make_encoder(key, map.keys().as_ref(), options)?,
                    values: make_encoder(value, map.values().as_ref(), options)?,
                    is_nested: key.data_type().is_nested(),
                    key: Vec::new(),
                })
            }
            _ => return Ok(None),
        };
        Ok(Some(NullableEncoder::new(encoder, array.nulls().cloned())))
    }
}

/// Instants as text, written through a buffer.
struct Instants<F>(F, String);

impl<F: Fn(usize, &mut String)> Encoder for Instants<F> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        self.1.clear();
        (self.0)(row, &mut self.1);
        out.push(b'"');
        out.extend_from_slice(self.1.as_bytes());
        out.push(b'"');
    }
}

/// Values whose text needs no escapes, in quotes.
struct Quoted<'a>(ArrayFormatter<'a>);

impl Encoder for Quoted<'_> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        // Writing to memory cannot fail.
        let _ = write!(out, "\"{}\"", self.0.value(row));
    }
}

fn float(array: &dyn Array) -> Result<Box<dyn Encoder>, ArrowError> {
    if array.data_type() == &DataType::Float64 {
        return Ok(Box::new(Doubles(array.as_primitive::<Float64Type>().clone())));
    }
    let array: ArrayRef = arrow::compute::cast(&make_array(array.to_data()), &DataType::Float32)?;
    Ok(Box::new(Floats(array.as_primitive().clone())))
}

struct Doubles(PrimitiveArray<Float64Type>);

impl Encoder for Doubles {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        let value = self.0.value(row);
        match special(value) {
            Some(word) => out.extend_from_slice(word.as_bytes()),
            None => drop(serde_json::to_writer(out, &value)),
        }
    }
}

struct Floats(PrimitiveArray<arrow::datatypes::Float32Type>);

impl Encoder for Floats {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        let value = self.0.value(row);
        match special(f64::from(value)) {
            Some(word) => out.extend_from_slice(word.as_bytes()),
            None => drop(serde_json::to_writer(out, &value)),
        }
    }
}

fn special(value: f64) -> Option<&'static str> {
    match value {
        f64::INFINITY => Some("\"Infinity\""),
        f64::NEG_INFINITY => Some("\"-Infinity\""),
        value if value.is_nan() => Some("\"NaN\""),
        _ => None,
    }
}

/// Maps as objects with their keys as text; with nested keys as arrays of objects with `key` and `value`.
struct Map<'a> {
    offsets: &'a [i32],
    keys: NullableEncoder<'a>,
    values: NullableEncoder<'a>,
    is_nested: bool,
    key: Vec<u8>,
}

impl Encoder for Map<'_> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        let place = |row: usize| self.offsets.get(row).and_then(|at| usize::try_from(*at).ok()).unwrap_or_default();
        let (start, end) = (place(row), place(row + 1));
        out.push(if self.is_nested { b'[' } else { b'{' });
        for at in start..end {
            if at > start {
                out.push(b',');
            }
            if self.is_nested {
                out.extend_from_slice(b"{\"key\":");
                self.keys.encode(at, out);
                out.extend_from_slice(b",\"value\":");
            } else {
                self.key.clear();
                self.keys.encode(at, &mut self.key);
                // Numbers and booleans stand without quotes.
                let quote = !self.key.starts_with(b"\"");
                out.extend(quote.then_some(b'"'));
                out.extend_from_slice(&self.key);
                out.extend(quote.then_some(b'"'));
                out.push(b':');
            }
            if self.values.is_null(at) {
                out.extend_from_slice(b"null");
            } else {
                self.values.encode(at, out);
            }
            if self.is_nested {
                out.push(b'}');
            }
        }
        out.push(if self.is_nested { b']' } else { b'}' });
    }
}
