//! Timestamps of 96 bits: nanoseconds of the day and Julian day. They are read as bytes, as the library wraps around where
//! 64 bits end, and become timestamps of the finest unit that holds all of a batch, or text where none does.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Decimal128Array, FixedSizeBinaryArray, Int64Array, ListArray, MapArray, StructArray,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, TimeUnit};
use linn::Result;
use linn::format::types::{self, Kind};

const JULIAN_DAY_OF_EPOCH: i128 = 2_440_588;
const NANOS_OF_DAY: i128 = 86_400_000_000_000;

/// The array with timestamps, or their text, where `declared` has timestamps and it has their bytes.
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
    let wide = types::DataType::nullable(Kind::WideTimestamp { precision: 9, zoned: false });
    let nanos = nanos.into_iter().collect::<Decimal128Array>().with_precision_and_scale(38, 9)?;
    linn::format::cast::cast(&(Arc::new(nanos) as ArrayRef), &wide, &types::DataType::string())
}

/// Nanoseconds since the epoch.
fn instant(bytes: &[u8]) -> Option<i128> {
    let (nanos, day) = bytes.split_at_checked(8)?;
    let nanos = i64::from_le_bytes(nanos.try_into().ok()?);
    let day = i32::from_le_bytes(day.try_into().ok()?);
    Some((i128::from(day) - JULIAN_DAY_OF_EPOCH) * NANOS_OF_DAY + i128::from(nanos))
}

#[cfg(test)]
mod tests {
    use arrow::array::StringArray;

    use super::*;

    fn bytes(day: i32, nanos: i64) -> Vec<u8> {
        [&nanos.to_le_bytes()[..], &day.to_le_bytes()].concat()
    }

    fn decoded(values: &[Option<Vec<u8>>]) -> ArrayRef {
        let values = values.iter().map(|value| value.as_deref());
        let bytes: ArrayRef = Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, 12).unwrap());
        decode(&bytes, &DataType::Timestamp(TimeUnit::Nanosecond, None)).unwrap()
    }

    #[test]
    fn the_finest_unit_that_holds_all_or_text() {
        let (near, far) = (Some(bytes(2_440_588, 1)), Some(bytes(5_373_484, 86_399_999_999_000)));
        let unit = |values: &[Option<Vec<u8>>]| decoded(values).data_type().clone();
        assert_eq!(unit(&[near.clone(), None]), DataType::Timestamp(TimeUnit::Nanosecond, None));
        assert_eq!(unit(&[far.clone(), None]), DataType::Timestamp(TimeUnit::Microsecond, None));
        let first = Some(bytes(0, 0));
        let text = ["1970-01-01 00:00:00.000000001", "9999-12-31 23:59:59.999999000", "-4713-11-24 00:00:00.000000000"];
        let expected = StringArray::from(vec![Some(text[0]), None, Some(text[1]), Some(text[2])]);
        assert_eq!(decoded(&[near, None, far, first]).as_ref(), &expected as &dyn Array);
    }
}
