//! Queries, and the statements over rows that begin as one: UPDATE, DELETE, MERGE, EXPLAIN.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::catalog::{
    CatalogProvider, MemoryCatalogProvider, MemorySchemaProvider, SchemaProvider, TableProvider,
};
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::context::SessionContext;
use datafusion::prelude::DataFrame;
use datafusion::sql::parser::Statement as Wrapped;
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, Select, SelectItem, Statement as Ast, TableAlias, TableFactor, VisitMut, VisitorMut,
};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::Token;
use linn::{Error, ErrorKind, Result};

use super::number::{self, Goals};
use super::{cast, fit, instant, literal};
use crate::error::ours;
use crate::parse::{Called, DIALECT, TableOptions, honoured, with_select, with_types};
use crate::provider::{self, Reading};
use crate::session::{CATALOG, Output, Session, stream};

/// How deep expressions may be nested before the parser refuses.
const DEPTH: usize = 300;

pub(super) async fn run(session: &Session, tokens: Vec<Token>, options: &TableOptions) -> Result<Output> {
    let mut ast = parse(tokens)?;
    check(session, &mut ast)?;
    match ast {
        Ast::Update(update) => super::change::update(session, update, options).await,
        Ast::Delete(delete) => super::change::delete(session, delete, options).await,
        Ast::Merge(merge) => super::merge::merge(session, merge, options).await,
        Ast::Explain { statement, .. } if !matches!(*statement, Ast::Query(_)) => {
            Err(Error::unsupported("EXPLAIN of a statement that writes").with_hint("explain the query of its rows"))
        }
        Ast::Query(_) | Ast::Explain { .. } => {
            let frame = frame(session, ast, options).await?;
            let schema = Arc::clone(frame.schema().inner());
            let rows = frame.execute_stream().await.map_err(ours)?;
            Ok(Output::Rows { schema, stream: stream(rows) })
        }
        other => Err(Error::unsupported(format!("the statement {}", first_words(&other.to_string())))),
    }
}

/// What a query would read of its tables.
pub(crate) async fn readings(session: &Session, tokens: Vec<Token>, options: &TableOptions) -> Result<Vec<Reading>> {
    let plan = frame(session, parse(tokens)?, options).await?.create_physical_plan().await.map_err(ours)?;
    Ok(provider::readings(plan.as_ref()))
}

fn first_words(text: &str) -> String {
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

/// Parses one statement with the library's parser.
pub(in crate::run) fn parse(tokens: Vec<Token>) -> Result<Ast> {
    let invalid = |e| Error::invalid(format!("SQL: {e}"));
    let mut parser = Parser::new(&DIALECT).with_recursion_limit(DEPTH).with_tokens(with_types(&with_select(&tokens)));
    let ast = parser.parse_statement().map_err(invalid)?;
    match parser.next_token().token {
        Token::EOF => Ok(ast),
        Token::Word(word) if matches!(word.keyword, Keyword::ON | Keyword::RETURNING | Keyword::OUTPUT) => {
            Err(Error::unsupported(format!("SQL: the clause {} is not supported", word.value.to_uppercase())))
        }
        rest => Err(Error::invalid(format!("SQL: expected the end of the statement, found {:?}", rest.to_string()))),
    }
}

/// Refuses what a statement says without effect.
fn check(session: &Session, ast: &mut Ast) -> Result<()> {
    let state = session.context().state();
    honoured(ast, &|name| match name {
        name if state.scalar_functions().contains_key(name) => Called::Scalar,
        name if state.aggregate_functions().contains_key(name) => Called::Aggregate,
        name if state.window_functions().contains_key(name) => Called::Window,
        _ => Called::Unknown,
    })
}

/// Plans a statement over tables that are opened for it.
pub(super) async fn frame(session: &Session, ast: Ast, options: &TableOptions) -> Result<DataFrame> {
    frame_over(session, ast, options, None, &Goals::None).await
}

/// Plans a statement whose rows go to `goals` over tables that are opened for it, and over `target` by the name of
/// [`provider::TARGET`].
pub(in crate::run) async fn frame_over(
    session: &Session,
    mut ast: Ast,
    options: &TableOptions,
    target: Option<Arc<dyn TableProvider>>,
    goals: &Goals<'_>,
) -> Result<DataFrame> {
    check(session, &mut ast)?;
    let casts = cast::own_casts(&mut ast)?;
    let doubles = literal::prepare(&mut ast);
    let mut names = Names::default();
    let _: ControlFlow<()> = ast.visit(&mut names);
    let context = context(session, &names, options, target).await?;
    casts.into_iter().for_each(|function| context.register_udf(function));
    if let Goals::ByName(fields) = goals {
        fit::functions(fields)?.into_iter().for_each(|function| context.register_udf(function));
    }
    let plan = context.state().statement_to_plan(Wrapped::Statement(Box::new(ast))).await.map_err(ours)?;
    let plan = instant::settle(number::settle(plan, goals, &doubles).map_err(ours)?).map_err(ours)?;
    context.execute_logical_plan(plan).await.map_err(ours)
}

/// A context in which exactly the named tables exist.
async fn context(
    session: &Session,
    names: &Names,
    options: &TableOptions,
    target: Option<Arc<dyn TableProvider>>,
) -> Result<SessionContext> {
    let catalog = MemoryCatalogProvider::new();
    let current = session.database();
    for parts in &names.tables {
        let Some((marked, _)) = parts.split_last() else { continue };
        if let Some(target) = target.as_ref().filter(|_| *parts == [provider::TARGET]) {
            schema_of(&catalog, &current)?.register_table(marked.clone(), Arc::clone(target)).map_err(ours)?;
            continue;
        }
        let (plain, given) = options.unmark(marked);
        let mut plain_parts = parts.clone();
        if let Some(last) = plain_parts.last_mut() {
            plain.clone_into(last);
        }
        let id = session.identifier(&plain_parts)?;
        let table = match provider::open(session.catalog(), &id, given).await {
            Ok(table) => table,
            // A bare name may be a common table expression; if it is none the planner says so.
            Err(e) if e.kind() == ErrorKind::NotFound && names.aliases.contains(plain) && parts.len() == 1 => continue,
            Err(e) => return Err(e),
        };
        let database = if parts.len() > 1 { id.database.clone() } else { current.clone() };
        schema_of(&catalog, &database)?.register_table(marked.clone(), table).map_err(ours)?;
    }
    schema_of(&catalog, &current)?;
    let mut config = session.context().copied_config();
    config.options_mut().catalog.default_schema = current;
    // Which of them stay decimals is settled in the plan.
    config.options_mut().sql_parser.parse_float_as_decimal = true;
    let state = SessionStateBuilder::new_from_existing(session.context().state()).with_config(config).build();
    let context = SessionContext::new_with_state(state);
    context.register_catalog(CATALOG, Arc::new(catalog));
    Ok(context)
}

fn schema_of(catalog: &MemoryCatalogProvider, name: &str) -> Result<Arc<dyn SchemaProvider>> {
    if let Some(schema) = catalog.schema(name) {
        return Ok(schema);
    }
    let schema: Arc<dyn SchemaProvider> = Arc::new(MemorySchemaProvider::new());
    catalog.register_schema(name, Arc::clone(&schema)).map_err(ours)?;
    Ok(schema)
}

/// Collects the tables of a statement, and gives those whose name is marked their plain name as an alias.
#[derive(Debug, Default)]
struct Names {
    tables: BTreeSet<Vec<String>>,
    /// Names of common table expressions.
    aliases: BTreeSet<String>,
}

impl VisitorMut for Names {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut datafusion::sql::sqlparser::ast::Query) -> ControlFlow<()> {
        if let Some(with) = &query.with {
            self.aliases.extend(with.cte_tables.iter().map(|cte| cte.alias.name.value.clone()));
        }
        ControlFlow::Continue(())
    }

    /// Columns of one SELECT need different names; equal expressions get a number.
    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for item in &mut select.projection {
            let SelectItem::UnnamedExpr(expr) = item else { continue };
            let text = match &*expr {
                Expr::Subquery(_) => "subquery".to_owned(),
                other => other.to_string(),
            };
            let number = seen.entry(text.clone()).or_default();
            *number += 1;
            if *number > 1 {
                let alias = Ident::with_quote('"', format!("{text}:{number}"));
                *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        let TableFactor::Table { name, alias, args: None, .. } = factor else { return ControlFlow::Continue(()) };
        let parts: Vec<String> =
            name.0.iter().filter_map(|part| part.as_ident()).map(|ident| ident.value.clone()).collect();
        if let Some((plain, _)) = parts.last().and_then(|last| last.split_once('\u{1}'))
            && alias.is_none()
        {
            let name = Ident::with_quote('"', plain);
            *alias = Some(TableAlias { explicit: true, name, columns: Vec::new(), at: None });
        }
        self.tables.insert(parts);
        ControlFlow::Continue(())
    }
}
