//! Elements of ARRAY and MAP columns: where they lie in the sources, what makes two of them the same, and arrays made of them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, MapArray};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::{DataType as ArrowType, FieldRef};
use linn_format::{Error, Result};

use super::NullKey;

/// An element: source and position in the source's child array.
pub(super) type Item = (usize, usize);

/// One source of a list or map column.
pub(super) struct ElementSource {
    nulls: Option<NullBuffer>,
    offsets: OffsetBuffer<i32>,
    pub(super) child: ArrayRef,
}

impl ElementSource {
    /// Takes a list or map array apart.
    pub(super) fn new(column: &ArrayRef) -> Result<Self> {
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
        Ok(Self { nulls: column.nulls().cloned(), offsets, child })
    }

    /// Positions of the elements of a row; `None` when the row is null.
    pub(super) fn positions(&self, row: usize) -> Option<std::ops::Range<usize>> {
        let there = self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        there.then(|| self.offsets[row] as usize..self.offsets[row + 1] as usize)
    }
}

/// Some columns of the elements, encoded so that equal bytes mean equal values and bytes compare like values.
pub(super) struct Identity {
    fields: Vec<usize>,
    converter: RowConverter,
}

impl Identity {
    /// Of whole elements when `fields` is empty, of these fields of a struct otherwise.
    pub(super) fn new(element: &ArrowType, fields: Vec<usize>) -> Result<Self> {
        let types: Vec<ArrowType> = match element {
            _ if fields.is_empty() => vec![element.clone()],
            ArrowType::Struct(all) => fields.iter().map(|&f| all[f].data_type().clone()).collect(),
            _ => return Err(Error::invalid("elements without fields have no key")),
        };
        let sort: Vec<SortField> = types.into_iter().map(SortField::new).collect();
        if !RowConverter::supports_fields(&sort) {
            return Err(Error::unsupported("comparing elements of this type"));
        }
        Ok(Self { fields, converter: RowConverter::new(sort)? })
    }

    /// Positions of the fields; none when it is all of an element.
    pub(super) fn fields(&self) -> &[usize] {
        &self.fields
    }

    /// Encodes all elements of a source.
    pub(super) fn encode(&self, child: &ArrayRef) -> Result<Rows> {
        let columns = match (self.fields.is_empty(), child.as_struct_opt()) {
            (true, _) => vec![child.clone()],
            (false, Some(rows)) => self.fields.iter().map(|&f| rows.column(f).clone()).collect(),
            (false, None) => return Err(Error::internal("elements of a nested table are not rows")),
        };
        Ok(self.converter.convert_columns(&columns)?)
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

/// Whether an element counts, by what is to be done about nulls in its key.
pub(super) fn has_key(child: &ArrayRef, fields: &[usize], at: usize, null_key: NullKey) -> Result<bool> {
    let Some(rows) = child.as_struct_opt() else { return Ok(true) };
    if fields.iter().all(|&f| rows.column(f).is_valid(at)) {
        return Ok(true);
    }
    match null_key {
        NullKey::Merge => Ok(true),
        NullKey::Ignore => Ok(false),
        NullKey::Error => Err(Error::invalid("a nested key has a null field")),
    }
}

/// A list or map array without nulls from the lengths of its rows and their elements.
pub(super) fn list_of(data_type: &ArrowType, lengths: &[usize], child: ArrayRef) -> Result<ArrayRef> {
    let mut offsets = Vec::with_capacity(lengths.len() + 1);
    let mut end = 0i32;
    offsets.push(end);
    for &length in lengths {
        let next = i32::try_from(length).ok().and_then(|length| end.checked_add(length));
        end = next.ok_or_else(|| Error::unsupported("more than 2^31 elements in one batch"))?;
        offsets.push(end);
    }
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    match data_type {
        ArrowType::List(field) => Ok(Arc::new(ListArray::try_new(field.clone(), offsets, child, None)?)),
        ArrowType::Map(field, sorted) => {
            let entries = child.as_struct_opt().ok_or_else(|| Error::internal("map without entries"))?.clone();
            Ok(Arc::new(MapArray::try_new(field.clone(), offsets, entries, None, *sorted)?))
        }
        other => Err(Error::internal(format!("elements of a column of type {other}"))),
    }
}
