//! What a schema must fulfil before it is written (spec: features.md B2–B8, B10; case M14).
//!
//! Checked when a table is made and after every change, on the whole schema; files that exist are read as they are.

mod feature;
mod format;
mod key;
mod merge;
mod scan;

use super::TableSchema;
use crate::options::{OPTIONS, check_value};
use crate::{Error, Result};

/// Checks a schema as a whole.
///
/// # Errors
/// `Invalid` naming the column or option that is wrong and what to do; `Unsupported` naming a feature.
pub fn validate(schema: &TableSchema) -> Result<()> {
    option_values(schema)?;
    key::columns(schema)?;
    key::keys(schema)?;
    key::bucket(schema)?;
    field_options(schema)?;
    merge::sequence_field(schema)?;
    merge::engine(schema)?;
    feature::changelog(schema)?;
    feature::deletion_vectors(schema)?;
    feature::retention(schema)?;
    feature::columns_by_option(schema)?;
    feature::row_tracking(schema)?;
    feature::clustering(schema)?;
    format::formats(schema)?;
    scan::start(schema)
}

/// Every known option has a value of its kind.
fn option_values(schema: &TableSchema) -> Result<()> {
    for def in OPTIONS {
        for key in std::iter::once(&def.key).chain(def.fallback_keys) {
            if let Some(text) = schema.options.raw(key) {
                check_value(def, text)?;
            }
        }
    }
    Ok(())
}

/// `fields.<column>.…` options name columns.
fn field_options(schema: &TableSchema) -> Result<()> {
    for (key, _) in schema.options.iter() {
        let Some(rest) = key.strip_prefix("fields.") else { continue };
        if rest == "default-aggregate-function" {
            continue;
        }
        let of_column = |name: &str| rest.strip_prefix(name).is_some_and(|suffix| suffix.starts_with('.'));
        if schema.fields.iter().any(|field| of_column(&field.name)) {
            continue;
        }
        let names = rest.strip_suffix(".sequence-group").unwrap_or_else(|| rest.split('.').next().unwrap_or(rest));
        for name in names.split(',').map(str::trim) {
            known_column(schema, name, key)?;
        }
    }
    Ok(())
}

/// The column that an option names.
fn known_column<'a>(schema: &'a TableSchema, name: &str, key: &str) -> Result<&'a crate::types::DataField> {
    schema.field(name).ok_or_else(|| {
        invalid(format!("option {key:?} names column {name:?}, which does not exist"), "name a column of the table")
    })
}

/// Names with commas and nothing else between them.
fn bare_names(key: &str, names: &str) -> Result<()> {
    match names.split(',').any(|name| name.is_empty() || name.trim() != name) {
        false => Ok(()),
        true => Err(invalid(
            format!("option {key:?} has blanks or nothing where a name should be"),
            "part names by commas alone: other engines take blanks as parts of names",
        )),
    }
}

fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Error {
    Error::invalid(message).with_hint(hint)
}
