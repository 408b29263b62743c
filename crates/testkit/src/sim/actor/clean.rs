//! Cleaning of orphans beside everything else: what is young or used stays; at rest nothing else does.

use linn_core::maintain::remove_orphans;
use linn_format::{ErrorKind, Result};

use super::Actor;
use super::expire::KEPT_MILLIS;
use crate::sim::plant::{Hazard, maintain};
use crate::sim::violation::Broken;

/// The name of its processes.
pub const NAME: &str = "cleaner";
/// After so long everything that was begun has ended.
const LATER_MILLIS: u64 = 3 * 24 * 60 * 60_000;

/// Cleans again and again.
pub async fn run(actor: Actor) {
    while actor.comes_again(10_000).await {
        if let Err(e) = once(&actor).await {
            actor.judge("cleaning", &e);
        }
    }
}

/// Removes what nothing refers to.
///
/// # Errors
/// What cleaning yields.
pub async fn once(actor: &Actor) -> Result<()> {
    let table = actor.open().await?;
    // In histories that are about it commits take a second at the most.
    let age = if actor.world().setup.is_about(&[Hazard::H6]) { 10_000 } else { KEPT_MILLIS };
    actor.world().action("cleanings");
    if actor.world().has(Hazard::H6) {
        return maintain::clean(actor, age).await;
    }
    let older_than = actor.world().executor.now() - age;
    let cleaned = remove_orphans(&table, Some(older_than)).await;
    match cleaned {
        Ok(found) => {
            (0..found.removal.files()).for_each(|_| actor.world().action("orphans removed"));
            Ok(())
        }
        // Something expired while it was read: then nothing is removed.
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
    }
}

/// Long after everything has ended what nobody needs is cleaned away; [`check`](crate::sim::check) sees that it is (P8).
///
/// # Errors
/// What cleaning yields.
pub async fn at_rest(actor: &Actor) -> Result<()> {
    actor.world().executor.sleep(LATER_MILLIS).await;
    let found = remove_orphans(&actor.open().await?, None).await?;
    if let Some(why) = found.spared {
        actor.world().violation(Broken::Leak, format!("cleaning spares everything: {why}"));
    }
    Ok(())
}
