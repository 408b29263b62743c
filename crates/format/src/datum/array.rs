//! Between scalars and Arrow arrays.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, BinaryArray, BooleanArray, PrimitiveArray, StringArray};
use bytes::Bytes;

use super::Datum;
use crate::types::{DataType, Kind, WIDE_TIMESTAMP, split_wide, wide_of};
use crate::{Error, Result};

impl Datum {
    /// The value at `row` of an array in the Arrow type of `data_type`; `None` is null.
    ///
    /// # Errors
    /// `Invalid` when the array has another type or no such row, `Unsupported` for nested types.
    pub fn from_array(array: &dyn Array, row: usize, data_type: &DataType) -> Result<Option<Self>> {
        if row >= array.len() {
            return Err(Error::invalid(format!("row {row} of an array of {}", array.len())));
        }
        if array.is_null(row) {
            return Ok(None);
        }
        let kind = &data_type.kind;
        let value =
            match kind {
                Kind::Boolean => array.as_boolean_opt().map(|a| Self::Boolean(a.value(row))),
                Kind::TinyInt => native::<Int8Type>(array, row).map(Self::TinyInt),
                Kind::SmallInt => native::<Int16Type>(array, row).map(Self::SmallInt),
                Kind::Int => native::<Int32Type>(array, row).map(Self::Int),
                Kind::BigInt => native::<Int64Type>(array, row).map(Self::BigInt),
                Kind::Float => native::<Float32Type>(array, row).map(Self::Float),
                Kind::Double => native::<Float64Type>(array, row).map(Self::Double),
                Kind::Date => native::<Date32Type>(array, row).map(Self::Date),
                Kind::Time(_) => native::<Time32MillisecondType>(array, row).map(Self::Time),
                Kind::Timestamp(p) | Kind::LocalZonedTimestamp(p) => timestamp(array, row, *p),
                Kind::WideTimestamp { .. } => {
                    let split = |nanos| split_wide(nanos).map(|(millis, nanos)| Self::Timestamp { millis, nanos });
                    native::<Decimal128Type>(array, row).map(split).transpose()?
                }
                Kind::Decimal { precision, scale } => native::<Decimal128Type>(array, row)
                    .map(|unscaled| Self::Decimal { unscaled, precision: *precision, scale: *scale }),
                Kind::Char(_) | Kind::Varchar(_) => {
                    array.as_string_opt::<i32>().map(|a| Self::String(a.value(row).to_owned()))
                }
                Kind::Binary(_) | Kind::Varbinary(_) | Kind::Blob => {
                    array.as_binary_opt::<i32>().map(|a| Self::Bytes(Bytes::copy_from_slice(a.value(row))))
                }
                other => return Err(Error::unsupported(format!("a {other:?} as a scalar"))),
            };
        let wrong = || Error::invalid(format!("arrow array of {} for a column of kind {kind:?}", array.data_type()));
        value.map(Some).ok_or_else(wrong)
    }
}

fn native<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> Option<T::Native> {
    array.as_primitive_opt::<T>().map(|a| a.value(row))
}

fn timestamp(array: &dyn Array, row: usize, precision: u8) -> Option<Datum> {
    let (value, per_milli) = match precision {
        0..=3 => (native::<TimestampMillisecondType>(array, row)?, 1),
        4..=6 => (native::<TimestampMicrosecondType>(array, row)?, 1_000),
        _ => (native::<TimestampNanosecondType>(array, row)?, 1_000_000),
    };
    let (millis, nanos) = crate::types::split(value, per_milli);
    Some(Datum::Timestamp { millis, nanos })
}

/// All values of an array.
///
/// # Errors
/// As [`Datum::from_array`].
pub fn datums_from_array(array: &dyn Array, data_type: &DataType) -> Result<Vec<Option<Datum>>> {
    (0..array.len()).map(|row| Datum::from_array(array, row, data_type)).collect()
}

/// An array of the values, in the Arrow type of `data_type`; `None` is null.
///
/// # Errors
/// `Invalid` when a value is not of the type, or a timestamp does not fit its Arrow type; `Unsupported` for nested types.
pub fn array_from_datums(values: &[Option<Datum>], data_type: &DataType) -> Result<ArrayRef> {
    macro_rules! primitive {
        ($arrow:ty, $pattern:pat => $value:expr) => {
            collect::<PrimitiveArray<$arrow>, _>(values, data_type, |v| match v {
                $pattern => Some($value),
                _ => None,
            })?
        };
    }
    Ok(match &data_type.kind {
        Kind::Boolean => Arc::new(collect::<BooleanArray, _>(values, data_type, |v| match v {
            Datum::Boolean(v) => Some(*v),
            _ => None,
        })?),
        Kind::TinyInt => Arc::new(primitive!(Int8Type, Datum::TinyInt(v) => *v)),
        Kind::SmallInt => Arc::new(primitive!(Int16Type, Datum::SmallInt(v) => *v)),
        Kind::Int => Arc::new(primitive!(Int32Type, Datum::Int(v) => *v)),
        Kind::BigInt => Arc::new(primitive!(Int64Type, Datum::BigInt(v) => *v)),
        Kind::Float => Arc::new(primitive!(Float32Type, Datum::Float(v) => *v)),
        Kind::Double => Arc::new(primitive!(Float64Type, Datum::Double(v) => *v)),
        Kind::Date => Arc::new(primitive!(Date32Type, Datum::Date(v) => *v)),
        Kind::Time(_) => Arc::new(primitive!(Time32MillisecondType, Datum::Time(v) => *v)),
        Kind::Timestamp(p) => timestamps(values, data_type, *p, None)?,
        Kind::LocalZonedTimestamp(p) => timestamps(values, data_type, *p, Some("UTC"))?,
        Kind::WideTimestamp { .. } => Arc::new(
            collect::<PrimitiveArray<Decimal128Type>, _>(values, data_type, |v| match v {
                Datum::Timestamp { millis, nanos } => Some(wide_of(*millis, *nanos)),
                _ => None,
            })?
            .with_data_type(WIDE_TIMESTAMP),
        ),
        Kind::Decimal { precision, scale } => Arc::new(
            collect::<PrimitiveArray<Decimal128Type>, _>(values, data_type, |v| match v {
                Datum::Decimal { unscaled, scale: of, .. } if of == scale => Some(*unscaled),
                _ => None,
            })?
            .with_precision_and_scale(*precision, scale.cast_signed())?,
        ),
        Kind::Char(_) | Kind::Varchar(_) => Arc::new(collect::<StringArray, _>(values, data_type, |v| match v {
            Datum::String(v) => Some(v.as_str()),
            _ => None,
        })?),
        Kind::Binary(_) | Kind::Varbinary(_) | Kind::Blob => {
            Arc::new(collect::<BinaryArray, _>(values, data_type, |v| match v {
                Datum::Bytes(v) => Some(&v[..]),
                _ => None,
            })?)
        }
        other => return Err(Error::unsupported(format!("a {other:?} as a scalar"))),
    })
}

fn collect<'a, A: FromIterator<Option<T>>, T>(
    values: &'a [Option<Datum>],
    data_type: &DataType,
    read: impl Fn(&'a Datum) -> Option<T>,
) -> Result<A> {
    let wrong = |v: &Datum| Error::invalid(format!("value {v:?} is not a {:?}", data_type.kind));
    values.iter().map(|v| v.as_ref().map(|v| read(v).ok_or_else(|| wrong(v))).transpose()).collect()
}

fn timestamps(values: &[Option<Datum>], data_type: &DataType, precision: u8, zone: Option<&str>) -> Result<ArrayRef> {
    let units = |per_milli: i64| {
        move |v: &Datum| match v {
            Datum::Timestamp { millis, nanos } => {
                millis.checked_mul(per_milli)?.checked_add(i64::from(*nanos) / (1_000_000 / per_milli))
            }
            _ => None,
        }
    };
    let zone = zone.map(Arc::<str>::from);
    Ok(match precision {
        0..=3 => Arc::new(
            collect::<PrimitiveArray<TimestampMillisecondType>, _>(values, data_type, units(1))?
                .with_timezone_opt(zone),
        ),
        4..=6 => Arc::new(
            collect::<PrimitiveArray<TimestampMicrosecondType>, _>(values, data_type, units(1_000))?
                .with_timezone_opt(zone),
        ),
        _ => Arc::new(
            collect::<PrimitiveArray<TimestampNanosecondType>, _>(values, data_type, units(1_000_000))?
                .with_timezone_opt(zone),
        ),
    })
}
