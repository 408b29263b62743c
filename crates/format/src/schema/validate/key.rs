//! Columns, keys and buckets.

use super::{bare_names, invalid};
use crate::Result;
use crate::options::table::bucket::BUCKET_KEY;
use crate::options::table::{compaction, key};
use crate::schema::TableSchema;
use crate::types::{DataField, KEY_PREFIX, Kind, LEVEL, ROW_ID, ROW_KIND, SEQUENCE_NUMBER, VALUE_KIND};

const RESERVED: &[&str] = &[SEQUENCE_NUMBER, VALUE_KIND, LEVEL, ROW_KIND, ROW_ID];

/// There are columns, and none has a reserved name.
pub(super) fn columns(schema: &TableSchema) -> Result<()> {
    if schema.fields.is_empty() {
        return Err(invalid("a table needs a column", "add one"));
    }
    for field in &schema.fields {
        if field.name.is_empty() {
            return Err(invalid("a column needs a name", "give it one"));
        }
        if RESERVED.contains(&field.name.as_str()) || field.name.starts_with(KEY_PREFIX) {
            return Err(invalid(format!("column name {:?} is reserved", field.name), "choose another name"));
        }
        siblings_unique(&field.data_type.kind, &field.name)?;
    }
    Ok(())
}

/// Field names are unique within each ROW.
fn siblings_unique(kind: &Kind, path: &str) -> Result<()> {
    match kind {
        Kind::Array(inner) | Kind::Multiset(inner) => siblings_unique(&inner.kind, path),
        Kind::Map(key, value) => {
            siblings_unique(&key.kind, path)?;
            siblings_unique(&value.kind, path)
        }
        Kind::Row(fields) => {
            let mut names = std::collections::HashSet::new();
            for field in fields {
                let path = format!("{path}.{}", field.name);
                if !names.insert(&field.name) {
                    return Err(invalid(format!("field {path:?} is defined twice"), "rename one of them"));
                }
                siblings_unique(&field.data_type.kind, &path)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Keys exist, have types that can be keys, and differ from each other.
pub(super) fn keys(schema: &TableSchema) -> Result<()> {
    for (what, names) in [("partition", &schema.partition_keys), ("primary key", &schema.primary_keys)] {
        for name in names {
            let Some(field) = schema.field(name) else {
                return Err(invalid(
                    format!("{what} column {name:?} is not a column of the table"),
                    "name existing columns",
                ));
            };
            if is_nested(field) || matches!(field.data_type.kind, Kind::Blob) {
                return Err(invalid(
                    format!("{what} column {name:?} cannot be of type {}", field.data_type),
                    "use a column of a plain type",
                ));
            }
        }
    }
    let nullable = schema.options.is_on(&key::PRIMARY_KEY_NULLABLE)?;
    if nullable && schema.primary_keys.is_empty() {
        return Err(invalid("option \"primary-key.nullable\" needs a primary key", "define one, or remove the option"));
    }
    if schema.is_primary_key_table() && schema.trimmed_primary_keys().is_empty() {
        return Err(invalid(
            "the primary key has the partition columns only, so each partition would hold one row",
            "add another column to the primary key",
        ));
    }
    if let Some(field) = schema.primary_key_fields().into_iter().find(|f| f.data_type.nullable && !nullable) {
        return Err(invalid(format!("primary key column {:?} must be NOT NULL", field.name), "make it NOT NULL"));
    }
    Ok(())
}

fn is_nested(field: &DataField) -> bool {
    use Kind::{Array, Map, Multiset, Row, Variant, Vector};
    matches!(field.data_type.kind, Array(_) | Map(..) | Multiset(_) | Row(_) | Variant | Vector { .. })
}

/// The number of buckets and the bucket key go together (spec: features.md B6).
pub(super) fn bucket(schema: &TableSchema) -> Result<()> {
    let bucket = schema.options.bucket()?;
    let named = schema.options.bucket_key();
    let has_key = schema.is_primary_key_table();
    if let Some(names) = schema.options.text(&BUCKET_KEY) {
        bare_names(BUCKET_KEY.key, names)?;
    }
    match bucket {
        -1 => {
            if !named.is_empty() {
                return Err(invalid(
                    "option \"bucket-key\" cannot be set with \"bucket\" = \"-1\"",
                    "remove it, or set \"bucket\" to a number of buckets",
                ));
            }
            if !has_key && schema.options.is_set(&compaction::FULL_COMPACTION_DELTA_COMMITS) {
                return Err(invalid(
                    "option \"full-compaction.delta-commits\" does nothing for an append table without buckets",
                    "remove it",
                ));
            }
            return Ok(());
        }
        -2 if has_key => {}
        1.. => {}
        _ => {
            let hint = "set it to a number above 0, to -1, or for a table with a primary key to -2";
            return Err(invalid(format!("option \"bucket\" cannot be {bucket}"), hint));
        }
    }
    if schema.is_cross_partition() {
        return Err(invalid(
            "the primary key lacks partition columns, which needs dynamic buckets",
            "set \"bucket\" = \"-1\", or add the partition columns to the primary key",
        ));
    }
    let keys = schema.bucket_keys()?;
    if keys.is_empty() && !(bucket == 1 && schema.version == 1) {
        return Err(invalid("an append table with buckets needs \"bucket-key\"", "set it, or set \"bucket\" = \"-1\""));
    }
    bucket_key(schema, &keys)
}

fn bucket_key(schema: &TableSchema, keys: &[&DataField]) -> Result<()> {
    for field in keys {
        let name = &field.name;
        if schema.partition_keys.contains(name) {
            return Err(invalid(format!("\"bucket-key\" names partition column {name:?}"), "leave it out"));
        }
        if schema.is_primary_key_table() && !schema.primary_keys.contains(name) {
            return Err(invalid(
                format!("\"bucket-key\" names {name:?}, which is not in the primary key"),
                "name columns of the primary key",
            ));
        }
        if is_nested(field) {
            return Err(invalid(
                format!("\"bucket-key\" names {name:?} of type {}", field.data_type),
                "name columns of plain types",
            ));
        }
    }
    if schema.options.bucket_function_word()? == "mod" {
        let fits = matches!(keys, [field] if matches!(field.data_type.kind, Kind::Int | Kind::BigInt));
        if !fits {
            return Err(invalid(
                "\"bucket-function.type\" = \"mod\" needs a bucket key of one INT or BIGINT column",
                "use the default function",
            ));
        }
    }
    Ok(())
}
