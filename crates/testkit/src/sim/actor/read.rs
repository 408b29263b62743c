//! Batch readers: what they read of a snapshot is what was committed up to it, or they are told that it is gone.

use std::sync::Arc;

use linn_core::{Snapshots, Table, read};
use linn_format::snapshot::Snapshot;
use linn_format::{Error, ErrorKind, Result};
use rand::Rng;

use super::Actor;
use crate::sim::model;
use crate::sim::row::{self, COLUMNS, Row};
use crate::sim::violation::Broken;

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
    let snapshot = match actor.world().draw(|random| random.random_range(0..4)) {
        0 => snapshots.earliest().await?,
        // One that is listed, whatever the hints say.
        1 => match snapshots.list().await?.first() {
            Some(id) => found(snapshots.get(*id).await)?,
            None => None,
        },
        _ => snapshots.latest().await?,
    };
    let Some(snapshot) = snapshot else { return Ok(()) };
    actor.world().action("reads");
    match check(actor, &table, &snapshot).await {
        // It may have expired while it was read, and the reader must be told so.
        Err(e) if e.kind() == ErrorKind::NotFound && is_gone(actor, &snapshot) => Ok(()),
        result => result,
    }
}

/// A snapshot that may have gone since it was listed.
fn found(result: Result<Arc<Snapshot>>) -> Result<Option<Arc<Snapshot>>> {
    match result {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
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
    // Rows that wait for a bucket are not read before they are placed.
    if actor.shape.is_postponed() && Snapshots::new(table).latest_id().await? != Some(snapshot.id) {
        return Ok(());
    }
    let read = rows(actor, table, snapshot).await?;
    // Whatever the table was made as, what it is read as counts.
    let skips = actor.shape.skips_level_zero()
        || (table.schema().is_primary_key_table() && table.options().deletion_vectors_enabled()?);
    let waiting = match skips {
        true => model::waiting(table, snapshot).await?,
        false => Vec::new(),
    };
    let expected = model::expected(actor.world(), &actor.shape, snapshot.id, &waiting);
    if let Some(what) = model::difference(&read, &expected) {
        actor.world().violation(Broken::Rows, format!("snapshot {} reads wrong: {what}", snapshot.id));
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
            actor.wait(60_000).await;
        }
    }
    if rows.iter().any(|row| row.kind != 0) {
        return Err(Error::internal("a batch read returned a retraction"));
    }
    rows.sort();
    Ok(rows)
}
