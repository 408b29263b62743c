//! Going back: a table becomes what it was, either by taking away what came since, or in a new snapshot (spec: features.md B14;
//! cases: E10).
//!
//! A rollback takes snapshots, changelogs and tags away from the newest to the oldest, so that wherever it ends the table is
//! one that was there. Files of what was taken away stay until orphan cleaning.

mod latest;
mod plan;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use linn_format::snapshot::{Snapshot, format_hint};
use linn_format::{ErrorKind, Result, SnapshotId};

pub use latest::RolledForward;
pub(crate) use latest::brought_back;
pub use plan::RollbackPlan;

use crate::snapshot::Snapshots;
use crate::table::Table;
use crate::tag::Tags;

/// How often snapshots are looked for that were committed while a rollback went on.
const ROUNDS: usize = 10;

/// What a table goes back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RollbackTo {
    /// A snapshot, or one that only a tag keeps.
    Snapshot(SnapshotId),
    /// The snapshot of a tag.
    Tag(String),
    /// The newest snapshot that was committed at this time (milliseconds since the epoch) or before.
    Time(i64),
    /// The newest snapshot with this watermark or an earlier one.
    Watermark(i64),
}

impl Table {
    /// What a rollback would take away.
    ///
    /// # Errors
    /// `NotFound` when there is nothing to go back to.
    pub async fn plan_rollback(&self, to: &RollbackTo) -> Result<RollbackPlan> {
        plan::plan(self, to).await
    }

    /// Goes back: takes away every later snapshot, changelog and tag of the branch. What comes back is the snapshot that is
    /// the latest now.
    ///
    /// Jobs that write to the table should be stopped: a commit that is made meanwhile is taken away as well.
    ///
    /// # Errors
    /// As [`plan_rollback`](Self::plan_rollback), and what the store answers; calling it again goes on.
    pub async fn rollback(&self, to: &RollbackTo) -> Result<Arc<Snapshot>> {
        let mut plan = plan::plan(self, to).await?;
        let target = Arc::clone(&plan.target);
        let snapshots = Snapshots::new(self);
        if plan.expired {
            self.restore_file(&snapshots, &target).await?;
        }
        for _ in 0..ROUNDS {
            snapshots.hint_latest(target.id).await;
            for id in plan.snapshots.iter().rev() {
                self.storage().delete(&snapshots.path(*id)).await?;
            }
            plan = plan::since(self, Arc::clone(&target)).await?;
            if plan.snapshots.is_empty() {
                break;
            }
        }
        self.take_changelogs(&plan).await?;
        let tags = Tags::new(self);
        for (_, name) in plan.tags.iter().rev() {
            match tags.delete(name).await {
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                result => result?,
            }
        }
        if plan.first {
            snapshots.hint_earliest(target.id).await;
        }
        tracing::info!(table = self.name(), snapshot = target.id.0, "rolled back");
        Ok(target)
    }

    /// Brings back the file of a snapshot that only a tag has kept. Nobody takes it for the latest one: later ones are there.
    async fn restore_file(&self, snapshots: &Snapshots, target: &Snapshot) -> Result<()> {
        match self.storage().create(&snapshots.path(target.id), target.to_json()?.into()).await {
            // An earlier try got that far.
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
            result => result,
        }
    }

    async fn take_changelogs(&self, plan: &RollbackPlan) -> Result<()> {
        if plan.changelogs.is_empty() {
            return Ok(());
        }
        let dir = self.changelog_dir();
        let hint = format!("{dir}/LATEST");
        match plan.last_changelog {
            Some(id) => self.storage().put(&hint, format_hint(id).into()).await?,
            None => {
                self.storage().delete(&hint).await?;
                self.storage().delete(&format!("{dir}/EARLIEST")).await?;
            }
        }
        for id in plan.changelogs.iter().rev() {
            self.storage().delete(&format!("{dir}/changelog-{id}")).await?;
        }
        Ok(())
    }
}
