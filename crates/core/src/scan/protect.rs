//! Tags that keep a snapshot while it is read (`scan.plan-auto-tag-for-read.time-retained`; spec: features.md B11). Their time ends
//! them; whoever wants to be rid of one sooner deletes it.

use std::time::Duration;

use linn_format::Result;
use linn_format::snapshot::Snapshot;

use crate::snapshot::{Retained, TagOf};
use crate::table::Table;

/// How the names of these tags begin.
pub const READ_TAG_PREFIX: &str = "batch-read-";
/// Characters that tell the reads of one snapshot apart.
const APART: usize = 8;

/// Tags the snapshot that a batch read was planned for, where the options say for how long. A read that cannot be protected goes
/// on all the same.
pub(crate) async fn protect(table: &Table, snapshot: &Snapshot) -> Result<()> {
    let Some(time) = table.options().scan_read_tag_time()? else { return Ok(()) };
    if let Err(e) = tag(table, snapshot, time).await {
        let (table, snapshot) = (table.name(), snapshot.id.0);
        tracing::warn!(table, snapshot, error = %e, "the snapshot that is read has no tag that would keep it");
    }
    Ok(())
}

async fn tag(table: &Table, snapshot: &Snapshot, time: Duration) -> Result<()> {
    let apart: String = table.env().ids.uuid().chars().take(APART).collect();
    let name = format!("{READ_TAG_PREFIX}{}-{apart}", snapshot.id);
    table.create_tag(&name, TagOf::Id(snapshot.id), Retained::For(time)).await.map(drop)
}
