//! Tags: what one holds stays readable, whatever expires.

use std::sync::Arc;

use linn_core::{Snapshots, Tags};
use linn_format::{ErrorKind, Result};

use super::Actor;

/// Its own tags.
const PREFIX: &str = "at-";

/// Tags snapshots, reads what it has tagged, and removes tags.
pub async fn run(actor: Actor) {
    while actor.comes_again(8_000).await {
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
    // One that stood still and goes on may remove it meanwhile.
    let Some(tag) = tags.find(name).await? else { return Ok(()) };
    match super::read::check(actor, &table, &Arc::new(tag.snapshot)).await {
        Err(e) if e.kind() == ErrorKind::NotFound && tags.find(name).await?.is_none() => return Ok(()),
        result => result?,
    }
    if actor.chance(2) {
        tags.delete(name).await?;
    }
    Ok(())
}
