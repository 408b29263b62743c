//! The work itself: how the table is made ready for it, doing it until it is done, and what must be so afterwards.

use std::collections::BTreeSet;

use futures::future::BoxFuture;
use linn_core::branch::Branches;
use linn_core::commit::compact_manifests;
use linn_core::maintain::{ChangelogExpiry, Retention, SnapshotExpiry, drop_partitions, partitions, remove_orphans};
use linn_core::rollback::RollbackTo;
use linn_core::{Commit, CommitOutcome, Schemas, Snapshots, Storage, Table, Tags};
use linn_format::datum::Datum;
use linn_format::schema::SchemaChange;
use linn_format::types::DataType;
use linn_format::{Error, ErrorKind, Result, SnapshotId};

use super::{BEFORE, Scenario};
use crate::sim::actor::{self, Actor, PATH};
use crate::sim::model::commit_of;
use crate::sim::violation::Broken;
use crate::sim::world::BEGIN;

/// A piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// A commit of rows, with the compaction that it brings.
    Write,
    /// A commit that replaces a partition.
    Replace,
    /// A full compaction as a job of its own.
    Compact,
    /// Deletion of rows by their place.
    Delete,
    /// A change of the schema.
    Alter,
    /// Another number of buckets.
    Rescale,
    /// Manifests put together.
    Manifests,
    /// A tag.
    Tag,
    /// A tag goes, with the files that only it had.
    Untag,
    /// All snapshots but the newest expire.
    Expire,
    /// All changelogs whose snapshots are gone expire, but the newest.
    ExpireChangelogs,
    /// A partition goes.
    DropPartition,
    /// What nothing refers to goes.
    Clean,
    /// The table goes back to its first snapshot.
    Rollback,
    /// A branch is made from a tag.
    Branch,
    /// The table takes over the history of a branch.
    Forward,
}

/// The name of tags and branches.
const NAME: &str = "b";
/// After so long files are old.
const OLD_MILLIS: u64 = 2 * 24 * 60 * 60_000;

/// Makes the table and what the work needs.
pub(super) async fn prepare(scenario: Scenario, actor: Actor) {
    if let Err(e) = ready(&scenario, &actor).await {
        actor.world().violation(Broken::Failure, format!("not made ready: {e:?}"));
    }
}

async fn ready(scenario: &Scenario, actor: &Actor) -> Result<()> {
    let schema = scenario.shape.schema(BEGIN)?;
    Schemas::at(actor.process.env().storage, PATH).create(&schema).await?;
    let before = if scenario.act == Act::Forward { 1 } else { BEFORE };
    actor::write::run(actor.clone(), 0, before).await;
    let table = actor.open().await?;
    match scenario.act {
        Act::Rescale => {
            let more = SchemaChange::SetOption { key: "bucket".to_owned(), value: "2".to_owned() };
            Schemas::new(&table).commit(&table, &[more]).await?;
        }
        Act::Untag => {
            let first = Snapshots::new(&table).get(SnapshotId::FIRST).await?;
            Tags::new(&table).create(NAME, &first, None).await?;
            expire(&table).await?;
        }
        Act::ExpireChangelogs => expire(&table).await?,
        Act::Clean => {
            for stray in ["manifest/manifest-stray-0", "index/index-stray-0", "p=0/bucket-0/data-stray-0.parquet"] {
                actor.world().disk.put(&format!("{PATH}/{stray}"), "stray".into()).await?;
            }
        }
        Act::Branch => {
            let latest = Snapshots::new(&table).latest().await?.ok_or_else(|| Error::not_found("no snapshot"))?;
            Tags::new(&table).create(NAME, &latest, None).await?;
        }
        Act::Forward => {
            let latest = Snapshots::new(&table).latest().await?.ok_or_else(|| Error::not_found("no snapshot"))?;
            Tags::new(&table).create(NAME, &latest, None).await?;
            let branches = Branches::new(&table);
            branches.create(NAME, Some(NAME)).await?;
            commit(actor, &branches.table(NAME).await?, &actor::write::user(1), 1).await?;
            // What comes after the branch was made goes with the forwarding.
            actor::write::run(actor.clone(), 0, 2).await;
        }
        _ => {}
    }
    Ok(())
}

/// Commits an entry of the ledger to a table that is not the one that writers open.
async fn commit(actor: &Actor, table: &Table, user: &str, identifier: i64) -> Result<()> {
    let key = (user.to_owned(), identifier);
    let rows = actor.world().record().ledger.get(&key).map(|entry| entry.rows.clone()).unwrap_or_default();
    let (batch, kinds) = actor::write::batch(table, &rows)?;
    let mut writer = table.writer(user)?;
    writer.write(&batch, Some(&kinds)).await?;
    let messages = writer.prepare_commit(true).await?;
    match table.committer(user).commit(Commit::streaming(identifier, messages)).await? {
        CommitOutcome::Committed(_) => {}
        other => return Err(Error::unavailable(format!("not committed: {other:?}"))),
    }
    writer.close().await
}

/// Does the work, again until it is done.
pub(super) fn work(scenario: Scenario, actor: Actor) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        for _ in 0..20 {
            match once(scenario.act, &actor).await {
                Ok(()) => return,
                Err(e) => actor.judge("the work", &e),
            }
            actor.wait(100).await;
        }
        actor.world().violation(Broken::Stuck, "the work is not done after 20 tries");
    })
}

async fn once(act: Act, actor: &Actor) -> Result<()> {
    let table = actor.open().await?;
    let there = |result: Result<()>, kind: ErrorKind| match result {
        Err(e) if e.kind() == kind => Ok(()),
        result => result,
    };
    match act {
        Act::Write | Act::Replace => actor::write::run(actor.clone(), 0, BEFORE + 1).await,
        Act::Compact => drop(actor::compact::once(actor, "compactor", true).await?),
        Act::Delete => drop(actor::delete::once(actor, 0).await?),
        Act::Alter => actor::alter::once(actor).await?,
        Act::Rescale => match table.rescale("rescaler", None, None).await? {
            CommitOutcome::Committed(_) => {}
            other => return Err(Error::unavailable(format!("not rescaled: {other:?}"))),
        },
        Act::Manifests => drop(compact_manifests(&table).await?),
        Act::Tag => actor::tag::once(actor).await?,
        Act::Untag => there(table.delete_tag(NAME).await, ErrorKind::NotFound)?,
        Act::Expire => expire(&table).await?,
        Act::ExpireChangelogs => {
            let expiry = ChangelogExpiry::new(&table);
            let due = expiry.due(&keep_one()).await?;
            expiry.run(&due).await?;
        }
        Act::DropPartition => {
            let types = [DataType::parse("INT NOT NULL")?];
            let found = partitions(&table).await?.into_iter().map(|found| found.partition);
            let found = found.filter(|p| p.datums(types.iter()).is_ok_and(|p| p == [Some(Datum::Int(0))]));
            let found: Vec<_> = found.collect();
            if !found.is_empty() {
                drop_partitions(&table, &found).await?;
            }
        }
        Act::Clean => {
            actor.world().executor.sleep(OLD_MILLIS).await;
            remove_orphans(&table, None).await?;
        }
        Act::Rollback => {
            table.rollback(&RollbackTo::Snapshot(SnapshotId::FIRST)).await?;
            rewritten(actor, &table, &[(0, 1)]).await?;
        }
        Act::Branch => there(Branches::new(&table).create(NAME, Some(NAME)).await, ErrorKind::AlreadyExists)?,
        Act::Forward => {
            Branches::new(&table).fast_forward(NAME).await?;
            rewritten(actor, &table, &[(0, 1), (1, 1)]).await?;
        }
    }
    Ok(())
}

fn keep_one() -> Retention {
    Retention { max: 1, min: 1, older_than: 0, limit: i64::MAX, consumers_hold: true }
}

/// All snapshots but the newest.
async fn expire(table: &Table) -> Result<()> {
    let expiry = SnapshotExpiry::new(table)?;
    if let Some((begin, end)) = expiry.range(&keep_one()).await? {
        expiry.run(begin, end).await?;
    }
    Ok(())
}

/// The history has been made another one: that of these commits of writers. From now on it is the one that counts.
async fn rewritten(actor: &Actor, table: &Table, commits: &[(usize, i64)]) -> Result<()> {
    let snapshots = Snapshots::new(table);
    let mut left = Vec::new();
    for id in snapshots.list().await? {
        left.push(snapshots.get(id).await?);
    }
    let found: BTreeSet<_> = left.iter().filter_map(|snapshot| commit_of(snapshot)).collect();
    let wanted: BTreeSet<_> = commits.iter().map(|(writer, id)| (actor::write::user(*writer), *id)).collect();
    if found != wanted {
        actor.world().violation(Broken::Lost, format!("the history is of {found:?} instead of {wanted:?}"));
    }
    let mut record = actor.world().record();
    record.snapshots = left.into_iter().map(|snapshot| (snapshot.id.0, snapshot)).collect();
    record.expired.clear();
    // What was committed and is not part of the history any more is forgotten; what was not begun stays to be done.
    record.ledger.retain(|commit, entry| wanted.contains(commit) || entry.dispatched.is_none());
    Ok(())
}

/// What must be so when all is done.
pub(super) async fn after(scenario: &Scenario, actor: &Actor) -> Result<()> {
    let table = actor.open().await?;
    let stays = |what: String| actor.world().violation(Broken::Leak, what);
    match scenario.act {
        Act::Untag if Tags::new(&table).find(NAME).await?.is_some() => stays("the tag is still there".to_owned()),
        Act::Clean => {
            let strays = actor.world().disk.paths().into_iter().filter(|path| path.contains("-stray-"));
            strays.for_each(|path| stays(format!("{path} was not cleaned away")));
        }
        Act::Expire if Snapshots::new(&table).exists(SnapshotId::FIRST).await? => {
            stays("the first snapshot did not expire".to_owned());
        }
        Act::Branch => {
            let branch = Branches::new(&table).table(NAME).await?;
            match Snapshots::new(&branch).latest().await? {
                Some(snapshot) => actor::read::check(actor, &branch, &snapshot).await?,
                None => actor.world().violation(Broken::Lost, "the branch has no snapshot"),
            }
        }
        _ => {}
    }
    Ok(())
}
