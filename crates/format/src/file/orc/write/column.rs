//! The columns of a stripe being written: bytes by stream, and the columns inside.
//!
//! A column has entries for the rows in which it is not null; so what is inside of a null is nowhere.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, BooleanArray, OffsetSizeTrait};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType as ArrowType, TimeUnit};
use arrow_select::filter::filter;

use super::bytes::{Bits, Present, runs};
use super::ints::Ints;
use super::shape::{Form, Shape};
use super::time::{Times, moments};
use crate::{Error, Result};

/// What the bytes of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    Present = 0,
    Data = 1,
    Length = 2,
    Secondary = 5,
}

/// A column of a stripe.
pub(super) struct Column {
    present: Present,
    values: Values,
}

enum Values {
    Bits(Bits),
    Bytes(Vec<u8>),
    Ints(Ints),
    Floats(Vec<u8>),
    Doubles(Vec<u8>),
    Texts { bytes: Vec<u8>, lengths: Ints },
    Decimals { digits: Vec<u8>, scales: Ints, scale: u8 },
    Times(Times),
    Lists { lengths: Ints, parts: Vec<Column> },
    Row(Vec<Column>),
}

impl Column {
    pub(super) fn new(shape: &Shape) -> Self {
        let parts = || shape.parts.iter().map(Self::new).collect();
        let values = match shape.form {
            Form::Boolean => Values::Bits(Bits::default()),
            Form::Byte => Values::Bytes(Vec::new()),
            Form::Short | Form::Int | Form::Long | Form::Date => Values::Ints(Ints::signed()),
            Form::Float => Values::Floats(Vec::new()),
            Form::Double => Values::Doubles(Vec::new()),
            Form::String | Form::Binary => Values::Texts { bytes: Vec::new(), lengths: Ints::unsigned() },
            Form::Decimal { scale, .. } => Values::Decimals { digits: Vec::new(), scales: Ints::signed(), scale },
            Form::Timestamp | Form::Instant => Values::Times(Times::default()),
            Form::List | Form::Map => Values::Lists { lengths: Ints::unsigned(), parts: parts() },
            Form::Struct => Values::Row(parts()),
        };
        Self { present: Present::default(), values }
    }

    /// Appends rows.
    ///
    /// # Errors
    /// `Invalid` for an array of another type, `Unsupported` for a value the format has no room for.
    pub(super) fn write(&mut self, array: &ArrayRef) -> Result<()> {
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        self.present.extend(array.len(), nulls);
        match nulls {
            Some(nulls) => self.write_full(&filter(array, &BooleanArray::new(nulls.inner().clone(), None))?),
            None => self.write_full(array),
        }
    }

    /// Appends rows of which none is null.
    fn write_full(&mut self, array: &ArrayRef) -> Result<()> {
        match &mut self.values {
            Values::Bits(bits) => bits.extend(array.as_boolean_opt().ok_or_else(|| other(array))?.values()),
            Values::Bytes(bytes) => {
                bytes.extend(primitive::<Int8Type>(array)?.iter().map(|v| v.cast_unsigned()));
            }
            Values::Ints(ints) => match array.data_type() {
                ArrowType::Int16 => ints.extend(primitive::<Int16Type>(array)?.iter().map(|v| i64::from(*v))),
                ArrowType::Int32 => ints.extend(primitive::<Int32Type>(array)?.iter().map(|v| i64::from(*v))),
                ArrowType::Date32 => ints.extend(primitive::<Date32Type>(array)?.iter().map(|v| i64::from(*v))),
                ArrowType::Time32(_) => {
                    ints.extend(primitive::<Time32MillisecondType>(array)?.iter().map(|v| i64::from(*v)));
                }
                _ => ints.extend(primitive::<Int64Type>(array)?.iter().copied()),
            },
            Values::Floats(bytes) => {
                bytes.extend(primitive::<Float32Type>(array)?.iter().flat_map(|v| v.to_le_bytes()));
            }
            Values::Doubles(bytes) => {
                bytes.extend(primitive::<Float64Type>(array)?.iter().flat_map(|v| v.to_le_bytes()));
            }
            Values::Texts { bytes, lengths } => {
                let (offsets, data) = if let Some(texts) = array.as_string_opt::<i32>() {
                    (texts.offsets(), texts.values())
                } else {
                    let bytes = array.as_binary_opt::<i32>().ok_or_else(|| other(array))?;
                    (bytes.offsets(), bytes.values())
                };
                let (start, end) = measure(offsets, lengths);
                bytes.extend_from_slice(&data[start..end]);
            }
            Values::Decimals { digits, scales, scale } => {
                let values = primitive::<Decimal128Type>(array)?;
                values.iter().for_each(|v| put_digits(digits, *v));
                scales.extend(std::iter::repeat_n(i64::from(*scale), values.len()));
            }
            Values::Times(times) => write_times(times, array)?,
            Values::Lists { lengths, parts } => {
                let (start, end, inside) = if let Some(list) = array.as_list_opt::<i32>() {
                    let (start, end) = measure(list.offsets(), lengths);
                    (start, end, vec![list.values()])
                } else {
                    let map = array.as_map_opt().ok_or_else(|| other(array))?;
                    let (start, end) = measure(map.offsets(), lengths);
                    (start, end, vec![map.keys(), map.values()])
                };
                for (part, array) in parts.iter_mut().zip(inside) {
                    part.write(&array.slice(start, end - start))?;
                }
            }
            Values::Row(parts) => {
                let row = array.as_struct_opt().ok_or_else(|| other(array))?;
                parts.iter_mut().zip(row.columns()).try_for_each(|(part, array)| part.write(array))?;
            }
        }
        Ok(())
    }

    /// Bytes held, about.
    pub(super) fn size(&self) -> usize {
        let inside = |parts: &[Column]| parts.iter().map(Self::size).sum::<usize>();
        self.present.size()
            + match &self.values {
                Values::Bits(bits) => bits.size(),
                Values::Bytes(bytes) | Values::Floats(bytes) | Values::Doubles(bytes) => bytes.len(),
                Values::Ints(ints) => ints.size(),
                Values::Texts { bytes, lengths } => bytes.len() + lengths.size(),
                Values::Decimals { digits, scales, .. } => digits.len() + scales.size(),
                Values::Times(times) => times.size(),
                Values::Lists { lengths, parts } => lengths.size() + inside(parts),
                Values::Row(parts) => inside(parts),
            }
    }

    /// Hands out the streams of this column, which is the `own`th, and of those inside it; nothing is left. The number of
    /// the column behind them.
    pub(super) fn finish(&mut self, own: u64, put: &mut impl FnMut(Stream, u64, Vec<u8>) -> Result<()>) -> Result<u64> {
        if let Some(bits) = self.present.finish() {
            put(Stream::Present, own, bits)?;
        }
        let mut next = own + 1;
        match &mut self.values {
            Values::Bits(bits) => put(Stream::Data, own, bits.finish())?,
            Values::Bytes(bytes) => put(Stream::Data, own, runs(&std::mem::take(bytes)))?,
            Values::Ints(ints) => put(Stream::Data, own, ints.finish())?,
            Values::Floats(bytes) | Values::Doubles(bytes) => put(Stream::Data, own, std::mem::take(bytes))?,
            Values::Texts { bytes, lengths } => {
                put(Stream::Data, own, std::mem::take(bytes))?;
                put(Stream::Length, own, lengths.finish())?;
            }
            Values::Decimals { digits, scales, .. } => {
                put(Stream::Data, own, std::mem::take(digits))?;
                put(Stream::Secondary, own, scales.finish())?;
            }
            Values::Times(times) => {
                let (seconds, nanos) = times.finish();
                put(Stream::Data, own, seconds)?;
                put(Stream::Secondary, own, nanos)?;
            }
            Values::Lists { lengths, parts } => {
                put(Stream::Length, own, lengths.finish())?;
                for part in parts {
                    next = part.finish(next, put)?;
                }
            }
            Values::Row(parts) => {
                for part in parts {
                    next = part.finish(next, put)?;
                }
            }
        }
        Ok(next)
    }
}

#[cold]
fn other(array: &ArrayRef) -> Error {
    Error::invalid(format!("an array of {} is not one of the file's column", array.data_type()))
}

fn primitive<T: ArrowPrimitiveType>(array: &ArrayRef) -> Result<&[T::Native]> {
    Ok(array.as_primitive_opt::<T>().ok_or_else(|| other(array))?.values())
}

/// Takes down lengths; where the first begins and the last ends.
fn measure<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>, lengths: &mut Ints) -> (usize, usize) {
    lengths.extend(offsets.lengths().map(|length| length as i64));
    let place = |offset: Option<&O>| offset.map_or(0, |offset| offset.as_usize());
    (place(offsets.first()), place(offsets.last()))
}

/// A decimal's digits as groups of 7 bits, the least first, with the sign in the lowest.
fn put_digits(out: &mut Vec<u8>, value: i128) {
    let mut rest = ((value << 1) ^ (value >> 127)).cast_unsigned();
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

fn write_times(times: &mut Times, array: &ArrayRef) -> Result<()> {
    match array.data_type() {
        ArrowType::Timestamp(TimeUnit::Second, _) => times.extend(moments(primitive::<TimestampSecondType>(array)?, 1)),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
            times.extend(moments(primitive::<TimestampMillisecondType>(array)?, 1_000))
        }
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            times.extend(moments(primitive::<TimestampMicrosecondType>(array)?, 1_000_000))
        }
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
            times.extend(moments(primitive::<TimestampNanosecondType>(array)?, 1_000_000_000))
        }
        _ => times.extend(moments(primitive::<Decimal128Type>(array)?, 1_000_000_000)),
    }
}
