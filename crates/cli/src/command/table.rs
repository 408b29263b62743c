//! `linn table list, create, drop, purge`.

use linn::core::maintain::{Contents, contents};
use linn::format::types::{DataField, DataType};
use linn::{Error, ErrorKind, NewTable, Result, ResultExt};

use super::removal::bytes;
use super::sure::agreed;
use crate::args::{CreateArgs, Sure};
use crate::context::{Context, identifier, options, warn_of_slips};
use crate::output::{Columns, count};
use crate::say::say;

pub(super) async fn list(context: &Context, database: &str) -> Result<()> {
    let tables = context.catalog()?.list_tables(database).await?;
    Columns::new().text("table", tables).show(context.output)
}

pub(super) async fn create(context: &Context, args: CreateArgs) -> Result<()> {
    let id = identifier(&args.table)?;
    let columns = args.columns.iter().map(|text| column(text)).collect::<Result<Vec<_>>>()?;
    let definition = NewTable {
        columns,
        partition_keys: args.partition_by,
        primary_keys: args.primary_key,
        options: options(&args.options)?,
        comment: args.comment,
    };
    warn_of_slips(definition.options.iter().map(|(key, _)| key));
    let catalog = context.catalog()?;
    let exists = args.if_not_exists && catalog.table(&id).await.is_ok();
    catalog.create_table(&id, definition, args.if_not_exists).await?;
    match exists {
        true => say!("Table {id} already exists; nothing was done."),
        false => say!("Created table {id}."),
    }
    Ok(())
}

/// A column from `name TYPE [NOT NULL]`; a name with spaces stands in backquotes or double quotes.
///
/// # Errors
/// `Invalid` without a type or for a type that there is not.
pub(super) fn column(text: &str) -> Result<DataField> {
    let text = text.trim();
    let quote = text.chars().next().filter(|c| matches!(c, '`' | '"'));
    let parts = match quote {
        Some(quote) => text[1..].split_once(quote),
        None => text.split_once(char::is_whitespace),
    };
    match parts {
        Some((name, sql)) if !name.is_empty() && !sql.trim().is_empty() => {
            let data_type = DataType::parse(sql.trim()).context("column", name)?;
            Ok(DataField::new(0, name, data_type))
        }
        _ => Err(Error::invalid(format!("'{text}' is not a column"))
            .with_hint("write a column as `name TYPE` or `name TYPE NOT NULL`")),
    }
}

pub(super) async fn drop(context: &Context, name: &str, if_exists: bool, sure: &Sure) -> Result<()> {
    let id = identifier(name)?;
    let catalog = context.catalog()?;
    if id != id.base() {
        // The catalog says what else to do.
        return catalog.drop_table(&id, if_exists).await;
    }
    let held = match catalog.table(&id).await {
        Ok(table) => contents(&table).await?,
        Err(e) if e.kind() == ErrorKind::NotFound && if_exists && !sure.yes => {
            say!("Table {id} does not exist; nothing was done.");
            return Ok(());
        }
        // What is damaged can be dropped all the same.
        Err(e) if e.kind() == ErrorKind::NotFound && !sure.yes => return Err(e),
        Err(_) => Vec::new(),
    };
    if sure.dry_run {
        show(context, &held)?;
    }
    if agreed(&format!("drop table {id}{}", total(&held)), sure)? {
        catalog.drop_table(&id, if_exists).await?;
        say!("Dropped table {id}.");
    }
    Ok(())
}

pub(super) async fn purge(context: &Context, name: &str, sure: &Sure) -> Result<()> {
    let table = context.table(name).await?;
    let mut held = contents(&table).await?;
    held.retain(|contents| contents.kind != "schema");
    if sure.dry_run {
        show(context, &held)?;
    }
    let name = table.name();
    let what = format!("delete all rows, tags, branches, consumers and history of {name}{}", total(&held));
    if agreed(&what, sure)? {
        let files = linn::core::maintain::purge(&table).await?;
        say!("Purged {name}: deleted {}.", count(files, "file"));
    }
    Ok(())
}

/// Files and bytes of a table, in words.
pub(super) fn total(held: &[Contents]) -> String {
    let sum = |of: fn(&Contents) -> u64| held.iter().map(of).sum::<u64>();
    match sum(|contents| contents.files) {
        0 => String::new(),
        files => format!(" ({}, {})", count(files, "file"), bytes(sum(|contents| contents.bytes))),
    }
}

fn show(context: &Context, held: &[Contents]) -> Result<()> {
    Columns::new()
        .text("kind", held.iter().map(|contents| &contents.kind))
        .number("files", held.iter().map(|contents| i64::try_from(contents.files).ok()))
        .number("bytes", held.iter().map(|contents| i64::try_from(contents.bytes).ok()))
        .show(context.output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_a_name_and_a_type() {
        let field = column("a DECIMAL(10, 2) NOT NULL").unwrap();
        assert_eq!((field.name.as_str(), field.data_type.to_string().as_str()), ("a", "DECIMAL(10, 2) NOT NULL"));
        assert_eq!(column("`a b` INT").unwrap().name, "a b");
        for text in ["a", "", "`a", "a NOTYPE", "` INT"] {
            assert!(column(text).is_err(), "{text}");
        }
    }
}
