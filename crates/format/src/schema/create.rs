//! The first schema of a table (spec: features.md B1, B10).

use std::collections::HashSet;

use super::default::check_default;
use super::{SCHEMA_VERSION, TableSchema, validate, writable};
use crate::options::{Options, parse_list};
use crate::types::{DataField, assign_ids};
use crate::{Error, Result, ResultExt, SchemaId};

/// What a user says about a table to be made.
#[derive(Debug, Clone, Default)]
pub struct NewTable {
    /// Columns in order; their ids are assigned anew.
    pub columns: Vec<DataField>,
    /// Names of the partition columns, in partition order.
    pub partition_keys: Vec<String>,
    /// Names of the primary key columns, in key order.
    pub primary_keys: Vec<String>,
    /// Table options; `primary-key` and `partition` may stand here instead.
    pub options: Options,
    /// Comment of the table.
    pub comment: Option<String>,
}

impl TableSchema {
    /// Schema 0 of a new table: ids assigned, primary key columns made NOT NULL, everything validated.
    ///
    /// # Errors
    /// `Invalid` naming the column or option that is wrong, `Unsupported` naming the option that cannot be had.
    pub fn create(table: NewTable, now_millis: i64) -> Result<Self> {
        let mut highest = -1;
        let fields = assign_ids(table.columns, &mut highest)?;
        let mut schema = Self {
            version: SCHEMA_VERSION,
            id: SchemaId(0),
            fields,
            highest_field_id: highest,
            partition_keys: table.partition_keys,
            primary_keys: table.primary_keys,
            options: table.options,
            comment: table.comment,
            time_millis: now_millis,
        };
        normalize(&mut schema)?;
        validate(&schema)?;
        check_defaults(&schema.fields)?;
        schema.options.check_writable()?;
        writable::check(&schema)?;
        Ok(schema)
    }
}

/// The default values of columns are values of their types.
fn check_defaults(fields: &[DataField]) -> Result<()> {
    let given = fields.iter().filter_map(|field| Some((field, field.default_value.as_deref()?)));
    given.into_iter().try_for_each(|(field, text)| check_default(&field.data_type, text).context("column", &field.name))
}

/// Moves keys that are given as options to where they belong, and gives primary key columns their nullability.
pub(super) fn normalize(schema: &mut TableSchema) -> Result<()> {
    take_keys(&mut schema.options, "primary-key", &mut schema.primary_keys)?;
    take_keys(&mut schema.options, "partition", &mut schema.partition_keys)?;
    check_names(schema)?;
    let nullable = schema.options.is_on(&crate::options::table::key::PRIMARY_KEY_NULLABLE)?;
    for field in &mut schema.fields {
        if schema.primary_keys.contains(&field.name) {
            field.data_type.nullable = nullable;
        }
    }
    Ok(())
}

fn take_keys(options: &mut Options, key: &'static str, names: &mut Vec<String>) -> Result<()> {
    let Some(text) = options.remove(key) else { return Ok(()) };
    if !names.is_empty() {
        return Err(Error::invalid(format!("option {key:?} is set although the table defines these columns already"))
            .with_hint(format!("remove the option {key:?}")));
    }
    *names = parse_list(&text).into_iter().map(str::to_owned).collect();
    Ok(())
}

/// Column names are unique; key names are unique and name columns.
fn check_names(schema: &TableSchema) -> Result<()> {
    let mut seen = HashSet::new();
    if let Some(field) = schema.fields.iter().find(|field| !seen.insert(field.name.as_str())) {
        return Err(Error::invalid(format!("column {:?} is defined twice", field.name)).with_hint("rename one of them"));
    }
    for (what, names) in [("partition", &schema.partition_keys), ("primary key", &schema.primary_keys)] {
        let mut seen = HashSet::new();
        for name in names {
            if !seen.insert(name) {
                return Err(Error::invalid(format!("column {name:?} is named twice as a {what} column"))
                    .with_hint("name it once"));
            }
            if schema.field(name).is_none() {
                return Err(Error::invalid(format!("{what} column {name:?} is not a column of the table"))
                    .with_hint("name existing columns"));
            }
        }
    }
    Ok(())
}
