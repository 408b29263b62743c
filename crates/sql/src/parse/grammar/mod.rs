//! What of the grammar is honoured. The parser takes clauses of many products, and the planner passes over some of them in
//! silence; here every part of a statement is looked at, and what would have no effect is refused.
//!
//! All structures are taken apart field by field, so that a clause that a later parser knows does not compile here until
//! somebody has decided about it. A few clauses that the planner lacks are written as what it has.

mod expression;
mod query;
mod sample;
mod statement;
mod table;

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, Query, Select, SelectItem, Statement, TableFactor, VisitMut, VisitorMut};
use linn::{Error, Result};

/// What a function is, as far as its clauses are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Called {
    /// A value of each row.
    Scalar,
    /// A value of a group.
    Aggregate,
    /// A value within a window alone.
    Window,
    /// None that is known; the planner says so.
    Unknown,
}

/// Checks a statement, and writes what the planner lacks as what it has. `functions` says what the function of a name, in
/// lower case, is.
///
/// # Errors
/// `Unsupported` naming the first clause that would have no effect.
pub(crate) fn honoured(statement: &mut Statement, functions: &dyn Fn(&str) -> Called) -> Result<()> {
    let mut check = Check { functions };
    match statement.visit(&mut check) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Check<'f> {
    functions: &'f dyn Fn(&str) -> Called,
}

/// Goes on, or ends with the error.
fn flow(result: Result<()>) -> ControlFlow<Error> {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(error),
    }
}

/// Refuses a clause that is there.
fn none(there: bool, clause: &str) -> Result<()> {
    if there { Err(unsupported(clause)) } else { Ok(()) }
}

fn unsupported(clause: &str) -> Error {
    Error::unsupported(format!("SQL: {clause} is not supported"))
}

impl VisitorMut for Check<'_> {
    type Break = Error;

    fn pre_visit_statement(&mut self, statement: &mut Statement) -> ControlFlow<Error> {
        flow(statement::check(statement))
    }

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        flow(query::check(query))
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<Error> {
        flow(query::select(select))
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Error> {
        flow(table::check(factor))
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        flow(expression::check(expr, self.functions))
    }
}

/// `*`.
fn star() -> SelectItem {
    SelectItem::Wildcard(Default::default())
}

#[cfg(test)]
mod tests;
