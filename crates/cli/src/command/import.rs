//! `linn table import` and `upsert`.

use linn::core::Snapshots;
use linn::format::schema::TableSchema;
use linn::{Catalog, Error, Identifier, NewTable, Result, Table};

use super::show::sketch;
use crate::args::ImportArgs;
use crate::context::{Context, identifier, options, warn_of_slips};
use crate::import::aside::OnReject;
use crate::import::load::{Load, Mode, shown};
use crate::import::source::Source;
use crate::import::{Dialect, Unknown, infer};
use crate::output::count;
use crate::say::say;

pub(super) async fn run(context: &Context, args: ImportArgs, upsert: bool) -> Result<()> {
    let id = identifier(&args.table)?;
    if args.overwrite && args.commit_rows > 0 {
        return Err(Error::invalid("an overwrite is one commit").with_hint("leave out --commit-rows"));
    }
    let unknown = if args.ignore_unknown { Unknown::Ignored } else { Unknown::Refused };
    let dialect = Dialect::of(&args.input, unknown)?;
    let aside = OnReject::parse(&args.input.on_error)?;
    let again = args.create;
    let sources = args.files.iter().map(|f| Source::new(f, args.input.format, again)).collect::<Result<Vec<_>>>()?;
    let catalog = context.catalog()?;
    let Some(table) = table(context, &*catalog, &id, &args, &sources, &dialect).await? else { return Ok(()) };
    if upsert && !table.schema().is_primary_key_table() {
        return Err(Error::invalid("only a table with a primary key can be upserted")
            .with("table", &id)
            .with_hint("use `linn table import` to add rows"));
    }
    let table =
        if args.options.is_empty() || args.create { table } else { table.with_options(&options(&args.options)?)? };
    let mode = match (args.dry_run, args.overwrite) {
        (true, _) => Mode::Check,
        (false, true) => Mode::Overwrite,
        (false, false) => Mode::Append,
    };
    let mut load = Load { mode, dialect, aside, commit_rows: args.commit_rows };
    let loaded = match load.run(&table, &sources, &context.progress).await {
        Ok(loaded) => loaded,
        Err(e) if args.create => {
            drop_empty(&*catalog, &id, &table).await;
            return Err(e);
        }
        Err(e) => return Err(e),
    };
    let verb = match (args.dry_run, upsert) {
        (true, _) => "Would import",
        (false, true) => "Upserted",
        (false, false) => "Imported",
    };
    let mut text = format!("{verb} {} into {id}", count(loaded.rows, "row"));
    if !loaded.snapshots.is_empty() {
        text.push_str(&format!(" ({})", shown(&loaded.snapshots)));
    }
    if load.aside.count() > 0 {
        text.push_str(&format!("; set aside {}", count(load.aside.count(), "row")));
    }
    say!("{text}.");
    Ok(())
}

/// Drops the table that was made for rows that did not come. One that has rows stays, whoever wrote them.
async fn drop_empty(catalog: &dyn Catalog, id: &Identifier, table: &Table) {
    let dropped = match Snapshots::new(table).latest().await {
        Ok(None) => catalog.drop_table(id, true).await,
        Ok(Some(_)) => Ok(()),
        Err(e) => Err(e),
    };
    if let Err(e) = dropped {
        tracing::warn!(table = %id, error = %e, "the new table of an import that failed is left over");
    }
}

/// The table; made of the inferred schema when it is wanted. `None` in a dry run of a table that is not there.
async fn table(
    context: &Context,
    catalog: &dyn Catalog,
    id: &Identifier,
    args: &ImportArgs,
    sources: &[Source],
    dialect: &Dialect,
) -> Result<Option<Table>> {
    if !args.create {
        return catalog.table(id).await.map(Some).map_err(|e| match e.kind() {
            linn::ErrorKind::NotFound => e.with_hint("add --create to make it from the inferred schema"),
            _ => e,
        });
    }
    let Some(first) = sources.first() else { return Err(Error::invalid("there is nothing to import")) };
    let bar = context.progress.bytes(first.size());
    bar.set_message("inferring");
    let columns = infer(first, dialect, &bar);
    bar.finish_and_clear();
    let columns = columns?;
    if columns.is_empty() {
        return Err(Error::invalid("the input is empty: no columns can be inferred").with("file", first.name()));
    }
    let mut definition = NewTable {
        columns,
        partition_keys: args.partition_by.clone(),
        primary_keys: args.primary_key.clone(),
        options: options(&args.options)?,
        comment: None,
    };
    for field in &mut definition.columns {
        field.data_type.nullable |= !definition.primary_keys.contains(&field.name);
    }
    // Validated and shown before anything is written; the time of this draft is never stored.
    let draft = TableSchema::create(definition.clone(), 0).map_err(|e| e.with("table", id))?;
    eprint!("inferred schema of {id}:\n{}", sketch(&draft)?);
    warn_of_slips(definition.options.iter().map(|(key, _)| key));
    if args.dry_run {
        return Ok(None);
    }
    catalog.create_table(id, definition, false).await?;
    catalog.table(id).await.map(Some)
}
