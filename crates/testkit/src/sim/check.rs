//! What must hold when a history has come to rest (spec: reliability.md §3).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use linn_core::branch::Branches;
use linn_core::file::{FileQuery, read_file};
use linn_core::invariants::{self, Depth, Severity};
use linn_core::{Changelogs, Snapshots, Storage, Table, Tags, read};
use linn_format::file::key_value_batch_fields;
use linn_format::snapshot::Snapshot;
use linn_format::{Result, SnapshotId};

use super::actor::{self, Actor};
use super::model::{self, commit_of};
use super::reach;
use super::row::{self, Row, Values};
use super::shape::Producer;
use super::violation::Broken;

/// Snapshots whose rows are compared, beside the newest.
const COMPARED: usize = 6;

/// Checks all promises; what is broken goes to the world's record.
///
/// # Errors
/// What reading the table yields: nothing may fail now.
pub async fn all(actor: &Actor) -> Result<()> {
    let table = actor.open().await?;
    let Some(timeline) = timeline(actor, &table).await? else { return Ok(()) };
    commits(actor, &timeline);
    order(actor, &timeline);
    increments(actor, &timeline);
    let live: Vec<Arc<Snapshot>> =
        timeline.values().filter(|(_, is_live)| *is_live).map(|(snapshot, _)| Arc::clone(snapshot)).collect();
    let mut needed = BTreeSet::new();
    for snapshot in &live {
        needed.extend(dangling(actor, &table, snapshot).await?);
        match reach::changelog(&table, snapshot).await {
            Ok(files) => {
                there(actor, snapshot, &files).await;
                needed.extend(files);
            }
            Err(e) => {
                let what = format!("the changelog of snapshot {} cannot be read: {e:?}", snapshot.id);
                actor.world().violation(Broken::by_error(&e), what);
            }
        }
    }
    for name in Tags::new(&table).list().await? {
        let snapshot = Arc::new(Tags::new(&table).get(&name).await?.snapshot);
        needed.extend(dangling(actor, &table, &snapshot).await?);
        needed.extend(reach::left_of_changelog(&table, &snapshot).await?);
        actor::read::check(actor, &table, &snapshot).await?;
    }
    for name in Branches::new(&table).list().await? {
        let branch = Branches::new(&table).table(&name).await?;
        for id in Snapshots::new(&branch).list().await? {
            let snapshot = Snapshots::new(&branch).get(id).await?;
            needed.extend(dangling(actor, &branch, &snapshot).await?);
            needed.extend(reach::left_of_changelog(&branch, &snapshot).await?);
        }
        for name in Tags::new(&branch).list().await? {
            let snapshot = Tags::new(&branch).get(&name).await?.snapshot;
            needed.extend(dangling(actor, &branch, &snapshot).await?);
            needed.extend(reach::left_of_changelog(&branch, &snapshot).await?);
        }
    }
    for id in Changelogs::new(&table).list().await? {
        if let Some(snapshot) = Changelogs::new(&table).find(id).await? {
            needed.extend(reach::changelog(&table, &snapshot).await?);
        }
    }
    leaks(actor, &needed);
    let step = (live.len() / COMPARED).max(1);
    for snapshot in live.iter().rev().step_by(step) {
        actor::read::check(actor, &table, snapshot).await?;
    }
    let report = invariants::check(&table, Depth::Deep).await?;
    for fault in report.findings.iter().filter(|finding| finding.severity == Severity::Fault) {
        actor.world().violation(Broken::by_finding(fault), fault.to_string());
    }
    if live.first().is_some_and(|first| first.id == SnapshotId::FIRST) {
        changelog(actor, &table, &live).await?;
    }
    Ok(())
}

/// All snapshots that ever were, those that are there and those that have expired; `None` when one is missing. An expiry that was
/// cut off may have left one that is older than others that it took.
async fn timeline(actor: &Actor, table: &Table) -> Result<Option<BTreeMap<i64, (Arc<Snapshot>, bool)>>> {
    let snapshots = Snapshots::new(table);
    let ids = snapshots.list().await?;
    let (recorded, expired) = {
        let record = actor.world().record();
        (record.snapshots.clone(), record.expired.clone())
    };
    let newest = recorded.keys().next_back().copied().unwrap_or(0);
    let mut timeline = BTreeMap::new();
    for id in 1..=newest {
        if ids.contains(&SnapshotId(id)) {
            timeline.insert(id, (snapshots.get(SnapshotId(id)).await?, true));
        } else if let Some(gone) = recorded.get(&id).filter(|_| expired.contains(&id)) {
            timeline.insert(id, (Arc::clone(gone), false));
        } else {
            actor.world().violation(Broken::Lost, format!("snapshot {id} of {newest} is not there"));
            return Ok(None);
        }
    }
    Ok(Some(timeline))
}

/// Every acknowledged commit is in exactly one snapshot, every other one in one at the most.
fn commits(actor: &Actor, timeline: &BTreeMap<i64, (Arc<Snapshot>, bool)>) {
    let mut seen: BTreeMap<(String, i64), Vec<i64>> = BTreeMap::new();
    for (id, (snapshot, _)) in timeline {
        if let Some(commit) = commit_of(snapshot) {
            seen.entry(commit).or_default().push(*id);
        }
    }
    let ledger = actor.world().record().ledger.clone();
    for (commit, ids) in &seen {
        if ids.len() > 1 {
            actor.world().violation(Broken::Doubled, format!("commit {commit:?} is in snapshots {ids:?}"));
        }
        if !ledger.contains_key(commit) {
            let what = format!("nobody made commit {commit:?} of snapshot {}", ids[0]);
            actor.world().violation(Broken::Order, what);
        }
    }
    for (commit, entry) in &ledger {
        if entry.acknowledged.is_some() && !seen.contains_key(commit) && !entry.is_empty() {
            actor.world().violation(Broken::Lost, format!("commit {commit:?} was acknowledged and is lost"));
        }
    }
}

/// A commit that was acknowledged before another one was handed over comes before it.
fn order(actor: &Actor, timeline: &BTreeMap<i64, (Arc<Snapshot>, bool)>) {
    let ledger = actor.world().record().ledger.clone();
    let mut commits: Vec<(i64, i64, Option<i64>)> = Vec::new();
    for (id, (snapshot, _)) in timeline {
        if let Some(entry) = commit_of(snapshot).and_then(|commit| ledger.get(&commit).cloned())
            && let Some(dispatched) = entry.dispatched
        {
            commits.push((*id, dispatched, entry.acknowledged));
        }
    }
    for (later, dispatched, _) in &commits {
        for (earlier, _, acknowledged) in &commits {
            if earlier > later && acknowledged.is_some_and(|acknowledged| acknowledged < *dispatched) {
                let what = format!("snapshot {earlier} was acknowledged before snapshot {later} was handed over");
                actor.world().violation(Broken::Order, what);
            }
        }
    }
}

/// Every increment builds upon the one before, so that none is lost.
fn increments(actor: &Actor, timeline: &BTreeMap<i64, (Arc<Snapshot>, bool)>) {
    let ledger = actor.world().record().ledger.clone();
    let mut numbers: BTreeMap<(i32, i32), i64> = BTreeMap::new();
    for (id, (snapshot, _)) in timeline {
        let commit = commit_of(snapshot).filter(|(user, _)| user.starts_with(actor::increment::PREFIX));
        let Some(entry) = commit.and_then(|commit| ledger.get(&commit)) else { continue };
        for row in &entry.rows {
            let number = numbers.entry((row.p, row.k)).or_default();
            *number += 1;
            if row.values.a != Some(*number) {
                let what = format!("snapshot {id} makes {:?} of {} increments of key {}", row.values.a, number, row.k);
                actor.world().violation(Broken::Lost, what);
                return;
            }
        }
    }
}

/// Long after everything has ended, and after cleaning, nothing is there that nobody needs.
fn leaks(actor: &Actor, needed: &BTreeSet<String>) {
    let of_data = |path: &String| {
        let folders = ["/bucket-", "/manifest/", "/index/"];
        folders.iter().any(|folder| path.contains(folder)) || path.ends_with(".tmp")
    };
    for path in actor.world().disk.paths().iter().filter(|path| of_data(path) && !needed.contains(*path)) {
        actor.world().violation(Broken::Leak, format!("{path} stays although nobody needs it"));
    }
}

/// These files of a snapshot are there.
async fn there(actor: &Actor, snapshot: &Snapshot, files: &BTreeSet<String>) {
    for path in files {
        if actor.world().disk.stat(path).await.is_err() {
            let what = format!("snapshot {} needs {path}, which does not exist", snapshot.id);
            actor.world().violation(Broken::Dangling, what);
        }
    }
}

/// Everything that a snapshot needs is there; what that is, with what its manifests name besides.
async fn dangling(actor: &Actor, table: &Table, snapshot: &Snapshot) -> Result<BTreeSet<String>> {
    let files = match reach::files(table, snapshot).await {
        Ok(files) => files,
        Err(e) => {
            actor.world().violation(Broken::by_error(&e), format!("snapshot {} cannot be read: {e:?}", snapshot.id));
            return Ok(BTreeSet::new());
        }
    };
    there(actor, snapshot, &files.metadata).await;
    there(actor, snapshot, &files.data).await;
    let mut spared = files.named.clone();
    spared.extend(files.all());
    Ok(spared)
}

/// The changes of all snapshots, one after the other, make the table.
async fn changelog(actor: &Actor, table: &Table, snapshots: &[Arc<Snapshot>]) -> Result<()> {
    if actor.shape.producer == Producer::None {
        return Ok(());
    }
    let Some(newest) = snapshots.last() else { return Ok(()) };
    let mut state: BTreeMap<(i32, i32), Values> = BTreeMap::new();
    for snapshot in snapshots {
        let changes = changes(table, snapshot).await?;
        if let Err(what) = apply(&mut state, &changes, actor.shape.producer == Producer::Input) {
            let what = format!("the changelog of snapshot {} is wrong: {what}", snapshot.id);
            actor.world().violation(Broken::Changelog, what);
            return Ok(());
        }
    }
    let folded: Vec<Row> = state.into_iter().map(|((p, k), values)| Row { p, k, values, kind: 0 }).collect();
    let read = actor::read::rows(actor, table, newest).await?;
    if let Some(what) = model::difference(&folded, &read) {
        let what = format!("the changelog up to snapshot {} is not the table: {what}", newest.id);
        actor.world().violation(Broken::Changelog, what);
    }
    Ok(())
}

/// The changes of one snapshot in the order in which they were written.
async fn changes(table: &Table, snapshot: &Snapshot) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let fields = key_value_batch_fields(&table.schema().fields);
    for split in table.scan().plan_changelog(snapshot).await?.splits {
        for file in &split.files {
            let query = FileQuery::all(fields.clone(), 1024);
            let stream = read_file(table, &split.partition, split.bucket, file, None, query).await?;
            for batch in read::collect(stream).await? {
                rows.extend(row::rows(&batch));
            }
        }
    }
    Ok(rows)
}

/// Applies changes. Unless they are what was written, each must fit what is there.
fn apply(state: &mut BTreeMap<(i32, i32), Values>, changes: &[Row], as_written: bool) -> Result<(), String> {
    let mut updating = None;
    for Row { p, k, values, kind } in changes {
        let key = (*p, *k);
        let before = state.get(&key);
        let fits = match kind {
            _ if as_written => true,
            0 => before.is_none() && updating.is_none(),
            1 => before == Some(values) && updating.is_none(),
            2 => updating == Some(key),
            _ => before == Some(values) && updating.is_none(),
        };
        if !fits {
            return Err(format!("kind {kind} of {key:?} with {values:?} after {before:?}"));
        }
        updating = (*kind == 1).then_some(key);
        match kind {
            0 | 2 => drop(state.insert(key, values.clone())),
            1 => {}
            _ => drop(state.remove(&key)),
        }
    }
    match updating {
        Some(key) => Err(format!("an update of {key:?} without its second half")),
        None => Ok(()),
    }
}
