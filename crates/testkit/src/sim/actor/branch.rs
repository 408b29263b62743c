//! Branches: one is made from a tag, read as long as it is there, and removed; what it needs stays, whatever the table does.

use linn_core::branch::Branches;
use linn_core::{Snapshots, Tags};
use linn_format::{ErrorKind, Result};

use super::Actor;

/// The tags that branches are made from.
const PREFIX: &str = "branch-";

/// Makes, reads and removes branches.
pub async fn run(actor: Actor) {
    while actor.comes_again(10_000).await {
        if let Err(e) = once(&actor).await {
            actor.judge("a branch", &e);
        }
    }
}

async fn once(actor: &Actor) -> Result<()> {
    let table = actor.open().await?;
    let branches = Branches::new(&table);
    let names = branches.list().await?;
    if let Some(name) = names.first().filter(|_| names.len() > 1 || actor.chance(2)) {
        let is_whole = match read(actor, &branches, name).await {
            // One that stood still and goes on has deleted it meanwhile.
            Err(e) if e.kind() == ErrorKind::NotFound && !branches.exists(name).await? => return Ok(()),
            read => read?,
        };
        if is_whole && !actor.chance(3) {
            return Ok(());
        }
        return match branches.delete(name).await {
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
            result => result,
        };
    }
    let tags = Tags::new(&table);
    let name = format!("{PREFIX}{}", actor.world().executor.now());
    let Some(snapshot) = Snapshots::new(&table).latest().await? else { return Ok(()) };
    tags.create(&name, &snapshot, None).await?;
    actor.world().action("branches");
    match branches.create(&name, Some(&name)).await {
        // It was made although the store did not say so.
        Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
        result => result?,
    }
    // The branch keeps what it needs by itself.
    tags.delete(&name).await
}

/// A branch reads as the table did where it was made, if making it was not cut off.
async fn read(actor: &Actor, branches: &Branches, name: &str) -> Result<bool> {
    let branch = match branches.table(name).await {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(false),
        table => table?,
    };
    actor.world().action("reads of branches");
    match Snapshots::new(&branch).latest().await? {
        Some(snapshot) => super::read::check(actor, &branch, &snapshot).await.map(|()| true),
        None => Ok(false),
    }
}

/// What branches hold is there when nothing fails any more.
///
/// # Errors
/// What reading them yields.
pub async fn at_rest(actor: &Actor) -> Result<()> {
    let branches = Branches::new(&actor.open().await?);
    for name in branches.list().await? {
        if !read(actor, &branches, &name).await? {
            branches.delete(&name).await?;
        }
    }
    Ok(())
}
