//! Deletions of rows of append tables by their place, any number of them at once: one that met another is done again.

use std::collections::BTreeSet;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use linn_core::file::{FileQuery, read_file, row_position_field};
use linn_core::{Commit, CommitMessage, CommitOutcome, Snapshots, Table, read};
use linn_format::Result;

use super::{Actor, again};
use crate::sim::plant;
use crate::sim::world::Entry;

/// Deletes again and again.
pub async fn run(actor: Actor, number: usize) {
    loop {
        actor.rest(3_000).await;
        if let Err(e) = once(&actor, number).await {
            actor.judge("a deletion", &e);
        }
    }
}

/// Deletes some rows; whether that came to be.
///
/// # Errors
/// What reading, writing and committing yield.
pub async fn once(actor: &Actor, number: usize) -> Result<bool> {
    let table = actor.open().await?;
    let (messages, deletes) = mark(actor, &table).await?;
    if messages.is_empty() {
        return Ok(false);
    }
    actor.world().action("deletions");
    // Every try is a commit of its own: what it deletes depends on what it saw.
    let of = (format!("deleter-{number}"), actor.world().executor.now());
    let now = Some(actor.world().executor.now());
    let entry = Entry { rows: Vec::new(), replaces: None, dispatched: now, acknowledged: None, deletes };
    actor.world().record().ledger.insert(of.clone(), entry);
    let (table, messages) = plant::deletion(actor, table, messages);
    let committer = table.committer(&of.0);
    let commit = Commit::streaming(of.1, messages);
    loop {
        match again!(actor, committer.commit(commit.clone()))? {
            CommitOutcome::Committed(_) | CommitOutcome::CompactionLost { .. } => {
                let now = actor.world().executor.now();
                if let Some(entry) = actor.world().record().ledger.get_mut(&of) {
                    entry.acknowledged = Some(now);
                }
                return Ok(true);
            }
            CommitOutcome::Conflict(_) => {
                actor.world().action("conflicts");
                again!(actor, committer.abort(&commit.messages))?;
                return Ok(false);
            }
            CommitOutcome::Unknown(_) => actor.wait(500).await,
        }
    }
}

/// Marks about one row in eight; what to commit, and what the rows say.
async fn mark(actor: &Actor, table: &Table) -> Result<(Vec<CommitMessage>, BTreeSet<String>)> {
    let mut deletes = BTreeSet::new();
    let Some(snapshot) = Snapshots::new(table).latest().await? else { return Ok((Vec::new(), deletes)) };
    let mut deletion = table.delete_rows(snapshot.clone())?;
    let Some(text) = table.schema().field("w").cloned() else { return Ok((Vec::new(), deletes)) };
    for split in table.scan().snapshot(snapshot).plan().await?.splits {
        for (number, file) in split.files.iter().enumerate() {
            let fields = vec![text.clone(), row_position_field()];
            let query = FileQuery::all(fields, 1024);
            let vector = split.deletion_files.get(number).and_then(Option::as_ref);
            let stream = read_file(table, &split.partition, split.bucket, file, vector, query).await?;
            for batch in read::collect(stream).await? {
                let (texts, positions) =
                    (batch.column(0).as_string::<i32>(), batch.column(1).as_primitive::<Int64Type>());
                for i in 0..batch.num_rows() {
                    if actor.chance(8) {
                        deletion.mark(&split, number, u64::try_from(positions.value(i)).unwrap())?;
                        deletes.insert(texts.value(i).to_owned());
                    }
                }
            }
        }
    }
    if deletion.rows() == 0 {
        return Ok((Vec::new(), deletes));
    }
    Ok((deletion.finish().await?, deletes))
}
