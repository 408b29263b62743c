//! `linn orphan clean`, `linn manifest`, `linn files repair`: files that nothing refers to, and references to nothing.

use linn::core::commit::{compact_manifests, count_manifests, lost_manifests, remove_lost_manifests};
use linn::core::maintain::{Orphans, lost_files, orphans, parse_time, remove_lost, remove_orphans};
use linn::{Catalog, Identifier, Result, Table};

use super::compact::targets;
use super::removal::{bytes, go_on};
use super::sure::agreed;
use crate::args::{ManifestCommand, OrphanCommand, Sure};
use crate::context::Context;
use crate::output::{Columns, count};
use crate::say::{caution, say};

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
        say!("No orphan files in {} ({} checked).", table.name(), count(found.candidates, "old file"));
        return Ok(());
    }
    let what = format!("delete the orphan files of {}", table.name());
    if go_on(context, &found.removal, &what, sure)? {
        // Found again, because the answer may have taken its time.
        let done = remove_orphans(&table, older_than).await?;
        spared(&table, &done);
        let removed = count(done.removal.files(), "orphan file");
        say!("Deleted {removed} of {}, {}.", table.name(), bytes(done.removal.bytes()));
        if done.left > 0 {
            caution!("{} could not be deleted; run the command again", count(done.left, "file"));
        }
    }
    Ok(())
}

fn spared(table: &Table, found: &Orphans) {
    if let Some(why) = &found.spared {
        caution!("kept {} of {}: {why}", count(found.candidates, "old file"), table.name());
    }
}

/// `linn manifest`.
pub(super) async fn manifests(context: &Context, command: ManifestCommand) -> Result<()> {
    match command {
        ManifestCommand::Compact { table, dry_run } => {
            let table = context.table(&table).await?;
            if dry_run {
                return show_counts(context, &table).await;
            }
            let done = compact_manifests(&table).await?;
            match done.snapshot {
                Some(id) => {
                    let (before, after) = (count(done.before.len(), "manifest"), done.after);
                    say!("Compacted {before} of {} to {after} (snapshot {id}).", table.name());
                }
                None => say!("The manifests of {} need no compaction.", table.name()),
            }
        }
        ManifestCommand::Repair { table, sure } => {
            let table = context.table(&table).await?;
            let lost = lost_manifests(&table).await?;
            if lost.is_empty() {
                say!("No manifest of {} is missing.", table.name());
                return Ok(());
            }
            if sure.dry_run {
                Columns::new()
                    .text("path", lost.iter().map(|manifest| table.manifest_path(&manifest.file_name)))
                    .number("bytes", lost.iter().map(|manifest| manifest.file_size))
                    .number("files_added", lost.iter().map(|manifest| manifest.num_added_files))
                    .number("files_removed", lost.iter().map(|manifest| manifest.num_deleted_files))
                    .show(context.output)?;
            }
            let what = format!(
                "drop {} of {} with the rows of their files",
                count(lost.len(), "missing manifest"),
                table.name()
            );
            if agreed(&what, &sure)? {
                let done = remove_lost_manifests(&table).await?;
                match done.snapshot {
                    Some(id) => say!("Dropped {} (snapshot {id}).", count(done.before.len(), "missing manifest")),
                    None => say!("No manifest of {} is missing.", table.name()),
                }
            }
        }
    }
    Ok(())
}

/// What there is for a compaction of manifests.
async fn show_counts(context: &Context, table: &Table) -> Result<()> {
    let counts = count_manifests(table).await?.unwrap_or_default();
    Columns::new()
        .number("manifests", [i64::try_from(counts.files).ok()])
        .number("bytes", [i64::try_from(counts.bytes).ok()])
        .number("small", [i64::try_from(counts.small).ok()])
        .number("removals", [counts.removals])
        .number("with_removals", [i64::try_from(counts.removing).ok()])
        .show(context.output)?;
    let target = bytes(counts.target);
    match (counts.small > 1, counts.removals > 0) {
        (false, false) => say!("The manifests of {} need no compaction.", table.name()),
        (false, true) => say!("Would drop entries of deleted files."),
        (true, false) => say!("Would merge {} smaller than {target}.", count(counts.small, "manifest")),
        (true, true) => {
            let small = count(counts.small, "manifest");
            say!("Would merge {small} smaller than {target}, and drop entries of deleted files.");
        }
    }
    Ok(())
}

/// `linn files repair`.
pub(super) async fn repair(context: &Context, name: &str, sure: &Sure) -> Result<()> {
    let table = context.table(name).await?;
    let lost = lost_files(&table).await?;
    if lost.is_empty() {
        say!("No data file of {} is missing.", table.name());
        return Ok(());
    }
    let rows: i64 = lost.iter().map(|file| file.file().row_count).sum();
    let what = format!("drop {} of {} ({})", count(lost.len(), "missing file"), table.name(), count(rows, "record"));
    if sure.dry_run {
        Columns::new()
            .text("path", lost.iter().map(|file| &file.path))
            .number("bytes", lost.iter().map(|file| file.file().file_size))
            .number("records", lost.iter().map(|file| file.file().row_count))
            .show(context.output)?;
    }
    if agreed(&what, sure)? {
        remove_lost(&table, &lost).await?;
        say!("Dropped {}.", count(lost.len(), "missing file"));
    }
    Ok(())
}
