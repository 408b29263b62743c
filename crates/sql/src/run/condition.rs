//! A condition over a table's columns as a filter of its own: planned as a query, of which only the filter is kept.

use datafusion::logical_expr::{LogicalPlan, TableScan};
use linn::format::predicate::Predicate;
use linn::{Error, Identifier, Result};

use super::query::{frame, parse};
use crate::error::ours;
use crate::parse::{TableOptions, split};
use crate::provider::predicate;
use crate::session::Session;

pub(crate) async fn condition(session: &Session, table: &Identifier, text: &str) -> Result<Predicate> {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let name = format!("{}.{}", quoted(&table.database), quoted(&table.table));
    // On a line of its own, so that a comment at its end hides nothing.
    let mut statements = split(&format!("SELECT * FROM {name} WHERE (\n{text}\n)"))?;
    let (Some(tokens), true) = (statements.pop(), statements.is_empty()) else {
        return Err(Error::invalid(format!("SQL: {text:?} is not one condition")));
    };
    let frame = frame(session, parse(tokens)?, &TableOptions::default()).await?;
    let plan = frame.into_optimized_plan().map_err(ours)?;
    let schema = session.catalog().table(&table.base()).await?.schema().clone();
    let unsupported = || {
        Error::unsupported(format!("the condition {text:?} on changes")).with_hint(
            "compare columns with literals, by =, <>, <, <=, >, >=, IN, BETWEEN, LIKE 'prefix%' and IS NULL, joined by \
             AND, OR and NOT; floats cannot be",
        )
    };
    match plan {
        // Nothing satisfies it.
        LogicalPlan::EmptyRelation(_) => Ok(Predicate::Constant(false)),
        LogicalPlan::TableScan(TableScan { filters, fetch: None, .. }) => {
            let parts = filters.iter().map(|filter| predicate(filter, &schema.fields)).collect::<Option<Vec<_>>>();
            parts.map(Predicate::and).ok_or_else(unsupported)
        }
        _ => Err(unsupported()),
    }
}
