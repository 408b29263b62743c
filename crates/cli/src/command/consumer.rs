//! `linn consumer`: who follows a table, and how far they have come.

use linn::core::Snapshots;
use linn::core::stream::Consumers;
use linn::{Error, Result, SnapshotId, Table};

use crate::args::ConsumerCommand;
use crate::context::Context;
use crate::output::Columns;

pub(super) async fn run(context: &Context, command: ConsumerCommand) -> Result<()> {
    match command {
        ConsumerCommand::List { table } => list(context, &context.table(&table).await?).await,
        ConsumerCommand::Reset { table, id, next_snapshot } => {
            let table = context.table(&table).await?;
            reset(&table, &id, SnapshotId(next_snapshot)).await
        }
        ConsumerCommand::Delete { table, ids } => {
            let table = context.table(&table).await?;
            for id in ids {
                delete(&table, &id).await?;
            }
            Ok(())
        }
    }
}

async fn list(context: &Context, table: &Table) -> Result<()> {
    let all = Consumers::new(table).list().await?;
    let latest = Snapshots::new(table).latest_id().await?;
    // Snapshots that it has not read.
    let behind = |next: SnapshotId| latest.map(|latest| (latest.0 - next.0 + 1).max(0));
    Columns::new()
        .text("consumer", all.iter().map(|(id, _)| id))
        .number("next_snapshot", all.iter().map(|(_, consumer)| consumer.next_snapshot.0))
        .number("behind", all.iter().map(|(_, consumer)| behind(consumer.next_snapshot)))
        .show(context.output)
}

async fn reset(table: &Table, id: &str, next: SnapshotId) -> Result<()> {
    let latest = Snapshots::new(table).latest_id().await?.map_or(SnapshotId::FIRST, SnapshotId::next);
    if next > latest {
        return Err(Error::invalid(format!("snapshot {next} is ahead of the table, whose next snapshot is {latest}"))
            .with("table", table.name()));
    }
    Consumers::new(table).set(id, next).await?;
    eprintln!("{id} reads snapshot {next} of {} next", table.name());
    Ok(())
}

async fn delete(table: &Table, id: &str) -> Result<()> {
    let consumers = Consumers::new(table);
    if consumers.delete(id).await? {
        eprintln!("forgot {id}");
        return Ok(());
    }
    let names: Vec<String> = consumers.list().await?.into_iter().map(|(id, _)| id).collect();
    Err(Error::not_found(format!("consumer {id:?}")).with("table", table.name()).with_hint(match names.is_empty() {
        true => "the table has no consumers".to_owned(),
        false => format!("the consumers are {}", names.join(", ")),
    }))
}
