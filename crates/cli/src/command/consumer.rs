//! `linn consumer`: who follows a table, and how far they have come.

use std::time::Duration;

use linn::core::Snapshots;
use linn::core::stream::Consumers;
use linn::format::options::parse_duration;
use linn::{Error, Result, SnapshotId, Table};

use super::sure::agreed;
use crate::args::{ConsumerCommand, Sure};
use crate::context::Context;
use crate::output::Columns;
use crate::say::say;

pub(super) async fn run(context: &Context, command: ConsumerCommand) -> Result<()> {
    match command {
        ConsumerCommand::List { table } => list(context, &context.table(&table).await?).await,
        ConsumerCommand::Reset { table, id, next_snapshot, sure } => {
            let table = context.table(&table).await?;
            reset(&table, &id, SnapshotId(next_snapshot), &sure).await
        }
        ConsumerCommand::Delete { table, ids, sure } => {
            let table = context.table(&table).await?;
            for id in &ids {
                require(&table, id).await?;
            }
            delete(&table, &ids, &sure).await
        }
        ConsumerCommand::Expire { table, idle, sure } => {
            let table = context.table(&table).await?;
            let age = match idle {
                Some(text) => parse_duration(&text)?,
                None => table.options().consumer_expiration_time()?.ok_or_else(|| {
                    Error::invalid("no expiration time for consumers is set")
                        .with("table", table.name())
                        .with_hint("give --idle, or set the option consumer.expiration-time")
                })?,
            };
            expire(&table, age, &sure).await
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

async fn reset(table: &Table, id: &str, next: SnapshotId, sure: &Sure) -> Result<()> {
    let latest = Snapshots::new(table).latest_id().await?.map_or(SnapshotId::FIRST, SnapshotId::next);
    if next > latest {
        return Err(Error::invalid(format!("snapshot {next} is ahead of the table, whose next snapshot is {latest}"))
            .with("table", table.name()));
    }
    let consumers = Consumers::new(table);
    let go_on = match consumers.get(id).await? {
        Some(consumer) => {
            let now = consumer.next_snapshot;
            agreed(&format!("reset consumer {id} of {} from snapshot {now} to {next}", table.name()), sure)?
        }
        // Nothing is lost by a new one.
        None if sure.dry_run => agreed(&format!("create consumer {id} of {} at snapshot {next}", table.name()), sure)?,
        None => true,
    };
    if go_on {
        consumers.set(id, next).await?;
        say!("Consumer {id} of {} reads snapshot {next} next.", table.name());
    }
    Ok(())
}

async fn delete(table: &Table, ids: &[String], sure: &Sure) -> Result<()> {
    if agreed(&format!("delete {} of {}", named(ids), table.name()), sure)? {
        for id in ids {
            // One that is gone by now was deleted by somebody else.
            Consumers::new(table).delete(id).await?;
            say!("Deleted consumer {id}.");
        }
    }
    Ok(())
}

async fn expire(table: &Table, age: Duration, sure: &Sure) -> Result<()> {
    let idle = Consumers::new(table).idle(age).await?;
    if idle.is_empty() {
        say!("No consumer of {} is idle for so long.", table.name());
    } else if agreed(&format!("delete {} of {}", named(&idle), table.name()), sure)? {
        let gone = Consumers::new(table).expire(age).await?;
        say!("Deleted {}.", named(&gone));
    }
    Ok(())
}

/// `consumer a`, or `consumers a, b`.
fn named(ids: &[String]) -> String {
    format!("consumer{} {}", if ids.len() == 1 { "" } else { "s" }, ids.join(", "))
}

/// A consumer must be there; it need not be readable.
async fn require(table: &Table, id: &str) -> Result<()> {
    let names = Consumers::new(table).names().await?;
    if names.iter().any(|name| name == id) {
        return Ok(());
    }
    Err(Error::not_found(format!("consumer '{id}' does not exist")).with("table", table.name()).with_hint(match names
        .is_empty()
    {
        true => "the table has no consumers".to_owned(),
        false => format!("the consumers are {}", names.join(", ")),
    }))
}
