//! Which leaves of a file hold the wanted columns. Columns and fields of ROWs are found by name.

use parquet::arrow::ProjectionMask;
use parquet::schema::types::{SchemaDescriptor, Type};

use crate::types::{DataField, DataType, Kind};
use crate::{Error, Result, ResultExt};

/// The leaves to read for `fields`.
///
/// # Errors
/// `Unsupported` for shredded variants.
pub(super) fn leaves(schema: &SchemaDescriptor, fields: &[DataField]) -> Result<ProjectionMask> {
    let mut leaves = Vec::new();
    let mut next = 0;
    for column in schema.root_schema().get_fields() {
        if let Some(field) = fields.iter().find(|f| f.name == column.name()) {
            select(column, &field.data_type, next, &mut leaves).context("column", &field.name)?;
        }
        next += count(column);
    }
    Ok(ProjectionMask::leaves(schema, leaves))
}

/// Number of leaves below a node.
fn count(node: &Type) -> usize {
    if node.is_primitive() { 1 } else { node.get_fields().iter().map(|f| count(f)).sum() }
}

/// Adds the leaves of `node`, whose first is `first`, that `wanted` needs.
fn select(node: &Type, wanted: &DataType, first: usize, leaves: &mut Vec<usize>) -> Result<()> {
    if node.is_primitive() {
        leaves.push(first);
        return Ok(());
    }
    match &wanted.kind {
        Kind::Row(fields) => structure(node, fields, first, leaves),
        Kind::Variant if node.get_fields().iter().any(|f| f.name() == "typed_value") => {
            Err(Error::unsupported("shredded variants"))
        }
        Kind::Array(element) | Kind::Vector { element, .. } => match &element.kind {
            // Pruning inside is only worth it, and only unambiguous, in the three-level layout.
            Kind::Row(_) => match three_level(node) {
                Some(inner) => select(inner, element, first, leaves),
                None => all(node, first, leaves),
            },
            _ => all(node, first, leaves),
        },
        Kind::Map(_, value) => match node.get_fields().first().map(|entries| entries.get_fields()) {
            Some([key, inner]) => {
                all(key, first, leaves)?;
                select(inner, value, first + count(key), leaves)
            }
            _ => all(node, first, leaves),
        },
        _ => all(node, first, leaves),
    }
}

fn three_level(list: &Type) -> Option<&Type> {
    let repeated = list.get_fields().first()?;
    let standard = repeated.is_group() && repeated.get_fields().len() == 1 && matches!(repeated.name(), "list" | "bag");
    standard.then(|| repeated.get_fields().first().map(|t| &**t)).flatten()
}

fn structure(node: &Type, wanted: &[DataField], first: usize, leaves: &mut Vec<usize>) -> Result<()> {
    let (before, mut next) = (leaves.len(), first);
    for child in node.get_fields() {
        if let Some(field) = wanted.iter().find(|f| f.name == child.name()) {
            select(child, &field.data_type, next, leaves).context("field", &field.name)?;
        }
        next += count(child);
    }
    if leaves.len() == before && next > first {
        // None of the fields is there, but some leaf has to tell which rows are null.
        leaves.push(first);
    }
    Ok(())
}

fn all(node: &Type, first: usize, leaves: &mut Vec<usize>) -> Result<()> {
    leaves.extend(first..first + count(node));
    Ok(())
}
