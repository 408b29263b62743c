//! What each command does.

mod alter;
mod analyze;
mod branch;
mod check;
mod compact;
mod config;
mod consumer;
mod db;
mod delete;
mod diff;
mod error;
mod expire;
mod explain;
mod export;
mod files;
mod get;
mod hint;
mod import;
mod init;
mod man;
mod option;
mod orphan;
mod partition;
mod picture;
mod read;
mod removal;
mod rollback;
mod show;
mod snapshot;
mod sql;
mod sure;
mod table;
mod tag;
mod tail;
mod top;
mod tree;
mod watch;

use clap::CommandFactory;
use linn::Result;

use crate::args::{Cli, Command, SqlArgs, TableCommand};
use crate::context::Context;
use crate::output::print;

pub(crate) use compact::matches;
pub(crate) use hint::hinted;
pub(crate) use sql::show as show_result;

/// Runs a command; `sql` runs statements.
pub(crate) async fn run(cli: Cli, sql: impl AsyncFnOnce(&Context, SqlArgs) -> Result<()>) -> Result<()> {
    let context = Context::new(&cli.global)?;
    match of(&context, cli.command, sql).await {
        Err(e) => Err(hinted(&context, e).await),
        done => done,
    }
}

async fn of(context: &Context, command: Command, sql: impl AsyncFnOnce(&Context, SqlArgs) -> Result<()>) -> Result<()> {
    match command {
        Command::Sql(args) => sql(context, args).await,
        Command::Init(args) => init::run(context, &args).await,
        Command::Get(args) => get::run(context, &args).await,
        Command::Db(command) => db::run(context, command).await,
        Command::Table(command) => of_table(context, command).await,
        Command::Snapshot(command) => snapshot::run(context, command).await,
        Command::Tag(command) => tag::run(context, command).await,
        Command::Branch(command) => branch::run(context, command).await,
        Command::Consumer(command) => consumer::run(context, command).await,
        Command::Files(command) => files::run(context, command).await,
        Command::Compact(command) => compact::run(context, command).await,
        Command::Changelog(command) => expire::changelogs(context, command).await,
        Command::Partition(command) => partition::run(context, command).await,
        Command::Manifest(command) => orphan::manifests(context, command).await,
        Command::Orphan(command) => orphan::run(context, command).await,
        Command::Check(args) => check::run(context, &args).await,
        Command::Top(args) => top::run(context, &args).await,
        Command::Doctor => check::doctor(context).await,
        Command::Option(command) => option::run(context, &command),
        Command::Error(command) => error::run(context, &command),
        Command::Man { folder } => man::run(&folder),
        Command::Config(command) => config::run(context, &command),
        Command::Completions { shell } => {
            // Through memory: the generator panics when its output is closed.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "linn", &mut script);
            print(&String::from_utf8_lossy(&script))
        }
    }
}

/// `\d TABLE` of a session.
pub(crate) async fn show_table(context: &Context, name: &str) -> Result<()> {
    show::run(context, name, false).await
}

/// Runs a command of `linn table`.
pub(crate) async fn of_table(context: &Context, command: TableCommand) -> Result<()> {
    match command {
        TableCommand::List { database } => table::list(context, &database).await,
        TableCommand::Show { table, schema_json } => show::run(context, &table, schema_json).await,
        TableCommand::Create(args) => table::create(context, args).await,
        TableCommand::Alter(args) => alter::run(context, args).await,
        TableCommand::Drop { table, if_exists, sure } => table::drop(context, &table, if_exists, &sure).await,
        TableCommand::Purge { table, sure } => table::purge(context, &table, &sure).await,
        TableCommand::Read(args) => read::run(context, &args).await,
        TableCommand::Tail(args) => tail::run(context, &args).await,
        TableCommand::Import(args) => import::run(context, args, false).await,
        TableCommand::Upsert(args) => import::run(context, args, true).await,
        TableCommand::Export(args) => export::run(context, &args).await,
        TableCommand::Delete(args) => delete::run(context, &args).await,
        TableCommand::Explain(args) => explain::run(context, &args).await,
        TableCommand::Diff(args) => diff::run(context, &args).await,
        TableCommand::Analyze { table, columns, all_columns } => {
            analyze::run(context, &table, columns, all_columns).await
        }
    }
}
