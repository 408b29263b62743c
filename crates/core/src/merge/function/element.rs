//! Elements of ARRAY and MAP columns: where they lie in the sources, and arrays made of them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, MapArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType as ArrowType, FieldRef};
use linn_format::{Error, Result};

use super::NullKey;
use super::offset::offsets;

/// An element: source and position in the source's child array.
pub(super) type Item = (usize, usize);

/// One source of a list or map column.
#[derive(Debug)]
pub(super) struct ElementSource {
    nulls: Option<NullBuffer>,
    offsets: OffsetBuffer<i32>,
    pub(super) child: ArrayRef,
    child_nulls: Option<NullBuffer>,
}

impl ElementSource {
    /// Takes a list or map array apart.
    pub(super) fn new(column: &dyn Array) -> Result<Self> {
        let (offsets, child) = match column.data_type() {
            ArrowType::List(_) => {
                let list = column.as_list::<i32>();
                (list.offsets().clone(), list.values().clone())
            }
            ArrowType::Map(_, _) => {
                let map = column.as_map();
                (map.offsets().clone(), Arc::new(map.entries().clone()) as ArrayRef)
            }
            other => return Err(Error::internal(format!("an element function over a column of type {other}"))),
        };
        let child_nulls = child.nulls().filter(|nulls| nulls.null_count() > 0).cloned();
        let nulls = column.nulls().filter(|nulls| nulls.null_count() > 0).cloned();
        Ok(Self { nulls, offsets, child, child_nulls })
    }

    /// Whether an element is null.
    #[inline]
    pub(super) fn is_null(&self, at: usize) -> bool {
        self.child_nulls.as_ref().is_some_and(|nulls| nulls.is_null(at))
    }

    /// Whether a row is not null.
    #[inline]
    pub(super) fn is_valid(&self, row: usize) -> bool {
        self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row))
    }

    /// Whether some row is null.
    pub(super) fn has_nulls(&self) -> bool {
        self.nulls.is_some()
    }

    /// Positions of the elements of a row; `None` when the row is null.
    pub(super) fn positions(&self, row: usize) -> Option<std::ops::Range<usize>> {
        self.is_valid(row).then(|| self.offsets[row] as usize..self.offsets[row + 1] as usize)
    }
}

/// The struct type of the elements of an array or map column.
pub(super) fn element_type(data_type: &ArrowType) -> Result<&FieldRef> {
    match data_type {
        ArrowType::List(element) | ArrowType::Map(element, _) => Ok(element),
        _ => Err(Error::invalid("the aggregate function does not take this column type")),
    }
}

/// Positions of named fields in a struct type.
pub(super) fn field_positions(element: &ArrowType, names: &[String]) -> Result<Vec<usize>> {
    let ArrowType::Struct(fields) = element else {
        return Err(Error::invalid("the aggregate function takes ARRAY<ROW> columns"));
    };
    names
        .iter()
        .map(|name| {
            fields
                .iter()
                .position(|f| f.name() == name)
                .ok_or_else(|| Error::invalid(format!("the nested row has no field {name}")))
        })
        .collect()
}

/// Whether an element whose key is `filled` or not counts, by what is to be done about nulls in it.
pub(super) fn has_key(filled: Option<&NullBuffer>, at: usize, null_key: NullKey) -> Result<bool> {
    if filled.is_none_or(|filled| filled.is_valid(at)) {
        return Ok(true);
    }
    match null_key {
        NullKey::Merge => Ok(true),
        NullKey::Ignore => Ok(false),
        NullKey::Error => Err(Error::invalid("a nested key has a null field")),
    }
}

/// A list or map array from where the elements of each row end, and all elements.
pub(super) fn list_of(
    data_type: &ArrowType,
    ends: Vec<usize>,
    child: ArrayRef,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let offsets = offsets(ends.into_iter())?;
    match data_type {
        ArrowType::List(field) => Ok(Arc::new(ListArray::try_new(field.clone(), offsets, child, nulls)?)),
        ArrowType::Map(field, sorted) => {
            let entries = child.as_struct_opt().ok_or_else(|| Error::internal("map without entries"))?.clone();
            Ok(Arc::new(MapArray::try_new(field.clone(), offsets, entries, nulls, *sorted)?))
        }
        other => Err(Error::internal(format!("elements of a column of type {other}"))),
    }
}
