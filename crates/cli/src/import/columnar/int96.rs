//! Timestamps of 96 bits: nanoseconds of the day and Julian day. They are read as bytes, as the library wraps around where
//! 64 bits end, and become timestamps of the finest unit that holds all of a batch.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, FixedSizeBinaryArray, Int64Array, ListArray, MapArray, StructArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, TimeUnit};
use linn::{Error, Result};

const JULIAN_DAY_OF_EPOCH: i128 = 2_440_588;
const NANOS_OF_DAY: i128 = 86_400_000_000_000;

/// The array with timestamps where `declared` has them and it has their bytes.
///
/// # Errors
/// `Unsupported` for instants that no unit holds together.
pub(super) fn decode(array: &ArrayRef, declared: &DataType) -> Result<ArrayRef> {
    Ok(match (array.data_type(), declared) {
        (DataType::FixedSizeBinary(12), DataType::Timestamp(..)) => timestamps(array.as_fixed_size_binary())?,
        (DataType::List(field), DataType::List(element)) => {
            let list: &ListArray = array.as_list();
            let values = decode(list.values(), element.data_type())?;
            let field = typed(field, &values);
            Arc::new(ListArray::try_new(field, list.offsets().clone(), values, list.nulls().cloned())?)
        }
        (DataType::Map(field, sorted), DataType::Map(entries, _)) => {
            let map = array.as_map();
            let pairs: ArrayRef = Arc::new(map.entries().clone());
            let pairs = decode(&pairs, entries.data_type())?;
            let field = typed(field, &pairs);
            let pairs = pairs.as_struct().clone();
            Arc::new(MapArray::try_new(field, map.offsets().clone(), pairs, map.nulls().cloned(), *sorted)?)
        }
        (DataType::Struct(fields), DataType::Struct(declared))
            if fields.len() == declared.len() && !fields.is_empty() =>
        {
            let row = array.as_struct();
            let columns = row.columns().iter().zip(declared).map(|(column, field)| decode(column, field.data_type()));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            let fields = fields.iter().zip(&columns).map(|(field, column)| typed(field, column)).collect();
            Arc::new(StructArray::try_new(fields, columns, row.nulls().cloned())?)
        }
        _ => Arc::clone(array),
    })
}

fn typed(field: &Field, values: &ArrayRef) -> Arc<Field> {
    Arc::new(field.clone().with_data_type(values.data_type().clone()))
}

fn timestamps(bytes: &FixedSizeBinaryArray) -> Result<ArrayRef> {
    let nanos: Vec<Option<i128>> = bytes.iter().map(|bytes| bytes.and_then(instant)).collect();
    for (unit, size) in [(TimeUnit::Nanosecond, 1), (TimeUnit::Microsecond, 1_000), (TimeUnit::Millisecond, 1_000_000)]
    {
        let fits = |nanos: &Option<i128>| nanos.is_none_or(|n| n % size == 0 && i64::try_from(n / size).is_ok());
        if nanos.iter().all(fits) {
            let values = nanos.iter().map(|nanos| nanos.and_then(|n| i64::try_from(n / size).ok()));
            let values: ArrayRef = Arc::new(values.collect::<Int64Array>());
            return Ok(cast(&values, &DataType::Timestamp(unit, None))?);
        }
    }
    Err(Error::unsupported("feature INT96 timestamps further away than 64 bits of their unit reach")
        .with_hint("nanoseconds reach from 1677 to 2262, microseconds some 292,000 years either way"))
}

/// Nanoseconds since the epoch.
fn instant(bytes: &[u8]) -> Option<i128> {
    let (nanos, day) = bytes.split_at_checked(8)?;
    let nanos = i64::from_le_bytes(nanos.try_into().ok()?);
    let day = i32::from_le_bytes(day.try_into().ok()?);
    Some((i128::from(day) - JULIAN_DAY_OF_EPOCH) * NANOS_OF_DAY + i128::from(nanos))
}
