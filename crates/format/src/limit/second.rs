//! Digits of a second that a type has not: they are cut, toward the past also before 1970, so that two values that print alike are
//! one.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Time32MillisecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, FixedSizeListArray, ListArray, MapArray, PrimitiveArray, StructArray,
};
use arrow_schema::{DataType as Arrow, TimeUnit};

use crate::types::{DataType, Kind};
use crate::{Error, Result};

/// The column, which has the Arrow type of `data_type`, without digits of seconds that the type has not; the same column when
/// there are none.
///
/// # Errors
/// `Internal` when the column is of another type.
pub fn cut_seconds(column: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    match may_have(data_type) {
        true => cut(column, data_type),
        false => Ok(Arc::clone(column)),
    }
}

/// Times and timestamps without digits of a second beyond `digits`, in the unit that they have; the same column when there are none.
///
/// # Errors
/// `Internal` when the column is of another type.
pub fn floor_seconds(column: &ArrayRef, digits: u8) -> Result<ArrayRef> {
    match column.data_type() {
        Arrow::Time32(TimeUnit::Second) | Arrow::Timestamp(TimeUnit::Second, _) => Ok(Arc::clone(column)),
        Arrow::Time32(TimeUnit::Millisecond) => {
            let unit = 10_i32.pow(u32::from(3_u8.saturating_sub(digits)));
            whole::<Time32MillisecondType>(column, |v| v.saturating_sub(v.rem_euclid(unit)))
        }
        Arrow::Time64(TimeUnit::Microsecond) => floored::<Time64MicrosecondType>(column, 6, digits),
        Arrow::Time64(TimeUnit::Nanosecond) => floored::<Time64NanosecondType>(column, 9, digits),
        Arrow::Timestamp(TimeUnit::Millisecond, _) => floored::<TimestampMillisecondType>(column, 3, digits),
        Arrow::Timestamp(TimeUnit::Microsecond, _) => floored::<TimestampMicrosecondType>(column, 6, digits),
        Arrow::Timestamp(TimeUnit::Nanosecond, _) => floored::<TimestampNanosecondType>(column, 9, digits),
        other => Err(Error::internal(format!("{other} is not a type of times"))),
    }
}

/// A column whose unit has `held` digits of a second.
fn floored<T: ArrowPrimitiveType<Native = i64>>(column: &ArrayRef, held: u8, digits: u8) -> Result<ArrayRef> {
    let unit = 10_i64.pow(u32::from(held.saturating_sub(digits)));
    whole::<T>(column, |v| v.saturating_sub(v.rem_euclid(unit)))
}

/// The text of a time without digits of a second beyond nanoseconds, which parsers refuse.
pub fn without_digits_beyond_nanos(text: &str) -> Cow<'_, str> {
    const MOST: usize = 9;
    let Some((whole, fraction)) = text.split_once('.') else { return Cow::Borrowed(text) };
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    match (fraction.get(..MOST), fraction.get(digits..)) {
        (Some(kept), Some(rest)) if digits > MOST => Cow::Owned(format!("{whole}.{kept}{rest}")),
        _ => Cow::Borrowed(text),
    }
}

/// Whether the Arrow type holds digits, at any depth, that the type has not.
fn may_have(data_type: &DataType) -> bool {
    match &data_type.kind {
        Kind::Time(p) => *p < 3,
        Kind::Timestamp(p) | Kind::LocalZonedTimestamp(p) => !matches!(p, 3 | 6 | 9),
        Kind::WideTimestamp { precision, .. } => *precision < 9,
        Kind::Array(element) | Kind::Multiset(element) | Kind::Vector { element, .. } => may_have(element),
        Kind::Map(key, value) => may_have(key) || may_have(value),
        Kind::Row(fields) => fields.iter().any(|field| may_have(&field.data_type)),
        _ => false,
    }
}

fn cut(column: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    match &data_type.kind {
        _ if !may_have(data_type) => Ok(Arc::clone(column)),
        Kind::Time(p) | Kind::Timestamp(p) | Kind::LocalZonedTimestamp(p) => floor_seconds(column, *p),
        Kind::WideTimestamp { precision, .. } => {
            let unit = 10_i128.pow(u32::from(9_u8.saturating_sub(*precision)));
            whole::<Decimal128Type>(column, |v| v.saturating_sub(v.rem_euclid(unit)))
        }
        Kind::Array(element) => {
            let list = column.as_list_opt::<i32>().ok_or_else(|| wrong(data_type))?;
            let (Arrow::List(field), values) = (list.data_type(), cut(list.values(), element)?) else {
                return Err(wrong(data_type));
            };
            Ok(Arc::new(ListArray::try_new(Arc::clone(field), list.offsets().clone(), values, list.nulls().cloned())?))
        }
        Kind::Vector { element, .. } => {
            let list = column.as_fixed_size_list_opt().ok_or_else(|| wrong(data_type))?;
            let (Arrow::FixedSizeList(field, length), values) = (list.data_type(), cut(list.values(), element)?) else {
                return Err(wrong(data_type));
            };
            Ok(Arc::new(FixedSizeListArray::try_new(Arc::clone(field), *length, values, list.nulls().cloned())?))
        }
        Kind::Multiset(element) => entries(column, element, None, data_type),
        Kind::Map(key, value) => entries(column, key, Some(value), data_type),
        Kind::Row(fields) => {
            let parts = column.as_struct_opt().ok_or_else(|| wrong(data_type))?;
            let cut = parts.columns().iter().zip(fields).map(|(child, field)| cut(child, &field.data_type));
            let children = cut.collect::<Result<Vec<_>>>()?;
            Ok(Arc::new(StructArray::try_new(parts.fields().clone(), children, parts.nulls().cloned())?))
        }
        _ => Ok(Arc::clone(column)),
    }
}

/// Keys and values of maps. Two keys that become one are both kept, as they came.
fn entries(column: &ArrayRef, key: &DataType, value: Option<&DataType>, data_type: &DataType) -> Result<ArrayRef> {
    let map = column.as_map_opt().ok_or_else(|| wrong(data_type))?;
    let Arrow::Map(field, sorted) = map.data_type() else { return Err(wrong(data_type)) };
    let values = match value {
        Some(value) => cut(map.values(), value)?,
        None => Arc::clone(map.values()),
    };
    let children = vec![cut(map.keys(), key)?, values];
    let entries = StructArray::try_new(map.entries().fields().clone(), children, None)?;
    Ok(Arc::new(MapArray::try_new(Arc::clone(field), map.offsets().clone(), entries, map.nulls().cloned(), *sorted)?))
}

fn whole<T: ArrowPrimitiveType>(column: &ArrayRef, cut: impl Fn(T::Native) -> T::Native) -> Result<ArrayRef> {
    let values = column.as_primitive_opt::<T>().ok_or_else(|| Error::internal("a time in another Arrow type"))?;
    if values.values().iter().all(|value| cut(*value) == *value) {
        return Ok(Arc::clone(column));
    }
    let cut: PrimitiveArray<T> = values.unary(cut);
    Ok(Arc::new(cut.with_data_type(column.data_type().clone())))
}

fn wrong(data_type: &DataType) -> Error {
    Error::internal(format!("a column of {data_type} in another Arrow type"))
}
