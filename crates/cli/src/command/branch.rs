//! `linn branch`: other histories of a table.

use linn::core::branch::Branches;
use linn::core::{Snapshots, Tags};
use linn::{Result, Table};

use super::sure::agreed;
use crate::args::BranchCommand;
use crate::context::Context;
use crate::output::{Columns, count, time};
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
        BranchCommand::Merge { table, name, into } => {
            let merged = Branches::new(&context.table(&table).await?).merge(&name, &into).await?;
            match merged.snapshot {
                Some(id) => eprintln!("added {} of {name} to {into} (snapshot {id})", count(merged.files, "file")),
                None => eprintln!("{into} has all files of {name}"),
            }
            Ok(())
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
    if agreed(&what, sure)? {
        branches.fast_forward(name).await?;
        eprintln!("the table has the history of branch {name}");
    }
    Ok(())
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
