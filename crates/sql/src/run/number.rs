//! What a number with a point is: a DECIMAL beside decimals, or where it has more digits than a DOUBLE holds, else a DOUBLE.
//!
//! The planner takes all such numbers for the one or for the other. As doubles they would lose digits beside DECIMAL columns;
//! as decimals they would have FLOAT and DOUBLE columns brought to fifteen digits behind the point. So they are planned as
//! decimals, and each is settled by what it meets, before types are brought together.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result as Planned;
use datafusion::logical_expr::expr::{Alias, Between, Case, Cast, InList, ScalarFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    BinaryExpr, Distinct, Expr, ExprSchemable, Limit, LogicalPlan, LogicalPlanBuilder, Projection, Sort, SubqueryAlias,
    Union, lit,
};
use linn::format::types::{DataField, Kind};

use super::fit;
use super::literal::DOUBLE_DIGITS;

/// Where the columns of a query go.
pub(in crate::run) enum TargetColumns<'a> {
    /// To whom asked.
    None,
    /// To these columns, one after the other.
    InOrder(&'a [&'a DataField]),
    /// To the column of their name, if there is one.
    ByName(&'a [DataField]),
}

impl TargetColumns<'_> {
    fn side(&self, at: usize, name: &str) -> Side {
        let field = match self {
            Self::None => None,
            Self::InOrder(fields) => fields.get(at).copied(),
            Self::ByName(fields) => fields.iter().find(|field| field.name == name),
        };
        match field.map(|field| &field.data_type.kind) {
            Some(Kind::Decimal { .. }) => Side::Exact,
            Some(Kind::Float | Kind::Double) => Side::Float,
            _ => Side::Open,
        }
    }
}

/// What a number meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Exact,
    Float,
    /// Neither.
    Open,
}

impl Side {
    fn of(data_type: &DataType) -> Self {
        match data_type {
            kind if kind.is_decimal() => Self::Exact,
            kind if kind.is_floating() => Self::Float,
            _ => Self::Open,
        }
    }

    /// A float decides, then a decimal.
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Float, _) | (_, Self::Float) => Self::Float,
            (Self::Exact, _) | (_, Self::Exact) => Self::Exact,
            _ => Self::Open,
        }
    }
}

/// Settles the numbers of a plan; `doubles` are the texts of those that became doubles before. Columns are called as if all
/// were doubles.
pub(super) fn settle(plan: LogicalPlan, goals: &TargetColumns<'_>, doubles: &[String]) -> Planned<LogicalPlan> {
    let mut numbers = Numbers::default();
    for text in doubles {
        if let Ok(value) = text.parse::<f64>() {
            let planned = Expr::Cast(Cast::new(Box::new(lit(text.as_str())), DataType::Float64));
            numbers.names.push((planned.schema_name().to_string(), lit(value).schema_name().to_string()));
        }
    }
    let sides: Vec<Side> =
        plan.schema().fields().iter().enumerate().map(|(at, field)| goals.side(at, field.name())).collect();
    let plan = numbers.outputs(plan, &sides)?;
    let plan = plan.transform_up_with_subqueries(|node| numbers.node(node))?.data;
    match goals {
        TargetColumns::None => numbers.rename(plan),
        _ => Ok(plan),
    }
}

#[derive(Default)]
struct Numbers {
    /// What was planned, and what it is called.
    names: Vec<(String, String)>,
}

impl Numbers {
    /// Settles what goes to columns that are known.
    fn outputs(&mut self, plan: LogicalPlan, sides: &[Side]) -> Planned<LogicalPlan> {
        if sides.iter().all(|side| *side == Side::Open) || sides.len() != plan.schema().fields().len() {
            return Ok(plan);
        }
        let mut inside = |plan: Arc<LogicalPlan>| self.outputs(Arc::unwrap_or_clone(plan), sides).map(Arc::new);
        Ok(match plan {
            LogicalPlan::Projection(Projection { expr, input, .. }) => {
                let mut passed = vec![Side::Open; input.schema().fields().len()];
                let schema = Arc::clone(input.schema());
                let mut exprs = Vec::with_capacity(expr.len());
                for (expr, side) in expr.into_iter().zip(sides) {
                    if let Expr::Column(column) = expr.clone().unalias()
                        && let Some(place) = schema.maybe_index_of_column(&column)
                        && let Some(passed) = passed.get_mut(place)
                    {
                        *passed = *side;
                    }
                    let name = NamePreserver::new_for_projection().save(&expr);
                    exprs.push(name.restore(self.expr(expr, *side, &schema)?));
                }
                let input = self.outputs(Arc::unwrap_or_clone(input), &passed)?;
                LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(input))?)
            }
            LogicalPlan::Sort(sort) => LogicalPlan::Sort(Sort { input: inside(sort.input)?, ..sort }),
            LogicalPlan::Limit(limit) => LogicalPlan::Limit(Limit { input: inside(limit.input)?, ..limit }),
            LogicalPlan::SubqueryAlias(SubqueryAlias { input, alias, .. }) => {
                LogicalPlan::SubqueryAlias(SubqueryAlias::try_new(inside(input)?, alias)?)
            }
            LogicalPlan::Distinct(Distinct::All(input)) => LogicalPlan::Distinct(Distinct::All(inside(input)?)),
            LogicalPlan::Union(union) => {
                let inputs = union.inputs.into_iter().map(inside).collect::<Planned<Vec<_>>>()?;
                LogicalPlan::Union(Union { inputs, ..union })
            }
            other => other,
        })
    }

    /// Settles what is left in one node, below which all is settled.
    fn node(&mut self, plan: LogicalPlan) -> Planned<Transformed<LogicalPlan>> {
        let inputs = plan.inputs();
        let schema = if inputs.is_empty() { plan.schema().as_ref().clone() } else { merge_schema(&inputs) };
        let (names, before) = (NamePreserver::new(&plan), self.names.len());
        let settled = plan.map_expressions(|expr| {
            let name = names.save(&expr);
            Ok(Transformed::yes(name.restore(self.expr(expr, Side::Open, &schema)?)))
        })?;
        settled.map_data(|plan| match plan {
            LogicalPlan::Values(values) if self.names.len() > before => {
                LogicalPlanBuilder::values(values.values)?.build()
            }
            other => other.recompute_schema(),
        })
    }

    fn expr(&mut self, expr: Expr, side: Side, schema: &DFSchema) -> Planned<Expr> {
        Ok(match expr {
            Expr::Literal(ref value, _) if value.data_type().is_decimal() && !value.is_null() => {
                self.number(value, side)
            }
            Expr::Alias(Alias { expr, relation, name, metadata }) => {
                let expr = Box::new(self.expr(*expr, side, schema)?);
                Expr::Alias(Alias { expr, relation, name, metadata })
            }
            Expr::Negative(inner) => Expr::Negative(Box::new(self.expr(*inner, side, schema)?)),
            Expr::Cast(Cast { expr, field }) if matches!(*expr, Expr::Literal(..)) => {
                let exact = !field.data_type().is_floating();
                let expr = if exact { expr } else { Box::new(self.expr(*expr, Side::Float, schema)?) };
                Expr::Cast(Cast { expr, field })
            }
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
                let side = if op.is_numerical_operators() { side } else { Side::Open };
                let side = together([&*left, &*right], side, schema);
                let (left, right) = (self.expr(*left, side, schema)?, self.expr(*right, side, schema)?);
                Expr::BinaryExpr(BinaryExpr { left: Box::new(left), op, right: Box::new(right) })
            }
            Expr::Between(Between { expr, negated, low, high }) => {
                let side = together([&*expr, &*low, &*high], Side::Open, schema);
                let mut part = |part: Box<Expr>| self.expr(*part, side, schema).map(Box::new);
                Expr::Between(Between { expr: part(expr)?, negated, low: part(low)?, high: part(high)? })
            }
            Expr::InList(InList { expr, list, negated }) => {
                let side = together(list.iter().chain([&*expr]), Side::Open, schema);
                let list = list.into_iter().map(|part| self.expr(part, side, schema)).collect::<Planned<_>>()?;
                Expr::InList(InList { expr: Box::new(self.expr(*expr, side, schema)?), list, negated })
            }
            Expr::Case(case) => Expr::Case(self.case(case, side, schema)?),
            Expr::ScalarFunction(ScalarFunction { func, args }) if fit::is_one(func.name()) => {
                let side = func.return_type(&[]).map_or(Side::Open, |data_type| Side::of(&data_type));
                let args = args.into_iter().map(|arg| self.expr(arg, side, schema)).collect::<Planned<_>>()?;
                Expr::ScalarFunction(ScalarFunction { func, args })
            }
            Expr::ScalarFunction(ScalarFunction { func, args }) if gives_one_of(func.name()) => {
                let side = together(&args, side, schema);
                let args = args.into_iter().map(|arg| self.expr(arg, side, schema)).collect::<Planned<_>>()?;
                Expr::ScalarFunction(ScalarFunction { func, args })
            }
            other => other.map_children(|part| Ok(Transformed::yes(self.expr(part, Side::Open, schema)?)))?.data,
        })
    }

    fn case(&mut self, case: Case, side: Side, schema: &DFSchema) -> Planned<Case> {
        let results = case.when_then_expr.iter().map(|(_, then)| &**then).chain(case.else_expr.as_deref());
        let side = together(results, side, schema);
        let compared = match &case.expr {
            Some(compared) => {
                let whens = case.when_then_expr.iter().map(|(when, _)| &**when);
                together(whens.chain([&**compared]), Side::Open, schema)
            }
            None => Side::Open,
        };
        let mut part = |part: Box<Expr>, side| self.expr(*part, side, schema).map(Box::new);
        Ok(Case {
            expr: case.expr.map(|expr| part(expr, compared)).transpose()?,
            when_then_expr: case
                .when_then_expr
                .into_iter()
                .map(|(when, then)| Ok((part(when, compared)?, part(then, side)?)))
                .collect::<Planned<_>>()?,
            else_expr: case.else_expr.map(|expr| part(expr, side)).transpose()?,
        })
    }

    fn number(&mut self, value: &ScalarValue, side: Side) -> Expr {
        let Some((text, digits)) = text(value) else { return Expr::Literal(value.clone(), None) };
        let Ok(float) = text.parse::<f64>() else { return Expr::Literal(value.clone(), None) };
        let (planned, float) = (Expr::Literal(value.clone(), None), lit(float));
        self.names.push((planned.schema_name().to_string(), float.schema_name().to_string()));
        match side {
            Side::Exact => settled(planned, value),
            Side::Open if digits > DOUBLE_DIGITS => settled(planned, value),
            _ => float,
        }
    }

    /// The plan with columns that are called as if all numbers were doubles.
    fn rename(&self, plan: LogicalPlan) -> Planned<LogicalPlan> {
        if self.names.is_empty() || matches!(plan, LogicalPlan::Explain(_) | LogicalPlan::Analyze(_)) {
            return Ok(plan);
        }
        let called = |name: &str| self.names.iter().fold(name.to_owned(), |name, (from, to)| name.replace(from, to));
        let columns = plan.schema().iter().map(|(relation, field)| {
            let (column, name) = (Expr::from((relation, field)), called(field.name()));
            if name == *field.name() { column } else { column.alias(name) }
        });
        let columns: Vec<Expr> = columns.collect();
        if columns.iter().all(|column| matches!(column, Expr::Column(_))) {
            return Ok(plan);
        }
        LogicalPlanBuilder::from(plan).project(columns)?.build()
    }
}

/// A decimal that is not looked at again.
fn settled(number: Expr, value: &ScalarValue) -> Expr {
    Expr::Cast(Cast::new(Box::new(number), value.data_type()))
}

/// What a decimal is as text, and how many digits it has.
fn text(value: &ScalarValue) -> Option<(String, usize)> {
    let (digits, scale) = match value {
        ScalarValue::Decimal128(Some(digits), _, scale) => (digits.to_string(), *scale),
        ScalarValue::Decimal256(Some(digits), _, scale) => (digits.to_string(), *scale),
        _ => return None,
    };
    let count = digits.trim_start_matches('-').len();
    Some((format!("{digits}e{}", -i16::from(scale)), count))
}

/// Functions that give one of their arguments.
pub(super) fn gives_one_of(function: &str) -> bool {
    matches!(function, "coalesce" | "nullif" | "greatest" | "least" | "nvl" | "nvl2" | "ifnull")
}

fn together<'a>(exprs: impl IntoIterator<Item = &'a Expr>, otherwise: Side, schema: &DFSchema) -> Side {
    match exprs.into_iter().map(|expr| weigh(expr, schema)).fold(Side::Open, Side::with) {
        Side::Open => otherwise,
        side => side,
    }
}

/// What an expression makes of numbers beside it; numbers themselves only if they are long.
fn weigh(expr: &Expr, schema: &DFSchema) -> Side {
    match expr {
        Expr::Literal(value, _) => match text(value) {
            Some((_, digits)) if digits <= DOUBLE_DIGITS => Side::Open,
            _ => Side::of(&value.data_type()),
        },
        Expr::Alias(Alias { expr, .. }) | Expr::Negative(expr) => weigh(expr, schema),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if op.is_numerical_operators() => {
            weigh(left, schema).with(weigh(right, schema))
        }
        Expr::Case(case) => {
            let results = case.when_then_expr.iter().map(|(_, then)| &**then).chain(case.else_expr.as_deref());
            together(results, Side::Open, schema)
        }
        Expr::ScalarFunction(function) if gives_one_of(function.name()) => together(&function.args, Side::Open, schema),
        Expr::ScalarFunction(function) => of_function(expr, &function.args, schema),
        Expr::AggregateFunction(function) => of_function(expr, &function.params.args, schema),
        other => other.get_type(schema).map_or(Side::Open, |data_type| Side::of(&data_type)),
    }
}

/// A function of numbers alone gives a decimal only because these are planned as such.
fn of_function(function: &Expr, args: &[Expr], schema: &DFSchema) -> Side {
    match function.get_type(schema).map_or(Side::Open, |data_type| Side::of(&data_type)) {
        Side::Exact => together(args, Side::Open, schema),
        side => side,
    }
}
