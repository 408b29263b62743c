//! Values that their type does not admit.

use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, ArrayRef, BinaryArray, StringArray};
use arrow_buffer::{BooleanBuffer, NullBuffer, OffsetBuffer};

use crate::types::{DataType, Kind};

/// The length of types without one.
const NO_LIMIT: u32 = i32::MAX as u32;

/// A value that its type does not admit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// The row.
    pub row: usize,
    /// Where in the row: names of fields, outermost first; elements, keys and values of collections by these words.
    pub within: Vec<String>,
    /// What is wrong with it.
    pub what: String,
}

impl Misfit {
    fn at(row: usize, what: String) -> Self {
        Self { row, within: Vec::new(), what }
    }

    fn inside(mut self, name: &str, row: usize) -> Self {
        self.within.insert(0, name.to_owned());
        self.row = row;
        self
    }

    /// The column with what follows of the path inside of it.
    pub fn path(&self, column: &str) -> String {
        std::iter::once(column).chain(self.within.iter().map(String::as_str)).collect::<Vec<_>>().join(".")
    }
}

/// The first value of a column, which has the Arrow type of `data_type`, that the type does not admit.
pub fn misfit(column: &ArrayRef, data_type: &DataType) -> Option<Misfit> {
    find(column, data_type, None)
}

/// The first such value of every row that has one.
pub fn misfits(column: &ArrayRef, data_type: &DataType) -> Vec<Misfit> {
    let Some(first) = misfit(column, data_type) else { return Vec::new() };
    let of_row = |row: usize| Some(Misfit { row, ..misfit(&column.slice(row, 1), data_type)? });
    let rest = (first.row + 1..column.len()).filter_map(of_row);
    // A nested column is not searched in the order of its rows.
    let before = (0..first.row).filter_map(of_row).collect::<Vec<_>>();
    before.into_iter().chain([first.clone()]).chain(rest).collect()
}

/// `alive` are the slots that belong to a value; others hold anything.
fn find(column: &ArrayRef, data_type: &DataType, alive: Option<&NullBuffer>) -> Option<Misfit> {
    let lives = |row: usize| alive.is_none_or(|alive| alive.is_valid(row));
    if !data_type.nullable && column.null_count() > 0 {
        let null = (0..column.len()).find(|row| column.is_null(*row) && lives(*row));
        if let Some(row) = null {
            return Some(Misfit::at(row, "null where the type is NOT NULL".to_owned()));
        }
    }
    let valid = NullBuffer::union(alive, column.nulls());
    let valid = valid.as_ref();
    match &data_type.kind {
        Kind::Char(length) | Kind::Varchar(length) if *length < NO_LIMIT => {
            long_text(column.as_string_opt()?, *length, data_type, valid)
        }
        Kind::Binary(length) | Kind::Varbinary(length) if *length < NO_LIMIT => {
            long_bytes(column.as_binary_opt()?, *length, data_type, valid)
        }
        Kind::Decimal { precision, .. } => large_decimal(column, *precision, data_type, valid),
        Kind::Row(fields) => {
            let children = column.as_struct_opt()?.columns().iter().zip(fields);
            children.into_iter().find_map(|(child, field)| {
                let found = find(child, &field.data_type, valid)?;
                let row = found.row;
                Some(found.inside(&field.name, row))
            })
        }
        Kind::Array(element) => {
            let list = column.as_list_opt::<i32>()?;
            elements(list.offsets(), list.values(), element, "element", valid)
        }
        Kind::Vector { element, .. } => {
            let list = column.as_fixed_size_list_opt()?;
            let length = usize::try_from(list.value_length()).ok()?;
            let offsets = OffsetBuffer::from_repeated_length(length, list.len());
            elements(&offsets, list.values(), element, "element", valid)
        }
        Kind::Map(key, value) => {
            let map = column.as_map_opt()?;
            elements(map.offsets(), map.keys(), key, "key", valid)
                .or_else(|| elements(map.offsets(), map.values(), value, "value", valid))
        }
        Kind::Multiset(element) => {
            let map = column.as_map_opt()?;
            elements(map.offsets(), map.keys(), element, "element", valid)
        }
        _ => None,
    }
}

/// Looks into the elements of collections.
fn elements(
    offsets: &OffsetBuffer<i32>,
    values: &ArrayRef,
    element: &DataType,
    name: &str,
    valid: Option<&NullBuffer>,
) -> Option<Misfit> {
    let at = |i: usize| offsets.get(i).and_then(|offset| usize::try_from(*offset).ok());
    let (first, last) = (at(0)?, at(offsets.len().checked_sub(1)?)?);
    let values = values.slice(first, last.checked_sub(first)?);
    // The elements of a null collection are nobody's.
    let alive = valid.filter(|valid| valid.null_count() > 0).map(|valid| {
        let owners = offsets.windows(2).zip(valid.iter());
        let alive = owners.flat_map(|(pair, valid)| {
            let length = pair.get(1).zip(pair.first()).map_or(0, |(end, begin)| end - begin);
            std::iter::repeat_n(valid, usize::try_from(length).unwrap_or(0))
        });
        NullBuffer::new(BooleanBuffer::from_iter(alive))
    });
    let found = find(&values, element, alive.as_ref())?;
    let place = i32::try_from(first + found.row).ok()?;
    let row = offsets.partition_point(|offset| *offset <= place).checked_sub(1)?;
    Some(found.inside(name, row))
}

fn lives(valid: Option<&NullBuffer>, row: usize) -> bool {
    valid.is_none_or(|valid| valid.is_valid(row))
}

/// A text has at most as many characters as bytes, so that most are not counted.
fn long_text(column: &StringArray, length: u32, data_type: &DataType, valid: Option<&NullBuffer>) -> Option<Misfit> {
    let limit = usize::try_from(length).ok()?;
    let longer = |row: usize| {
        let count = column.value(row).chars().count();
        (count > limit).then(|| too_long(row, count, data_type))
    };
    let bytes = column.offsets().windows(2).enumerate();
    let many =
        bytes.filter(|(_, pair)| matches!(pair, [begin, end] if usize::try_from(end - begin).is_ok_and(|n| n > limit)));
    many.filter(|(row, _)| lives(valid, *row)).find_map(|(row, _)| longer(row))
}

fn long_bytes(column: &BinaryArray, length: u32, data_type: &DataType, valid: Option<&NullBuffer>) -> Option<Misfit> {
    let limit = usize::try_from(length).ok()?;
    let count = |row: usize| column.value(row).len();
    let row = (0..column.len()).find(|row| lives(valid, *row) && count(*row) > limit)?;
    Some(too_long(row, count(row), data_type))
}

fn too_long(row: usize, length: usize, data_type: &DataType) -> Misfit {
    Misfit::at(row, format!("a value of length {length} is too long for {}", bare(data_type)))
}

fn large_decimal(column: &ArrayRef, precision: u8, data_type: &DataType, valid: Option<&NullBuffer>) -> Option<Misfit> {
    let values = column.as_primitive_opt::<Decimal128Type>()?;
    let limit = 10_u128.checked_pow(u32::from(precision))?;
    let large = |value: &i128| value.unsigned_abs() >= limit;
    let mut found = values.values().iter().enumerate().filter(|(_, value)| large(value));
    let (row, value) = found.find(|(row, _)| lives(valid, *row))?;
    let digits = value.unsigned_abs().to_string().len();
    Some(Misfit::at(row, format!("a value of {digits} digits is too large for {}", bare(data_type))))
}

/// The type as users write it, without its nullability.
fn bare(data_type: &DataType) -> String {
    data_type.clone().with_nullable(true).to_string()
}
