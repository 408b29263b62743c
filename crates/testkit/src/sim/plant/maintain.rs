//! Maintenance as it must not be: expiry and cleaning that do their steps in a wrong order, where such a bug is planted.

use std::collections::BTreeSet;

use bytes::Bytes;
use linn_core::{Snapshots, Table, Tags};
use linn_format::snapshot::{Snapshot, parse_hint};
use linn_format::{ErrorKind, Result, SnapshotId};

use super::Hazard;
use crate::sim::actor::Actor;
use crate::sim::reach::{self, Files};

/// Snapshots that expiry keeps.
pub const KEPT: i64 = 3;

/// Expires and cleans now and then.
pub async fn run(actor: Actor) {
    loop {
        actor.rest(4_000).await;
        let done = match actor.world().has(Hazard::H6) {
            true => clean(&actor).await,
            false => expire(&actor).await,
        };
        if let Err(e) = done {
            actor.judge("maintenance", &e);
        }
    }
}

/// Deletes what no snapshot needed a while ago.
async fn clean(actor: &Actor) -> Result<()> {
    let table = actor.open().await?;
    let mut used = BTreeSet::new();
    for id in Snapshots::new(&table).list().await? {
        let files = reach::files(&table, &*Snapshots::new(&table).get(id).await?).await?;
        used.extend(files.metadata.into_iter().chain(files.data));
    }
    actor.rest(5_000).await;
    let folders = ["manifest", "index", "p=0/bucket-0", "p=1/bucket-0", "p=2/bucket-0", "p=3/bucket-0"];
    for folder in folders {
        for entry in table.storage().list(&format!("{}/{folder}", table.path())).await? {
            if !used.contains(&entry.path) {
                table.storage().delete(&entry.path).await?;
            }
        }
    }
    Ok(())
}

/// Expires all snapshots but the newest.
///
/// # Errors
/// What the store yields.
pub async fn expire(actor: &Actor) -> Result<()> {
    let table = actor.open().await?;
    let snapshots = Snapshots::new(&table);
    let ids = snapshots.list().await?;
    let (Some(oldest), Some(newest)) = (ids.first(), ids.last()) else { return Ok(()) };
    let kept = newest.0 - KEPT + 1;
    let mut used = BTreeSet::new();
    for id in ids.iter().filter(|id| id.0 >= kept) {
        used.extend(all(reach::files(&table, &*snapshots.get(*id).await?).await?));
    }
    if !actor.world().has(Hazard::H16) {
        for name in Tags::new(&table).list().await? {
            used.extend(all(reach::files(&table, &Tags::new(&table).get(&name).await?.snapshot).await?));
        }
    }
    let hint = table.storage().read(&format!("{}/EARLIEST", table.snapshot_dir()), None).await;
    let hinted = hint.ok().and_then(|bytes| parse_hint(&bytes));
    let mut id = match hinted {
        Some(hinted) if actor.world().has(Hazard::H8) => hinted,
        _ => *oldest,
    };
    while id.0 < kept {
        match snapshots.get(id).await {
            Ok(snapshot) => remove(actor, &table, &snapshot, &used).await?,
            Err(e) if e.kind() == ErrorKind::NotFound && actor.world().has(Hazard::H8) => return Ok(()),
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
        id = SnapshotId(id.0 + 1);
    }
    let hint = Bytes::from(id.0.to_string());
    table.storage().put(&format!("{}/EARLIEST", table.snapshot_dir()), hint).await
}

fn all(files: Files) -> impl Iterator<Item = String> {
    files.metadata.into_iter().chain(files.data)
}

/// Removes one snapshot, in the order that the planted bug has.
async fn remove(actor: &Actor, table: &Table, snapshot: &Snapshot, used: &BTreeSet<String>) -> Result<()> {
    actor.world().action("expired");
    let files = reach::files(table, snapshot).await?;
    let pointer = Snapshots::new(table).path(snapshot.id);
    let data_first = actor.world().has(Hazard::H7) || actor.world().has(Hazard::H9);
    if !data_first {
        table.storage().delete(&pointer).await?;
    }
    for path in files.data.iter().chain(&files.metadata).filter(|path| !used.contains(*path)) {
        table.storage().delete(path).await?;
    }
    if data_first {
        table.storage().delete(&pointer).await?;
    }
    Ok(())
}
