//! Arithmetic that is exact or an error, and never wraps around. DataFusion's integers wrap, and its decimals leave the range
//! of their type in silence, in operators as in sums.
//!
//! An analyzer rule puts checked functions in place of the operators once types are settled, before anything is folded; `sum`,
//! `avg` and `median` are replaced by their names. See `docs/decisions/0021-exact-arithmetic.md`.

mod aggregate;
mod operator;
mod wide;

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::DFSchema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{AggregateUDF, BinaryExpr, Expr, ExprSchemable, LogicalPlan, ScalarUDF};
use datafusion::optimizer::AnalyzerRule;

use operator::{Checked, Operation};

/// A session whose arithmetic is exact. Its default functions must be there already.
pub(crate) fn exact(mut builder: SessionStateBuilder) -> SessionStateBuilder {
    let functions = builder.aggregate_functions().get_or_insert_default();
    let ours: Vec<Arc<AggregateUDF>> = aggregate::all();
    functions.retain(|function| !ours.iter().any(|our| our.name() == function.name()));
    functions.extend(ours);
    builder.with_analyzer_rule(Arc::new(ExactArithmetic))
}

/// Puts checked functions in place of `+`, `-`, `*` and the like on integers and decimals.
#[derive(Debug)]
struct ExactArithmetic;

impl AnalyzerRule for ExactArithmetic {
    fn analyze(&self, plan: LogicalPlan, _config: &ConfigOptions) -> Result<LogicalPlan> {
        Ok(plan.transform_up_with_subqueries(node)?.data)
    }

    fn name(&self) -> &str {
        "exact_arithmetic"
    }
}

fn node(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let inputs = plan.inputs();
    let schema = if inputs.is_empty() { plan.schema().as_ref().clone() } else { merge_schema(&inputs) };
    let replaced = plan.map_expressions(|expr| expr.transform_down(|expr| Ok(checked(expr, &schema))))?;
    if replaced.transformed { replaced.map_data(LogicalPlan::recompute_schema) } else { Ok(replaced) }
}

/// The checked function for an expression, if it needs one.
fn checked(expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let wraps = |expr: &Expr| expr.get_type(schema).is_ok_and(|kind| kind.is_integer() || kind.is_decimal());
    let operation = match &expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => Operation::of(*op).filter(|_| wraps(left) && wraps(right)),
        Expr::Negative(inner) => Some(Operation::Negate).filter(|_| wraps(inner)),
        _ => None,
    };
    let (Some(operation), Ok(kind)) = (operation, expr.get_type(schema)) else { return Transformed::no(expr) };
    if operation == Operation::Negate && kind.is_unsigned_integer() {
        return Transformed::no(expr);
    }
    let text = expr.human_display().to_string();
    let args = match expr {
        Expr::BinaryExpr(BinaryExpr { left, right, .. }) => vec![*left, *right],
        Expr::Negative(inner) => vec![*inner],
        other => return Transformed::no(other),
    };
    let func = Arc::new(ScalarUDF::from(Checked::new(operation, kind, text)));
    Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args }))
}

/// A type as SQL calls it.
fn sql_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Int8 => "TINYINT".to_owned(),
        DataType::Int16 => "SMALLINT".to_owned(),
        DataType::Int32 => "INT".to_owned(),
        DataType::Int64 => "BIGINT".to_owned(),
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => "unsigned BIGINT".to_owned(),
        DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
            format!("DECIMAL({precision}, {scale})")
        }
        DataType::Duration(_) => "INTERVAL".to_owned(),
        other => other.to_string(),
    }
}
