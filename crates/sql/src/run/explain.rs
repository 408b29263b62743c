//! EXPLAIN of a query or of a statement that writes rows, and DESCRIBE of a query.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::common::format::ExplainFormat;
use datafusion::logical_expr::ExplainOption;
use datafusion::prelude::DataFrame;
use datafusion::sql::sqlparser::ast::Statement as Ast;
use datafusion::sql::sqlparser::tokenizer::TokenWithSpan;
use futures::StreamExt;
use linn::{Error, Result, Table};

use super::change::{self, Changing};
use super::insert::{self, Inserting};
use super::kind::spelled;
use super::merge::{self, Merging};
use super::query::{check, frame, parse};
use super::show::rows;
use crate::error::ours;
use crate::parse::{PlanFormat, Statement, TableOptions};
use crate::session::{Output, Session, stream};

/// What EXPLAIN was asked.
pub(super) struct Asked {
    pub(super) analyze: bool,
    pub(super) verbose: bool,
    pub(super) format: Option<PlanFormat>,
}

pub(super) async fn explain(
    session: &Session,
    asked: Asked,
    query: Vec<TokenWithSpan>,
    options: &TableOptions,
) -> Result<Output> {
    let Asked { analyze, verbose, format } = asked;
    let text = matches!(format, None | Some(PlanFormat::Indent));
    if verbose && !text {
        return Err(Error::unsupported("EXPLAIN VERBOSE in another format than INDENT"));
    }
    if analyze && matches!(format, Some(PlanFormat::Tree | PlanFormat::Graphviz)) {
        return Err(Error::unsupported("EXPLAIN ANALYZE in another format than INDENT and JSON"));
    }
    let (writes, frame) = match planned(session, query, options).await? {
        Planned::Query(frame) => (None, frame),
        Planned::Writing { .. } if analyze => {
            return Err(Error::unsupported("EXPLAIN ANALYZE of a statement that writes")
                .with_hint("EXPLAIN shows its plan; ANALYZE the query of its rows"));
        }
        Planned::Writing { operation, table, rows } => {
            let text = format!("LinnWrite: table={}, operation={operation}", table.name());
            (Some(text), rows)
        }
    };
    let format = match format {
        None | Some(PlanFormat::Indent) => ExplainFormat::Indent,
        Some(PlanFormat::Tree) => ExplainFormat::Tree,
        Some(PlanFormat::Json) => ExplainFormat::PostgresJSON,
        Some(PlanFormat::Graphviz) => ExplainFormat::Graphviz,
    };
    let option = ExplainOption::default().with_verbose(verbose).with_analyze(analyze).with_format(format);
    let frame = frame.explain_with_options(option).map_err(ours)?;
    let schema = Arc::clone(frame.schema().inner());
    let rows = stream(frame.execute_stream().await.map_err(ours)?);
    let Some(text) = writes else { return Ok(Output::Rows { schema, stream: rows }) };
    let columns: [ArrayRef; 2] = ["write", &text].map(|text| -> ArrayRef { Arc::new(StringArray::from(vec![text])) });
    let first = RecordBatch::try_new(Arc::clone(&schema), columns.to_vec())?;
    Ok(Output::Rows { schema, stream: futures::stream::iter([Ok(first)]).chain(rows).boxed() })
}

/// A statement whose plan can be shown.
enum Planned {
    Query(DataFrame),
    Writing {
        operation: &'static str,
        table: Table,
        /// What is written, before it is brought to the columns of the table.
        rows: DataFrame,
    },
}

async fn planned(session: &Session, statement: Vec<TokenWithSpan>, options: &TableOptions) -> Result<Planned> {
    let writing = |operation, table, rows| Ok(Planned::Writing { operation, table, rows });
    let tokens = match crate::parse::parse(&statement)? {
        Statement::Insert(insert) => {
            let operation = if insert.overwrite { "OVERWRITE" } else { "INSERT" };
            let Inserting { table, rows, .. } = Box::pin(insert::plan(session, insert, options)).await?;
            return writing(operation, table, rows);
        }
        Statement::Other(tokens) => tokens,
        _ => return Err(no_plan()),
    };
    let mut ast = parse(tokens)?;
    if !matches!(ast, Ast::Query(_)) {
        check(session, &mut ast)?;
    }
    match ast {
        Ast::Update(update) => {
            let Changing { table, rows, .. } = Box::pin(change::update(session, update, options)).await?;
            writing("UPDATE", table, rows)
        }
        Ast::Delete(delete) => {
            let Changing { table, rows, .. } = Box::pin(change::delete(session, delete, options)).await?;
            writing("DELETE", table, rows)
        }
        Ast::Merge(merge) => {
            let Merging { table, rows, .. } = Box::pin(merge::merge(session, merge, options)).await?;
            writing("MERGE", table, rows)
        }
        query @ Ast::Query(_) => Ok(Planned::Query(frame(session, query, options).await?)),
        _ => Err(no_plan()),
    }
}

fn no_plan() -> Error {
    Error::unsupported("EXPLAIN of a statement that is neither a query nor writes rows")
        .with_hint("explain the query of its rows")
}

/// The columns of a query.
pub(super) async fn describe(session: &Session, query: Vec<TokenWithSpan>, options: &TableOptions) -> Result<Output> {
    let ast = parse(query)?;
    if !matches!(ast, Ast::Query(_)) {
        return Err(Error::unsupported("DESCRIBE of a statement that is not a query"));
    }
    let frame = frame(session, ast, options).await?;
    let fields = frame.schema().fields();
    let nullable = |null: bool| if null { "YES" } else { "NO" }.to_owned();
    rows(
        &["column", "type", "null"],
        [
            fields.iter().map(|field| field.name().clone()).collect(),
            fields.iter().map(|field| spelled(field.data_type())).collect(),
            fields.iter().map(|field| nullable(field.is_nullable())).collect(),
        ],
    )
}
