//! Queries, and the statements over rows that begin as one: UPDATE, DELETE, MERGE, EXPLAIN.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{
    CatalogProvider, MemoryCatalogProvider, MemorySchemaProvider, SchemaProvider, TableProvider,
};
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::context::SessionContext;
use datafusion::prelude::DataFrame;
use datafusion::sql::parser::Statement as Wrapped;
use datafusion::sql::sqlparser::ast::{
    DataType, Expr, Ident, Select, SelectItem, Statement as Ast, TableAlias, TableFactor, VisitMut, VisitorMut,
};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use linn::format::suggest::did_you_mean;
use linn::{Error, ErrorKind, Result};

use super::functions::functions;
use super::number::{self, TargetColumns};
use super::source::{Opened, Place};
use super::{cast, fit, instant, isolation, literal, title};
use crate::error::ours;
use crate::file::{self, FileCall};
use crate::parse::{Called, DEPTH, DIALECT, TableOptions, at, honoured, named, refused, with_select, with_types};
use crate::provider::{self, Reading};
use crate::session::{CATALOG, Output, Session, stream};

pub(super) async fn run(session: &Session, tokens: Vec<TokenWithSpan>, options: &TableOptions) -> Result<Output> {
    let mut ast = parse(tokens)?;
    check(session, &mut ast)?;
    match ast {
        Ast::Update(_) | Ast::Delete(_) | Ast::Merge(_) => {
            isolation::again(options, |options| {
                let ast = ast.clone();
                Box::pin(async move { change(session, ast, &options).await })
            })
            .await
        }
        Ast::Query(_) => {
            let frame = frame(session, ast, options).await?;
            let schema = Arc::clone(frame.schema().inner());
            let rows = frame.execute_stream().await.map_err(ours)?;
            Ok(Output::Rows { schema, stream: stream(rows) })
        }
        other => Err(Error::unsupported(format!("the statement {}", first_words(&other.to_string())))),
    }
}

async fn change(session: &Session, ast: Ast, options: &TableOptions) -> Result<Output> {
    match ast {
        Ast::Update(update) => Box::pin(super::change::update(session, update, options)).await?.run().await,
        Ast::Delete(delete) => Box::pin(super::change::delete(session, delete, options)).await?.run().await,
        Ast::Merge(merge) => Box::pin(super::merge::merge(session, merge, options)).await?.run().await,
        _ => Err(Error::internal("a statement that changes no rows")),
    }
}

/// What a query would read of its tables.
pub(crate) async fn readings(
    session: &Session,
    tokens: Vec<TokenWithSpan>,
    options: &TableOptions,
) -> Result<Vec<Reading>> {
    let plan = frame(session, parse(tokens)?, options).await?.create_physical_plan().await.map_err(ours)?;
    Ok(provider::readings(plan.as_ref()))
}

fn first_words(text: &str) -> String {
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

/// Parses one statement with the library's parser.
pub(in crate::run) fn parse(tokens: Vec<TokenWithSpan>) -> Result<Ast> {
    let tokens = with_types(&with_select(&tokens));
    let mut parser = Parser::new(&DIALECT).with_recursion_limit(DEPTH).with_tokens_with_locations(tokens.clone());
    let mut ast = parser.parse_statement().map_err(|e| refused(&e, &tokens))?;
    title::entitle(&mut ast);
    let rest = parser.next_token();
    match rest.token {
        Token::EOF => Ok(ast),
        Token::Word(word) if matches!(word.keyword, Keyword::ON | Keyword::RETURNING | Keyword::OUTPUT) => {
            let error = Error::unsupported(format!("SQL: the clause {} is not supported", word.value.to_uppercase()));
            Err(at(error, rest.span.start))
        }
        token => {
            let error = Error::invalid(format!("SQL: expected the end of the statement, found {}", named(&token)));
            Err(at(error, rest.span.start))
        }
    }
}

/// Refuses what a statement says without effect.
pub(super) fn check(session: &Session, ast: &mut Ast) -> Result<()> {
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
    frame_over(session, ast, options, None, &TargetColumns::None).await
}

/// Plans a statement whose rows go to `goals` over tables that are opened for it, and over `target` by the name of
/// [`provider::TARGET`].
pub(in crate::run) async fn frame_over(
    session: &Session,
    ast: Ast,
    options: &TableOptions,
    target: Option<Arc<dyn TableProvider>>,
    goals: &TargetColumns<'_>,
) -> Result<DataFrame> {
    let (opened, database) = (Opened::default(), session.database());
    let place = Place { session, database: &database, opened: &opened, reads: options.reads(), depth: 0 };
    Box::pin(planned(place, ast, options, target, goals)).await
}

/// The same in a place, such as inside of a view.
pub(super) async fn planned(
    place: Place<'_>,
    mut ast: Ast,
    options: &TableOptions,
    target: Option<Arc<dyn TableProvider>>,
    goals: &TargetColumns<'_>,
) -> Result<DataFrame> {
    check(place.session, &mut ast)?;
    let casts = cast::own_casts(&mut ast)?;
    let doubles = literal::prepare(&mut ast);
    let mut names = Names::default();
    if let ControlFlow::Break(error) = ast.visit(&mut names) {
        return Err(error);
    }
    let context = Box::pin(context(place, &names, options, target)).await?;
    casts.into_iter().for_each(|function| context.register_udf(function));
    if let TargetColumns::ByName(fields) = goals {
        fit::functions(fields)?.into_iter().for_each(|function| context.register_udf(function));
    }
    let plan = context.state().statement_to_plan(Wrapped::Statement(Box::new(ast))).await;
    let plan = plan.map_err(|e| explained(ours(e), &context))?;
    let plan = instant::settle(number::settle(plan, goals, &doubles).map_err(ours)?).map_err(ours)?;
    context.execute_logical_plan(plan).await.map_err(ours)
}

/// The names of the tables of a statement, without what stands behind them.
pub(super) fn names(ast: &Ast, options: &TableOptions) -> BTreeSet<Vec<String>> {
    let (mut ast, mut names) = (ast.clone(), Names::default());
    let _: ControlFlow<Error> = ast.visit(&mut names);
    let plain = |mut parts: Vec<String>| {
        if let Some(last) = parts.last_mut() {
            *last = options.unmark(last).0.to_owned();
        }
        parts
    };
    names.tables.into_iter().map(plain).collect()
}

/// The columns of what a name means.
pub(super) async fn schema_of_name(session: &Session, parts: &[String]) -> Result<SchemaRef> {
    let (opened, database) = (Opened::default(), session.database());
    let place = Place { session, database: &database, opened: &opened, reads: None, depth: 0 };
    Ok(Box::pin(place.open(parts, None)).await?.schema())
}

/// A context in which exactly the named tables exist.
pub(super) async fn context(
    place: Place<'_>,
    names: &Names,
    options: &TableOptions,
    target: Option<Arc<dyn TableProvider>>,
) -> Result<SessionContext> {
    let session = place.session;
    let catalog = MemoryCatalogProvider::new();
    let current = place.database.to_owned();
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
        let database = parts.iter().rev().nth(1).unwrap_or(&current);
        // A table may be named with its database and without.
        if schema_of(&catalog, database)?.table_exist(marked) {
            continue;
        }
        let table = match Box::pin(place.open(&plain_parts, given)).await {
            Ok(table) => table,
            // A bare name may be a common table expression; if it is none the planner says so.
            Err(e) if e.kind() == ErrorKind::NotFound && names.aliases.contains(plain) && parts.len() == 1 => continue,
            Err(e) => return Err(names.pointed(parts, e)),
        };
        schema_of(&catalog, database)?.register_table(marked.clone(), table).map_err(ours)?;
    }
    schema_of(&catalog, &current)?;
    let mut config = session.context().copied_config();
    config.options_mut().catalog.default_schema.clone_from(&current);
    // Which of them stay decimals is settled in the plan.
    config.options_mut().sql_parser.parse_float_as_decimal = true;
    let state = SessionStateBuilder::new_from_existing(session.context().state()).with_config(config).build();
    let context = SessionContext::new_with_state(state);
    functions(session).into_iter().for_each(|function| context.register_udf(function));
    for (marked, call) in &names.files {
        let options = session.catalog().options();
        let table = Box::pin(file::open(&context, session.stores(), options, call)).await?;
        schema_of(&catalog, &current)?.register_table(marked.clone(), table).map_err(ours)?;
    }
    context.register_catalog(CATALOG, Arc::new(catalog));
    Ok(context)
}

/// An error of planning with what may have been meant by a function.
fn explained(error: Error, context: &SessionContext) -> Error {
    let name = error.message().strip_prefix("SQL: there is no function ").map(str::to_owned);
    let Some(name) = name else { return error };
    let state = context.state();
    let known = state.scalar_functions().keys().chain(state.aggregate_functions().keys());
    let known = known.chain(state.window_functions().keys()).map(String::as_str);
    match did_you_mean(&name, known) {
        Some(hint) => error.with_hint(hint),
        None => error.with_hint("SHOW FUNCTIONS lists them"),
    }
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
pub(super) struct Names {
    tables: BTreeSet<Vec<String>>,
    /// Where each stands in the text.
    spans: BTreeMap<Vec<String>, Location>,
    /// Names of common table expressions.
    aliases: BTreeSet<String>,
    /// Files, by the names that stand for them.
    files: Vec<(String, FileCall)>,
}

impl Names {
    /// An error about a table with its place in the text.
    fn pointed(&self, parts: &[String], error: Error) -> Error {
        match self.spans.get(parts) {
            Some(place) => at(error, *place),
            None => error,
        }
    }
}

/// Stands before the number of a file; no table can have it in its name.
const FILE: char = '\u{2}';

impl VisitorMut for Names {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut datafusion::sql::sqlparser::ast::Query) -> ControlFlow<Error> {
        if let Some(with) = &query.with {
            self.aliases.extend(with.cte_tables.iter().map(|cte| cte.alias.name.value.clone()));
        }
        ControlFlow::Continue(())
    }

    /// JSON is text here, as in the columns of tables.
    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        if let Expr::Cast { data_type, .. } = expr
            && matches!(data_type, DataType::JSON | DataType::JSONB)
        {
            *data_type = DataType::Text;
        }
        ControlFlow::Continue(())
    }

    /// Columns of one SELECT need different names; equal expressions get a number.
    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<Error> {
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

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Error> {
        let call = match file::called(factor) {
            Ok(call) => call,
            Err(e) => return ControlFlow::Break(e),
        };
        let TableFactor::Table { name, alias, args, .. } = factor else { return ControlFlow::Continue(()) };
        if let Some(call) = call {
            let marked = format!("{FILE}{}", self.files.len());
            let called = Ident::with_quote('"', call.name.clone());
            alias.get_or_insert(TableAlias { explicit: true, name: called, columns: Vec::new(), at: None });
            *name = Ident::with_quote('"', marked.clone()).into();
            *args = None;
            self.files.push((marked, call));
            return ControlFlow::Continue(());
        }
        if args.is_some() {
            return ControlFlow::Continue(());
        }
        let parts: Vec<String> =
            name.0.iter().filter_map(|part| part.as_ident()).map(|ident| ident.value.clone()).collect();
        if let Some((plain, _)) = parts.last().and_then(|last| last.split_once('\u{1}'))
            && alias.is_none()
        {
            let name = Ident::with_quote('"', plain);
            *alias = Some(TableAlias { explicit: true, name, columns: Vec::new(), at: None });
        }
        if let Some(first) = name.0.first().and_then(|part| part.as_ident()) {
            self.spans.entry(parts.clone()).or_insert(first.span.start);
        }
        self.tables.insert(parts);
        ControlFlow::Continue(())
    }
}
