//! Readers of changes: they fold what they are told, save rows and position together, tell the table where they stand, and go on
//! from there after a crash. What they hold is the table.

use futures::StreamExt;
use linn_core::stream::{Consumers, OutOfRange};
use linn_core::{Snapshots, Table};
use linn_format::{Result, SnapshotId};

use super::Actor;
use crate::sim::follow::Told;
use crate::sim::row::{self, COLUMNS};
use crate::sim::shape::{Engine, Producer};
use crate::sim::violation::Broken;
use crate::sim::{model, row::Row};

/// Its name among the table's consumers.
const CONSUMER: &str = "follower";

/// Follows for ever.
pub async fn run(actor: Actor) {
    while actor.comes_again(4_000).await {
        if let Err(e) = once(&actor).await {
            actor.judge("a reader of changes", &e);
        }
    }
}

/// Reads the changes up to now.
///
/// # Errors
/// What the stream yields, but for a place in it that has expired: then it starts anew.
pub async fn once(actor: &Actor) -> Result<()> {
    let table = actor.open().await?;
    let mut told = actor.world().record().told.clone().unwrap_or_default();
    actor.world().action("reads of changes");
    match take_in(actor, &table, &mut told).await {
        Ok(()) => {}
        Err(e) if overtaken(actor, &e) => {
            actor.world().action("readers of changes overtaken");
            actor.world().record().told = None;
            return Ok(());
        }
        Err(e) => return Err(e),
    }
    let Some(snapshot) = told.position.as_ref().map(|position| SnapshotId(position.next_snapshot.0 - 1)) else {
        return Ok(());
    };
    if tells_at_once(actor) {
        let expected = model::expected(actor.world(), &actor.shape, snapshot, &[]);
        compare(actor, snapshot, &told.rows(), &expected);
    }
    Ok(())
}

/// When nothing changes any more, what it holds is the table as it is read.
///
/// # Errors
/// What the stream and the read yield.
pub async fn at_rest(actor: &Actor) -> Result<()> {
    once(actor).await?;
    // One that was overtaken has begun anew by the second time.
    once(actor).await?;
    let table = actor.open().await?;
    let Some(snapshot) = Snapshots::new(&table).latest().await? else { return Ok(()) };
    let read = super::read::rows(actor, &table, &snapshot).await?;
    let told = actor.world().record().told.clone().unwrap_or_default();
    compare(actor, snapshot.id, &told.rows(), &read);
    Ok(())
}

fn compare(actor: &Actor, snapshot: SnapshotId, told: &[Row], expected: &[Row]) {
    if let Some(what) = model::difference(told, expected) {
        let text = format!("who follows the changes up to snapshot {snapshot} holds other rows: {what}");
        actor.world().violation(Broken::Changelog, text);
    }
}

async fn take_in(actor: &Actor, table: &Table, told: &mut Told) -> Result<()> {
    let fields = COLUMNS.iter().filter_map(|name| table.schema().field(name).cloned()).collect();
    let position = told.position.clone();
    let mut stream = table.changes().fields(fields).position(position).until_now().open().await?;
    while let Some(changes) = stream.next().await {
        let changes = changes?;
        told.apply(&actor.shape, row::rows(&changes.rows));
        told.position = Some(changes.position);
        if actor.chance(2) {
            save(actor, table, told).await?;
        }
    }
    save(actor, table, told).await
}

/// Saves rows and position, then lets go of what was read.
async fn save(actor: &Actor, table: &Table, told: &Told) -> Result<()> {
    actor.world().record().told = Some(told.clone());
    match told.position.as_ref().and_then(|position| position.for_consumer()) {
        Some(next) => Consumers::new(table).set(CONSUMER, next).await,
        None => Ok(()),
    }
}

/// Whether a stream ended because what it stood at has really expired.
fn overtaken(actor: &Actor, error: &linn_format::Error) -> bool {
    OutOfRange::of(error)
        .is_some_and(|range| range.has_expired() && actor.world().record().expired.contains(&range.wanted.0))
}

/// Whether changes are told with the commit that made them, so that a follower is never behind a read of the same snapshot.
fn tells_at_once(actor: &Actor) -> bool {
    match actor.shape.producer {
        Producer::Input => true,
        Producer::None => matches!(actor.shape.engine, Engine::Append | Engine::Last),
        _ => false,
    }
}
