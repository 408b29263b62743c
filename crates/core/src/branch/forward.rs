//! Fast-forwarding: the table takes over the history of a branch (spec: features.md B14).
//!
//! What the table has from the branch's first snapshot on goes, the newest first; then what the branch has comes, in order.
//! The branch is only read, so that one that was cut short is done by doing it again.

use linn_format::{Error, Result, SchemaId, SnapshotId};

use super::store::{Branches, MAIN};
use crate::schema::Schemas;
use crate::snapshot::Snapshots;
use crate::snapshot::Tags;
use crate::table::Table;

impl Branches {
    /// Makes the history of the table that of a branch from the branch's first snapshot on.
    ///
    /// Jobs that write to the table must be stopped.
    ///
    /// # Errors
    /// `NotFound` when there is no such branch, `Invalid` when it has no snapshot or is the table's own.
    pub async fn fast_forward(&self, name: &str) -> Result<()> {
        if name == MAIN || Some(name) == self.table.branch() {
            return Err(Error::invalid("a branch cannot be fast-forwarded to itself, nor the main branch to another")
                .with("table", self.table.name())
                .with("branch", name));
        }
        self.require(name).await?;
        let branch = self.table(name).await?;
        let theirs = Snapshots::new(&branch);
        let ids = theirs.list().await?;
        let (Some(first), Some(last)) = (ids.first().copied(), ids.last().copied()) else {
            return Err(Error::invalid("cannot fast-forward to a branch without snapshots")
                .with("table", self.table.name())
                .with("branch", name));
        };
        let first_schema = theirs.get(first).await?.schema_id;
        self.take_away(first).await?;
        self.bring_schemas(&branch, first_schema).await?;
        let ours = Snapshots::new(&self.table);
        for id in &ids {
            let bytes = self.storage().read(&theirs.path(*id), None).await?;
            self.storage().put(&ours.path(*id), bytes).await?;
        }
        let (from, to) = (Tags::new(&branch), Tags::new(&self.table));
        for tag in from.list().await? {
            let bytes = self.storage().read(&from.path(&tag), None).await?;
            self.storage().put(&to.path(&tag), bytes).await?;
        }
        ours.hint_latest(last).await;
        if let Some(earliest) = ours.list().await?.first() {
            ours.hint_earliest(*earliest).await;
        }
        self.table.schema_cache().clear();
        Ok(())
    }

    /// Removes the table's tags and snapshots from `first` on. Without the hint nobody misses a snapshot that has gone.
    async fn take_away(&self, first: SnapshotId) -> Result<()> {
        let (snapshots, tags) = (Snapshots::new(&self.table), Tags::new(&self.table));
        for (_, tagged) in tags.snapshots().await?.into_iter().filter(|(id, _)| *id >= first) {
            for name in tagged.names {
                self.storage().delete(&tags.path(&name)).await?;
            }
        }
        for hint in ["LATEST", "EARLIEST"] {
            self.storage().delete(&format!("{}/{hint}", self.table.snapshot_dir())).await?;
        }
        for id in snapshots.list().await?.into_iter().rev().filter(|id| *id >= first) {
            self.storage().delete(&snapshots.path(id)).await?;
        }
        Ok(())
    }

    /// Makes the table's schemas those of the branch. Those that both have are written over, so that there is always one.
    async fn bring_schemas(&self, branch: &Table, first: SchemaId) -> Result<()> {
        let (ours, theirs) = (Schemas::new(&self.table), Schemas::new(branch));
        let ids = theirs.list().await?;
        for id in ours.list().await?.into_iter().rev().filter(|id| *id >= first && !ids.contains(id)) {
            self.storage().delete(&ours.path(id)).await?;
        }
        for id in ids {
            self.copy_schema(&theirs, &ours, id).await?;
        }
        Ok(())
    }
}
