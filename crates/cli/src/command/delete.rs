//! `linn table delete`: rows by a file of their keys, or by a condition.

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
use futures::TryStreamExt;
use linn::{Error, Identifier, Result, ResultExt};
use linn_sql::{Output, Session};

use super::read::name;
use crate::args::{DeleteArgs, InputArgs};
use crate::context::{Context, DATABASE, identifier};
use crate::import::ahead::Ahead;
use crate::import::aside::OnReject;
use crate::import::source::Source;
use crate::import::target::Target;
use crate::import::{Dialect, Unknown, open};
use crate::output::count;
use crate::say::say;

pub(super) async fn run(context: &Context, args: &DeleteArgs) -> Result<()> {
    let id = identifier(&args.table)?;
    let session = context.session(DATABASE)?;
    if let Some(filter) = args.filter.as_ref().filter(|_| args.dry_run) {
        say!("Would delete {} from {id}.", count(matching(&session, &id, filter).await?, "row"));
        return Ok(());
    }
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
    let (rows, done) = match args.dry_run {
        true => (session.count_keys(&id, keys).await?, "Would delete"),
        false => (session.delete_keys(&id, keys).await?, "Deleted"),
    };
    say!("{done} {} from {id} ({} in {}).", count(rows, "row"), count(named, "key"), source.name());
    Ok(())
}

/// How many rows a condition holds for, of a table from which they could be deleted.
async fn matching(session: &Session, id: &Identifier, filter: &str) -> Result<u64> {
    // Fails as the deletion would.
    session.execute(&format!("EXPLAIN DELETE FROM {} WHERE (\n{filter}\n)", name(id))).await?;
    let counted = session.execute(&format!("SELECT count(*) FROM {} WHERE (\n{filter}\n)", name(id))).await?;
    let Output::Rows { stream, .. } = counted else { return Err(Error::internal("a count without rows")) };
    let batches: Vec<RecordBatch> = stream.try_collect().await?;
    let counts = batches.iter().filter_map(|batch| batch.columns().first()?.as_primitive_opt::<Int64Type>());
    Ok(counts.flat_map(|counts| counts.values().iter()).sum::<i64>().unsigned_abs())
}

/// The keys that a file names.
async fn keys(context: &Context, id: &Identifier, args: &InputArgs, source: &Source) -> Result<Vec<RecordBatch>> {
    let table = context.catalog()?.table(id).await?;
    if !table.schema().is_primary_key_table() {
        return Err(Error::invalid("only rows of a table with a primary key can be deleted by their keys")
            .with("table", id)
            .with_hint("use --where"));
    }
    let mut aside = OnReject::parse(&args.on_error)?;
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
