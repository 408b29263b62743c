//! `linn db`: databases.

use linn::core::maintain::{Contents, contents};
use linn::{Catalog, ErrorKind, Identifier, Result};

use super::sure::agreed;
use super::table::total;
use crate::args::DbCommand;
use crate::context::Context;
use crate::output::{Columns, count};
use crate::say::say;

pub(super) async fn run(context: &Context, command: DbCommand) -> Result<()> {
    let catalog = context.catalog()?;
    match command {
        DbCommand::List => Columns::new().text("database", catalog.list_databases().await?).show(context.output),
        DbCommand::Create { name, if_not_exists } => {
            let exists = if_not_exists && catalog.list_databases().await?.contains(&name);
            catalog.create_database(&name, if_not_exists).await?;
            match exists {
                true => say!("Database {name} already exists; nothing was done."),
                false => say!("Created database {name}."),
            }
            Ok(())
        }
        DbCommand::Drop { name, cascade, if_exists, sure } => {
            let tables = match catalog.list_tables(&name).await {
                Ok(tables) => tables,
                Err(e) if e.kind() == ErrorKind::NotFound && if_exists => {
                    say!("Database {name} does not exist; nothing was done.");
                    return Ok(());
                }
                Err(e) => return Err(e),
            };
            let what = match tables.len() {
                0 => format!("drop empty database {name}"),
                _ if !cascade => {
                    // The catalog says what is in the way.
                    return catalog.drop_database(&name, if_exists, false).await;
                }
                number => {
                    let held = held(catalog.as_ref(), &name, &tables).await?;
                    if sure.dry_run {
                        show(context, &tables, &held)?;
                    }
                    let all: Vec<Contents> = held.into_iter().flatten().collect();
                    format!("drop database {name} with {}{}", count(number, "table"), total(&all))
                }
            };
            if agreed(&what, &sure)? {
                catalog.drop_database(&name, if_exists, cascade).await?;
                say!("Dropped database {name}.");
            }
            Ok(())
        }
    }
}

/// What the tables of a database hold; nothing is known of those that cannot be opened.
async fn held(catalog: &dyn Catalog, database: &str, tables: &[String]) -> Result<Vec<Vec<Contents>>> {
    let mut all = Vec::with_capacity(tables.len());
    for table in tables {
        all.push(match catalog.table(&Identifier::new(database, table)?).await {
            Ok(table) => contents(&table).await?,
            Err(_) => Vec::new(),
        });
    }
    Ok(all)
}

fn show(context: &Context, tables: &[String], held: &[Vec<Contents>]) -> Result<()> {
    let sums = |of: fn(&Contents) -> u64| {
        held.iter().map(|table| i64::try_from(table.iter().map(of).sum::<u64>()).ok()).collect::<Vec<_>>()
    };
    Columns::new()
        .text("table", tables)
        .number("files", sums(|contents| contents.files))
        .number("bytes", sums(|contents| contents.bytes))
        .show(context.output)
}
