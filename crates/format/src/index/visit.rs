//! Visiting the values of a column in the form in which indexes take them.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, UInt32Array};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use arrow_select::take::take;

use super::key::Key;
use crate::datum::Float;
use crate::types::Kind;
use crate::{Error, Result};

fn primitive<'a, T: ArrowPrimitiveType>(
    array: &'a ArrayRef,
    key: impl Fn(T::Native) -> Key<&'a [u8]>,
    mut visit: impl FnMut(Option<Key<&'a [u8]>>) -> Result<()>,
) -> Option<Result<()>> {
    let array = array.as_primitive_opt::<T>()?;
    Some(array.iter().try_for_each(|value| visit(value.map(&key))))
}

/// Visits every row's key. A decimal that 64 bits do not hold is the smallest number, which a bit-sliced index
/// does not hold either.
///
/// # Errors
/// `Invalid` when the array is not one of the kind, and what the visit fails with.
pub(super) fn each<'a>(
    array: &'a ArrayRef,
    kind: &Kind,
    mut visit: impl FnMut(Option<Key<&'a [u8]>>) -> Result<()>,
) -> Result<()> {
    let number = |n: i64| Key::Number(n);
    let done = match kind {
        Kind::Boolean => {
            array.as_boolean_opt().map(|a| a.iter().try_for_each(|v| visit(v.map(|b| Key::Number(i64::from(b))))))
        }
        Kind::TinyInt => primitive::<Int8Type>(array, |n| number(n.into()), visit),
        Kind::SmallInt => primitive::<Int16Type>(array, |n| number(n.into()), visit),
        Kind::Int => primitive::<Int32Type>(array, |n| number(n.into()), visit),
        Kind::Date => primitive::<Date32Type>(array, |n| number(n.into()), visit),
        Kind::Time(_) => primitive::<Time32MillisecondType>(array, |n| number(n.into()), visit),
        Kind::BigInt => primitive::<Int64Type>(array, number, visit),
        Kind::Float => primitive::<Float32Type>(array, |f| Key::Float(f.one_nan().order()), visit),
        Kind::Double => primitive::<Float64Type>(array, |f| Key::Double(f.one_nan().order()), visit),
        Kind::Timestamp(_) | Kind::LocalZonedTimestamp(_) => match array.data_type() {
            ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
                primitive::<TimestampMillisecondType>(array, number, visit)
            }
            ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
                primitive::<TimestampMicrosecondType>(array, number, visit)
            }
            ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
                primitive::<TimestampNanosecondType>(array, |n| number(n.div_euclid(1000)), visit)
            }
            _ => None,
        },
        Kind::Decimal { .. } => {
            primitive::<Decimal128Type>(array, |n| number(i64::try_from(n).unwrap_or(i64::MIN)), visit)
        }
        // Microseconds of 64 bits, as the reference counts them.
        Kind::WideTimestamp { .. } => primitive::<Decimal128Type>(array, |n| number(n.div_euclid(1000) as i64), visit),
        Kind::Char(_) | Kind::Varchar(_) => {
            array.as_string_opt::<i32>().map(|a| a.iter().try_for_each(|v| visit(v.map(|s| Key::Bytes(s.as_bytes())))))
        }
        Kind::Binary(_) | Kind::Varbinary(_) => {
            array.as_binary_opt::<i32>().map(|a| a.iter().try_for_each(|v| visit(v.map(Key::Bytes))))
        }
        _ => None,
    };
    done.unwrap_or_else(|| Err(Error::invalid(format!("an array of {} is not one of {kind:?}", array.data_type()))))
}

/// The values that a map column has for a key, null where it has none.
///
/// # Errors
/// `Invalid` when the array is no map of texts.
pub(super) fn of_key(array: &ArrayRef, key: &str) -> Result<ArrayRef> {
    let map = array.as_map_opt().and_then(|map| Some((map, map.keys().as_string_opt::<i32>()?)));
    let (map, keys) =
        map.ok_or_else(|| Error::invalid(format!("an array of {} is not a map with text keys", array.data_type())))?;
    let offsets = map.value_offsets();
    let places = offsets.windows(2).enumerate().map(|(row, bounds)| {
        let entries = bounds.first().copied()?..bounds.last().copied()?;
        // Offsets are not negative.
        map.is_valid(row).then(|| entries.rev().map(|at| at as usize).find(|at| keys.value(*at) == key))?
    });
    let places: UInt32Array = places.map(|place| place.and_then(|place| u32::try_from(place).ok())).collect();
    take(map.values(), &places, None).map_err(|e| Error::internal("values of a map cannot be gathered").with_source(e))
}
