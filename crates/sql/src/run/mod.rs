//! Running statements.

mod analyze;
mod assign;
mod call;
mod cast;
mod change;
mod condition;
mod ddl;
mod default;
mod effect;
mod fit;
mod insert;
mod instant;
mod literal;
mod merge;
mod number;
mod place;
mod query;
mod show;
mod unit;

use linn::Result;

pub(crate) use change::delete_keys;
pub(crate) use condition::condition;
pub(crate) use query::readings;

use crate::parse::{Statement, TableOptions};
use crate::session::{Output, Session};

pub(crate) async fn run(session: &Session, statement: Statement, options: &TableOptions) -> Result<Output> {
    match statement {
        Statement::CreateDatabase { .. }
        | Statement::DropDatabase { .. }
        | Statement::Use(_)
        | Statement::CreateTable { .. }
        | Statement::CreateTableLike { .. }
        | Statement::AlterTable { .. }
        | Statement::RenameTable { .. }
        | Statement::DropPartitions { .. }
        | Statement::DropTable { .. }
        | Statement::Truncate(_) => ddl::run(session, statement).await,
        Statement::CreateTableAs { table, definition, if_not_exists, query } => {
            insert::create_table_as(session, &table, *definition, if_not_exists, &query, options).await
        }
        Statement::ShowDatabases
        | Statement::ShowTables { .. }
        | Statement::ShowCreateTable(_)
        | Statement::ShowPartitions(_)
        | Statement::Describe(_) => show::run(session, statement).await,
        Statement::Insert(insert) => insert::insert(session, insert, options).await,
        Statement::Analyze { table, columns } => analyze::run(session, &table, columns).await,
        Statement::Call { procedure, arguments } => call::call(session, &procedure, arguments).await,
        Statement::Other(tokens) => query::run(session, tokens, options).await,
    }
}
