//! The tag of a batch job: made after its commit, in the place of that of an earlier job of the same day (spec: features.md B14).

use linn_format::{ErrorKind, Result, SnapshotId};

use super::auto::wall_clock;
use super::{AUTO_BATCH, Tags};
use crate::snapshot::Snapshots;
use crate::table::Table;

/// Tags the latest snapshot, and deletes the oldest tags beyond `tag.num-retained-max`.
pub(super) async fn create(table: &Table) -> Result<()> {
    let options = table.options();
    let Some(snapshot) = Snapshots::new(table).latest().await? else { return Ok(()) };
    let name = match options.tag_batch_name() {
        Some(name) => name.to_owned(),
        None => {
            let time = wall_clock(table, snapshot.time_millis, options.process_time_zone())?;
            format!("{AUTO_BATCH}{}", time.format("%Y-%m-%d"))
        }
    };
    let (tags, retained) = (Tags::new(table), options.tag_default_time_retained()?);
    match tags.create(&name, &snapshot, retained).await {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => tags.replace(&name, &snapshot, retained).await?,
        result => result?,
    }
    match options.tag_num_retained_max()? {
        Some(max) => retain(table, &tags, max).await,
        None => Ok(()),
    }
}

/// Deletes the oldest tags of any name until there are `max` at most, as the reference does; of one snapshot those that were
/// made first.
async fn retain(table: &Table, tags: &Tags, max: usize) -> Result<()> {
    let mut all: Vec<(SnapshotId, Option<i64>, String)> = Vec::new();
    for (name, tag) in tags.all(|_| true).await? {
        let made = table.storage().stat(&tags.path(&name)).await.ok().and_then(|entry| entry.modified_millis);
        all.push((tag.snapshot.id, made, name));
    }
    all.sort_unstable();
    let excess = all.len().saturating_sub(max);
    for (_, _, name) in all.into_iter().take(excess) {
        match table.delete_tag(&name).await {
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            result => result?,
        }
    }
    Ok(())
}
