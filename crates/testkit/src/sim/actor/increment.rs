//! Incrementers: any number of processes that read a number and write it back increased, of the same keys. What one has read
//! must be what its commit builds upon, or it is done again on what is there then.

use linn_core::commit::Reads;
use linn_core::{Commit, CommitOutcome, Table, read};
use linn_format::Result;
use linn_format::datum::Datum;
use linn_format::predicate::{CompareOp, Predicate};

use super::write::{acknowledge, batch, closed, dispatch, settle};
use super::{Actor, again};
use crate::sim::row::{self, COLUMNS, Row, Values};
use crate::sim::shape::{Engine, Shape};
use crate::sim::world::Entry;

/// What the commit users of incrementers begin with.
pub const PREFIX: &str = "incrementer-";
/// Their partition, to which nobody else writes.
const PARTITION: i32 = 1000;
/// Its keys.
const KEYS: i32 = 2;

/// Whether numbers can be read and written back in such a table.
pub fn fits(shape: &Shape) -> bool {
    matches!(shape.engine, Engine::Last | Engine::BySequence | Engine::Partial) && !shape.is_postponed()
}

/// Increments again and again.
pub async fn run(actor: Actor, number: usize) {
    loop {
        actor.rest(2_000).await;
        if let Err(e) = once(&actor, number).await {
            actor.judge("an increment", &e);
        }
    }
}

/// Increases one number; whether that came to be.
///
/// # Errors
/// What reading, writing and committing yield.
pub async fn once(actor: &Actor, number: usize) -> Result<bool> {
    let reads = Reads::default();
    let table = actor.open().await?.noting(&reads)?;
    let k = if actor.chance(2) { 0 } else { KEYS - 1 };
    let of = (format!("{PREFIX}{number}"), actor.world().executor.now());
    // A process that was taken for dead and one in its place are two users, so that neither is told the other's commits.
    let user = format!("{}.{}", of.0, actor.process.id);
    let next = again!(actor, value(&table, k))?.unwrap_or(0) + 1;
    let values = Values { s: Some(next), a: Some(next), b: None, w: Some(format!("{}.{}", of.0, of.1)) };
    let rows = vec![Row { p: PARTITION, k, values, kind: 0 }];
    // Every try is a commit of its own: what it writes depends on what it saw.
    actor.world().record().ledger.insert(of.clone(), Entry::of(rows.clone(), None));
    let mut writer = table.writer(&user)?;
    let (rows, kinds) = batch(&table, &rows)?;
    writer.write(&rows, Some(&kinds)).await.map_err(closed)?;
    let messages = again!(actor, writer.prepare_commit(true)).map_err(closed)?;
    dispatch(actor, &of, &messages);
    let outcome = settle(actor, &table.committer(&user), &Commit::streaming(of.1, messages), None).await?;
    writer.close().await?;
    let done = matches!(outcome, Some(CommitOutcome::Committed(_) | CommitOutcome::CompactionLost { .. }));
    if done {
        acknowledge(actor, &of);
        actor.world().action("increments");
    }
    Ok(done)
}

/// The number of a key.
async fn value(table: &Table, k: i32) -> Result<Option<i64>> {
    let is = |name: &str, value: i32| {
        let field_id = table.schema().field(name).map_or(-1, |field| field.id);
        Predicate::Compare { field_id, op: CompareOp::Eq, literal: Datum::Int(value) }
    };
    let plan = table.scan().filter(Predicate::and([is("p", PARTITION), is("k", k)])).plan().await?;
    let reading = table.read().project(&COLUMNS)?.build()?;
    let mut found = None;
    for split in plan.splits {
        for batch in read::collect(reading.stream(&split).await?).await? {
            let mut rows = row::rows(&batch).into_iter().filter(|row| row.p == PARTITION && row.k == k);
            found = rows.next().map(|row| row.values.a).unwrap_or(found);
        }
    }
    Ok(found)
}
