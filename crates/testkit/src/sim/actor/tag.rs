//! Tags: what one holds stays readable, whatever expires.

use std::sync::Arc;

use linn_core::{Snapshots, Tags};
use linn_format::{ErrorKind, Result};

use super::Actor;

/// Its own tags.
const PREFIX: &str = "at-";

/// Tags snapshots, reads what it has tagged, and removes tags.
pub async fn run(actor: Actor) {
    loop {
        actor.rest(8_000).await;
        if let Err(e) = once(&actor).await {
            actor.judge("a tag", &e);
        }
    }
}

/// Makes a tag, or reads the oldest one.
///
/// # Errors
/// What the store yields.
pub async fn once(actor: &Actor) -> Result<()> {
    let table = actor.open().await?;
    let tags = Tags::new(&table);
    let mut names = tags.list().await?;
    names.retain(|name| name.starts_with(PREFIX));
    if names.len() < 3 {
        let Some(snapshot) = Snapshots::new(&table).latest().await? else { return Ok(()) };
        actor.world().action("tags");
        let name = format!("{PREFIX}{}", actor.world().executor.now());
        match tags.create(&name, &snapshot, None).await {
            // It was made although the store did not say so, or the snapshot went meanwhile.
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            result => result?,
        }
        return Ok(());
    }
    let Some(name) = names.first() else { return Ok(()) };
    let snapshot = Arc::new(tags.get(name).await?.snapshot);
    super::read::check(actor, &table, &snapshot).await?;
    if actor.chance(2) {
        tags.delete(name).await?;
    }
    Ok(())
}
