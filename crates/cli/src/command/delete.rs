//! `linn table delete`: rows by a file of their keys, or by a condition.

use linn::{Error, Result};
use linn_sql::Output;

use super::read::name;
use crate::args::DeleteArgs;
use crate::context::{Context, DATABASE, identifier};
use crate::import::Dialect;
use crate::import::aside::Aside;
use crate::import::load::{Load, Mode, shown};
use crate::import::source::Source;

pub(super) async fn run(context: &Context, args: &DeleteArgs) -> Result<()> {
    let id = identifier(&args.table)?;
    if let Some(filter) = &args.filter {
        let session = context.session(DATABASE)?;
        let sql = format!("DELETE FROM {} WHERE (\n{filter}\n)", name(&id));
        if let Output::Done { message, .. } = session.execute(&sql).await? {
            eprintln!("{message}");
        }
        return Ok(());
    }
    let Some(file) = &args.file else {
        return Err(Error::invalid("give a file of keys, or --where"));
    };
    let table = context.table(&args.table).await?;
    if !table.schema().is_primary_key_table() {
        return Err(Error::invalid("only rows of a table with a primary key can be deleted by their keys")
            .with("table", &id)
            .with_hint("use --where"));
    }
    let sources = [Source::new(file, args.format, false)?];
    let mut load = Load { mode: Mode::Delete, dialect: Dialect::default(), aside: Aside::Fail, commit_rows: 0 };
    let loaded = load.run(&table, &sources, &context.progress).await?;
    eprintln!("{} keys deleted from {id} (snapshot {})", loaded.rows, shown(&loaded.snapshots));
    Ok(())
}
