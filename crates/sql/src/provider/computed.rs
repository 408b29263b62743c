//! Expressions of DataFusion as conditions that scans compute over partitions and rows.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, RecordBatchOptions};
use datafusion::arrow::compute::{cast, concat};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::Session;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::PhysicalExpr;
use linn::format::predicate::{Compute, Computed, Predicate};
use linn::format::types::{DataField, arrow_schema};
use linn::{Error, Result};

use crate::error::ours;

/// What becomes of rows on which an expression fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failing {
    /// The query fails.
    Fails,
    /// They are kept: whoever computes the whole condition will see to them.
    Kept,
}

#[derive(Debug)]
struct Expression {
    expr: Arc<dyn PhysicalExpr>,
    schema: SchemaRef,
    failing: Failing,
}

/// The expression as a predicate over those of `fields` that it names.
///
/// # Errors
/// Those of planning it.
pub(super) fn computed(
    session: &dyn Session,
    expr: &Expr,
    fields: &[DataField],
    failing: Failing,
) -> DfResult<Predicate> {
    let text = expr.human_display().to_string();
    let named = expr.column_refs();
    let fields: Vec<DataField> = fields.iter().filter(|f| named.iter().any(|c| c.name == f.name)).cloned().collect();
    let nullable: Vec<DataField> = fields
        .iter()
        .map(|field| DataField { data_type: field.data_type.clone().with_nullable(true), ..field.clone() })
        .collect();
    let schema = arrow_schema(&nullable).map_err(crate::error::theirs)?;
    let known = DFSchema::try_from(Arc::clone(&schema))?;
    let expr = session.create_physical_expr(without_tables(expr.clone())?, &known)?;
    Ok(Predicate::Computed(Computed::new(fields, text, Arc::new(Expression { expr, schema, failing }))))
}

/// The expression with columns that are named without their table.
pub(super) fn without_tables(expr: Expr) -> DfResult<Expr> {
    let bare = |expr: Expr| {
        Ok(match expr {
            Expr::Column(column) => Transformed::yes(Expr::Column(Column::from_name(column.name))),
            other => Transformed::no(other),
        })
    };
    Ok(expr.transform(bare)?.data)
}

impl Expression {
    fn answers(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        let found = self.expr.evaluate(batch).and_then(|value| value.into_array(batch.num_rows())).map_err(ours)?;
        let found = found.as_boolean_opt().ok_or_else(|| Error::invalid("SQL: the condition is not BOOLEAN"))?;
        Ok(found.clone())
    }

    /// The same; rows on which the expression fails are found by halving, and true.
    fn answers_or_true(&self, batch: RecordBatch) -> Result<BooleanArray> {
        let (mut parts, mut open): (Vec<ArrayRef>, Vec<RecordBatch>) = (Vec::new(), vec![batch]);
        while let Some(batch) = open.pop() {
            match (self.answers(&batch), batch.num_rows()) {
                (Ok(found), _) => parts.push(Arc::new(found)),
                (Err(_), rows @ (0 | 1)) => parts.push(Arc::new(BooleanArray::from(vec![true; rows]))),
                (Err(_), rows) => open.extend([batch.slice(rows / 2, rows - rows / 2), batch.slice(0, rows / 2)]),
            }
        }
        let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
        Ok(concat(&parts)?.as_boolean().clone())
    }
}

impl Compute for Expression {
    fn compute(&self, columns: &[ArrayRef]) -> Result<BooleanArray> {
        let rows = columns.first().map_or(0, |column| column.len());
        let fit = |(column, field): (&ArrayRef, &Arc<datafusion::arrow::datatypes::Field>)| {
            Ok(match column.data_type() == field.data_type() {
                true => Arc::clone(column),
                false => cast(column, field.data_type())?,
            })
        };
        let columns = columns.iter().zip(self.schema.fields()).map(fit).collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?;
        match self.failing {
            Failing::Fails => self.answers(&batch),
            Failing::Kept => self.answers_or_true(batch),
        }
    }
}
