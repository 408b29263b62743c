//! Times of day and timestamps as they stand in a statement: each in a unit that holds its digits, so that it compares with
//! columns, which have milliseconds of the day, and so that years beyond those of nanoseconds work.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, TimeUnit};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result as Planned;
use datafusion::logical_expr::expr::{Between, Case, Cast, InList, ScalarFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, Operator};

use super::number::gives_one_of;
use super::unit;

/// Settles the times of a plan, before types are brought together.
pub(super) fn settle(plan: LogicalPlan) -> Planned<LogicalPlan> {
    Ok(plan.transform_up_with_subqueries(node)?.data)
}

fn node(plan: LogicalPlan) -> Planned<Transformed<LogicalPlan>> {
    let plan = match plan {
        LogicalPlan::Values(mut values) => {
            let columns = values.values.first().map_or(0, Vec::len);
            (0..columns).for_each(|at| column(&mut values.values, at));
            LogicalPlanBuilder::values(values.values)?.build()?
        }
        other => other,
    };
    let inputs = plan.inputs();
    let schema = if inputs.is_empty() { plan.schema().as_ref().clone() } else { merge_schema(&inputs) };
    let (names, in_rows) = (NamePreserver::new(&plan), matches!(plan, LogicalPlan::Values(_)));
    let settled = plan.map_expressions(|expr| {
        let (name, before) = (names.save(&expr), expr.clone());
        let settle = |expr| side_by_side(if in_rows { expr } else { literal(expr) }, &schema);
        let after = expr.transform_up(|expr| Ok(Transformed::yes(settle(expr))))?.data;
        Ok(if after == before { Transformed::no(after) } else { Transformed::yes(name.restore(after)) })
    })?;
    // Columns of other nodes may have other types all the same.
    settled.map_data(LogicalPlan::recompute_schema)
}

/// The literals of a column of VALUES get one type, or stay as they are.
fn column(rows: &mut [Vec<Expr>], at: usize) {
    let cells = || rows.iter().filter_map(|row| row.get(at));
    let null = |expr: &Expr| match expr {
        Expr::Literal(value, _) => value.is_null(),
        Expr::Cast(Cast { expr, .. }) => matches!(expr.as_ref(), Expr::Literal(value, _) if value.is_null()),
        _ => false,
    };
    let coarser = |expr: &Expr| match (literal(expr.clone()), expr) {
        (Expr::Cast(Cast { field, .. }), Expr::Cast(Cast { field: before, .. })) if field != *before => {
            Some(field.data_type().clone())
        }
        _ => None,
    };
    let Some(kind) = cells().find_map(coarser) else { return };
    if !cells().all(|cell| null(cell) || coarser(cell).as_ref() == Some(&kind)) {
        return;
    }
    for cell in rows.iter_mut().filter_map(|row| row.get_mut(at)) {
        *cell = match null(cell) {
            true => Expr::Cast(Cast::new(Box::new(Expr::Literal(ScalarValue::Null, None)), kind.clone())),
            false => literal(cell.clone()),
        };
    }
}

/// `TIME '…'` and `TIMESTAMP '…'`, and casts of texts that stand there.
fn literal(expr: Expr) -> Expr {
    let Expr::Cast(Cast { expr: inner, field }) = &expr else { return expr };
    let Expr::Literal(ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)), _) = inner.as_ref() else {
        return expr;
    };
    let digits = second_digits(text);
    let kind = match field.data_type() {
        DataType::Time64(TimeUnit::Nanosecond) if digits <= 3 => DataType::Time32(TimeUnit::Millisecond),
        DataType::Timestamp(TimeUnit::Nanosecond, zone) if digits <= 6 => {
            DataType::Timestamp(TimeUnit::Microsecond, zone.clone())
        }
        _ => return expr,
    };
    Expr::Cast(Cast::new(inner.clone(), kind))
}

/// Digits of a second in the text of a time.
fn second_digits(text: &str) -> usize {
    let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
    fraction.bytes().take_while(u8::is_ascii_digit).count()
}

/// Times of day of two units that are compared, or of which one is the result, get the finer unit.
fn side_by_side(expr: Expr, schema: &DFSchema) -> Expr {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if compares(op) => {
            let [left, right] = alike([*left, *right], schema);
            let (left, right) = unit::compared(left, op, right, schema);
            Expr::BinaryExpr(BinaryExpr { left: Box::new(left), op, right: Box::new(right) })
        }
        Expr::Between(Between { expr, negated, low, high }) => {
            let [expr, low, high] = alike([*expr, *low, *high], schema);
            between(expr, negated, low, high, schema)
        }
        Expr::InList(InList { expr, list, negated }) => {
            let mut all = list;
            all.push(*expr);
            let mut list = alike_all(all, schema);
            match list.pop() {
                Some(expr) => Expr::InList(InList { expr: Box::new(expr), list, negated }),
                None => Expr::Literal(ScalarValue::Null, None),
            }
        }
        Expr::Case(case) => Expr::Case(of_case(case, schema)),
        Expr::ScalarFunction(ScalarFunction { func, args }) if gives_one_of(func.name()) => {
            Expr::ScalarFunction(ScalarFunction { func, args: alike_all(args, schema) })
        }
        other => other,
    }
}

/// Each bound is compared for itself, where rounding it to the unit of a timestamp is no other comparison.
fn between(expr: Expr, negated: bool, low: Expr, high: Expr, schema: &DFSchema) -> Expr {
    let (same, low_of) = unit::compared(expr.clone(), Operator::GtEq, low.clone(), schema);
    let (also, high_of) = unit::compared(expr.clone(), Operator::LtEq, high.clone(), schema);
    let [expr, low, high] = match same == expr && also == expr {
        true => [expr, low_of, high_of],
        false => match unit::alike(vec![expr, low, high], schema).try_into() {
            Ok(three) => three,
            Err(_) => [same, low_of, high_of],
        },
    };
    Expr::Between(Between { expr: Box::new(expr), negated, low: Box::new(low), high: Box::new(high) })
}

fn compares(op: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom)
}

fn of_case(case: Case, schema: &DFSchema) -> Case {
    let whens = case.when_then_expr.len();
    let (mut conditions, mut results): (Vec<Expr>, Vec<Expr>) =
        case.when_then_expr.into_iter().map(|(when, then)| (*when, *then)).unzip();
    results.extend(case.else_expr.map(|expr| *expr));
    let mut results = alike_all(results, schema);
    let otherwise = if results.len() > whens { results.pop() } else { None };
    let mut operand = None;
    if let Some(compared) = case.expr {
        conditions.push(*compared);
        conditions = alike_all(conditions, schema);
        operand = conditions.pop();
    }
    Case {
        expr: operand.map(Box::new),
        when_then_expr: conditions.into_iter().map(Box::new).zip(results.into_iter().map(Box::new)).collect(),
        else_expr: otherwise.map(Box::new),
    }
}

fn alike<const N: usize>(exprs: [Expr; N], schema: &DFSchema) -> [Expr; N] {
    let mixed = is_mixed(&exprs, schema);
    exprs.map(|expr| if mixed { finer(expr, schema) } else { expr })
}

fn alike_all(exprs: Vec<Expr>, schema: &DFSchema) -> Vec<Expr> {
    let mixed = is_mixed(&exprs, schema);
    unit::alike(exprs.into_iter().map(|expr| if mixed { finer(expr, schema) } else { expr }).collect(), schema)
}

fn is_mixed(exprs: &[Expr], schema: &DFSchema) -> bool {
    let kinds: Vec<DataType> = exprs.iter().filter_map(|expr| expr.get_type(schema).ok()).collect();
    kinds.iter().any(|kind| matches!(kind, DataType::Time32(_)))
        && kinds.iter().any(|kind| matches!(kind, DataType::Time64(_)))
}

fn finer(expr: Expr, schema: &DFSchema) -> Expr {
    match expr.get_type(schema) {
        Ok(DataType::Time32(_)) => {
            let field = Arc::new(Field::new("time", DataType::Time64(TimeUnit::Nanosecond), true));
            Expr::Cast(Cast { expr: Box::new(expr), field })
        }
        _ => expr,
    }
}
