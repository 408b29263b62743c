//! Partition directories: `key=value/…` in both spellings, and back (spec: format.md C.1).
//!
//! With `partition.legacy-name` (the default) a value is spelled as Java prints its internal object, else as a cast to STRING
//! does. Null, empty and blank values share the default name.

mod path;
mod spec;
mod value;

#[cfg(test)]
mod tests;

pub use path::{escape, parse_partition_path, unescape};
pub use spec::{PartitionSpec, partition_name, partition_spec, partition_specs};
pub use value::{parse_partition_value, partition_value};

use crate::row::BinaryRow;
use crate::types::DataField;
use crate::{Error, Result, ResultExt};

/// The directory of a partition below the table, without a slash at its end; empty for an unpartitioned table.
///
/// # Errors
/// `Corrupt` when the row does not fit the fields, `Unsupported` for types that have no spelling.
pub fn partition_path(row: &BinaryRow, fields: &[&DataField], legacy_name: bool, default_name: &str) -> Result<String> {
    let values = partition_values(row, fields, legacy_name, default_name)?;
    let parts = fields.iter().zip(&values).map(|(field, value)| format!("{}={}", escape(&field.name), escape(value)));
    Ok(parts.collect::<Vec<_>>().join("/"))
}

/// The values of a partition as text, before escaping; nulls, empty and blank ones as `default_name`.
///
/// # Errors
/// As [`partition_path`].
pub fn partition_values(
    row: &BinaryRow,
    fields: &[&DataField],
    legacy_name: bool,
    default_name: &str,
) -> Result<Vec<String>> {
    if row.arity() != fields.len() {
        return Err(Error::corrupt(format!("partition has {} values for {} keys", row.arity(), fields.len())));
    }
    let value = |(i, field): (usize, &&DataField)| {
        let datum = row.datum(i, &field.data_type).context("partition key", &field.name)?;
        let text = match &datum {
            Some(datum) => {
                partition_value(datum, &field.data_type, legacy_name).context("partition key", &field.name)?
            }
            None => String::new(),
        };
        Ok(if is_blank(&text) { default_name.to_owned() } else { text })
    };
    fields.iter().enumerate().map(value).collect()
}

/// Whether Java calls every character white space.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| {
        let no_break = matches!(c, '\u{a0}' | '\u{2007}' | '\u{202f}' | '\u{85}');
        (c.is_whitespace() && !no_break) || matches!(c, '\u{1c}'..='\u{1f}')
    })
}

/// The row of a partition given as text by key, where `None` is null.
///
/// # Errors
/// `Invalid` when a key is missing or unknown, or a value is not one of its type.
pub fn partition_from_values(values: &[(String, Option<String>)], fields: &[&DataField]) -> Result<BinaryRow> {
    if let Some((key, _)) = values.iter().find(|(key, _)| !fields.iter().any(|f| f.name == *key)) {
        let keys: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        return Err(Error::invalid(format!("{key:?} is not a partition key")).with_hint(match keys.is_empty() {
            true => "the table has no partitions".to_owned(),
            false => format!("the keys are {}", keys.join(", ")),
        }));
    }
    let mut datums = Vec::with_capacity(fields.len());
    for field in fields {
        let Some((_, text)) = values.iter().find(|(key, _)| *key == field.name) else {
            return Err(Error::invalid(format!("partition key {:?} has no value", field.name)));
        };
        let datum = text.as_ref().map(|text| parse_partition_value(text, &field.data_type)).transpose()?;
        datums.push((datum, &field.data_type));
    }
    BinaryRow::from_datums(&datums)
}
