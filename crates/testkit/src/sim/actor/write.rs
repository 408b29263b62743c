//! Writers: each has a commit user of its own, writes commit after commit, and goes on from the last one after a crash.

use arrow_array::{RecordBatch, new_null_array};
use linn_core::commit::Overwrite;
use linn_core::write::TableWriter;
use linn_core::{Commit, CommitMessage, CommitOutcome, Committer, Table};
use linn_format::types::arrow_schema;
use linn_format::{Error, ErrorKind, Result};
use rand::Rng;

use super::{Actor, again};
use crate::sim::plant;
use crate::sim::row::{self, Row, Values};
use crate::sim::shape::Engine;
use crate::sim::world::{Entry, World};

/// The name of its processes.
pub const NAME: &str = "writer";
/// What the commit users of writers begin with.
pub const PREFIX: &str = "writer-";

/// The commit user of a writer.
pub fn user(number: usize) -> String {
    format!("{PREFIX}{number}")
}

/// Whether a writer has made all its commits.
pub fn is_done(world: &World, number: usize, quota: i64) -> bool {
    let record = world.record();
    let done = record.ledger.iter().filter(|((of, _), entry)| *of == user(number) && entry.acknowledged.is_some());
    i64::try_from(done.count()).is_ok_and(|done| done >= quota)
}

/// Writes until all commits are made.
pub async fn run(actor: Actor, number: usize, quota: i64) {
    loop {
        match session(&actor, number, quota).await {
            Ok(()) => return,
            Err(e) => actor.judge("a writer's session", &e),
        }
        actor.wait(2_000).await;
    }
}

/// One life of a [`TableWriter`]; ends when all is done, or somebody else does it.
async fn session(actor: &Actor, number: usize, quota: i64) -> Result<()> {
    let table = plant::table_of_writer(actor, actor.open().await?);
    let user = plant::user(actor, user(number));
    let committer = table.committer(&user);
    let mut writer = plant::writer(actor, &table, &user)?;
    writer.resume().await?;
    loop {
        if actor.process.is_replaced() {
            return Ok(());
        }
        let Some(identifier) = next(actor, number, quota) else {
            return writer.close().await;
        };
        let of = (super::write::user(number), identifier);
        if committer.filter_committed(&[identifier]).await?.is_empty() {
            acknowledge(actor, &of);
            continue;
        }
        let entry = entry(actor, number, identifier);
        let done = match entry.replaces {
            Some(partition) => replace(actor, &table, &committer, &of, &entry, partition).await?,
            None => append(actor, &table, &mut writer, &committer, &of, &entry).await?,
        };
        match done {
            Some(outcome) => {
                acknowledge(actor, &of);
                writer.settle(&outcome).await?;
                if entry.replaces.is_some() {
                    writer.refresh().await?;
                }
            }
            // Rows have to be written again, by a writer that knows what the table holds now.
            None => {
                writer.close().await?;
                writer = plant::writer(actor, &table, &user)?;
            }
        }
        if actor.chance(4) {
            writer.close().await?;
            return Err(Error::unavailable("a new session"));
        }
        actor.rest(1_000).await;
    }
}

/// The number of the commit that comes next.
fn next(actor: &Actor, number: usize, quota: i64) -> Option<i64> {
    let record = actor.world().record();
    let mine = record.ledger.iter().filter(|((of, identifier), _)| *of == user(number) && *identifier <= quota);
    let open = mine.clone().filter(|(_, entry)| entry.acknowledged.is_none()).map(|((_, identifier), _)| *identifier);
    let last = mine.map(|((_, identifier), _)| *identifier).max().unwrap_or(0);
    open.min().or_else(|| (last < quota).then_some(last + 1))
}

/// What a commit is to bring; drawn when it is asked for first, and the same ever after.
fn entry(actor: &Actor, number: usize, identifier: i64) -> Entry {
    let key = (user(number), identifier);
    if let Some(entry) = actor.world().record().ledger.get(&key) {
        return entry.clone();
    }
    let shape = &actor.shape;
    let writer = i64::try_from(number).unwrap();
    let big_commits = actor.world().knobs.big_commits;
    let entry = actor.world().draw(|random| {
        let own = if shape.shared { 0 } else { i32::try_from(number).unwrap() * 2 };
        let first = own + random.random_range(0..2);
        let replaces = (shape.may_overwrite() && random.random_ratio(1, 8)).then_some(first);
        let is_big = random.random_ratio(1, 10) || identifier <= big_commits;
        let count = if is_big { 200 } else { random.random_range(1..12) };
        let mut rows = Vec::with_capacity(count);
        for i in 0..count {
            let number = identifier * 1000 + i64::try_from(i).unwrap();
            let keys = if count > 100 { 400 } else { 12 };
            let p = if replaces.is_some() || random.random_bool(0.7) { first } else { first ^ 1 };
            let sparse = shape.engine == Engine::Partial;
            let mut long = |most: i64| (!random.random_bool(0.25)).then(|| random.random_range(-most..most));
            let (a, b) = (long(1000), long(1000));
            // Unique over all writers, and often below what came before.
            let late = (identifier + random.random_range(0..4)) * 1_000_000_000;
            let s = Some(late + writer * 100_000_000 + number);
            let values = Values {
                s: if sparse && random.random_bool(0.3) { None } else { s },
                a,
                b,
                w: (!(sparse && random.random_bool(0.3))).then(|| format!("{}.{number}", key.0)),
            };
            let kind = if shape.takes_deletes() && random.random_bool(0.15) { 3 } else { 0 };
            rows.push(Row { p, k: random.random_range(0..keys), values, kind });
        }
        Entry::of(rows, replaces)
    });
    actor.world().record().ledger.insert(key, entry.clone());
    entry
}

pub(super) fn acknowledge(actor: &Actor, of: &(String, i64)) {
    actor.world().action("commits acknowledged");
    let now = actor.world().executor.now();
    if let Some(entry) = actor.world().record().ledger.get_mut(of) {
        entry.acknowledged.get_or_insert(now);
    }
}

/// Notes which commit made which files, and when it was handed over.
pub(super) fn dispatch(actor: &Actor, of: &(String, i64), messages: &[CommitMessage]) {
    actor.world().action("commits attempted");
    let now = actor.world().executor.now();
    let mut record = actor.world().record();
    for file in messages.iter().flat_map(|message| &message.new_files) {
        record.files.insert(file.file_name.clone(), of.clone());
    }
    if let Some(entry) = record.ledger.get_mut(of) {
        entry.dispatched.get_or_insert(now);
    }
}

/// The rows as a batch with all columns that the table has.
pub(crate) fn batch(table: &Table, rows: &[Row]) -> Result<(RecordBatch, arrow_array::Int8Array)> {
    let (batch, kinds) = row::batch(rows);
    let schema = arrow_schema(&table.schema().fields)?;
    let columns = schema.fields().iter().map(|field| {
        let column = batch.column_by_name(field.name()).cloned();
        (field.name().clone(), column.unwrap_or_else(|| new_null_array(field.data_type(), rows.len())), true)
    });
    let batch = RecordBatch::try_from_iter_with_nullable(columns).map_err(|e| Error::internal(e.to_string()))?;
    Ok((batch, kinds))
}

/// What a writer that has to be closed says is the end of a session like any other: the rows are written again in the next one.
pub(super) fn closed(e: Error) -> Error {
    match e.kind() == ErrorKind::Invalid && e.to_string().contains("close this writer") {
        true => Error::unavailable("a new session").with_source(e),
        false => e,
    }
}

/// Writes the rows in one or two parts. What fails for want of the store is in the buffer all the same, or the writer says that it has
/// to be closed.
async fn fill(actor: &Actor, table: &Table, writer: &mut TableWriter, rows: &[Row]) -> Result<()> {
    let cut = if actor.chance(2) { rows.len() / 2 } else { rows.len() };
    for part in [&rows[..cut], &rows[cut..]].into_iter().filter(|part| !part.is_empty()) {
        let (batch, kinds) = batch(table, part)?;
        match writer.write(&batch, Some(&kinds)).await {
            Ok(()) => {}
            Err(e) if plant::wedges(actor, &e) => std::future::pending().await,
            Err(e) if actor.is_transient(&e) && actor.chance(2) => {}
            Err(e) => return Err(closed(e)),
        }
    }
    actor
        .world()
        .record()
        .actions
        .entry("rows written")
        .and_modify(|n| *n += rows.len() as u64)
        .or_insert(rows.len() as u64);
    Ok(())
}

/// Writes rows and commits them; `None` when they have to be written again.
async fn append(
    actor: &Actor,
    table: &Table,
    writer: &mut TableWriter,
    committer: &Committer,
    of: &(String, i64),
    entry: &Entry,
) -> Result<Option<CommitOutcome>> {
    fill(actor, table, writer, &entry.rows).await?;
    let wait = actor.chance(2);
    let messages = again!(actor, writer.prepare_commit(wait)).map_err(closed)?;
    let messages = plant::messages(actor, messages);
    dispatch(actor, of, &messages);
    let commit = Commit::streaming(of.1, messages);
    settle(actor, committer, &commit, None).await
}

/// Replaces a partition by rows.
async fn replace(
    actor: &Actor,
    table: &Table,
    committer: &Committer,
    of: &(String, i64),
    entry: &Entry,
    partition: i32,
) -> Result<Option<CommitOutcome>> {
    actor.world().action("overwrites");
    let mut writer = table.overwriter(&of.0)?;
    fill(actor, table, &mut writer, &entry.rows).await?;
    let messages = again!(actor, writer.prepare_commit(true)).map_err(closed)?;
    writer.close().await?;
    dispatch(actor, of, &messages);
    let target = vec![("p".to_owned(), Some(partition.to_string()))];
    settle(actor, committer, &Commit::streaming(of.1, messages), Some(Overwrite::Partition(target))).await
}

/// Commits until the outcome is known.
pub(super) async fn settle(
    actor: &Actor,
    committer: &Committer,
    commit: &Commit,
    target: Option<Overwrite>,
) -> Result<Option<CommitOutcome>> {
    loop {
        let outcome = again!(actor, async {
            match &target {
                Some(target) => committer.overwrite(target.clone(), commit.clone()).await,
                None => committer.commit(commit.clone()).await,
            }
        });
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(e) => {
                plant::abort(actor, &commit.messages).await;
                return Err(e);
            }
        };
        match outcome {
            CommitOutcome::Committed(_) | CommitOutcome::CompactionLost { .. } => return Ok(Some(outcome)),
            CommitOutcome::Conflict(_) => {
                actor.world().action("conflicts");
                again!(actor, committer.abort(&commit.messages))?;
                return Ok(None);
            }
            CommitOutcome::Unknown(_) => {
                actor.world().action("unknown outcomes");
                if plant::forgets(actor, &commit.messages).await {
                    return Err(Error::unavailable("a new session"));
                }
                actor.wait(500).await;
            }
        }
    }
}
