//! Compaction as a job of its own: it may lose its commit, and then gives its files up.

use linn_core::{Commit, CommitOutcome};
use linn_format::Result;

use super::{Actor, again};
use crate::sim::plant;

/// Compacts again and again.
pub async fn run(actor: Actor, number: usize) {
    while actor.comes_again(5_000).await {
        let full = actor.chance(actor.world().knobs.full_compactions);
        if let Err(e) = once(&actor, &format!("compactor-{number}"), full).await {
            actor.judge("a compaction", &e);
        }
    }
}

/// Compacts once; whether there was something to do.
///
/// # Errors
/// What compacting and committing yield.
pub async fn once(actor: &Actor, user: &str, full: bool) -> Result<bool> {
    let table = plant::table_of_compactor(actor, actor.open().await?);
    let messages = plant::messages(actor, again!(actor, table.compact(None, full))?);
    if messages.is_empty() {
        return Ok(false);
    }
    actor.world().action("compactions");
    // Numbers of a user grow, over its crashes too.
    let commit = Commit::streaming(actor.world().executor.now(), messages);
    let committer = table.committer(user);
    loop {
        match again!(actor, committer.commit(commit.clone()))? {
            CommitOutcome::Committed(_) => return Ok(true),
            CommitOutcome::CompactionLost { .. } | CommitOutcome::Conflict(_) => {
                actor.world().action("compactions lost");
                again!(actor, committer.abort(&commit.messages))
                    .or_else(|e| if actor.is_transient(&e) { Ok(()) } else { Err(e) })?;
                return Ok(true);
            }
            CommitOutcome::Unknown(_) => actor.wait(500).await,
        }
    }
}
