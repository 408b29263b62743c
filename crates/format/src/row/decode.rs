//! Binary rows back into Arrow arrays, of any type.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, StringBuilder};
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, FixedSizeListArray, ListArray, MapArray, PrimitiveArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType as ArrowType, FieldRef};

use crate::types::{DataType, Kind, arrow_type, wide_of};
use crate::{Error, Result};

use super::BinaryRow;
use super::slot::{Section, Slot, element_len};

/// The columns of `rows`, in the Arrow types of `types`.
///
/// # Errors
/// `Corrupt` when a row has another arity or its bytes contradict the types.
pub fn columns_from_rows(rows: &[BinaryRow], types: &[DataType]) -> Result<Vec<ArrayRef>> {
    if let Some(row) = rows.iter().find(|row| row.arity() != types.len()) {
        return Err(Error::corrupt(format!("binary row has {} fields instead of {}", row.arity(), types.len())));
    }
    let sections: Vec<_> = rows.iter().map(|row| Some(row.section())).collect();
    let arrows = types.iter().map(arrow_type).collect::<Result<Vec<_>>>()?;
    fields(&sections, types.iter().zip(&arrows))
}

/// One column for each field of rows, of which some may be null.
pub(super) fn fields<'a>(
    rows: &[Option<Section<'_>>],
    types: impl ExactSizeIterator<Item = (&'a DataType, &'a ArrowType)>,
) -> Result<Vec<ArrayRef>> {
    let arity = types.len();
    types
        .enumerate()
        .map(|(i, (data_type, arrow))| {
            let slots = rows.iter().map(|row| row.filter(|r| !r.row_is_null(i)).map(|r| r.row_slot(arity, i)));
            let slots: Vec<_> = slots.collect();
            column(&slots, data_type, arrow)
        })
        .collect()
}

fn column(slots: &[Option<Slot<'_>>], data_type: &DataType, arrow: &ArrowType) -> Result<ArrayRef> {
    Ok(match &data_type.kind {
        Kind::Boolean => {
            let values = slots.iter().map(|s| s.map(|s| s.boolean()).transpose());
            Arc::new(values.collect::<Result<BooleanArray>>()?)
        }
        Kind::TinyInt => primitive::<Int8Type>(slots, arrow, |s| s.byte())?,
        Kind::SmallInt => primitive::<Int16Type>(slots, arrow, |s| s.short())?,
        Kind::Int => primitive::<Int32Type>(slots, arrow, |s| s.int())?,
        Kind::BigInt => primitive::<Int64Type>(slots, arrow, |s| s.long())?,
        Kind::Float => primitive::<Float32Type>(slots, arrow, |s| s.float())?,
        Kind::Double => primitive::<Float64Type>(slots, arrow, |s| s.double())?,
        Kind::Date => primitive::<Date32Type>(slots, arrow, |s| s.int())?,
        Kind::Time(_) => primitive::<Time32MillisecondType>(slots, arrow, |s| s.int())?,
        Kind::Timestamp(p) | Kind::LocalZonedTimestamp(p) => timestamps(slots, *p, arrow)?,
        Kind::WideTimestamp { precision, .. } => primitive::<Decimal128Type>(slots, arrow, |s| {
            let (millis, nanos) = s.timestamp(*precision)?;
            Ok(wide_of(millis, nanos))
        })?,
        Kind::Decimal { precision, .. } => primitive::<Decimal128Type>(slots, arrow, |s| s.decimal(*precision))?,
        Kind::Char(_) | Kind::Varchar(_) => {
            let mut out = StringBuilder::with_capacity(slots.len(), 0);
            for slot in slots {
                out.append_option(slot.map(|s| s.string()).transpose()?);
            }
            Arc::new(out.finish())
        }
        Kind::Binary(_) | Kind::Varbinary(_) | Kind::Blob => {
            let mut out = BinaryBuilder::with_capacity(slots.len(), 0);
            for slot in slots {
                out.append_option(slot.map(|s| s.bytes()).transpose()?);
            }
            Arc::new(out.finish())
        }
        _ => nested(slots, data_type, arrow)?,
    })
}

fn primitive<T: ArrowPrimitiveType>(
    slots: &[Option<Slot<'_>>],
    arrow: &ArrowType,
    read: impl Fn(&Slot<'_>) -> Result<T::Native>,
) -> Result<ArrayRef> {
    let values = slots.iter().map(|s| s.as_ref().map(&read).transpose());
    Ok(Arc::new(values.collect::<Result<PrimitiveArray<T>>>()?.with_data_type(arrow.clone())))
}

fn timestamps(slots: &[Option<Slot<'_>>], precision: u8, arrow: &ArrowType) -> Result<ArrayRef> {
    let read = |s: &Slot<'_>, per_milli: i64| {
        let (millis, nanos) = s.timestamp(precision)?;
        let rest = i64::from(nanos) / (1_000_000 / per_milli);
        let value = millis.checked_mul(per_milli).and_then(|v| v.checked_add(rest));
        value.ok_or_else(|| Error::corrupt(format!("timestamp of {millis} milliseconds is out of range")))
    };
    match precision {
        0..=3 => primitive::<TimestampMillisecondType>(slots, arrow, |s| read(s, 1)),
        4..=6 => primitive::<TimestampMicrosecondType>(slots, arrow, |s| read(s, 1_000)),
        _ => primitive::<TimestampNanosecondType>(slots, arrow, |s| read(s, 1_000_000)),
    }
}

fn nested(slots: &[Option<Slot<'_>>], data_type: &DataType, arrow: &ArrowType) -> Result<ArrayRef> {
    let nulls = NullBuffer::from_iter(slots.iter().map(Option::is_some));
    let nulls = Some(nulls).filter(|n| n.null_count() > 0);
    match (&data_type.kind, arrow) {
        (Kind::Array(element), ArrowType::List(field)) => {
            let sections = sections(slots, |s| s.nested())?;
            let (offsets, values) = elements(&sections, element, field)?;
            Ok(Arc::new(ListArray::try_new(field.clone(), offsets, values, nulls)?))
        }
        (Kind::Multiset(key), ArrowType::Map(entries, _)) => {
            map(slots, key, &DataType::required(Kind::Int), entries, nulls)
        }
        (Kind::Map(key, value), ArrowType::Map(entries, _)) => map(slots, key, value, entries, nulls),
        (Kind::Row(row), ArrowType::Struct(arrow_fields)) => {
            let sections = sections(slots, |s| s.nested_row(row.len()))?;
            let types = row.iter().map(|f| &f.data_type).zip(arrow_fields.iter().map(|f| f.data_type()));
            // A zip of slices of one length, which the type system does not know.
            let types: Vec<_> = types.collect();
            let columns = fields(&sections, types.into_iter())?;
            Ok(Arc::new(StructArray::try_new_with_length(arrow_fields.clone(), columns, nulls, slots.len())?))
        }
        (Kind::Variant, ArrowType::Struct(arrow_fields)) => {
            let parts = sections(slots, |s| s.variant())?;
            let values = parts.iter().map(|p| p.map_or(&[][..], |(value, _)| value));
            let metadata = parts.iter().map(|p| p.map_or(&[][..], |(_, metadata)| metadata));
            let values: ArrayRef = Arc::new(BinaryArray::from_iter_values(values));
            let metadata: ArrayRef = Arc::new(BinaryArray::from_iter_values(metadata));
            let columns = arrow_fields.iter().map(|f| if f.name() == "value" { &values } else { &metadata });
            let columns = columns.cloned().collect();
            Ok(Arc::new(StructArray::try_new_with_length(arrow_fields.clone(), columns, nulls, slots.len())?))
        }
        (Kind::Vector { element, length }, ArrowType::FixedSizeList(field, size)) => {
            let length = *length as usize;
            let mut all = Vec::with_capacity(slots.len() * length);
            for slot in slots {
                match slot {
                    Some(slot) => all.extend(slot.vector(length, element_len(&element.kind))?.map(Some)),
                    None => all.resize(all.len() + length, None),
                }
            }
            let values = column(&all, element, field.data_type())?;
            Ok(Arc::new(FixedSizeListArray::try_new(field.clone(), *size, values, nulls)?))
        }
        (kind, arrow) => Err(Error::internal(format!("no arrow array of {arrow} from a {kind:?}"))),
    }
}

fn sections<'a, T>(slots: &[Option<Slot<'a>>], read: impl Fn(&Slot<'a>) -> Result<T>) -> Result<Vec<Option<T>>> {
    slots.iter().map(|s| s.as_ref().map(&read).transpose()).collect()
}

/// Offsets and values of arrays.
fn elements(
    arrays: &[Option<Section<'_>>],
    element: &DataType,
    field: &FieldRef,
) -> Result<(OffsetBuffer<i32>, ArrayRef)> {
    let mut all = Vec::new();
    let mut lengths = Vec::with_capacity(arrays.len());
    for array in arrays {
        let before = all.len();
        if let Some(array) = array {
            all.extend(array.elements(element_len(&element.kind))?);
        }
        lengths.push(all.len() - before);
    }
    if i32::try_from(all.len()).is_err() {
        return Err(Error::invalid(format!("{} array elements in one batch", all.len())));
    }
    Ok((OffsetBuffer::from_lengths(lengths), column(&all, element, field.data_type())?))
}

fn map(
    slots: &[Option<Slot<'_>>],
    key: &DataType,
    value: &DataType,
    entries: &FieldRef,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let ArrowType::Struct(entry_fields) = entries.data_type() else {
        return Err(Error::internal("map entries are not a struct"));
    };
    let maps = sections(slots, |s| s.map())?;
    let keys: Vec<_> = maps.iter().map(|m| m.map(|(keys, _)| keys)).collect();
    let values: Vec<_> = maps.iter().map(|m| m.map(|(_, values)| values)).collect();
    let (offsets, keys) = elements(&keys, key, &entry_fields[0])?;
    let (value_offsets, values) = elements(&values, value, &entry_fields[1])?;
    if offsets != value_offsets {
        return Err(Error::corrupt("a binary map has different numbers of keys and values"));
    }
    if keys.null_count() > 0 {
        return Err(Error::unsupported("a null key of a map in Arrow"));
    }
    let entry = StructArray::try_new_with_length(
        entry_fields.clone(),
        vec![keys, values],
        None,
        offsets.last().map_or(0, |n| *n as usize),
    )?;
    Ok(Arc::new(MapArray::try_new(entries.clone(), offsets, entry, nulls, false)?))
}
