//! Options of single columns: `aggregation_fields`.

use std::collections::BTreeMap;

use linn_format::Result;
use linn_format::types::DataField;

use super::SystemRows;
use super::columns::{Column, rows};
use crate::schema::Schemas;
use crate::table::Table;

/// A column with the values and the keys of its options.
pub(super) struct Described {
    field: DataField,
    values: Vec<String>,
    keys: Vec<String>,
}

pub(super) async fn aggregation_fields(table: &Table) -> Result<SystemRows> {
    let Some(schema) = Schemas::new(table).latest().await? else { return rows_of(&[]) };
    let mut options: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (key, value) in schema.options.iter() {
        let mut parts = key.split('.');
        if let (Some("fields"), Some(column), Some(_)) = (parts.next(), parts.next(), parts.next()) {
            options.entry(column).or_default().push((key, value));
        }
    }
    let described = schema.fields.iter().map(|field| {
        let given = options.get(field.name.as_str()).map(Vec::as_slice).unwrap_or_default();
        Described {
            field: field.clone(),
            values: given.iter().map(|(_, value)| (*value).to_owned()).collect(),
            keys: given.iter().map(|(key, _)| (*key).to_owned()).collect(),
        }
    });
    rows_of(&described.collect::<Vec<_>>())
}

pub(super) fn rows_of(all: &[Described]) -> Result<SystemRows> {
    let list = |texts: &[String]| Some(format!("[{}]", texts.join(", ")));
    rows([
        Column::text("field_name", all.iter().map(|d| Some(&d.field.name))).required(),
        Column::text("field_type", all.iter().map(|d| Some(d.field.data_type.to_string()))).required(),
        Column::text("function", all.iter().map(|d| list(&d.values))),
        Column::text("function_options", all.iter().map(|d| list(&d.keys))),
        Column::text("comment", all.iter().map(|d| d.field.description.as_ref())),
    ])
}
