//! Encoding rows of a batch: one encoder a column, made once a batch, then row by row as Avro demands.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BooleanArray, GenericBinaryArray, PrimitiveArray, StringArray};
use arrow_schema::{DataType as ArrowType, TimeUnit};

use super::cursor::{put_bytes, put_long};
use super::define::is_string;
use crate::types::{DataField, DataType, Kind};
use crate::{Error, Result, ResultExt};

/// Writes the values of one column.
pub(super) struct Encoder<'a> {
    array: &'a ArrayRef,
    nullable: bool,
    values: Values<'a>,
}

enum Values<'a> {
    Boolean(&'a BooleanArray),
    Int8(&'a PrimitiveArray<Int8Type>),
    Int16(&'a PrimitiveArray<Int16Type>),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    Float(&'a [f32]),
    Double(&'a [f64]),
    String(&'a StringArray),
    Binary(&'a GenericBinaryArray<i32>),
    Decimal(&'a PrimitiveArray<Decimal128Type>),
    List(&'a [i32], Box<Encoder<'a>>),
    Vector(usize, Box<Encoder<'a>>),
    /// Keys and values one after the other; strings make an Avro map, others entries: the bytes are alike.
    Map(&'a [i32], Box<Encoder<'a>>, Box<Encoder<'a>>),
    Row(Vec<Encoder<'a>>),
}

impl<'a> Encoder<'a> {
    /// Encoders of the columns of a batch.
    ///
    /// # Errors
    /// `Invalid` naming the column when its array is not of the Arrow type of its field.
    pub(super) fn columns(columns: &'a [ArrayRef], fields: &[DataField]) -> Result<Vec<Self>> {
        if columns.len() != fields.len() {
            return Err(Error::invalid(format!("{} columns given, the file has {}", columns.len(), fields.len())));
        }
        let encoders = columns.iter().zip(fields);
        encoders.map(|(array, field)| Self::new(array, &field.data_type).context("column", &field.name)).collect()
    }

    fn new(array: &'a ArrayRef, data_type: &DataType) -> Result<Self> {
        let values = values(array, data_type).ok_or_else(|| {
            Error::invalid(format!("an array of {} is not one of {:?}", array.data_type(), data_type.kind))
        })??;
        Ok(Self { array, nullable: data_type.nullable, values })
    }

    /// Appends the value of row `i`, which must be below the array's length.
    ///
    /// # Errors
    /// `Invalid` for a null in a column that may not be null.
    pub(super) fn write(&self, i: usize, out: &mut Vec<u8>) -> Result<()> {
        if self.array.is_null(i) {
            if !self.nullable {
                return Err(Error::invalid("null in a column that is NOT NULL"));
            }
            out.push(0);
            return Ok(());
        }
        if self.nullable {
            put_long(out, 1);
        }
        match &self.values {
            Values::Boolean(array) => out.push(u8::from(array.value(i))),
            Values::Int8(array) => put_long(out, array.value(i).into()),
            Values::Int16(array) => put_long(out, array.value(i).into()),
            Values::Int32(values) => put_long(out, values[i].into()),
            Values::Int64(values) => put_long(out, values[i]),
            Values::Float(values) => out.extend_from_slice(&values[i].to_le_bytes()),
            Values::Double(values) => out.extend_from_slice(&values[i].to_le_bytes()),
            Values::String(array) => put_bytes(out, array.value(i).as_bytes()),
            Values::Binary(array) => put_bytes(out, array.value(i)),
            Values::Decimal(array) => put_unscaled(out, array.value(i)),
            Values::List(offsets, child) => items(bounds(offsets, i), out, |j, out| child.write(j, out))?,
            Values::Vector(length, child) => items((i * length, (i + 1) * length), out, |j, out| child.write(j, out))?,
            Values::Map(offsets, key, value) => items(bounds(offsets, i), out, |j, out| {
                key.write(j, out)?;
                value.write(j, out)
            })?,
            Values::Row(children) => children.iter().try_for_each(|child| child.write(i, out))?,
        }
        Ok(())
    }
}

fn bounds(offsets: &[i32], i: usize) -> (usize, usize) {
    // Arrow offsets are not negative.
    (offsets[i] as usize, offsets[i + 1] as usize)
}

fn items(
    (start, end): (usize, usize),
    out: &mut Vec<u8>,
    write: impl Fn(usize, &mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    if end > start {
        put_long(out, (end - start) as i64);
        (start..end).try_for_each(|j| write(j, out))?;
    }
    out.push(0);
    Ok(())
}

/// Two's complement, big endian, in as few bytes as hold the sign.
fn put_unscaled(out: &mut Vec<u8>, value: i128) {
    let bytes = value.to_be_bytes();
    let sign_bits = if value < 0 { value.leading_ones() } else { value.leading_zeros() };
    let redundant = (sign_bits.saturating_sub(1) / 8) as usize;
    put_bytes(out, &bytes[redundant.min(15)..]);
}

fn slice<T: ArrowPrimitiveType>(array: &ArrayRef) -> Option<&[T::Native]> {
    array.as_primitive_opt::<T>().map(|a| a.values().as_ref())
}

/// `None` when the array is of another type.
fn values<'a>(array: &'a ArrayRef, data_type: &DataType) -> Option<Result<Values<'a>>> {
    let boxed = |array: &'a ArrayRef, t: &DataType| Encoder::new(array, t).map(Box::new);
    Some(Ok(match &data_type.kind {
        Kind::Boolean => Values::Boolean(array.as_boolean_opt()?),
        Kind::TinyInt => Values::Int8(array.as_primitive_opt()?),
        Kind::SmallInt => Values::Int16(array.as_primitive_opt()?),
        Kind::Int => Values::Int32(slice::<Int32Type>(array)?),
        Kind::Date => Values::Int32(slice::<Date32Type>(array)?),
        Kind::Time(_) => Values::Int32(slice::<Time32MillisecondType>(array)?),
        Kind::BigInt => Values::Int64(slice::<Int64Type>(array)?),
        Kind::Timestamp(_) | Kind::LocalZonedTimestamp(_) => Values::Int64(match array.data_type() {
            ArrowType::Timestamp(TimeUnit::Millisecond, _) => slice::<TimestampMillisecondType>(array)?,
            ArrowType::Timestamp(TimeUnit::Microsecond, _) => slice::<TimestampMicrosecondType>(array)?,
            _ => return None,
        }),
        Kind::Float => Values::Float(slice::<Float32Type>(array)?),
        Kind::Double => Values::Double(slice::<Float64Type>(array)?),
        Kind::Char(_) | Kind::Varchar(_) => Values::String(array.as_string_opt()?),
        Kind::Binary(_) | Kind::Varbinary(_) | Kind::Blob => Values::Binary(array.as_binary_opt()?),
        Kind::Decimal { scale, .. } => match array.data_type() {
            ArrowType::Decimal128(_, s) if i16::from(*s) == i16::from(*scale) => {
                Values::Decimal(array.as_primitive_opt()?)
            }
            _ => return None,
        },
        Kind::Array(element) => {
            let list = array.as_list_opt::<i32>()?;
            match boxed(list.values(), element) {
                Ok(child) => Values::List(list.value_offsets(), child),
                Err(e) => return Some(Err(e)),
            }
        }
        Kind::Vector { element, length } => {
            let list = array.as_fixed_size_list_opt().filter(|l| u32::try_from(l.value_length()) == Ok(*length))?;
            match boxed(list.values(), element) {
                Ok(child) => Values::Vector(*length as usize, child),
                Err(e) => return Some(Err(e)),
            }
        }
        Kind::Map(key, value) => return map(array, key, value),
        Kind::Multiset(element) => return map(array, element, &DataType::nullable(Kind::Int)),
        Kind::Row(fields) => match Encoder::columns(array.as_struct_opt()?.columns(), fields) {
            Ok(children) => Values::Row(children),
            Err(e) => return Some(Err(e)),
        },
        _ => return None,
    }))
}

fn map<'a>(array: &'a ArrayRef, key: &DataType, value: &DataType) -> Option<Result<Values<'a>>> {
    let map = array.as_map_opt()?;
    // The keys of an Avro map are bare strings, whatever the type says of null.
    let key = if is_string(key) { key.clone().with_nullable(false) } else { key.clone() };
    let pair =
        Encoder::new(map.keys(), &key).and_then(|k| Ok((Box::new(k), Box::new(Encoder::new(map.values(), value)?))));
    Some(pair.map(|(keys, values)| Values::Map(map.value_offsets(), keys, values)))
}
