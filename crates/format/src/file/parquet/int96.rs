//! INT96 timestamps: nanoseconds of the day and Julian day, little-endian, 12 bytes.
//!
//! The reference writes instants before 1970 with a day rounded towards zero and negative nanoseconds; both that and
//! the usual floored form mean `day × 86,400 s + nanos`. The floored form is written.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowTimestampType, Decimal128Type, TimestampNanosecondType};
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, PrimitiveArray};
use arrow_buffer::Buffer;
use arrow_schema::DataType as Arrow;

use super::schema::INT96_LENGTH;
use crate::options::WIDE_HINT;
use crate::types::WIDE_TIMESTAMP;
use crate::{Error, Result};

const JULIAN_DAY_OF_EPOCH: i64 = 2_440_588;
const NANOS_OF_DAY: i64 = 86_400_000_000_000;
const LENGTH: usize = INT96_LENGTH as usize;

/// Nanoseconds since the epoch as INT96 bytes.
pub(super) fn encode(array: &ArrayRef) -> Result<ArrayRef> {
    let nanos = array.as_primitive::<TimestampNanosecondType>();
    let mut bytes = Vec::with_capacity(nanos.len() * LENGTH);
    for value in nanos.values() {
        let day = value.div_euclid(NANOS_OF_DAY) + JULIAN_DAY_OF_EPOCH;
        bytes.extend_from_slice(&value.rem_euclid(NANOS_OF_DAY).to_le_bytes());
        // At most 106,751 days either side of the epoch fit into i64 nanoseconds.
        bytes.extend_from_slice(&(day as i32).to_le_bytes());
    }
    let array = FixedSizeBinaryArray::try_new(INT96_LENGTH, Buffer::from_vec(bytes), nanos.nulls().cloned())?;
    Ok(Arc::new(array))
}

/// Wide timestamps as INT96 bytes.
///
/// # Errors
/// `Unsupported` for an instant whose day does not fit 32 bits.
pub(super) fn encode_wide(array: &ArrayRef) -> Result<ArrayRef> {
    let nanos = array.as_primitive::<Decimal128Type>();
    let mut bytes = Vec::with_capacity(nanos.len() * LENGTH);
    for (row, value) in nanos.values().iter().enumerate() {
        let value = if nanos.is_null(row) { 0 } else { *value };
        let day = value.div_euclid(i128::from(NANOS_OF_DAY)) + i128::from(JULIAN_DAY_OF_EPOCH);
        let day = i32::try_from(day).map_err(|_| Error::unsupported("a parquet timestamp out of range"))?;
        // Below the nanoseconds of a day.
        bytes.extend_from_slice(&(value.rem_euclid(i128::from(NANOS_OF_DAY)) as i64).to_le_bytes());
        bytes.extend_from_slice(&day.to_le_bytes());
    }
    let array = FixedSizeBinaryArray::try_new(INT96_LENGTH, Buffer::from_vec(bytes), nanos.nulls().cloned())?;
    Ok(Arc::new(array))
}

/// INT96 bytes as wide timestamps.
pub(super) fn decode_wide(array: &FixedSizeBinaryArray) -> Result<ArrayRef> {
    let mut values = Vec::with_capacity(array.len());
    for row in 0..array.len() {
        values.push(if array.is_null(row) { 0 } else { nanos(array.value(row))? });
    }
    let array = PrimitiveArray::<Decimal128Type>::try_new(values.into(), array.nulls().cloned())?;
    Ok(Arc::new(array.with_data_type(WIDE_TIMESTAMP)))
}

/// INT96 bytes as timestamps of `T`'s unit.
///
/// # Errors
/// `Unsupported` for an instant that the unit cannot hold in 64 bits (nanoseconds: outside of 1677 to 2262).
pub(super) fn decode<T: ArrowTimestampType>(array: &FixedSizeBinaryArray, to: &Arrow) -> Result<ArrayRef> {
    let divisor = match T::UNIT {
        arrow_schema::TimeUnit::Second => 1_000_000_000,
        arrow_schema::TimeUnit::Millisecond => 1_000_000,
        arrow_schema::TimeUnit::Microsecond => 1_000,
        arrow_schema::TimeUnit::Nanosecond => 1,
    };
    let mut values = Vec::with_capacity(array.len());
    for row in 0..array.len() {
        values.push(if array.is_null(row) { 0 } else { instant(array.value(row), divisor)? });
    }
    let array = PrimitiveArray::<T>::try_new(values.into(), array.nulls().cloned())?;
    Ok(Arc::new(array.with_data_type(to.clone())))
}

fn instant(bytes: &[u8], divisor: i128) -> Result<i64> {
    i64::try_from(nanos(bytes)?.div_euclid(divisor)).map_err(|_| {
        Error::unsupported("timestamps with nanoseconds outside of the years 1677 to 2262").with_hint(WIDE_HINT)
    })
}

/// Nanoseconds since the epoch.
fn nanos(bytes: &[u8]) -> Result<i128> {
    let malformed = || Error::corrupt("an INT96 does not have 12 bytes");
    let (nanos, day) = bytes.split_at_checked(8).ok_or_else(malformed)?;
    let nanos = i64::from_le_bytes(nanos.try_into().map_err(|_| malformed())?);
    let day = i32::from_le_bytes(day.try_into().map_err(|_| malformed())?);
    Ok(i128::from(i64::from(day) - JULIAN_DAY_OF_EPOCH) * i128::from(NANOS_OF_DAY) + i128::from(nanos))
}
