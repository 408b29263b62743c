//! Field ids: fresh ones for trees built by users, computed ones for the parts of nested types (spec: format.md C.3, C.7).

use super::{DataField, DataType, Kind};
use crate::{Error, Result};

/// Where the ids of array elements, map keys and map values are counted from.
const STRUCTURE_ID_BASE: i32 = i32::MAX / 4;
/// How many levels of arrays and maps one field can have.
const STRUCTURE_DEPTH: i32 = 1 << 10;

/// Id of the element of an array at `depth` arrays and maps below the field `id`; wraps like the reference does.
pub fn element_id(id: i32, depth: i32) -> i32 {
    STRUCTURE_ID_BASE.wrapping_add(id.wrapping_mul(STRUCTURE_DEPTH)).wrapping_add(depth)
}

/// Id of the key of a map at `depth` arrays and maps below the field `id`.
pub fn map_key_id(id: i32, depth: i32) -> i32 {
    STRUCTURE_ID_BASE.wrapping_sub(id.wrapping_mul(STRUCTURE_DEPTH)).wrapping_sub(depth)
}

/// Id of the value of a map at `depth` arrays and maps below the field `id`.
pub fn map_value_id(id: i32, depth: i32) -> i32 {
    element_id(id, depth)
}

/// Gives fresh ids, counted up from `highest`, to columns and to every field of a ROW inside them. A column gets its id
/// before the fields inside it, a field of a ROW after those inside it, as in the reference.
///
/// # Errors
/// `Invalid` when the ids run out.
pub fn assign_ids(fields: Vec<DataField>, highest: &mut i32) -> Result<Vec<DataField>> {
    fields
        .into_iter()
        .map(|mut field| {
            field.id = next(highest)?;
            field.data_type = assign_nested_ids(field.data_type, highest)?;
            Ok(field)
        })
        .collect()
}

/// [`assign_ids`] for the ROW fields inside one type.
///
/// # Errors
/// `Invalid` when the ids run out.
pub fn assign_nested_ids(data_type: DataType, highest: &mut i32) -> Result<DataType> {
    let mut boxed = |t: Box<DataType>| assign_nested_ids(*t, highest).map(Box::new);
    let kind = match data_type.kind {
        Kind::Array(element) => Kind::Array(boxed(element)?),
        Kind::Multiset(element) => Kind::Multiset(boxed(element)?),
        Kind::Map(key, value) => {
            let key = boxed(key)?;
            Kind::Map(key, boxed(value)?)
        }
        Kind::Row(fields) => Kind::Row(
            fields
                .into_iter()
                .map(|mut field| {
                    field.data_type = assign_nested_ids(field.data_type, highest)?;
                    field.id = next(highest)?;
                    Ok(field)
                })
                .collect::<Result<_>>()?,
        ),
        other => other,
    };
    Ok(DataType { kind, nullable: data_type.nullable })
}

/// The largest id in the tree, −1 for an empty one.
pub fn highest_id(fields: &[DataField]) -> i32 {
    fields.iter().map(|f| f.id.max(highest_in_type(&f.data_type))).max().unwrap_or(-1)
}

fn highest_in_type(data_type: &DataType) -> i32 {
    match &data_type.kind {
        Kind::Array(element) | Kind::Multiset(element) => highest_in_type(element),
        Kind::Map(key, value) => highest_in_type(key).max(highest_in_type(value)),
        Kind::Row(fields) => highest_id(fields),
        _ => -1,
    }
}

fn next(highest: &mut i32) -> Result<i32> {
    // Ids from here on belong to the parts of nested types and to system columns.
    match highest.checked_add(1) {
        Some(id) if id < STRUCTURE_ID_BASE => {
            *highest = id;
            Ok(id)
        }
        _ => Err(Error::invalid("the field ids of this table are used up")),
    }
}
