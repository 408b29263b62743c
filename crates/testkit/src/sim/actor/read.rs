//! Batch readers: what they read of a snapshot is what was committed up to it, or they are told that it is gone.

use std::sync::Arc;

use linn_core::{Snapshots, Table, read};
use linn_format::snapshot::Snapshot;
use linn_format::{Error, ErrorKind, Result};

use super::Actor;
use crate::sim::model;
use crate::sim::row::{self, COLUMNS, Row};

/// Reads again and again.
pub async fn run(actor: Actor) {
    loop {
        actor.rest(3_000).await;
        if let Err(e) = once(&actor).await {
            actor.judge("a read", &e);
        }
    }
}

async fn once(actor: &Actor) -> Result<()> {
    let table = actor.open().await?;
    let snapshots = Snapshots::new(&table);
    let snapshot = if actor.chance(3) { snapshots.earliest().await? } else { snapshots.latest().await? };
    let Some(snapshot) = snapshot else { return Ok(()) };
    actor.world().action("reads");
    match check(actor, &table, &snapshot).await {
        // It may have expired while it was read, and the reader must be told so.
        Err(e) if e.kind() == ErrorKind::NotFound && is_gone(actor, &snapshot) => Ok(()),
        result => result,
    }
}

fn is_gone(actor: &Actor, snapshot: &Snapshot) -> bool {
    actor.world().record().expired.contains(&snapshot.id.0)
}

/// Reads a snapshot and compares it with the model.
///
/// # Errors
/// What reading yields.
pub async fn check(actor: &Actor, table: &Table, snapshot: &Arc<Snapshot>) -> Result<()> {
    let read = rows(actor, table, snapshot).await?;
    let waiting = match actor.shape.skips_level_zero() {
        true => model::waiting(table, snapshot).await?,
        false => Vec::new(),
    };
    let expected = model::expected(actor.world(), &actor.shape, snapshot.id, &waiting);
    if let Some(what) = model::difference(&read, &expected) {
        actor.world().violation(format!("snapshot {} reads wrong: {what}", snapshot.id));
    }
    Ok(())
}

/// The rows of a snapshot, in order.
///
/// # Errors
/// What reading yields.
pub async fn rows(actor: &Actor, table: &Table, snapshot: &Arc<Snapshot>) -> Result<Vec<Row>> {
    let reading = table.read().project(&COLUMNS)?.build()?;
    let mut rows = Vec::new();
    for split in table.scan().snapshot(Arc::clone(snapshot)).plan().await?.splits {
        for batch in read::collect(reading.stream(&split).await?).await? {
            rows.extend(row::rows(&batch));
        }
        if actor.chance(20) && actor.world().faults() {
            actor.rest(60_000).await;
        }
    }
    if rows.iter().any(|row| row.kind != 0) {
        return Err(Error::internal("a batch read returned a retraction"));
    }
    rows.sort();
    Ok(rows)
}
