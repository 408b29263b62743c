//! EXPLAIN and DESCRIBE of a query.

use std::sync::Arc;

use datafusion::common::format::ExplainFormat;
use datafusion::logical_expr::ExplainOption;
use datafusion::sql::sqlparser::ast::Statement as Ast;
use datafusion::sql::sqlparser::tokenizer::TokenWithSpan;
use linn::{Error, Result};

use super::kind::spelled;
use super::query::{frame, parse};
use super::show::rows;
use crate::error::ours;
use crate::parse::{PlanFormat, TableOptions};
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
    let statement = crate::parse::parse(&query)?;
    crate::parse::explainable(&statement)?;
    let ast = parse(query)?;
    if !matches!(ast, Ast::Query(_)) {
        return Err(Error::unsupported("EXPLAIN of a statement that writes").with_hint("explain the query of its rows"));
    }
    let frame = frame(session, ast, options).await?;
    let format = match format {
        None | Some(PlanFormat::Indent) => ExplainFormat::Indent,
        Some(PlanFormat::Tree) => ExplainFormat::Tree,
        Some(PlanFormat::Json) => ExplainFormat::PostgresJSON,
        Some(PlanFormat::Graphviz) => ExplainFormat::Graphviz,
    };
    let option = ExplainOption::default().with_verbose(verbose).with_analyze(analyze).with_format(format);
    let frame = frame.explain_with_options(option).map_err(ours)?;
    let schema = Arc::clone(frame.schema().inner());
    Ok(Output::Rows { schema, stream: stream(frame.execute_stream().await.map_err(ours)?) })
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
