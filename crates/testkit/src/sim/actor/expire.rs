//! Expiry of snapshots beside everything else: what is live, tagged, branched off or yet to be read by a consumer stays.

use std::collections::BTreeSet;

use linn_core::Snapshots;
use linn_core::maintain::{Retention, SnapshotExpiry};
use linn_format::snapshot::Snapshot;
use linn_format::{ErrorKind, Result, SnapshotId};

use super::{Actor, write};
use crate::sim::model::commit_of;
use crate::sim::plant::{Hazard, maintain};
use crate::sim::violation::Broken;
use crate::sim::world::Entry;

/// The name of its processes.
pub const NAME: &str = "expirer";
/// Snapshots stay so long: longer than anything takes that was begun on them.
pub const KEPT_MILLIS: i64 = 2 * 60 * 60_000;

/// Expires again and again.
pub async fn run(actor: Actor) {
    while actor.comes_again(8_000).await {
        if let Err(e) = once(&actor).await {
            actor.judge("expiry", &e);
        }
    }
}

/// Whether this history is about expiry, which then keeps a few snapshots only.
fn is_eager(actor: &Actor) -> bool {
    actor.world().setup.is_about(&[Hazard::H7, Hazard::H8, Hazard::H9, Hazard::H16])
}

/// Expires what is due.
///
/// # Errors
/// What expiry yields.
pub async fn once(actor: &Actor) -> Result<()> {
    if maintain::is_planted(actor) {
        return maintain::expire(actor).await;
    }
    let table = actor.open().await?;
    let max = if is_eager(actor) { maintain::KEPT } else { i64::MAX };
    let older_than = actor.world().executor.now() - KEPT_MILLIS;
    let retention = Retention { max, min: 1, older_than, limit: i64::MAX, consumers_hold: true };
    let expiry = SnapshotExpiry::new(&table)?;
    let Some((begin, end)) = expiry.range(&retention).await? else { return Ok(()) };
    let end = held(actor, begin).map_or(end, |held| held.min(end));
    if end <= begin {
        return Ok(());
    }
    let before = actor.world().record().expired.len();
    actor.world().action("expiries");
    match expiry.run(begin, end).await {
        // Commits expire what is old too: what this one was to read, another has taken.
        Err(e) if e.kind() == ErrorKind::NotFound && actor.world().record().expired.len() > before => Ok(()),
        result => result.map(drop),
    }
}

/// The first snapshot from `begin` on that a writer goes by which does not know what became of a commit: the last one of its user.
/// Without it a commit that is there would be made again. Nothing of the format can tell expiry so; operators keep snapshots for
/// longer than a writer may be down.
fn held(actor: &Actor, begin: SnapshotId) -> Option<SnapshotId> {
    let record = actor.world().record();
    let asks = |(_, entry): &(_, &Entry)| entry.dispatched.is_some() && entry.acknowledged.is_none();
    let waiting: BTreeSet<&str> = record.ledger.iter().filter(asks).map(|((user, _), _)| user.as_str()).collect();
    let last = |user: &str| {
        let by = |snapshot: &Snapshot| commit_of(snapshot).is_some_and(|(of, _)| of == user);
        record.snapshots.values().rfind(|snapshot| by(snapshot)).map(|snapshot| snapshot.id)
    };
    let writers = waiting.into_iter().filter(|user| user.starts_with(write::PREFIX));
    writers.filter_map(last).filter(|id| *id >= begin).min()
}

/// What maintenance does when nothing fails any more: it must get done.
///
/// # Errors
/// What reading the table yields.
pub async fn at_rest(actor: &Actor) -> Result<()> {
    if let Err(e) = once(actor).await {
        actor.world().violation(Broken::Stuck, format!("expiry does not go on although nothing fails: {e:?}"));
    }
    let left = Snapshots::new(&actor.open().await?).list().await?.len();
    if is_eager(actor) && i64::try_from(left).is_ok_and(|left| left > maintain::KEPT) {
        actor.world().violation(Broken::Leak, format!("expiry leaves {left} snapshots"));
    }
    Ok(())
}
