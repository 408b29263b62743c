//! A condition over a table's columns as a filter of its own: planned as a query, of which only the filters are kept.

use std::sync::Arc;

use datafusion::logical_expr::utils::split_conjunction_owned;
use datafusion::logical_expr::{Expr, LogicalPlan, TableScan, lit};
use linn::format::predicate::Predicate;
use linn::{Error, Identifier, Result};

use super::query::{frame, parse};
use crate::error::ours;
use crate::parse::{TableOptions, split};
use crate::provider::over_rows;
use crate::session::Session;

pub(crate) async fn condition(session: &Session, table: &Identifier, text: &str) -> Result<Predicate> {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let name = format!("{}.{}", quoted(&table.database), quoted(&table.table));
    // On a line of its own, so that a comment at its end hides nothing.
    let mut statements = split(&format!("SELECT * FROM {name} WHERE (\n{text}\n)"))?;
    let (Some(tokens), true) = (statements.pop(), statements.is_empty()) else {
        return Err(Error::invalid(format!("SQL: {text:?} is not a single condition")));
    };
    let frame = frame(session, parse(tokens)?, &TableOptions::default()).await?;
    let (state, plan) = frame.into_parts();
    let plan = state.optimize(&plan).map_err(ours)?;
    let schema = session.catalog().table(&table.base()).await?.schema().clone();
    let unsupported = || {
        Error::unsupported(format!("the condition {text:?} on changes"))
            .with_hint("use a condition on the columns of one row, without subqueries, random functions or aggregates")
    };
    let mut parts = Vec::new();
    for filter in filters(plan).ok_or_else(unsupported)? {
        parts.push(over_rows(&state, &filter, &schema.fields).map_err(ours)?.ok_or_else(unsupported)?);
    }
    Ok(Predicate::and(parts))
}

/// The conjuncts of a plan that does nothing but filter one table.
fn filters(mut plan: LogicalPlan) -> Option<Vec<Expr>> {
    let mut found: Vec<Expr> = Vec::new();
    loop {
        match plan {
            // Nothing satisfies it.
            LogicalPlan::EmptyRelation(_) => return Some(vec![lit(false)]),
            LogicalPlan::Filter(filter) => {
                found.extend(split_conjunction_owned(filter.predicate));
                plan = Arc::unwrap_or_clone(filter.input);
            }
            LogicalPlan::TableScan(TableScan { filters, fetch: None, .. }) => {
                // What the scan applies in part is above it as a whole.
                for filter in filters {
                    if !found.contains(&filter) {
                        found.push(filter);
                    }
                }
                return Some(found);
            }
            _ => return None,
        }
    }
}
