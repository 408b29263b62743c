//! Rows and statistics as text, the way the reference spells them.

use std::collections::BTreeMap;
use std::fmt::Display;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use linn_format::cast::cast;
use linn_format::datum::{Datum, array_from_datums};
use linn_format::row::BinaryRow;
use linn_format::types::{DataField, DataType};
use linn_format::{Error, Result};

/// A value as a cast to STRING gives it.
pub(super) fn cast_text(value: Datum, data_type: &DataType) -> Result<String> {
    let array = cast(&array_from_datums(&[Some(value)], data_type)?, data_type, &DataType::string())?;
    let text = array.as_string_opt::<i32>().filter(|text| text.len() == 1);
    Ok(text.ok_or_else(|| Error::internal("a cast to STRING gave something else"))?.value(0).to_owned())
}

/// `{a, b}`, values cast to STRING.
pub(super) fn row_text(row: &BinaryRow, fields: &[&DataField]) -> Result<String> {
    let types = fields.iter().map(|field| &field.data_type);
    let mut texts = Vec::with_capacity(fields.len());
    // Statistics of no entries at all have no columns.
    let values = if row.arity() == 0 { vec![None; fields.len()] } else { row.datums(types)? };
    for (value, field) in values.into_iter().zip(fields) {
        texts.push(match value {
            Some(value) => cast_text(value, &field.data_type)?,
            None => "null".to_owned(),
        });
    }
    Ok(format!("{{{}}}", texts.join(", ")))
}

/// `[a, b]`, values as Java prints them; `None` for a row without columns.
pub(super) fn key_text(row: &BinaryRow, fields: &[&DataField]) -> Result<Option<String>> {
    if row.arity() == 0 {
        return Ok(None);
    }
    let values = row.datums(fields.iter().map(|field| &field.data_type))?;
    let texts: Vec<String> = values.iter().map(|value| or_null(value.as_ref())).collect();
    Ok(Some(format!("[{}]", texts.join(", "))))
}

/// `{a=1, b=null}`, names in order.
pub(super) fn map_text<T: Display>(entries: &BTreeMap<&str, Option<T>>) -> String {
    let entries: Vec<String> =
        entries.iter().map(|(name, value)| format!("{name}={}", or_null(value.as_ref()))).collect();
    format!("{{{}}}", entries.join(", "))
}

fn or_null<T: Display>(value: Option<&T>) -> String {
    value.map_or_else(|| "null".to_owned(), T::to_string)
}
