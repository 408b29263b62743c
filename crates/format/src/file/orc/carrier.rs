//! From the arrays the library decodes to the Arrow types of our columns.
//!
//! Timestamps are carried as decimals of nanoseconds, which no value of a file overflows, and brought to the column's
//! unit afterwards. `TIMESTAMP` in the file is the wall clock, `TIMESTAMP WITH LOCAL TIME ZONE` the instant in UTC; the
//! reference's legacy encoding of LTZ (`orc.timestamp-ltz.legacy.type`) writes the wall clock of UTC, so both read alike.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, ListArray, MapArray, PrimitiveArray, StringArray, StructArray, make_array,
    new_null_array,
};
use arrow_schema::{DataType as ArrowType, Field, Fields, TimeUnit};
use orc_rust::schema::DataType as OrcType;

use crate::options::WIDE_HINT;
use crate::{Error, Result};

/// The Arrow type in which the library is asked to decode a column.
pub(super) fn carrier(orc: &OrcType) -> ArrowType {
    let nullable = |name: &str, orc: &OrcType| Field::new(name, carrier(orc), true);
    match orc {
        OrcType::Timestamp { .. } | OrcType::TimestampWithLocalTimezone { .. } => ArrowType::Decimal128(38, 9),
        OrcType::Struct { children, .. } => {
            ArrowType::Struct(children.iter().map(|c| nullable(c.name(), c.data_type())).collect())
        }
        OrcType::List { child, .. } => ArrowType::List(Arc::new(nullable("item", child))),
        OrcType::Map { key, value, .. } => {
            let fields: Fields = vec![Field::new("keys", carrier(key), false), nullable("values", value)].into();
            ArrowType::Map(Arc::new(Field::new("entries", ArrowType::Struct(fields), false)), false)
        }
        other => other.to_arrow_data_type(),
    }
}

/// A decoded array of a column of type `orc` as one of `wanted`; fields of structs are found by name, and missing ones
/// are null. A `CHAR` is padded in the file and not in a table.
///
/// # Errors
/// `Corrupt` when the file's type or a value does not fit.
pub(super) fn convert(array: &ArrayRef, orc: &OrcType, wanted: &ArrowType) -> Result<ArrayRef> {
    if let (OrcType::Char { .. }, Some(text)) = (orc, array.as_string_opt::<i32>()) {
        return Ok(Arc::new(text.iter().map(|s| s.map(|s| s.trim_end_matches(' '))).collect::<StringArray>()));
    }
    if array.data_type() == wanted && !holds_char(orc) {
        return Ok(array.clone());
    }
    match (array.data_type(), wanted) {
        (ArrowType::Decimal128(38, 9), ArrowType::Timestamp(unit, _)) => timestamp(array, unit, wanted),
        (ArrowType::Decimal128(_, from), ArrowType::Decimal128(precision, to)) if from == to => {
            let values = array.as_primitive::<Decimal128Type>().clone();
            let values = values.with_precision_and_scale(*precision, *to).map_err(misfit)?;
            values.validate_decimal_precision(*precision).map_err(misfit)?;
            Ok(Arc::new(values))
        }
        (ArrowType::Int32, ArrowType::Time32(TimeUnit::Millisecond) | ArrowType::Date32) => {
            let data = array.as_primitive::<Int32Type>().to_data().into_builder().data_type(wanted.clone());
            Ok(make_array(data.build().map_err(misfit)?))
        }
        (ArrowType::Struct(_), ArrowType::Struct(fields)) => structure(array.as_struct(), orc, fields),
        (ArrowType::List(_), ArrowType::List(element)) => {
            let list = array.as_list::<i32>();
            let values = convert(list.values(), part(orc, 0)?, element.data_type())?;
            let list = ListArray::try_new(element.clone(), list.offsets().clone(), values, list.nulls().cloned());
            Ok(Arc::new(list.map_err(misfit)?))
        }
        (ArrowType::List(_), ArrowType::FixedSizeList(element, size)) => {
            vector(array.as_list(), part(orc, 0)?, element, *size)
        }
        (ArrowType::Map(..), ArrowType::Map(entries, _)) => map(array.as_map(), orc, entries),
        (from, to) => Err(Error::corrupt(format!("orc column of {from} does not hold {to}"))),
    }
}

/// The types of the parts of a nested type: fields, element, or key and value.
fn parts(orc: &OrcType) -> Vec<&OrcType> {
    match orc {
        OrcType::Struct { children, .. } => children.iter().map(|c| c.data_type()).collect(),
        OrcType::List { child, .. } => vec![child],
        OrcType::Map { key, value, .. } => vec![key, value],
        _ => Vec::new(),
    }
}

fn part(orc: &OrcType, index: usize) -> Result<&OrcType> {
    parts(orc).get(index).copied().ok_or_else(|| Error::corrupt("orc type lacks a part"))
}

fn holds_char(orc: &OrcType) -> bool {
    matches!(orc, OrcType::Char { .. }) || parts(orc).into_iter().any(holds_char)
}

fn misfit(e: arrow_schema::ArrowError) -> Error {
    Error::corrupt("orc values do not fit their column").with_source(e)
}

fn timestamp(array: &ArrayRef, unit: &TimeUnit, wanted: &ArrowType) -> Result<ArrayRef> {
    let divisor = match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    };
    let nanos = array.as_primitive::<Decimal128Type>();
    let bring = |n: i128| i64::try_from(n.div_euclid(divisor)).map_err(|_| out_of_range(unit));
    let values: PrimitiveArray<arrow_array::types::Int64Type> = nanos.try_unary(bring)?;
    let data = values.to_data().into_builder().data_type(wanted.clone());
    Ok(make_array(data.build().map_err(misfit)?))
}

/// A valid file can hold such values; Arrow's 64 bits of nanoseconds cannot.
#[cold]
fn out_of_range(unit: &TimeUnit) -> Error {
    match unit {
        TimeUnit::Nanosecond => {
            Error::unsupported("timestamps before 1677 or after 2262 in a column with nanoseconds").with_hint(WIDE_HINT)
        }
        _ => Error::corrupt("orc timestamp is out of range"),
    }
}

fn structure(array: &StructArray, orc: &OrcType, fields: &Fields) -> Result<ArrayRef> {
    if fields.is_empty() {
        return Ok(Arc::new(StructArray::new_empty_fields(array.len(), array.nulls().cloned())));
    }
    let column = |field: &Arc<Field>| match array.fields().iter().position(|f| f.name() == field.name()) {
        Some(place) => convert(array.column(place), part(orc, place)?, field.data_type()),
        None => Ok(new_null_array(field.data_type(), array.len())),
    };
    let columns = fields.iter().map(column).collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(StructArray::try_new(fields.clone(), columns, array.nulls().cloned()).map_err(misfit)?))
}

fn map(array: &MapArray, orc: &OrcType, entries: &Arc<Field>) -> Result<ArrayRef> {
    let ArrowType::Struct(fields) = entries.data_type() else {
        return Err(Error::internal("the entries of an Arrow map are not a struct"));
    };
    let [key, value] = &fields[..] else {
        return Err(Error::internal("the entries of an Arrow map are not pairs"));
    };
    let keys = convert(array.keys(), part(orc, 0)?, key.data_type())?;
    let columns = vec![keys, convert(array.values(), part(orc, 1)?, value.data_type())?];
    let pairs = StructArray::try_new(fields.clone(), columns, None).map_err(misfit)?;
    let map = MapArray::try_new(entries.clone(), array.offsets().clone(), pairs, array.nulls().cloned(), false);
    Ok(Arc::new(map.map_err(misfit)?))
}

/// Lists as vectors: every one that is not null has `size` elements, and behind nulls there are some to be made up.
fn vector(list: &ListArray, orc: &OrcType, element: &Arc<Field>, size: i32) -> Result<ArrayRef> {
    let length = usize::try_from(size).map_err(|_| Error::internal("a vector has a negative length"))?;
    let values = convert(list.values(), orc, element.data_type())?.to_data();
    let mut gathered = arrow_data::transform::MutableArrayData::new(vec![&values], true, list.len() * length);
    for i in 0..list.len() {
        let (start, end) = (list.value_offsets()[i] as usize, list.value_offsets()[i + 1] as usize);
        if list.is_null(i) {
            gathered.try_extend_nulls(length).map_err(misfit)?;
        } else if end - start == length {
            gathered.try_extend(0, start, end).map_err(misfit)?;
        } else {
            return Err(Error::corrupt(format!("orc vector has {} elements, not {length}", end - start)));
        }
    }
    let values = make_array(gathered.freeze());
    let array = FixedSizeListArray::try_new(element.clone(), size, values, list.nulls().cloned());
    Ok(Arc::new(array.map_err(misfit)?))
}
