//! `linn orphan clean`, `linn manifest`, `linn files repair`: files that nothing refers to, and references to nothing.

use linn::core::commit::{compact_manifests, remove_lost_manifests};
use linn::core::maintain::{Orphans, lost_files, orphans, parse_time, remove_lost, remove_orphans};
use linn::{Catalog, Identifier, Result, Table};

use super::compact::targets;
use super::removal::{bytes, go_on};
use super::sure::{agreed, confirmed};
use crate::args::{ManifestCommand, OrphanCommand, Sure};
use crate::context::Context;
use crate::output::Columns;

/// `linn orphan clean`.
pub(super) async fn run(context: &Context, command: OrphanCommand) -> Result<()> {
    let OrphanCommand::Clean { targets: names, older_than, sure } = command;
    let catalog = context.catalog()?;
    for id in targets(catalog.as_ref(), &names).await? {
        clean(context, catalog.as_ref(), &id, older_than.as_deref(), &sure).await?;
    }
    Ok(())
}

async fn clean(
    context: &Context,
    catalog: &dyn Catalog,
    id: &Identifier,
    older_than: Option<&str>,
    sure: &Sure,
) -> Result<()> {
    let table = catalog.table(id).await?;
    let older_than = older_than.map(|text| parse_time(&table, text)).transpose()?;
    let found = orphans(&table, older_than).await?;
    spared(&table, &found);
    if found.removal.is_empty() && !sure.dry_run {
        eprintln!("nothing of {} lies about unused ({} old files are used)", table.name(), found.candidates);
        return Ok(());
    }
    let what = format!("remove what nothing refers to from {}", table.name());
    if go_on(context, &found.removal, &what, sure)? {
        // Found again, because the answer may have taken its time.
        let done = remove_orphans(&table, older_than).await?;
        spared(&table, &done);
        eprintln!("{} unused files of {} are gone, {}", done.removal.files(), table.name(), bytes(&done.removal));
        if done.left > 0 {
            eprintln!("{} files could not be removed; run it again", done.left);
        }
    }
    Ok(())
}

fn spared(table: &Table, found: &Orphans) {
    if let Some(why) = &found.spared {
        eprintln!("{} old files of {} stay: {why}", found.candidates, table.name());
    }
}

/// `linn manifest`.
pub(super) async fn manifests(context: &Context, command: ManifestCommand) -> Result<()> {
    match command {
        ManifestCommand::Compact { table } => {
            let table = context.table(&table).await?;
            let done = compact_manifests(&table).await?;
            match done.snapshot {
                Some(id) => {
                    let (before, after) = (done.before.len(), done.after);
                    eprintln!("{before} manifests of {} became {after} (snapshot {id})", table.name());
                }
                None => eprintln!("the manifests of {} are compact", table.name()),
            }
        }
        ManifestCommand::Repair { table, yes } => {
            let table = context.table(&table).await?;
            let what =
                format!("go on without the lost manifests of {}, and without the rows of their files", table.name());
            if confirmed(&what, yes)? {
                let done = remove_lost_manifests(&table).await?;
                match done.snapshot {
                    Some(id) => eprintln!("{} lost manifests are left out (snapshot {id})", done.before.len()),
                    None => eprintln!("no manifest of {} is lost", table.name()),
                }
            }
        }
    }
    Ok(())
}

/// `linn files repair`.
pub(super) async fn repair(context: &Context, name: &str, sure: &Sure) -> Result<()> {
    let table = context.table(name).await?;
    let lost = lost_files(&table).await?;
    if lost.is_empty() {
        eprintln!("no data file of {} is lost", table.name());
        return Ok(());
    }
    let rows: i64 = lost.iter().map(|file| file.file().row_count).sum();
    let what = format!("go on without {} lost files of {} ({rows} records)", lost.len(), table.name());
    if sure.dry_run {
        Columns::new()
            .text("path", lost.iter().map(|file| &file.path))
            .number("bytes", lost.iter().map(|file| file.file().file_size))
            .number("records", lost.iter().map(|file| file.file().row_count))
            .show(context.output)?;
    }
    if agreed(&what, sure)? {
        remove_lost(&table, &lost).await?;
        eprintln!("{} lost files are left out", lost.len());
    }
    Ok(())
}
