//! `TABLESAMPLE`: a share of the rows, each drawn by itself, or a number of them.

use datafusion::sql::sqlparser::ast::{
    Expr, Query, SetExpr, Statement, TableAlias, TableFactor, TableSample, TableSampleKind, TableSampleMethod,
    TableSampleQuantity, TableSampleUnit, Value,
};
use datafusion::sql::sqlparser::parser::Parser;
use linn::{Error, Result};

use super::{none, unsupported};
use crate::parse::DIALECT;

/// Puts the query that takes a sample in place of a relation that is sampled.
pub(super) fn replace(factor: &mut TableFactor) -> Result<()> {
    let (TableFactor::Table { sample: place, .. } | TableFactor::Derived { sample: place, .. }) = factor else {
        return Ok(());
    };
    let Some(TableSampleKind::BeforeTableAlias(sample) | TableSampleKind::AfterTableAlias(sample)) = place.take()
    else {
        return Ok(());
    };
    let drawn = drawn(&sample)?;
    let alias = match factor {
        TableFactor::Table { alias: None, name, .. } => {
            let last = name.0.last().and_then(|part| part.as_ident()).map(|ident| ident.value.as_str());
            // The mark of options is no part of the name.
            let plain = last.and_then(|name| name.split('\u{1}').next()).unwrap_or_default();
            format!(" AS \"{}\"", plain.replace('"', "\"\""))
        }
        TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } => {
            format!(" {}", TableAlias { explicit: true, ..alias.clone() })
        }
        _ => String::new(),
    };
    let query = query(&format!("SELECT * FROM (SELECT * FROM {factor} {drawn}){alias}"))?;
    let SetExpr::Select(select) = *query.body else { return Err(Error::internal("a sample is not a SELECT")) };
    match select.from.into_iter().next() {
        Some(table) => *factor = table.relation,
        None => return Err(Error::internal("a sample has no FROM")),
    }
    Ok(())
}

/// The clauses of the query that takes a sample.
fn drawn(sample: &TableSample) -> Result<String> {
    let TableSample { modifier: _, name, quantity, seed, bucket, offset } = sample;
    none(seed.is_some(), "REPEATABLE")
        .map_err(|e| e.with_hint("leave the seed out, or filter by a hash of the key"))?;
    none(bucket.is_some(), "TABLESAMPLE (BUCKET …)")?;
    none(offset.is_some(), "OFFSET in TABLESAMPLE")?;
    let Some(TableSampleQuantity { parenthesized: _, value, unit }) = quantity else {
        return Err(Error::invalid("SQL: TABLESAMPLE needs a number of rows or percent"));
    };
    let number = match value {
        Expr::Value(value) => match &value.value {
            Value::Number(text, _) => text.clone(),
            _ => return Err(unsupported("TABLESAMPLE with anything but a number")),
        },
        _ => return Err(unsupported("TABLESAMPLE with anything but a number")),
    };
    let method = match name {
        None | Some(TableSampleMethod::Bernoulli | TableSampleMethod::System) => name.is_some(),
        Some(TableSampleMethod::Row) => return Err(unsupported("TABLESAMPLE ROW")),
        Some(TableSampleMethod::Block) => return Err(unsupported("TABLESAMPLE BLOCK")),
    };
    match unit {
        Some(TableSampleUnit::Rows) if method => Err(unsupported("a number of rows by BERNOULLI or SYSTEM")),
        Some(TableSampleUnit::Rows) => {
            let rows: u64 =
                number.parse().map_err(|_| Error::invalid(format!("SQL: {number} is not a number of rows")))?;
            Ok(format!("ORDER BY random() LIMIT {rows}"))
        }
        None if !method => Err(Error::invalid(format!("SQL: TABLESAMPLE ({number}) has no unit"))
            .with_hint(format!("write TABLESAMPLE ({number} PERCENT) or TABLESAMPLE ({number} ROWS)"))),
        None | Some(TableSampleUnit::Percent) => match number.parse::<f64>() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(format!("WHERE random() * 100 < {percent}")),
            _ => Err(Error::invalid(format!("SQL: {number} percent is not between 0 and 100"))),
        },
    }
}

/// A query from its text.
pub(super) fn query(sql: &str) -> Result<Query> {
    let invalid = |e| Error::internal(format!("a query that replaces a clause: {e}"));
    let statement = Parser::new(&DIALECT).try_with_sql(sql).and_then(|mut parser| parser.parse_statement());
    match statement.map_err(invalid)? {
        Statement::Query(query) => Ok(*query),
        _ => Err(Error::internal("a statement that replaces a clause is not a query")),
    }
}
