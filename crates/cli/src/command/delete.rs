//! `linn table delete`: rows by a file of their keys, or by a condition.

use arrow::record_batch::RecordBatch;
use linn::{Error, Identifier, Result, ResultExt};
use linn_sql::Output;

use super::read::name;
use crate::args::{DeleteArgs, InputArgs};
use crate::context::{Context, DATABASE, identifier};
use crate::import::ahead::Ahead;
use crate::import::aside::Aside;
use crate::import::source::Source;
use crate::import::target::Target;
use crate::import::{Dialect, Unknown, open};
use crate::output::count;
use crate::say::say;

pub(super) async fn run(context: &Context, args: &DeleteArgs) -> Result<()> {
    let id = identifier(&args.table)?;
    let session = context.session(DATABASE)?;
    if let Some(filter) = &args.filter {
        let sql = format!("DELETE FROM {} WHERE (\n{filter}\n)", name(&id));
        if let Output::Done { message, .. } = session.execute(&sql).await? {
            say!("{message}");
        }
        return Ok(());
    }
    let Some(file) = &args.file else {
        return Err(Error::invalid("give a file of keys, or --where"));
    };
    let source = Source::new(file, args.input.format, false)?;
    let keys = keys(context, &id, &args.input, &source).await?;
    let named: usize = keys.iter().map(RecordBatch::num_rows).sum();
    let deleted = session.delete_keys(&id, keys).await?;
    say!("Deleted {} from {id} ({} in {}).", count(deleted, "row"), count(named, "key"), source.name());
    Ok(())
}

/// The keys that a file names.
async fn keys(context: &Context, id: &Identifier, args: &InputArgs, source: &Source) -> Result<Vec<RecordBatch>> {
    let table = context.catalog()?.table(id).await?;
    if !table.schema().is_primary_key_table() {
        return Err(Error::invalid("only rows of a table with a primary key can be deleted by their keys")
            .with("table", id)
            .with_hint("use --where"));
    }
    let mut aside = Aside::parse(&args.on_error)?;
    let dialect = Dialect::of(args, Unknown::Ignored)?;
    let all: Vec<String> = table.visible_fields()?.iter().map(|field| field.name.clone()).collect();
    let target = Target::keys(&table.visible_fields()?, &table.schema().primary_keys)?;
    let bar = context.progress.bytes(source.size());
    // A file without a header has the columns of the key in the table's order, or all columns.
    let mut wanted = target.wanted();
    wanted.sort_by_key(|column| all.iter().position(|name| *name == column.name));
    let (schema, chunks) = open(source, &dialect.with_all(all), wanted, aside.keeps(), &bar)?;
    let binding = target.bind(&schema).context("file", source.name())?;
    let mut keys = Vec::new();
    let mut chunks = Ahead::new(chunks);
    while let Some(chunk) = chunks.next().await.context("file", source.name())? {
        let (batch, bad) = binding.rows(chunk).context("file", source.name())?;
        aside.take(&source.name(), &bad)?;
        keys.push(batch);
    }
    bar.finish_and_clear();
    Ok(keys)
}
