//! The filters of a query as the scan of a table takes them: as predicates, as expressions that are computed over the table's
//! partitions, or as what follows from them for partitions.

use datafusion::catalog::Session;
use datafusion::common::tree_node::TreeNode;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, TableProviderFilterPushDown};
use datafusion::sql::unparser::Unparser;
use linn::Table;
use linn::format::predicate::Predicate;
use linn::format::types::DataField;

use super::computed::{Failing, computed, without_tables};
use super::filter::predicate;
use super::maybe::{operands, when_true};

/// How filters become predicates of a table.
pub(super) struct Pushdown<'a> {
    fields: &'a [DataField],
    /// Partition columns that a query sees as they are.
    partition: Vec<&'a DataField>,
}

/// What a scan takes of the filters of a query.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// What leaves out partitions, files and rows.
    pub(super) scan: Vec<Predicate>,
    /// What rows of the partitions that are left have to be asked.
    pub(super) rows: Vec<Predicate>,
    /// The filters that hold for all rows that come out, as text.
    pub(super) text: Vec<String>,
    /// What the partitions are asked, as text.
    pub(super) partition_text: Vec<String>,
}

impl<'a> Pushdown<'a> {
    pub(super) fn of(table: &'a Table) -> Self {
        let visible = table.visible_fields().unwrap_or_default();
        let as_is = |field: &&DataField| visible.iter().any(|v| v.id == field.id && v.data_type == field.data_type);
        let partition = table.schema().partition_fields().into_iter().filter(as_is).collect();
        Self { fields: &table.schema().fields, partition }
    }

    /// What the scan does with filters: applies all of one, or leaves out some of what it does not let through.
    pub(super) fn kinds(&self, filters: &[&Expr]) -> Vec<TableProviderFilterPushDown> {
        let any = &mut |_: &Expr| Ok(Predicate::Constant(true));
        let mut kind = |filter: &&Expr| match self.exact(filter, any) {
            Ok(Some(_)) => TableProviderFilterPushDown::Exact,
            _ if self.weaker(filter).is_some() => TableProviderFilterPushDown::Inexact,
            _ => TableProviderFilterPushDown::Unsupported,
        };
        filters.iter().map(&mut kind).collect()
    }

    /// What the scan takes of filters.
    pub(super) fn take(&self, session: &dyn Session, filters: &[Expr]) -> DfResult<Taken> {
        let mut taken = Taken::default();
        for filter in filters {
            let mut leaf = |expr: &Expr| self.computed(session, expr, Failing::Fails);
            if let Some(predicate) = self.exact(filter, &mut leaf)? {
                taken.text.push(words(filter));
                match self.is_of_partitions(&predicate) {
                    true => taken.partition_text.push(words(filter)),
                    false => taken.rows.push(predicate.clone()),
                }
                taken.scan.push(predicate);
                continue;
            }
            // The whole filter is computed above the scan, so that nothing is lost when this cannot be.
            if let Some(weaker) = self.weaker(filter)
                && let Ok(predicate) = self.computed(session, &weaker, Failing::Kept)
            {
                taken.partition_text.push(words(&weaker));
                taken.scan.push(predicate);
            }
        }
        Ok(taken)
    }

    fn computed(&self, session: &dyn Session, expr: &Expr, failing: Failing) -> DfResult<Predicate> {
        let fields: Vec<DataField> = self.partition.iter().map(|field| (*field).clone()).collect();
        computed(session, expr, &fields, failing)
    }

    /// The predicate that means exactly the same; `leaf` makes those of expressions over partition columns.
    fn exact(&self, expr: &Expr, leaf: &mut dyn FnMut(&Expr) -> DfResult<Predicate>) -> DfResult<Option<Predicate>> {
        if let Some(predicate) = predicate(expr, self.fields) {
            return Ok(Some(predicate));
        }
        if self.is_known(expr) {
            return leaf(expr).map(Some);
        }
        let mut all = |op| {
            operands(expr, op).into_iter().map(|part| self.exact(part, leaf)).collect::<DfResult<Option<Vec<_>>>>()
        };
        Ok(match expr {
            Expr::BinaryExpr(BinaryExpr { op: Operator::And, .. }) => all(Operator::And)?.map(Predicate::and),
            Expr::BinaryExpr(BinaryExpr { op: Operator::Or, .. }) => all(Operator::Or)?.map(Predicate::or),
            Expr::Not(inner) => self.exact(inner, leaf)?.map(|inner| Predicate::Not(Box::new(inner))),
            _ => None,
        })
    }

    /// What follows from a filter for partitions.
    fn weaker(&self, filter: &Expr) -> Option<Expr> {
        let weaker = when_true(filter, &|expr| self.is_known(expr))?;
        self.is_known(&weaker).then_some(weaker)
    }

    /// Whether a partition alone decides what an expression is.
    fn is_known(&self, expr: &Expr) -> bool {
        let columns = expr.column_refs();
        !columns.is_empty()
            && columns.iter().all(|column| self.partition.iter().any(|field| field.name == column.name))
            && is_constant(expr)
    }

    fn is_of_partitions(&self, predicate: &Predicate) -> bool {
        let ids = predicate.field_ids();
        !ids.is_empty() && ids.iter().all(|id| self.partition.iter().any(|field| field.id == *id))
    }
}

/// Whether the same values always give the same: no random numbers, no other rows or tables.
pub(super) fn is_constant(expr: &Expr) -> bool {
    let other = |expr: &Expr| {
        Ok(matches!(
            expr,
            Expr::AggregateFunction(_)
                | Expr::WindowFunction(_)
                | Expr::Exists(_)
                | Expr::InSubquery(_)
                | Expr::SetComparison(_)
                | Expr::ScalarSubquery(_)
                | Expr::ScalarVariable(..)
                | Expr::GroupingSet(_)
                | Expr::Placeholder(_)
                | Expr::OuterReferenceColumn(..)
                | Expr::Unnest(_)
        ))
    };
    !expr.is_volatile() && !expr.exists(other).unwrap_or(true)
}

/// A conjunct as it is shown in plans.
fn words(filter: &Expr) -> String {
    // What else is in an expression than columns and literals is shown by the names of types, unless it is spelled as SQL.
    let spelled_by_type = |expr: &Expr| matches!(expr, Expr::ScalarFunction(_) | Expr::Cast(_) | Expr::TryCast(_));
    let plain = !filter.exists(|expr| Ok(spelled_by_type(expr))).unwrap_or(false);
    let spelled = match plain {
        true => None,
        false => without_tables(filter.clone())
            .and_then(|expr| Unparser::default().with_pretty(true).expr_to_sql(&expr))
            .ok(),
    };
    let text = spelled.map_or_else(|| filter.human_display().to_string(), |sql| sql.to_string());
    match filter {
        Expr::BinaryExpr(BinaryExpr { op: Operator::Or, .. }) => format!("({text})"),
        _ => text,
    }
}

/// A condition over the columns of a table as a predicate over its rows; `None` when more than a row decides it.
pub(crate) fn over_rows(session: &dyn Session, expr: &Expr, fields: &[DataField]) -> DfResult<Option<Predicate>> {
    match predicate(expr, fields) {
        Some(predicate) => Ok(Some(predicate)),
        None if is_constant(expr) && !expr.column_refs().is_empty() => {
            computed(session, expr, fields, Failing::Fails).map(Some)
        }
        None => Ok(None),
    }
}
