//! Lists, maps and rows: their parts are columns of their own, from JSON text as from values, and are converted as such.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, FixedSizeListArray, ListArray, MapArray, StringArray, StringBuilder, StructArray,
    UInt32Array, new_null_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::compute::take;
use arrow::datatypes::{DataType as ArrowType, Field, Fields};
use linn::format::types::{DataField, DataType, Kind};
use linn::{Error, Result};

use super::super::Unknown;
use super::super::json::outline;
use super::{Misfit, a, no_way, plain, scalar, shown};

/// Converts a nested column. With misfits the result is of no use.
///
/// # Errors
/// `Unsupported` when there is no way from the one type to the other.
pub(super) fn convert(
    column: &ArrayRef,
    field: &DataField,
    arrow: &Field,
    unknown: Unknown,
) -> Result<(ArrayRef, Vec<Misfit>)> {
    let context = Context { field, unknown };
    match (&field.data_type.kind, arrow.data_type()) {
        (Kind::Array(element), ArrowType::List(to)) => context.list(column, element, to, None),
        (Kind::Vector { element, length }, ArrowType::FixedSizeList(to, _)) => {
            context.list(column, element, to, Some(usize::try_from(*length).unwrap_or(usize::MAX)))
        }
        (Kind::Map(key, value), ArrowType::Map(entries, _)) => context.map(column, key, value, entries),
        (Kind::Multiset(element), ArrowType::Map(entries, _)) => {
            context.map(column, element, &DataType::required(Kind::Int), entries)
        }
        (Kind::Row(fields), ArrowType::Struct(to)) => context.row(column, fields, to),
        (Kind::Variant, ArrowType::Struct(to)) => context.variant(column, to),
        _ => Err(no_way(column.data_type(), field)),
    }
}

#[derive(Clone, Copy)]
struct Context<'f> {
    field: &'f DataField,
    unknown: Unknown,
}

/// Values that belong to rows: those of a row stand one behind the other.
struct Parts {
    /// Values of each row, none for null.
    lengths: Vec<Option<usize>>,
    columns: Vec<ArrayRef>,
    misfits: Vec<Misfit>,
}

impl Parts {
    fn nulls(&self) -> Option<NullBuffer> {
        let nulls: NullBuffer = self.lengths.iter().map(Option::is_some).collect();
        (nulls.null_count() > 0).then_some(nulls)
    }

    /// Where the values of each row end.
    fn offsets(&self) -> Result<OffsetBuffer<i32>> {
        let mut offsets = vec![0_i32];
        let mut end = 0_usize;
        for length in &self.lengths {
            end += length.unwrap_or(0);
            offsets.push(i32::try_from(end).map_err(|_| Error::unsupported("more than 2^31 elements in a batch"))?);
        }
        Ok(OffsetBuffer::new(ScalarBuffer::from(offsets)))
    }

    /// The row of each value.
    fn rows(&self) -> Vec<usize> {
        let rows = self.lengths.iter().enumerate();
        rows.flat_map(|(row, length)| std::iter::repeat_n(row, length.unwrap_or(0))).collect()
    }
}

impl Context<'_> {
    fn list(
        self,
        column: &ArrayRef,
        element: &DataType,
        to: &Arc<Field>,
        length: Option<usize>,
    ) -> Result<(ArrayRef, Vec<Misfit>)> {
        let mut parts = match column.data_type() {
            ArrowType::Utf8 => self.read(column.as_string(), 1, &|text, cells| {
                let elements = outline::elements(text).ok_or_else(|| "expected an array".to_owned())?;
                elements.map(|element| cells.push(0, element)).sum()
            }),
            ArrowType::List(_) => {
                let list = compact(column)?;
                let list: &ListArray = list.as_list();
                Parts {
                    lengths: lengths(list.offsets(), list.nulls()),
                    columns: vec![within(list.values(), list.offsets())],
                    misfits: Vec::new(),
                }
            }
            ArrowType::Null => self.read(&StringArray::new_null(column.len()), 1, &|_, _| Ok(0)),
            other => return Err(no_way(other, self.field)),
        };
        if let Some(length) = length {
            let wrong = |(row, found): (usize, &Option<usize>)| {
                let found = found.filter(|found| *found != length)?;
                Some((row, format!("{found} values are not {}", a(self.field))))
            };
            parts.misfits.extend(parts.lengths.iter().enumerate().filter_map(wrong));
        }
        let values = self.part(&mut parts, 0, &part("element", element), to)?;
        if !parts.misfits.is_empty() {
            return self.useless(column.len(), parts, to, length);
        }
        let (nulls, to) = (parts.nulls(), Arc::clone(to));
        let array: ArrayRef = match length {
            None => Arc::new(ListArray::try_new(to, parts.offsets()?, values, nulls)?),
            Some(length) => {
                let rows = spread(&parts, length);
                let size = i32::try_from(length).map_err(|_| Error::unsupported("a VECTOR of this length"))?;
                Arc::new(FixedSizeListArray::try_new(to, size, take(&values, &rows, None)?, nulls)?)
            }
        };
        Ok((array, Vec::new()))
    }

    fn useless(
        self,
        rows: usize,
        parts: Parts,
        to: &Arc<Field>,
        length: Option<usize>,
    ) -> Result<(ArrayRef, Vec<Misfit>)> {
        let to = match length.map(i32::try_from) {
            None => ArrowType::List(Arc::clone(to)),
            Some(length) => ArrowType::FixedSizeList(Arc::clone(to), length.unwrap_or(i32::MAX)),
        };
        Ok((new_null_array(&to, rows), parts.misfits))
    }

    fn map(
        self,
        column: &ArrayRef,
        key: &DataType,
        value: &DataType,
        entries: &Arc<Field>,
    ) -> Result<(ArrayRef, Vec<Misfit>)> {
        let ArrowType::Struct(to) = entries.data_type() else { return Err(no_way(column.data_type(), self.field)) };
        let mut parts = match column.data_type() {
            ArrowType::Utf8 => self.read(column.as_string(), 2, &map_entries),
            ArrowType::Map(..) => {
                let map = compact(column)?;
                let map = map.as_map();
                let of = |values: &ArrayRef| within(values, map.offsets());
                Parts {
                    lengths: lengths(map.offsets(), map.nulls()),
                    columns: vec![of(map.keys()), of(map.values())],
                    misfits: Vec::new(),
                }
            }
            ArrowType::Null => self.read(&StringArray::new_null(column.len()), 2, &|_, _| Ok(0)),
            other => return Err(no_way(other, self.field)),
        };
        let (Some(key_to), Some(value_to)) = (to.first(), to.get(1)) else {
            return Err(no_way(column.data_type(), self.field));
        };
        let keys = self.part(&mut parts, 0, &part("key", &key.clone().with_nullable(false)), key_to)?;
        let values = self.part(&mut parts, 1, &part("value", value), value_to)?;
        if !parts.misfits.is_empty() {
            let to = ArrowType::Map(Arc::clone(entries), false);
            return Ok((new_null_array(&to, column.len()), parts.misfits));
        }
        let pairs = StructArray::try_new(to.clone(), vec![keys, values], None)?;
        let map = MapArray::try_new(Arc::clone(entries), parts.offsets()?, pairs, parts.nulls(), false)?;
        Ok((Arc::new(map), Vec::new()))
    }

    fn row(self, column: &ArrayRef, fields: &[DataField], to: &Fields) -> Result<(ArrayRef, Vec<Misfit>)> {
        let mut parts = match column.data_type() {
            ArrowType::Utf8 => self.read_rows(column.as_string(), fields),
            ArrowType::Struct(_) => self.columns(column.as_struct(), fields)?,
            ArrowType::Null => self.read_rows(&StringArray::new_null(column.len()), fields),
            other => return Err(no_way(other, self.field)),
        };
        let mut columns = Vec::with_capacity(fields.len());
        for (at, (field, to)) in fields.iter().zip(to).enumerate() {
            columns.push(self.part(&mut parts, at, field, to)?);
        }
        if !parts.misfits.is_empty() {
            return Ok((new_null_array(&ArrowType::Struct(to.clone()), column.len()), parts.misfits));
        }
        if columns.is_empty() {
            return Ok((Arc::new(StructArray::new_empty_fields(column.len(), parts.nulls())), Vec::new()));
        }
        Ok((Arc::new(StructArray::try_new(to.clone(), columns, parts.nulls())?), Vec::new()))
    }

    fn variant(self, column: &ArrayRef, to: &Fields) -> Result<(ArrayRef, Vec<Misfit>)> {
        let bytes = DataType { nullable: false, ..DataType::bytes() };
        if *column.data_type() == ArrowType::Utf8 {
            // As it is exported: the bytes of both parts.
            let fields: Vec<_> = to.iter().map(|part| DataField::new(0, part.name(), bytes.clone())).collect();
            return self.row(column, &fields, to);
        }
        let Some(parts) = column.as_struct_opt().filter(|parts| parts.num_columns() == to.len()) else {
            return Err(no_way(column.data_type(), self.field));
        };
        let column = |field: &Arc<Field>| {
            let part = parts.column_by_name(field.name()).ok_or_else(|| no_way(parts.data_type(), self.field))?;
            Ok(arrow::compute::cast(&plain(part)?, field.data_type())?)
        };
        let columns = to.iter().map(column).collect::<Result<Vec<_>>>()?;
        Ok((Arc::new(StructArray::try_new(to.clone(), columns, parts.nulls().cloned())?), Vec::new()))
    }

    /// Converts one of the columns of parts; misfits are those of the rows that the values belong to.
    fn part(self, parts: &mut Parts, at: usize, field: &DataField, to: &Arc<Field>) -> Result<ArrayRef> {
        let column = parts.columns.get(at).ok_or_else(|| Error::internal("a nested column lacks a part"))?;
        let column = plain(column)?;
        let (converted, mut misfits) = match to.data_type().is_nested() {
            true => convert(&column, field, to, self.unknown)?,
            false => scalar(&column, field, to)?,
        };
        // Fields of a row that is null are null, whatever is demanded of them.
        let is_row = matches!(self.field.data_type.kind, Kind::Row(_) | Kind::Variant);
        if !field.data_type.nullable && misfits.is_empty() {
            let null = |row: &usize| converted.is_null(*row) && !(is_row && parts.lengths.get(*row) == Some(&None));
            misfits.extend((0..converted.len()).filter(null).map(|row| (row, "null where none is allowed".to_owned())));
        }
        if !misfits.is_empty() {
            let rows = if is_row { Vec::new() } else { parts.rows() };
            let named = |(row, reason): (usize, String)| {
                let row = if is_row { row } else { rows.get(row).copied().unwrap_or_default() };
                (row, format!("{}: {reason}", field.name))
            };
            parts.misfits.extend(misfits.into_iter().map(named));
        }
        Ok(converted)
    }

    /// Parts from JSON text.
    fn read(
        self,
        text: &StringArray,
        columns: usize,
        cut: &dyn Fn(&str, &mut Cells) -> Result<usize, String>,
    ) -> Parts {
        let mut cells = Cells((0..columns).map(|_| StringBuilder::new()).collect());
        let (mut lengths, mut misfits) = (Vec::with_capacity(text.len()), Vec::new());
        for (row, value) in text.iter().enumerate() {
            let value = value.filter(|value| value.trim() != "null");
            let length = value.map(|value| match outline::check(value).and_then(|()| cut(value, &mut cells)) {
                Ok(length) => length,
                Err(why) => {
                    misfits.push((row, format!("{:?} is not JSON of {}: {why}", shown(value), a(self.field))));
                    0
                }
            });
            lengths.push(length);
        }
        let columns = cells.0.into_iter().map(|mut cells| Arc::new(cells.finish()) as ArrayRef).collect();
        Parts { lengths, columns, misfits }
    }

    /// As [`read`](Self::read): one value of each field for each row.
    fn read_rows(self, text: &StringArray, fields: &[DataField]) -> Parts {
        let places: HashMap<&str, usize> = fields.iter().enumerate().map(|(at, f)| (f.name.as_str(), at)).collect();
        let nothing = |cells: &mut Cells| cells.0.iter_mut().for_each(StringBuilder::append_null);
        let mut cells = Cells(fields.iter().map(|_| StringBuilder::new()).collect());
        let (mut lengths, mut misfits) = (Vec::with_capacity(text.len()), Vec::new());
        for (row, value) in text.iter().enumerate() {
            let value = value.filter(|value| value.trim() != "null");
            lengths.push(value.map(|_| 1));
            let Some(value) = value else {
                nothing(&mut cells);
                continue;
            };
            match outline::check(value).and_then(|()| self.members(value, &places)) {
                Ok(found) => {
                    cells.0.iter_mut().zip(found).for_each(|(cells, value)| cells.append_option(value));
                }
                Err(why) => {
                    nothing(&mut cells);
                    misfits.push((row, format!("{:?} is not JSON of {}: {why}", shown(value), a(self.field))));
                }
            }
        }
        let columns = cells.0.into_iter().map(|mut cells| Arc::new(cells.finish()) as ArrayRef).collect();
        Parts { lengths, columns, misfits }
    }

    fn members<'t>(
        self,
        text: &'t str,
        places: &HashMap<&str, usize>,
    ) -> Result<Vec<Option<std::borrow::Cow<'t, str>>>, String> {
        let mut found = vec![None; places.len()];
        for member in outline::members(text).ok_or_else(|| "expected an object".to_owned())? {
            let (key, value) = member?;
            let key = super::super::chunk::named(&key);
            match places.get(key).and_then(|at| found.get_mut(*at)) {
                Some(place) => *place = outline::cell(value)?,
                None if self.unknown == Unknown::Ignored => {}
                None => return Err(format!("the type has no field {key:?} (--ignore-unknown leaves it out)")),
            }
        }
        Ok(found)
    }

    /// The columns of a struct by name.
    fn columns(self, rows: &StructArray, fields: &[DataField]) -> Result<Parts> {
        let known = |name: &str| fields.iter().any(|field| field.name == name);
        if let Some(other) = rows.fields().iter().find(|field| !known(field.name()))
            && self.unknown == Unknown::Refused
        {
            return Err(Error::invalid("the file has fields that the table does not have")
                .with("column", &self.field.name)
                .with("field", other.name())
                .with_hint("leave them out with --ignore-unknown"));
        }
        let lengths: Vec<_> = (0..rows.len()).map(|row| rows.is_valid(row).then_some(1)).collect();
        // What stands in the fields of a row that is null counts for nothing.
        let only: UInt32Array = lengths.iter().zip(0_u32..).map(|(length, row)| length.map(|_| row)).collect();
        let column = |field: &DataField| match rows.column_by_name(&field.name) {
            Some(column) if rows.null_count() == 0 => Ok(Arc::clone(column)),
            Some(column) => Ok(take(column, &only, None)?),
            None => Ok(new_null_array(&ArrowType::Null, rows.len())),
        };
        let columns = fields.iter().map(column).collect::<Result<_>>()?;
        Ok(Parts { lengths, columns, misfits: Vec::new() })
    }
}

/// Columns of text that are being filled.
struct Cells(Vec<StringBuilder>);

impl Cells {
    /// Appends a JSON value; how many values these are.
    fn push(&mut self, column: usize, value: &str) -> Result<usize, String> {
        let value = outline::cell(value)?;
        if let Some(column) = self.0.get_mut(column) {
            column.append_option(value);
        }
        Ok(1)
    }
}

/// The entries of an object, or of an array of objects with a `key` and a `value`.
fn map_entries(text: &str, cells: &mut Cells) -> Result<usize, String> {
    if let Some(members) = outline::members(text) {
        let mut count = 0;
        for member in members {
            let (key, value) = member?;
            let value = outline::cell(value)?;
            if let [keys, values] = cells.0.as_mut_slice() {
                keys.append_value(key);
                values.append_option(value);
            }
            count += 1;
        }
        return Ok(count);
    }
    let wanted = || "expected an object, or an array of objects with \"key\" and \"value\"".to_owned();
    let mut count = 0;
    for entry in outline::elements(text).ok_or_else(wanted)? {
        let (mut key, mut value) = (None, None);
        for member in outline::members(entry).ok_or_else(wanted)? {
            match member? {
                (name, text) if name == "key" => key = outline::cell(text)?,
                (name, text) if name == "value" => value = outline::cell(text)?,
                _ => return Err(wanted()),
            }
        }
        if let [keys, values] = cells.0.as_mut_slice() {
            keys.append_option(key);
            values.append_option(value);
        }
        count += 1;
    }
    Ok(count)
}

fn part(name: &str, data_type: &DataType) -> DataField {
    DataField::new(0, name, data_type.clone())
}

/// The list or map without values that belong to no row.
fn compact(column: &ArrayRef) -> Result<ArrayRef> {
    if column.null_count() == 0 {
        return Ok(Arc::clone(column));
    }
    let rows: UInt32Array =
        (0..column.len()).zip(0_u32..).map(|(at, row)| column.is_valid(at).then_some(row)).collect();
    Ok(take(column, &rows, None)?)
}

fn lengths(offsets: &OffsetBuffer<i32>, nulls: Option<&NullBuffer>) -> Vec<Option<usize>> {
    let valid = |row: usize| nulls.is_none_or(|nulls| nulls.is_valid(row));
    offsets.lengths().enumerate().map(|(row, length)| valid(row).then_some(length)).collect()
}

/// The values between the first offset and the last.
fn within(values: &ArrayRef, offsets: &OffsetBuffer<i32>) -> ArrayRef {
    let start = offsets.first().and_then(|start| usize::try_from(*start).ok()).unwrap_or_default();
    let end = offsets.last().and_then(|end| usize::try_from(*end).ok()).unwrap_or_default();
    values.slice(start, end.saturating_sub(start))
}

/// Which value stands where when every row has `length` places: rows that are null have nulls.
fn spread(parts: &Parts, length: usize) -> UInt32Array {
    let mut next = 0_u32;
    let mut rows = Vec::with_capacity(parts.lengths.len() * length);
    for found in &parts.lengths {
        for _ in 0..length {
            rows.push(found.map(|_| next));
            next += u32::from(found.is_some());
        }
    }
    UInt32Array::from(rows)
}
