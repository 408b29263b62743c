//! Running statements.

mod analyze;
mod assign;
mod call;
mod cast;
mod change;
mod compute;
mod condition;
mod copy;
mod ddl;
mod default;
mod effect;
mod explain;
mod fit;
mod functions;
mod information;
mod insert;
mod instant;
mod isolation;
mod kind;
mod list;
mod literal;
mod merge;
mod names;
mod number;
mod place;
mod query;
mod replace;
mod second;
mod set;
mod setting;
mod show;
mod source;
mod statement;
mod summarize;
mod title;
mod unit;
mod view;

use datafusion::sql::sqlparser::tokenizer::TokenWithSpan;
use linn::Result;

use call::procedures;
use change::{count_keys, delete_keys};
use compute::compute;
use condition::condition;
pub(crate) use insert::{fitted, overwrite, write};
use query::readings;
use setting::executed;

use crate::parse::{Statement, TableOptions};
use crate::session::{Output, Session, TEMPORARY};

/// The tokens of a text that was put together here; they have no place in the text of the statement.
fn text_tokens(sql: &str) -> Vec<TokenWithSpan> {
    let statements = crate::parse::split(sql).unwrap_or_default();
    statements.into_iter().flatten().map(|token| TokenWithSpan::wrap(token.token)).collect()
}

/// The name of a table that is made: a bare name is in the current database, whatever temporary table has it too.
fn made(session: &Session, parts: &mut Vec<String>, temporary: bool) -> Result<()> {
    match parts.as_slice() {
        [_] if temporary => parts.insert(0, TEMPORARY.to_owned()),
        [_] => parts.insert(0, session.database()),
        [database, _] if temporary && database != TEMPORARY => {
            return Err(linn::Error::invalid("a temporary table has no database").with("table", parts.join(".")));
        }
        _ => {}
    }
    Ok(())
}

/// The statement with the database of the table that it makes.
fn placed(session: &Session, statement: Statement, temporary: bool) -> Result<Statement> {
    Ok(match statement {
        Statement::Temporary(inner) => placed(session, *inner, true)?,
        Statement::Replacing(inner) => Statement::Replacing(Box::new(placed(session, *inner, temporary)?)),
        Statement::CreateTable { mut table, definition, if_not_exists } => {
            made(session, &mut table, temporary)?;
            Statement::CreateTable { table, definition, if_not_exists }
        }
        Statement::CreateTableAs { mut table, definition, if_not_exists, query } => {
            made(session, &mut table, temporary)?;
            Statement::CreateTableAs { table, definition, if_not_exists, query }
        }
        Statement::CreateTableLike { mut table, model, options, if_not_exists } => {
            made(session, &mut table, temporary)?;
            Statement::CreateTableLike { table, model, options, if_not_exists }
        }
        other => other,
    })
}

pub(crate) async fn run(session: &Session, statement: Statement, options: &TableOptions) -> Result<Output> {
    match placed(session, statement, false)? {
        definition @ (Statement::CreateDatabase { .. }
        | Statement::DropDatabase { .. }
        | Statement::Use(_)
        | Statement::CreateTable { .. }
        | Statement::CreateTableLike { .. }
        | Statement::AlterTable { .. }
        | Statement::RenameTable { .. }
        | Statement::DropPartitions { .. }
        | Statement::DropTable { .. }
        | Statement::Truncate(_)) => Box::pin(ddl::run(session, definition)).await,
        Statement::CreateTableAs { table, definition, if_not_exists, query } => {
            Box::pin(insert::create_table_as(session, &table, *definition, if_not_exists, &query, options)).await
        }
        asked @ (Statement::ShowDatabases
        | Statement::ShowTables { .. }
        | Statement::ShowCreateTable(_)
        | Statement::ShowPartitions(_)
        | Statement::Describe(_)) => Box::pin(show::run(session, asked)).await,
        Statement::Replacing(inner) => Box::pin(replace::replace(session, *inner, options)).await,
        Statement::Temporary(inner) => Err(linn::Error::internal(format!("{inner:?} does not create a table"))),
        Statement::CreateView(new) => Box::pin(view::create(session, new)).await,
        Statement::DropView { name, if_exists } => view::drop_view(session, &name, if_exists),
        Statement::CopyTo { query, path, options: given } => {
            Box::pin(copy::to(session, query, &path, &given, options)).await
        }
        Statement::CopyFrom { table, columns, path, options: given } => {
            Box::pin(copy::from(session, table, columns, &path, &given, options)).await
        }
        Statement::Explain { analyze, verbose, format, query } => {
            Box::pin(explain::explain(session, explain::Asked { analyze, verbose, format }, query, options)).await
        }
        Statement::DescribeQuery(query) => Box::pin(explain::describe(session, query, options)).await,
        Statement::Summarize(query) => Box::pin(summarize::summarize(session, query, options)).await,
        Statement::ShowOf { table, system } => Box::pin(list::of_table(session, table, system, options)).await,
        Statement::ShowNames { what, like } => list::names(session, what, like.as_deref()),
        asked @ (Statement::Set { .. } | Statement::Reset(_) | Statement::ShowSettings(_)) => {
            setting::settings(session, asked)
        }
        Statement::Prepare { name, types, statement } => setting::prepare(session, name, types, statement),
        Statement::Execute { name, .. } => {
            Err(linn::Error::internal("a prepared statement was not looked up").with("statement", name))
        }
        Statement::Deallocate(name) => setting::deallocate(session, name),
        Statement::Insert(insert) => {
            isolation::again(options, |options| {
                let insert = insert.clone();
                Box::pin(async move { insert::insert(session, insert, &options).await })
            })
            .await
        }
        Statement::InsertSet { inserts, explain: false } => Box::pin(set::run(session, inserts, options)).await,
        Statement::InsertSet { inserts, explain: true } => Box::pin(set::explain(session, inserts, options)).await,
        Statement::Analyze { table, columns } => Box::pin(analyze::run(session, &table, columns)).await,
        Statement::Call { procedure, arguments } => Box::pin(call::call(session, &procedure, arguments)).await,
        Statement::Other(tokens) => Box::pin(query::run(session, tokens, options)).await,
    }
}
