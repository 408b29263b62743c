//! Databases and tables: create, alter, drop.

use linn::core::commit::CommitOutcome;
use linn::format::options::similar_option;
use linn::format::schema::{SchemaChange, TableSchema};
use linn::{NewTable, Options, Result, committed};

use crate::parse::{PartitionValues, Statement};
use crate::session::{Output, Session};

pub(super) async fn run(session: &Session, statement: Statement) -> Result<Output> {
    let catalog = session.catalog();
    match statement {
        Statement::CreateDatabase { name, if_not_exists } => {
            catalog.create_database(&name, if_not_exists).await?;
            Ok(Output::done(format!("Created database {name}.")))
        }
        Statement::DropDatabase { name, if_exists, cascade } => {
            catalog.drop_database(&name, if_exists, cascade).await?;
            Ok(Output::done(format!("Dropped database {name}.")))
        }
        Statement::Use(name) => {
            // Listing fails when there is no such database.
            catalog.list_tables(&name).await?;
            session.set_database(&name);
            Ok(Output::done(format!("Using database {name}.")))
        }
        Statement::CreateTable { table, definition, if_not_exists } => {
            let id = session.identifier(&table)?;
            let slips = slips(definition.options.iter().map(|(key, _)| key));
            catalog.create_table(&id, *definition, if_not_exists).await?;
            Ok(Output::done(format!("Created table {id}.{slips}")))
        }
        Statement::CreateTableLike { table, model, options, if_not_exists } => {
            let id = session.identifier(&table)?;
            let model = catalog.table(&session.identifier(&model)?).await?;
            let definition = like(model.schema(), &options);
            catalog.create_table(&id, definition, if_not_exists).await?;
            Ok(Output::done(format!("Created table {id}.")))
        }
        Statement::AlterTable { table, changes } => {
            let id = session.identifier(&table)?;
            let slips = slips(changes.iter().filter_map(|change| match change {
                SchemaChange::SetOption { key, .. } => Some(key.as_str()),
                _ => None,
            }));
            catalog.alter_table(&id, changes).await?;
            Ok(Output::done(format!("Altered table {id}.{slips}")))
        }
        Statement::RenameTable { table, to } => {
            let (from, mut to) = (session.identifier(&table)?, to);
            if to.len() == 1 {
                to.insert(0, from.database.clone());
            }
            let to = session.identifier(&to)?;
            catalog.rename_table(&from, &to).await?;
            Ok(Output::done(format!("Renamed table {from} to {to}.")))
        }
        Statement::DropTable { table, if_exists } => {
            let id = session.identifier(&table)?;
            catalog.drop_table(&id, if_exists).await?;
            Ok(Output::done(format!("Dropped table {id}.")))
        }
        Statement::DropPartitions { table, partitions } => drop_partitions(session, &table, partitions).await,
        Statement::Truncate(table) => truncate(session, &table).await,
        other => Err(linn::Error::internal(format!("{other:?} is not a DDL statement"))),
    }
}

/// What to say of keys that look misspelled; they are kept all the same, since other engines have options of their own.
fn slips<'k>(keys: impl Iterator<Item = &'k str>) -> String {
    let slip = |key| Some(format!(" Unknown option '{key}'; did you mean '{}'?", similar_option(key)?));
    keys.filter_map(slip).collect()
}

/// A table like another one, with some options of its own.
fn like(model: &TableSchema, options: &Options) -> NewTable {
    NewTable {
        columns: model.fields.clone(),
        partition_keys: model.partition_keys.clone(),
        primary_keys: model.primary_keys.clone(),
        options: model.options.merged(options),
        comment: model.comment.clone(),
    }
}

async fn drop_partitions(session: &Session, table: &[String], specs: Vec<PartitionValues>) -> Result<Output> {
    let id = session.identifier(table)?;
    let table = session.catalog().table(&id).await?;
    let outcome = table.committer(table.new_user()).drop_partitions(specs, i64::MAX).await?;
    done(outcome, format!("Dropped the partitions of {id}."))
}

async fn truncate(session: &Session, table: &[String]) -> Result<Output> {
    let id = session.identifier(table)?;
    let table = session.catalog().table(&id).await?;
    let outcome = table.committer(table.new_user()).truncate(i64::MAX).await?;
    done(outcome, format!("Truncated table {id}."))
}

fn done(outcome: CommitOutcome, message: String) -> Result<Output> {
    committed(outcome)?;
    Ok(Output::done(message))
}
