//! ARRAY, MAP and ROW as strings: `[a, b]`, `{k -> v, k -> v}`, `{a, b}`, with `null` for nulls.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};

use super::wrong;
use crate::Result;
use crate::types::{DataType, Kind};

pub(super) fn to_string(array: &ArrayRef, from: &DataType) -> Result<ArrayRef> {
    let wrong = || wrong(array, &from.kind);
    let mut out = StringBuilder::new();
    match &from.kind {
        Kind::Array(element) => {
            let list = array.as_list_opt::<i32>().ok_or_else(wrong)?;
            let values = strings(list.values(), element)?;
            for row in 0..list.len() {
                let bounds = list.value_offsets()[row] as usize..list.value_offsets()[row + 1] as usize;
                let items: Vec<_> = bounds.map(|i| item(&values, i)).collect();
                append(&mut out, list.is_valid(row), || format!("[{}]", items.join(", ")));
            }
        }
        Kind::Map(key, value) => {
            let map = array.as_map_opt().ok_or_else(wrong)?;
            let (keys, values) = (strings(map.keys(), key)?, strings(map.values(), value)?);
            for row in 0..map.len() {
                let bounds = map.value_offsets()[row] as usize..map.value_offsets()[row + 1] as usize;
                let items: Vec<_> = bounds.map(|i| format!("{} -> {}", item(&keys, i), item(&values, i))).collect();
                append(&mut out, map.is_valid(row), || format!("{{{}}}", items.join(", ")));
            }
        }
        Kind::Row(fields) => {
            let rows = array.as_struct_opt().filter(|r| r.num_columns() == fields.len()).ok_or_else(wrong)?;
            let columns = rows.columns().iter().zip(fields).map(|(c, f)| strings(c, &f.data_type));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            for row in 0..rows.len() {
                let items: Vec<_> = columns.iter().map(|c| item(c, row)).collect();
                append(&mut out, rows.is_valid(row), || format!("{{{}}}", items.join(", ")));
            }
        }
        _ => return Err(wrong()),
    }
    Ok(Arc::new(out.finish()))
}

fn strings(array: &ArrayRef, of: &DataType) -> Result<StringArray> {
    let strings = super::cast(array, of, &DataType::string())?;
    Ok(strings.as_string_opt::<i32>().ok_or_else(|| wrong(&strings, &of.kind))?.clone())
}

fn item(values: &StringArray, row: usize) -> &str {
    if values.is_null(row) { "null" } else { values.value(row) }
}

fn append(out: &mut StringBuilder, valid: bool, text: impl FnOnce() -> String) {
    if valid { out.append_value(text()) } else { out.append_null() }
}
