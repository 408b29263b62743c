//! `linn db`: databases.

use linn::Result;

use crate::args::DbCommand;
use crate::context::Context;
use crate::output::Columns;

pub(super) async fn run(context: &Context, command: DbCommand) -> Result<()> {
    let catalog = context.catalog()?;
    match command {
        DbCommand::List => Columns::new().text("database", catalog.list_databases().await?).show(context.output),
        DbCommand::Create { name, if_not_exists } => {
            catalog.create_database(&name, if_not_exists).await?;
            eprintln!("database {name} is there");
            Ok(())
        }
        DbCommand::Drop { name, cascade, if_exists } => {
            catalog.drop_database(&name, if_exists, cascade).await?;
            eprintln!("database {name} is gone");
            Ok(())
        }
    }
}
