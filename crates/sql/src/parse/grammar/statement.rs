//! Statements: UPDATE, DELETE, MERGE, EXPLAIN and queries. All others are refused where statements are run.

use datafusion::sql::sqlparser::ast::{Delete, Merge, MergeAction, MergeClause, MergeInsertKind, Statement, Update};
use linn::Result;

use super::none;

/// Checks what a statement consists of.
pub(super) fn check(statement: &Statement) -> Result<()> {
    match statement {
        Statement::Update(it) => update(it),
        Statement::Delete(it) => delete(it),
        Statement::Merge(it) => merge(it),
        Statement::Explain {
            describe_alias: _,
            analyze: _,
            verbose: _,
            query_plan,
            estimate,
            statement: _,
            format: _,
            options,
        } => {
            none(*query_plan, "EXPLAIN QUERY PLAN")?;
            none(*estimate, "EXPLAIN ESTIMATE")?;
            none(options.is_some(), "EXPLAIN with options in parentheses")
        }
        _ => Ok(()),
    }
}

fn update(update: &Update) -> Result<()> {
    let Update {
        update_token: _,
        optimizer_hints,
        table: _,
        assignments: _,
        from,
        selection: _,
        returning,
        output,
        or,
        order_by,
        limit,
    } = update;
    none(!optimizer_hints.is_empty(), "a hint in UPDATE")?;
    none(from.is_some(), "UPDATE … FROM").map_err(|e| e.with_hint("use MERGE INTO"))?;
    none(returning.is_some(), "RETURNING")?;
    none(output.is_some(), "OUTPUT")?;
    none(or.is_some(), "UPDATE OR …")?;
    none(!order_by.is_empty(), "ORDER BY in UPDATE")?;
    none(limit.is_some(), "LIMIT in UPDATE")
}

fn delete(delete: &Delete) -> Result<()> {
    let Delete {
        delete_token: _,
        optimizer_hints,
        tables,
        from: _,
        using,
        selection: _,
        returning,
        output,
        order_by,
        limit,
    } = delete;
    none(!optimizer_hints.is_empty(), "a hint in DELETE")?;
    none(!tables.is_empty(), "DELETE with a list of tables")?;
    none(using.is_some(), "DELETE … USING").map_err(|e| e.with_hint("use MERGE INTO, or WHERE … IN (SELECT …)"))?;
    none(returning.is_some(), "RETURNING")?;
    none(output.is_some(), "OUTPUT")?;
    none(!order_by.is_empty(), "ORDER BY in DELETE")?;
    none(limit.is_some(), "LIMIT in DELETE")
}

fn merge(merge: &Merge) -> Result<()> {
    let Merge { merge_token: _, optimizer_hints, into: _, table: _, source: _, on: _, clauses, output } = merge;
    none(!optimizer_hints.is_empty(), "a hint in MERGE")?;
    none(output.is_some(), "OUTPUT")?;
    for MergeClause { when_token: _, clause_kind: _, predicate: _, action } in clauses {
        match action {
            MergeAction::Insert(insert) => {
                none(insert.insert_predicate.is_some(), "WHERE in INSERT of MERGE").map_err(when)?;
                if let MergeInsertKind::Values(values) = &insert.kind {
                    none(values.rows.len() != 1, "INSERT of several rows in MERGE")?;
                }
            }
            MergeAction::Update(update) => {
                let inside = update.update_predicate.is_some() || update.delete_predicate.is_some();
                none(inside, "WHERE in UPDATE of MERGE").map_err(when)?;
            }
            MergeAction::Delete { delete_token: _ } => {}
        }
    }
    Ok(())
}

fn when(error: linn::Error) -> linn::Error {
    error.with_hint("use WHEN … AND condition THEN")
}
