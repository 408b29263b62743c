//! Partitions that a procedure is called for: named ones, or those for which a condition over the partition columns holds.

use std::sync::Arc;

use datafusion::arrow::array::{AsArray, RecordBatch, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, UInt64Type};
use datafusion::catalog::{MemTable, TableProvider};
use linn::core::maintain::partitions;
use linn::format::partition::{partition_from_values, partition_specs};
use linn::format::row::{BinaryRow, columns_from_rows};
use linn::format::types::arrow_schema;
use linn::{Error, Result, Table};

use crate::error::ours;
use crate::names::quoted;
use crate::parse::{TableOptions, split};
use crate::provider::TARGET;
use crate::run::number::TargetColumns;
use crate::run::query::{frame_over, parse};
use crate::session::Session;

/// Name of a column that numbers the partitions; no column of a table is called so.
const NUMBER: &str = "number of the partition";

/// The partitions given as `k=v,k=v;k=v` and by a condition; `None` when neither is given, which means all.
///
/// # Errors
/// `Invalid` when both are given, the text is of another form, names what is no partition column, or the table has no partitions.
pub(super) async fn chosen(
    session: &Session,
    table: &Table,
    named: &[&str],
    condition: Option<&str>,
) -> Result<Option<Vec<BinaryRow>>> {
    if !named.is_empty() && condition.is_some() {
        return Err(Error::invalid("give partitions or a condition, not both").with("table", table.name()));
    }
    let fields = table.schema().partition_fields();
    let default = table.options().partition_default_name();
    let mut named_ones = Vec::new();
    for text in named {
        for spec in partition_specs(text, &fields, default)? {
            named_ones.push(partition_from_values(&spec, &fields)?);
        }
    }
    match condition {
        Some(condition) => holding(session, table, condition).await.map(Some),
        None => Ok((!named.is_empty()).then_some(named_ones)),
    }
}

/// The table's partitions for which a condition holds.
async fn holding(session: &Session, table: &Table, condition: &str) -> Result<Vec<BinaryRow>> {
    let fields: Vec<_> = table.schema().partition_fields().into_iter().cloned().collect();
    if fields.is_empty() {
        return Err(Error::invalid("the table is not partitioned, so a condition on partitions does not apply")
            .with("table", table.name())
            .with_hint("leave the argument where out"));
    }
    let rows: Vec<BinaryRow> = partitions(table).await?.into_iter().map(|summary| summary.partition).collect();
    let types: Vec<_> = fields.iter().map(|field| field.data_type.clone()).collect();
    let mut columns = columns_from_rows(&rows, &types)?;
    columns.push(Arc::new(UInt64Array::from_iter_values(0..rows.len() as u64)));
    let mut names: Vec<_> =
        arrow_schema(&fields)?.fields().iter().map(|field| field.as_ref().clone().with_nullable(true)).collect();
    names.push(Field::new(NUMBER, DataType::UInt64, false));
    let batch = RecordBatch::try_new(Arc::new(Schema::new(names)), columns)?;
    let rows_of = MemTable::try_new(batch.schema(), vec![vec![batch]]).map_err(ours)?;
    let kept = matching(session, Arc::new(rows_of), condition).await.map_err(|e| {
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        e.with_hint(format!("the condition can use the partition columns: {}", names.join(", ")))
    })?;
    let numbers = kept.iter().filter_map(|batch| batch.column_by_name(NUMBER)?.as_primitive_opt::<UInt64Type>());
    let numbers = numbers.flat_map(|numbers| numbers.values().iter().copied());
    Ok(numbers.filter_map(|number| rows.get(usize::try_from(number).ok()?).cloned()).collect())
}

/// The numbers of the partitions for which a condition holds.
async fn matching(session: &Session, partitions: Arc<dyn TableProvider>, condition: &str) -> Result<Vec<RecordBatch>> {
    // On a line of its own, so that a comment at its end hides nothing.
    let sql = format!("SELECT {} FROM {} WHERE (\n{condition}\n)", quoted(NUMBER), quoted(TARGET));
    let mut statements = split(&sql)?;
    let (Some(tokens), true) = (statements.pop(), statements.is_empty()) else {
        return Err(Error::invalid(format!("SQL: {condition:?} is not a single condition")));
    };
    let frame =
        frame_over(session, parse(tokens)?, &TableOptions::default(), Some(partitions), &TargetColumns::None).await?;
    frame.collect().await.map_err(ours)
}
