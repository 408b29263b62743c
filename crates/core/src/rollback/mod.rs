//! Going back: a table becomes what it was, either by taking away what came since, or in a new snapshot (spec: features.md B14;
//! cases: E10).
//!
//! A rollback takes snapshots, changelogs and tags away from the newest to the oldest, so that wherever it ends the table is
//! one that was there. As in other engines the files of what was taken away stay until orphan cleaning, because a job that does
//! not know of the rollback may yet commit on top of them; who knows that there is none has them deleted.

mod free;
mod latest;
mod plan;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use linn_format::snapshot::{Snapshot, format_hint};
use linn_format::{ErrorKind, Result, SnapshotId};

pub use latest::RolledForward;
pub use plan::RollbackPlan;

use crate::branch::Branches;
use crate::reclaim::Removal;
use crate::snapshot::Snapshots;
use crate::snapshot::Tags;
use crate::table::Table;
use free::free_rolled_back;

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

/// What became of a table that went back, and of the files of what was taken away.
#[derive(Debug, Clone, PartialEq)]
pub struct CleanRollback {
    /// The snapshot that is the latest now.
    pub target: Arc<Snapshot>,
    /// What was removed besides snapshots, changelogs and tags; nothing when others wrote meanwhile.
    pub removal: Removal,
    /// Files that could not be removed and stay for orphan cleaning.
    pub left: u64,
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

    /// The files that only what a rollback takes away has: [`rollback_and_clean`](Self::rollback_and_clean) deletes them.
    ///
    /// # Errors
    /// `NotFound` or `Corrupt` when something that stays cannot be read and may have any of them.
    pub async fn rollback_frees(&self, plan: &RollbackPlan) -> Result<Removal> {
        free_rolled_back(self, plan).await
    }

    /// Goes back as [`rollback`](Self::rollback) does, and then deletes the files that only what was taken away had. No job may
    /// write to the table: one that is about to commit on top of what is taken away would commit rows that are gone.
    ///
    /// # Errors
    /// As [`rollback`](Self::rollback) and [`rollback_frees`](Self::rollback_frees); nothing is taken away when the latter fails.
    pub async fn rollback_and_clean(&self, to: &RollbackTo) -> Result<CleanRollback> {
        let branches = Branches::new(self).list().await?;
        let removal = self.rollback_frees(&self.plan_rollback(to).await?).await?;
        let target = self.rollback(to).await?;
        // A new branch may have begun with a snapshot that is gone.
        let same = Branches::new(self).list().await?.iter().all(|name| branches.contains(name));
        if !same || Snapshots::new(self).latest().await?.as_deref() != Some(&*target) {
            tracing::warn!(
                table = self.name(),
                "other jobs wrote during the rollback; its files are left to orphan cleaning"
            );
            return Ok(CleanRollback { target, removal: Removal::default(), left: 0 });
        }
        let left = removal.sweep(self).await;
        Ok(CleanRollback { target, removal, left })
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
