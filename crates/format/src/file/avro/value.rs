//! Values of one column being gathered into Arrow buffers.
//!
//! Every value is written once, in the width Arrow wants; text is checked for UTF-8 a column at a time when the batch
//! is finished.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, StructArray, make_array};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer};
use arrow_data::{ArrayData, ArrayDataBuilder};
use arrow_schema::DataType as ArrowType;

use super::cursor::Cursor;
use super::decode::{Column, Record};
use super::schema::Unit;
use crate::{Error, Result};

/// Gathered values, by how they are read.
pub(super) enum Values {
    Boolean(BooleanBufferBuilder),
    Int8(Vec<i8>),
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Timestamp(Vec<i64>, Rescale),
    Float(Vec<f32>),
    Double(Vec<f64>, FloatSource),
    /// Text and binary: offsets and data, from values of a fixed size or with a length.
    Bytes(Vec<i32>, Vec<u8>, Option<usize>),
    Decimal(Vec<i128>, Option<usize>),
    List(Vec<i32>, Box<Column>),
    Vector(usize, Box<Column>),
    /// An Avro map, whose keys are strings.
    Map(Vec<i32>, Box<Column>, Box<Column>),
    /// A map as an array of entries.
    Entries(Vec<i32>, Box<Record>),
    Row(Box<Record>),
    /// Only nulls.
    Nothing,
}

/// What a DOUBLE is read from.
#[derive(Debug, Clone, Copy)]
pub(super) enum FloatSource {
    Float,
    Double,
}

/// From the file's unit of time to the column's.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rescale {
    Multiply(i64),
    Divide(i64),
}

impl Rescale {
    pub(super) fn between(from: Unit, to: &arrow_schema::TimeUnit) -> Self {
        use arrow_schema::TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
        let to = match to {
            Second => 1,
            Millisecond => 1_000,
            Microsecond => 1_000_000,
            Nanosecond => 1_000_000_000,
        };
        let from = match from {
            Unit::Plain => to,
            Unit::Millis => 1_000,
            Unit::Micros => 1_000_000,
            Unit::Nanos => 1_000_000_000,
        };
        if to >= from { Self::Multiply(to / from) } else { Self::Divide(from / to) }
    }

    fn apply(self, value: i64) -> Result<i64> {
        match self {
            Self::Multiply(by) => value.checked_mul(by).ok_or_else(|| out_of_range("timestamp")),
            Self::Divide(by) => Ok(value.div_euclid(by)),
        }
    }
}

#[cold]
fn out_of_range(what: &str) -> Error {
    Error::corrupt(format!("avro {what} is out of its column's range"))
}

fn narrow<T: TryFrom<i64>>(cursor: &mut Cursor<'_>) -> Result<T> {
    T::try_from(cursor.long()?).map_err(|_| out_of_range("number"))
}

fn sized<'a>(cursor: &mut Cursor<'a>, size: Option<usize>) -> Result<&'a [u8]> {
    match size {
        Some(size) => cursor.take(size),
        None => cursor.bytes(),
    }
}

fn offset(length: usize) -> Result<i32> {
    i32::try_from(length).map_err(|_| Error::corrupt("avro batch holds more than 2 GiB in one column"))
}

/// Two's complement, big endian, any length, sign-extended.
fn unscaled(bytes: &[u8]) -> Result<i128> {
    let negative = bytes.first().is_some_and(|b| *b >= 0x80);
    let fill = if negative { 0xff } else { 0 };
    let skip = bytes.len().saturating_sub(16);
    let (extra, rest) = bytes.split_at(skip);
    let mut wide = [fill; 16];
    wide[16 - rest.len()..].copy_from_slice(rest);
    let value = i128::from_be_bytes(wide);
    if extra.iter().any(|b| *b != fill) || (value < 0) != negative {
        return Err(out_of_range("decimal"));
    }
    Ok(value)
}

impl Values {
    /// Reads one value that is not null.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        match self {
            Self::Boolean(out) => out.append(cursor.byte()? != 0),
            Self::Int8(out) => out.push(narrow(cursor)?),
            Self::Int16(out) => out.push(narrow(cursor)?),
            Self::Int32(out) => out.push(narrow(cursor)?),
            Self::Int64(out) => out.push(cursor.long()?),
            Self::Timestamp(out, rescale) => out.push(rescale.apply(cursor.long()?)?),
            Self::Float(out) => out.push(f32::from_le_bytes(cursor.array()?)),
            Self::Double(out, FloatSource::Double) => out.push(f64::from_le_bytes(cursor.array()?)),
            Self::Double(out, FloatSource::Float) => out.push(f32::from_le_bytes(cursor.array()?).into()),
            Self::Bytes(offsets, data, size) => {
                data.extend_from_slice(sized(cursor, *size)?);
                offsets.push(offset(data.len())?);
            }
            Self::Decimal(out, size) => out.push(unscaled(sized(cursor, *size)?)?),
            Self::Row(record) => record.read(cursor)?,
            Self::Nothing => {}
            Self::List(..) | Self::Vector(..) | Self::Map(..) | Self::Entries(..) => self.read_items(cursor)?,
        }
        Ok(())
    }

    fn read_items(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let mut items = 0usize;
        loop {
            let count = cursor.block()?;
            if count == 0 {
                break;
            }
            items += count;
            for _ in 0..count {
                match self {
                    Self::List(_, child) | Self::Vector(_, child) => child.read(cursor)?,
                    Self::Entries(_, record) => record.read(cursor)?,
                    Self::Map(_, key, value) => {
                        key.read(cursor)?;
                        value.read(cursor)?;
                    }
                    _ => {}
                }
            }
        }
        match self {
            Self::List(offsets, child) | Self::Map(offsets, child, _) => offsets.push(offset(child.len())?),
            Self::Entries(offsets, record) => offsets.push(offset(record.len())?),
            Self::Vector(length, _) if *length != items => {
                return Err(Error::corrupt(format!("avro vector has {items} elements, not {length}")));
            }
            _ => {}
        }
        Ok(())
    }

    /// A placeholder behind a null.
    pub(super) fn push_empty(&mut self) {
        match self {
            Self::Boolean(out) => out.append(false),
            Self::Int8(out) => out.push(0),
            Self::Int16(out) => out.push(0),
            Self::Int32(out) => out.push(0),
            Self::Int64(out) | Self::Timestamp(out, _) => out.push(0),
            Self::Float(out) => out.push(0.0),
            Self::Double(out, _) => out.push(0.0),
            Self::Decimal(out, _) => out.push(0),
            Self::Bytes(offsets, ..) | Self::List(offsets, _) | Self::Map(offsets, ..) | Self::Entries(offsets, _) => {
                offsets.push(offsets.last().copied().unwrap_or(0));
            }
            Self::Vector(length, child) => (0..*length).for_each(|_| child.push_null()),
            Self::Row(record) => record.push_null(),
            Self::Nothing => {}
        }
    }

    /// The array of what was gathered; empty again afterwards.
    pub(super) fn finish(&mut self, arrow: &ArrowType, len: usize, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let builder = || ArrayData::builder(arrow.clone()).len(len).nulls(nulls.clone());
        let plain = |buffer: Buffer| built(builder().add_buffer(buffer));
        match self {
            Self::Boolean(out) => plain(out.finish().into_inner()),
            Self::Int8(out) => plain(Buffer::from_vec(std::mem::take(out))),
            Self::Int16(out) => plain(Buffer::from_vec(std::mem::take(out))),
            Self::Int32(out) => plain(Buffer::from_vec(std::mem::take(out))),
            Self::Int64(out) | Self::Timestamp(out, _) => plain(Buffer::from_vec(std::mem::take(out))),
            Self::Float(out) => plain(Buffer::from_vec(std::mem::take(out))),
            Self::Double(out, _) => plain(Buffer::from_vec(std::mem::take(out))),
            Self::Decimal(out, _) => {
                check_precision(out, arrow)?;
                plain(Buffer::from_vec(std::mem::take(out)))
            }
            Self::Bytes(offsets, data, _) => {
                let (offsets, data) = (take_offsets(offsets), std::mem::take(data));
                built(builder().add_buffer(offsets).add_buffer(Buffer::from_vec(data)))
            }
            Self::List(offsets, child) => {
                let offsets = take_offsets(offsets);
                built(builder().add_buffer(offsets).add_child_data(child.finish()?.to_data()))
            }
            Self::Vector(_, child) => built(builder().add_child_data(child.finish()?.to_data())),
            Self::Map(offsets, key, value) => {
                let offsets = take_offsets(offsets);
                let entries = entries(arrow, vec![key.finish()?, value.finish()?])?;
                built(builder().add_buffer(offsets).add_child_data(entries.to_data()))
            }
            Self::Entries(offsets, record) => {
                let offsets = take_offsets(offsets);
                let entries = entries(arrow, record.finish()?)?;
                built(builder().add_buffer(offsets).add_child_data(entries.to_data()))
            }
            Self::Row(record) => row(arrow, record.finish()?, len, nulls),
            Self::Nothing => Ok(arrow_array::new_null_array(arrow, len)),
        }
    }
}

fn take_offsets(offsets: &mut Vec<i32>) -> Buffer {
    Buffer::from_vec(std::mem::replace(offsets, vec![0]))
}

fn built(builder: ArrayDataBuilder) -> Result<ArrayRef> {
    let data = builder.build().map_err(|e| Error::corrupt("avro values do not make a column").with_source(e))?;
    Ok(make_array(data))
}

fn check_precision(values: &[i128], arrow: &ArrowType) -> Result<()> {
    let ArrowType::Decimal128(precision, _) = arrow else {
        return Ok(());
    };
    let limit = 10i128.checked_pow(u32::from(*precision)).unwrap_or(i128::MAX);
    if values.iter().any(|v| v.unsigned_abs() >= limit.unsigned_abs()) { Err(out_of_range("decimal")) } else { Ok(()) }
}

fn entries(map: &ArrowType, columns: Vec<ArrayRef>) -> Result<StructArray> {
    let ArrowType::Map(entry, _) = map else {
        return Err(Error::internal("a map column is not an Arrow map"));
    };
    let ArrowType::Struct(fields) = entry.data_type() else {
        return Err(Error::internal("the entries of an Arrow map are not a struct"));
    };
    StructArray::try_new(fields.clone(), columns, None)
        .map_err(|e| Error::corrupt("avro map has a null key").with_source(e))
}

fn row(arrow: &ArrowType, columns: Vec<ArrayRef>, len: usize, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let ArrowType::Struct(fields) = arrow else {
        return Err(Error::internal("a row column is not an Arrow struct"));
    };
    if fields.is_empty() {
        return Ok(Arc::new(StructArray::new_empty_fields(len, nulls)));
    }
    let array = StructArray::try_new(fields.clone(), columns, nulls);
    Ok(Arc::new(array.map_err(|e| Error::corrupt("avro row has a null where none may be").with_source(e))?))
}
