//! Arrays of one Arrow type as another that means the same: from what Parquet decodes to our columns, and from our
//! columns to what can be encoded.
//!
//! Buffers are shared; only timestamps of other units, INT96, decimals of other widths and vectors are computed anew.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, FixedSizeListArray, ListArray, MapArray, StructArray, make_array, new_null_array};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};
use arrow_cast::CastOptions;
use arrow_data::transform::MutableArrayData;
use arrow_schema::{ArrowError, DataType as Arrow, FieldRef, Fields, TimeUnit};

use super::int96;
use crate::types::{NANOS_OF_SECOND, WIDE_TIMESTAMP};
use crate::{Error, Result, ResultExt};

/// `array` as `to`. Fields of structs are found by name, those that are missing become null.
///
/// # Errors
/// `Corrupt` when the types or a value do not fit.
pub(super) fn conform(array: &ArrayRef, to: &Arrow) -> Result<ArrayRef> {
    if array.data_type() == to {
        return Ok(Arc::clone(array));
    }
    match (array.data_type(), to) {
        (Arrow::Struct(_), Arrow::Struct(fields)) => structure(array.as_struct(), fields),
        (Arrow::List(_), Arrow::List(element)) => list(array.as_list(), element),
        (Arrow::List(_), Arrow::FixedSizeList(element, length)) => vector(array.as_list(), element, *length),
        (Arrow::FixedSizeList(_, n), Arrow::FixedSizeList(element, length)) if n == length => {
            let from = array.as_fixed_size_list();
            let values = conform(from.values(), element.data_type())?;
            let array = FixedSizeListArray::try_new(Arc::clone(element), *n, values, from.nulls().cloned());
            Ok(Arc::new(array.map_err(misfit)?))
        }
        (Arrow::Map(..), Arrow::Map(entries, _)) => map(array.as_map(), entries),
        (Arrow::FixedSizeBinary(12), Arrow::Timestamp(unit, _)) => {
            let bytes = array.as_fixed_size_binary();
            match unit {
                TimeUnit::Second => int96::decode::<TimestampSecondType>(bytes, to),
                TimeUnit::Millisecond => int96::decode::<TimestampMillisecondType>(bytes, to),
                TimeUnit::Microsecond => int96::decode::<TimestampMicrosecondType>(bytes, to),
                TimeUnit::Nanosecond => int96::decode::<TimestampNanosecondType>(bytes, to),
            }
        }
        (Arrow::FixedSizeBinary(12), Arrow::Decimal128(38, 9)) => int96::decode_wide(array.as_fixed_size_binary()),
        (Arrow::Decimal128(38, 9), Arrow::FixedSizeBinary(12)) => int96::encode_wide(array),
        (Arrow::Timestamp(TimeUnit::Nanosecond, _), Arrow::FixedSizeBinary(12)) => int96::encode(array),
        (Arrow::Timestamp(unit, _), Arrow::Decimal128(38, 9)) => wide(array, *unit),
        (Arrow::Timestamp(from, _), Arrow::Timestamp(unit, _)) if from == unit => relabel(array, to),
        (Arrow::Timestamp(from, _), Arrow::Timestamp(unit, _)) if nanos_of(*from) < nanos_of(*unit) => {
            // Finer digits are dropped, before 1970 as well.
            let step = i64::try_from(nanos_of(*unit) / nanos_of(*from)).unwrap_or(i64::MAX);
            let units = relabel(array, &Arrow::Int64)?
                .as_primitive::<Int64Type>()
                .unary::<_, Int64Type>(|v| v.div_euclid(step));
            relabel(&(Arc::new(units) as ArrayRef), to)
        }
        (from, to) if scalar(from) && scalar(to) => {
            let strict = CastOptions { safe: false, ..Default::default() };
            arrow_cast::cast_with_options(array, to, &strict).map_err(misfit)
        }
        (from, to) => Err(Error::corrupt(format!("values of {from} are not {to}"))),
    }
}

fn nanos_of(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Second => NANOS_OF_SECOND,
        TimeUnit::Millisecond => NANOS_OF_SECOND / 1_000,
        TimeUnit::Microsecond => NANOS_OF_SECOND / 1_000_000,
        TimeUnit::Nanosecond => 1,
    }
}

/// Timestamps of 64 bits as wide ones.
fn wide(array: &ArrayRef, unit: TimeUnit) -> Result<ArrayRef> {
    let nanos_of_unit = nanos_of(unit);
    let units = relabel(array, &Arrow::Int64)?;
    let nanos = units.as_primitive::<Int64Type>().unary::<_, Decimal128Type>(|v| i128::from(v) * nanos_of_unit);
    Ok(Arc::new(nanos.with_data_type(WIDE_TIMESTAMP)))
}

/// Whether a cast between the types keeps the meaning: numbers to numbers, times to times, text to bytes and back.
fn scalar(data_type: &Arrow) -> bool {
    data_type.is_numeric()
        || matches!(data_type, Arrow::Timestamp(..) | Arrow::Date32 | Arrow::Time32(_) | Arrow::Time64(_))
        || matches!(data_type, Arrow::Utf8 | Arrow::Binary | Arrow::FixedSizeBinary(_))
}

fn misfit(e: ArrowError) -> Error {
    Error::corrupt("values do not fit their column").with_source(e)
}

/// The same buffers under another type of the same layout.
fn relabel(array: &ArrayRef, to: &Arrow) -> Result<ArrayRef> {
    Ok(make_array(array.to_data().into_builder().data_type(to.clone()).build().map_err(misfit)?))
}

fn structure(array: &StructArray, fields: &Fields) -> Result<ArrayRef> {
    if fields.is_empty() {
        return Ok(Arc::new(StructArray::new_empty_fields(array.len(), array.nulls().cloned())));
    }
    let column = |field: &FieldRef| match array.column_by_name(field.name()) {
        Some(column) => conform(&below(column, array.nulls())?, field.data_type()).context("field", field.name()),
        None => Ok(new_null_array(field.data_type(), array.len())),
    };
    let columns = fields.iter().map(column).collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(StructArray::try_new(fields.clone(), columns, array.nulls().cloned()).map_err(misfit)?))
}

/// The column of a struct without what stands, in a NOT NULL field, where the struct is null.
fn below(column: &ArrayRef, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
    if parent.is_none_or(|nulls| nulls.null_count() == 0) {
        return Ok(Arc::clone(column));
    }
    let data = column.to_data();
    let offset = data.offset();
    // The bits of an array that begins within its buffers begin there too.
    let nulls = NullBuffer::union(parent, column.nulls()).map(|nulls| {
        let mut bits = BooleanBufferBuilder::new(offset + nulls.len());
        bits.append_n(offset, true);
        bits.append_buffer(nulls.inner());
        bits.build().into_inner()
    });
    Ok(make_array(data.into_builder().nulls(None).null_bit_buffer(nulls).build().map_err(misfit)?))
}

fn list(array: &ListArray, element: &FieldRef) -> Result<ArrayRef> {
    let values = conform(array.values(), element.data_type())?;
    let list = ListArray::try_new(Arc::clone(element), array.offsets().clone(), values, array.nulls().cloned());
    Ok(Arc::new(list.map_err(misfit)?))
}

fn map(array: &MapArray, entries: &FieldRef) -> Result<ArrayRef> {
    let Arrow::Struct(fields) = entries.data_type() else {
        return Err(Error::internal("the entries of an Arrow map are not a struct"));
    };
    let [key, value] = &fields[..] else {
        return Err(Error::internal("the entries of an Arrow map are not pairs"));
    };
    let columns = vec![conform(array.keys(), key.data_type())?, conform(array.values(), value.data_type())?];
    let pairs = StructArray::try_new(fields.clone(), columns, None).map_err(misfit)?;
    let nulls = array.nulls().cloned();
    let map = MapArray::try_new(Arc::clone(entries), array.offsets().clone(), pairs, nulls, false);
    Ok(Arc::new(map.map_err(misfit)?))
}

/// Lists as vectors: each that is not null has `length` elements, and behind nulls stand as many nulls.
fn vector(list: &ListArray, element: &FieldRef, length: i32) -> Result<ArrayRef> {
    let size = usize::try_from(length).map_err(|_| Error::internal("a vector has a negative length"))?;
    let values = conform(list.values(), element.data_type())?.to_data();
    let mut gathered = MutableArrayData::new(vec![&values], true, list.len() * size);
    for (row, ends) in list.value_offsets().windows(2).enumerate() {
        let (start, end) = (ends[0] as usize, ends[1] as usize);
        if list.is_null(row) {
            gathered.try_extend_nulls(size).map_err(misfit)?;
        } else if end - start == size {
            gathered.try_extend(0, start, end).map_err(misfit)?;
        } else {
            return Err(Error::corrupt(format!("a vector has {} elements, not {size}", end - start)));
        }
    }
    let values = make_array(gathered.freeze());
    let array = FixedSizeListArray::try_new(Arc::clone(element), length, values, list.nulls().cloned());
    Ok(Arc::new(array.map_err(misfit)?))
}

#[cfg(test)]
mod tests {
    use arrow_array::BooleanArray;
    use arrow_schema::Field;

    use super::*;

    #[test]
    fn regress_a_struct_of_columns_that_begin_within_their_buffers() {
        let column: BooleanArray = (0..100).map(|i| (i % 5 != 0).then_some(i % 3 == 0)).collect();
        let column: ArrayRef = Arc::new(column.slice(41, 50));
        let fields = ["b", "c"].map(|name| Field::new(name, Arrow::Boolean, true));
        let nulls = NullBuffer::from_iter((0..50).map(|i| i % 7 != 0));
        let rows = StructArray::new(fields.to_vec().into(), vec![Arc::clone(&column), column], Some(nulls.clone()));
        let to = Fields::from(fields[1..].to_vec());
        let made = conform(&(Arc::new(rows) as ArrayRef), &Arrow::Struct(to)).unwrap();
        let made = made.as_struct();
        assert_eq!(made.nulls(), Some(&nulls));
        let expected: BooleanArray =
            (41..91).map(|i| (i % 5 != 0 && (i - 41) % 7 != 0).then_some(i % 3 == 0)).collect();
        assert_eq!(made.column(0).as_boolean(), &expected);
    }
}
