//! `linn snapshot expire` and `linn changelog`: history that goes.

use linn::core::Changelogs;
use linn::core::maintain::{ChangelogExpiry, Expired, Retention, SnapshotExpiry, parse_time};
use linn::{Result, Table};

use super::removal::{bytes, go_on};
use crate::args::{ChangelogCommand, ExpireArgs};
use crate::context::Context;
use crate::output::{Columns, count, time};
use crate::say::{caution, say};

/// `linn snapshot expire`.
pub(super) async fn snapshots(context: &Context, args: &ExpireArgs) -> Result<()> {
    let table = context.table(&args.table).await?;
    let retention = narrowed(Retention::of_snapshots(&table)?, &table, args)?;
    let expiry = SnapshotExpiry::new(&table)?;
    let Some((begin, end)) = expiry.range(&retention).await? else {
        say!("No snapshot of {} is due to expire.", table.name());
        return Ok(());
    };
    let plan = expiry.plan(begin, end).await?;
    let what =
        format!("expire {} of {} ({begin} to {})", count(plan.snapshots.len(), "snapshot"), table.name(), end.0 - 1);
    if go_on(context, &plan.removal, &what, &args.sure)? {
        said(&expiry.run(begin, end).await?, "snapshot", &table);
    }
    Ok(())
}

/// `linn changelog`.
pub(super) async fn changelogs(context: &Context, command: ChangelogCommand) -> Result<()> {
    match command {
        ChangelogCommand::List { table } => list(context, &context.table(&table).await?).await,
        ChangelogCommand::Expire { expire: args, all } => {
            let table = context.table(&args.table).await?;
            let expiry = ChangelogExpiry::new(&table);
            let due = match all {
                true => expiry.all().await?,
                false => expiry.due(&narrowed(Retention::of_changelogs(&table)?, &table, &args)?).await?,
            };
            if due.is_empty() {
                say!("No changelog of {} is due to expire.", table.name());
                return Ok(());
            }
            let plan = expiry.plan(&due).await?;
            let what = format!("expire {} of {}", count(due.len(), "changelog"), table.name());
            if go_on(context, &plan.removal, &what, &args.sure)? {
                said(&expiry.run(&due).await?, "changelog", &table);
            }
            Ok(())
        }
    }
}

/// What the flags say instead of the table's options.
fn narrowed(mut retention: Retention, table: &Table, args: &ExpireArgs) -> Result<Retention> {
    if let Some(max) = args.retain_max {
        retention.max = max;
        retention.min = retention.min.min(max);
    }
    retention.min = args.retain_min.unwrap_or(retention.min);
    retention.limit = args.max_deletes.unwrap_or(retention.limit);
    if let Some(time) = &args.older_than {
        retention.older_than = parse_time(table, time)?;
    }
    Ok(retention)
}

fn said(expired: &Expired, what: &str, table: &Table) {
    let number = count(expired.snapshots.len().max(expired.changelogs.len()), what);
    let removal = &expired.removal;
    let files = count(removal.files(), "file");
    say!("Expired {number} of {}: deleted {files}, {}.", table.name(), bytes(removal.bytes()));
    if expired.left > 0 {
        caution!("{} could not be deleted; `linn orphan clean` deletes them later", count(expired.left, "file"));
    }
}

async fn list(context: &Context, table: &Table) -> Result<()> {
    let changelogs = Changelogs::new(table);
    let mut all = Vec::new();
    for id in changelogs.list().await? {
        all.extend(changelogs.find(id).await?);
    }
    Columns::new()
        .number("changelog", all.iter().map(|c| c.id.0))
        .text("time", all.iter().map(|c| time(c.time_millis)))
        .text("kind", all.iter().map(|c| c.commit_kind.as_str()))
        .number("records", all.iter().map(|c| c.changelog_record_count))
        .show(context.output)
}
