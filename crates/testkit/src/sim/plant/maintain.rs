//! Expiry as it must not be, where such a bug is planted: it trusts its hint over what is there (H8), or its own list of what it
//! has begun over what it has done (H9). And cleaning that looks for what is used before it looks for what is there (H6). All other
//! bugs of maintenance are planted below the real one, in the store.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use linn_core::{Snapshots, Table};
use linn_format::snapshot::{Snapshot, parse_hint};
use linn_format::{ErrorKind, Result, SnapshotId};

use super::Hazard;
use crate::sim::actor::Actor;
use crate::sim::reach;

/// Snapshots that expiry keeps in histories that are about it.
pub const KEPT: i64 = 4;

/// Whether the expiry of this history is the one here.
pub fn is_planted(actor: &Actor) -> bool {
    actor.world().has(Hazard::H8) || actor.world().has(Hazard::H9)
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
        let files = reach::files(&table, &*snapshots.get(*id).await?).await?;
        used.extend(files.all());
    }
    // What was begun before is done first.
    let begun = actor.world().record().expiring.clone();
    for snapshot in &begun {
        remove(actor, &table, snapshot, &used).await?;
    }
    let hint = table.storage().read(&format!("{}/EARLIEST", table.snapshot_dir()), None).await;
    let hinted = hint.ok().and_then(|bytes| parse_hint(&bytes));
    let mut id = match hinted {
        Some(hinted) if actor.world().has(Hazard::H8) => hinted,
        _ => *oldest,
    };
    while id.0 < kept {
        match snapshots.get(id).await {
            Ok(snapshot) => {
                if actor.world().has(Hazard::H9) {
                    actor.world().record().expiring.push(Arc::clone(&snapshot));
                }
                remove(actor, &table, &snapshot, &used).await?;
            }
            Err(e) if e.kind() == ErrorKind::NotFound && actor.world().has(Hazard::H8) => return Ok(()),
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
        id = SnapshotId(id.0 + 1);
    }
    let hint = Bytes::from(id.0.to_string());
    table.storage().put(&format!("{}/EARLIEST", table.snapshot_dir()), hint).await
}

/// Removes one snapshot and what only it had.
async fn remove(actor: &Actor, table: &Table, snapshot: &Snapshot, used: &BTreeSet<String>) -> Result<()> {
    actor.world().action("expired");
    let files = reach::files(table, snapshot).await?;
    table.storage().delete(&Snapshots::new(table).path(snapshot.id)).await?;
    for path in files.metadata.iter().chain(&files.data).filter(|path| !used.contains(*path)) {
        table.storage().delete(path).await?;
    }
    actor.world().record().expiring.retain(|begun| begun.id != snapshot.id);
    Ok(())
}

/// Deletes files of some age that no snapshot needed a while ago: it takes long to look at the whole table.
///
/// # Errors
/// What the store yields.
pub async fn clean(actor: &Actor, age_millis: i64) -> Result<()> {
    let table = actor.open().await?;
    let mut used = BTreeSet::new();
    for id in Snapshots::new(&table).list().await? {
        used.extend(reach::files(&table, &*Snapshots::new(&table).get(id).await?).await?.all());
    }
    actor.wait(30_000).await;
    let older_than = actor.world().executor.now() - age_millis;
    for folder in ["manifest", "index", "p=0/bucket-0", "p=1/bucket-0", "p=2/bucket-0", "p=3/bucket-0"] {
        for entry in table.storage().list(&format!("{}/{folder}", table.path())).await? {
            let is_old = entry.modified_millis.is_some_and(|modified| modified < older_than);
            if is_old && !used.contains(&entry.path) {
                table.storage().delete(&entry.path).await?;
            }
        }
    }
    Ok(())
}
