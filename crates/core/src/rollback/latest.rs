//! Going back by going forward: the old content in a new snapshot, and a tag that keeps its files (cases: E10).

use std::sync::Arc;

use linn_format::snapshot::Snapshot;
use linn_format::{Error, ErrorKind, Result, SnapshotId};

use super::RollbackTo;
use crate::commit::CommitOutcome;
use crate::reclaim::BACK as NAME;
use crate::snapshot::Snapshots;
use crate::snapshot::Tags;
use crate::table::Table;

/// What became of a table that went back in a new snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct RolledForward {
    /// The latest snapshot before.
    pub previous: SnapshotId,
    /// The snapshot whose content the table has.
    pub target: Arc<Snapshot>,
    /// The new snapshot.
    pub current: SnapshotId,
    /// The tag that keeps the files, where one had to be made.
    pub tag: Option<String>,
}

impl Table {
    /// Makes a snapshot with the content of an older one, or of one that a tag keeps; nothing is taken away. A tag of its own,
    /// without a time to be retained, keeps the files that came back: expiry looks at what snapshots in a row have in common,
    /// and a tag that was there before may be deleted by who does not know of this.
    ///
    /// # Errors
    /// `NotFound` when there is nothing to go back to, `Conflict` when another commit ruled it out, `UnknownOutcome` when it
    /// may or may not have happened: then the tag stays.
    pub async fn rollback_as_latest(&self, to: &RollbackTo) -> Result<RolledForward> {
        let Some(latest) = Snapshots::new(self).latest().await? else {
            return Err(Error::not_found("the table has no snapshots").with("table", self.name()));
        };
        let target = self.plan_rollback(to).await?.target;
        let pinned = match Tags::new(self).snapshots().await?.get(&target.id) {
            Some(tagged) => tagged.names.iter().any(|name| name.starts_with(NAME)),
            None => false,
        };
        let tag = (!pinned).then(|| format!("{NAME}{}-{}", target.id, self.env().ids.uuid()));
        if let Some(tag) = &tag {
            Tags::new(self).create(tag, &target, None).await?;
        }
        let committer = self.committer(format!("{NAME}{}", self.env().ids.uuid()));
        let result = match committer.restore(&target).await {
            Ok(CommitOutcome::Committed(ids)) => {
                ids.last().copied().ok_or_else(|| Error::internal("no snapshot was made"))
            }
            Ok(CommitOutcome::Conflict(why) | CommitOutcome::CompactionLost { why, .. }) => Err(Error::conflict(why)),
            Ok(CommitOutcome::Unknown(why)) => Err(Error::unknown_outcome(why)),
            Err(e) => Err(e),
        };
        match result {
            Ok(current) => Ok(RolledForward { previous: latest.id, target, current, tag }),
            Err(e) => {
                if let Some(tag) = tag.filter(|_| e.kind() != ErrorKind::UnknownOutcome)
                    && let Err(left) = self.delete_tag(&tag).await
                {
                    tracing::warn!(table = self.name(), tag, error = %left, "the tag of a failed rollback is left over");
                }
                Err(e.with("table", self.name()))
            }
        }
    }
}
