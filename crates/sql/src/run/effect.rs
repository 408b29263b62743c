//! What UPDATE and DELETE write back to a table with a primary key so that its merge engine makes of it what they say. Where it
//! would not, they are refused: a change that is accepted takes effect (spec: features.md B2; case M6).

use datafusion::arrow::array::{Array, RecordBatch};
use linn::format::options::MergeEngine;
use linn::format::options::table::key;
use linn::format::types::{DataField, RowKind};
use linn::{Error, Result, Table};

use crate::names::quoted;

/// Functions by which the value of an update stands.
const STANDING: [&str; 2] = ["last_value", "last_non_null_value"];

fn refused(table: &Table, what: impl Into<String>, hint: &str) -> Error {
    Error::unsupported(what).with("table", table.name()).with_hint(hint)
}

/// Rows of the table can be deleted.
///
/// # Errors
/// `Unsupported` when the merge engine would keep them.
pub(super) fn deletes(table: &Table) -> Result<()> {
    let options = &table.schema().options;
    if options.ignore_delete()? {
        return Err(refused(table, "deleting rows from a table that ignores deletes", "its 'ignore-delete' is 'true'"));
    }
    let by_group = options.is_set(&key::PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP);
    let of_partial = options.is_on(&key::PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE)?;
    let of_aggregate = options.is_on(&key::AGGREGATION_REMOVE_RECORD_ON_DELETE)?;
    let hint = match options.merge_engine()? {
        MergeEngine::Deduplicate => return Ok(()),
        MergeEngine::PartialUpdate if by_group || of_partial => return Ok(()),
        MergeEngine::Aggregate if of_aggregate => return Ok(()),
        MergeEngine::PartialUpdate => {
            "set 'partial-update.remove-record-on-delete' to 'true', or with sequence groups \
             'partial-update.remove-record-on-sequence-group' to a column that orders one"
        }
        MergeEngine::Aggregate => {
            "make the table with 'aggregation.remove-record-on-delete' = 'true', or write -D records, which the functions take \
             back one by one"
        }
        MergeEngine::FirstRow => "the first row of a key is kept; drop partitions, or overwrite the table",
    };
    let engine = options.merge_engine()?;
    Err(refused(table, format!("deleting rows with merge engine {engine} and the options of this table"), hint))
}

/// These columns can be set to other values.
///
/// # Errors
/// `Unsupported` when the merge engine would keep the old ones, or make something else of both.
pub(super) fn updates<'a>(table: &Table, assigned: impl IntoIterator<Item = &'a str>) -> Result<()> {
    let schema = table.schema();
    if schema.options.merge_engine()? == MergeEngine::FirstRow {
        return Err(refused(table, "updating rows with merge engine first-row", "the first row of a key is kept"));
    }
    let assigned: Vec<&str> = assigned.into_iter().collect();
    for field in schema.fields.iter().filter(|field| !schema.primary_keys.contains(&field.name)) {
        let Some(function) = function(table, &field.name).filter(|function| !STANDING.contains(function)) else {
            continue;
        };
        if assigned.contains(&field.name.as_str()) {
            return Err(refused(
                table,
                format!("updating a column with aggregate function {function}"),
                "an update would be merged with the existing value; INSERT the value to be merged instead",
            )
            .with("column", &field.name));
        }
        if !field.data_type.nullable {
            return Err(refused(
                table,
                format!("updating rows with a NOT NULL column that has aggregate function {function}"),
                "its value would be merged a second time; INSERT the value to be merged instead, or make the column nullable",
            )
            .with("column", &field.name));
        }
    }
    Ok(())
}

/// The function that aggregates a column.
fn function<'a>(table: &'a Table, name: &str) -> Option<&'a str> {
    let options = &table.schema().options;
    let function = options.aggregate_of(name);
    match options.merge_engine().ok()? {
        MergeEngine::Aggregate => function.filter(|_| !options.sequence_fields().contains(&name)),
        MergeEngine::PartialUpdate => {
            function.filter(|_| options.sequence_groups().iter().any(|(_, protected)| protected.contains(&name)))
        }
        _ => None,
    }
}

/// What is written back in a column that an update leaves alone, when it is not the value that is there: merged once more, that
/// would count twice.
pub(super) fn left_alone(table: &Table, field: &DataField) -> Option<&'static str> {
    let function = function(table, &field.name).filter(|f| !STANDING.contains(f));
    function.filter(|_| !table.schema().primary_keys.contains(&field.name)).map(|_| "NULL")
}

/// What a delete writes in a column, when it is not the value that is there: the kind of the row, where a column holds it.
pub(super) fn of_deleted(table: &Table, field: &DataField) -> Option<String> {
    let holds_kind = table.schema().options.rowkind_field() == Some(field.name.as_str());
    holds_kind.then(|| format!("'{}'", RowKind::Delete.short()))
}

/// The columns of a row as a delete writes them.
pub(super) fn deleted_columns(table: &Table) -> Vec<String> {
    let column = |field: &DataField| match of_deleted(table, field) {
        Some(value) => format!("{value} AS {}", quoted(&field.name)),
        None => quoted(&field.name),
    };
    table.schema().fields.iter().map(column).collect()
}

/// Each of these rows, which have the table's columns, is removed by a delete.
///
/// # Errors
/// `Unsupported` when a row has no value in the columns by which its sequence group would remove it.
pub(super) fn removes(table: &Table, rows: &RecordBatch) -> Result<()> {
    let options = &table.schema().options;
    let removing = options.list(&key::PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP);
    if removing.is_empty() {
        return Ok(());
    }
    let groups = options.sequence_groups();
    let ordering = groups.iter().filter(|(ordering, _)| ordering.iter().any(|name| removing.contains(name)));
    let columns: Vec<_> =
        ordering.flat_map(|(ordering, _)| ordering).filter_map(|name| rows.column_by_name(name)).collect();
    let stays = |row: &usize| columns.iter().all(|column| column.is_null(*row));
    if !(0..rows.num_rows()).any(|row| stays(&row)) {
        return Ok(());
    }
    let hint = "write a -D record of the key with a value in one of them";
    Err(refused(table, format!("deleting rows without a value in the sequence group ({})", removing.join(", ")), hint))
}
