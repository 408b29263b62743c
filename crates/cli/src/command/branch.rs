//! `linn branch`: other histories of a table.

use linn::core::branch::{Branches, Loss, Prefer};
use linn::core::{Snapshots, Tags};
use linn::{Error, Result, Table};

use super::sure::agreed;
use crate::args::BranchCommand;
use crate::context::Context;
use crate::output::{Columns, count, sink, time};
use crate::say::say;

pub(super) async fn run(context: &Context, command: BranchCommand) -> Result<()> {
    match command {
        BranchCommand::List { table } => list(context, &context.table(&table).await?).await,
        BranchCommand::Create { table, name, tag, if_not_exists } => {
            let branches = Branches::new(&context.table(&table).await?);
            if if_not_exists && branches.exists(&name).await? {
                say!("Branch {name} already exists; nothing was done.");
            } else {
                branches.create(&name, tag.as_deref()).await?;
                say!("Created branch {name}.");
            }
            Ok(())
        }
        BranchCommand::Merge { table, name, into, ours, theirs, dry_run } => {
            let prefer = match (ours, theirs) {
                (true, _) => Some(Prefer::Ours),
                (_, true) => Some(Prefer::Theirs),
                _ => None,
            };
            let table = context.table(&table).await?;
            merge(context, &table, Merge { name, into, prefer, dry_run }).await
        }
        BranchCommand::Delete { table, name, sure } => {
            let branches = Branches::new(&context.table(&table).await?);
            let history = history(&branches.table(&name).await?).await?;
            let what = format!("delete branch {name} with {history}");
            if agreed(&what, &sure)? {
                branches.delete(&name).await?;
                say!("Deleted branch {name}.");
            }
            Ok(())
        }
        BranchCommand::Rename { table, name, to } => {
            Branches::new(&context.table(&table).await?).rename(&name, &to).await?;
            say!("Renamed branch {name} to {to}.");
            Ok(())
        }
        BranchCommand::FastForward { table, name, sure } => forward(&context.table(&table).await?, &name, &sure).await,
    }
}

/// A merge of a branch.
struct Merge {
    name: String,
    into: String,
    prefer: Option<Prefer>,
    dry_run: bool,
}

async fn merge(context: &Context, table: &Table, merge: Merge) -> Result<()> {
    let Merge { name, into, prefer, dry_run } = merge;
    let branches = Branches::new(table);
    if dry_run {
        if !table.schema().is_primary_key_table() {
            return Err(Error::unsupported("a dry run of merging a table without a primary key"));
        }
        let changes = branches.key_changes(&name, &into).await?;
        let (counts, conflicts) = (changes.counts(prefer), changes.conflicts(usize::MAX)?);
        if counts.conflicts > 0 {
            let mut sink = sink(context.output, conflicts.schema(), &context.style)?;
            sink.write(&conflicts)?;
            sink.finish()?;
        }
        say!(
            "Would write {} and delete {} in {into}; {}.",
            count(counts.written, "row"),
            count(counts.deleted, "row"),
            count(counts.conflicts, "conflict")
        );
        return Ok(());
    }
    let merged = branches.merge(&name, &into, prefer).await?;
    match (merged.snapshot, merged.keys) {
        (Some(id), Some(keys)) => say!(
            "Merged {name} into {into}: wrote {}, deleted {} (snapshot {id}).",
            count(keys.written, "row"),
            count(keys.deleted, "row")
        ),
        (Some(id), None) => say!("Added {} of {name} to {into} (snapshot {id}).", count(merged.files, "file")),
        (None, _) => say!("{into} already has everything of {name}."),
    }
    Ok(())
}

async fn history(table: &Table) -> Result<String> {
    let snapshots = Snapshots::new(table).list().await?.len();
    Ok(format!("{} and {}", count(snapshots, "snapshot"), count(Tags::new(table).list().await?.len(), "tag")))
}

async fn forward(table: &Table, name: &str, sure: &crate::args::Sure) -> Result<()> {
    let branches = Branches::new(table);
    let theirs = Snapshots::new(&branches.table(name).await?).list().await?;
    let ours = Snapshots::new(table).list().await?;
    let gone = ours.iter().filter(|id| theirs.first().is_some_and(|first| **id >= *first)).count();
    let what = format!("replace {} of the table by {} of branch {name}", count(gone, "snapshot"), theirs.len());
    if !sure.yes {
        show_loss(&branches.loss(name).await?);
    }
    if agreed(&what, sure)? {
        branches.fast_forward(name).await?;
        say!("Fast-forwarded the table to branch {name}.");
    }
    Ok(())
}

/// Says what a fast-forward takes from the table.
fn show_loss(loss: &Loss) {
    if loss.snapshots.is_empty() {
        say!("Nothing would be lost: the branch has all snapshots of the table.");
        return;
    }
    say!("The table would lose {}:", count(loss.snapshots.len(), "snapshot"));
    for snapshot in &loss.snapshots {
        let kind = snapshot.commit_kind.as_str();
        say!(
            "  {} of {}, {kind}, {} rows in its files",
            snapshot.id,
            time(snapshot.time_millis),
            snapshot.delta_record_count.unwrap_or_default()
        );
    }
    for tag in &loss.tags {
        say!("  tag {tag}");
    }
    if let Some(keys) = loss.keys {
        say!(
            "The rows of {} have changed in the table since the branch was made; `linn branch merge` keeps them.",
            count(keys, "key")
        );
    }
}

async fn list(context: &Context, table: &Table) -> Result<()> {
    let branches = Branches::new(table);
    let (mut all, mut latest) = (branches.all(|_| true).await?, Vec::new());
    all.sort_by(|a, b| a.name.cmp(&b.name));
    for branch in &all {
        let id = Snapshots::new(&branches.table(&branch.name).await?).latest_id().await?;
        latest.push(id.map(|id| id.0));
    }
    Columns::new()
        .text("branch", all.iter().map(|branch| &branch.name))
        .number("snapshot", latest)
        .text("created", all.iter().map(|branch| branch.created_millis.map(time).unwrap_or_default()))
        .show(context.output)
}
