//! What this user has committed: how a commit that is made again is recognised (spec: format.md C.17; cases Q3, Q5).
//!
//! The user's snapshots are found by walking back from the latest one, once; from then on only snapshots that appeared since
//! are looked at. A snapshot that expires under the walk ends it. Batch commits share one identifier and are left out.

use std::sync::Arc;

use futures::{FutureExt, StreamExt};
use linn_format::snapshot::{CommitKind, Snapshot};
use linn_format::{ErrorKind, Result, SnapshotId};

use crate::snapshot::Snapshots;

/// Snapshots read ahead on the walk.
const PARALLEL: usize = 8;
/// Own snapshots that are kept in mind; a commit makes two at most.
const KEPT: usize = 8;

#[derive(Debug, Clone)]
struct Own {
    id: SnapshotId,
    identifier: i64,
    kind: CommitKind,
}

/// The newest snapshots of one user.
#[derive(Debug, Default)]
pub(super) struct History {
    /// Everything up to here has been looked at.
    through: Option<SnapshotId>,
    own: Vec<Own>,
}

/// What is known about a commit that is about to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// It has not been made.
    No,
    /// It is this snapshot.
    In(SnapshotId),
    /// The user has gone on to later identifiers since.
    Passed,
}

impl History {
    /// Takes in everything up to `latest`. What comes back tells whether another user has replaced rows since the last time.
    pub(super) async fn advance(&mut self, snapshots: &Snapshots, latest: &Arc<Snapshot>, user: &str) -> Result<bool> {
        match self.through {
            Some(through) if through <= latest.id => {}
            // The table was rolled back, or this is the first look.
            _ => {
                *self = Self::default();
                self.walk_back(snapshots, latest, user).await?;
                self.through = Some(latest.id);
                return Ok(true);
            }
        }
        let from = self.through.map_or(SnapshotId::FIRST, SnapshotId::next);
        let mut overwritten = false;
        let reads = (from.0..=latest.id.0).map(|id| read(snapshots, latest, SnapshotId(id)).boxed());
        let mut new = futures::stream::iter(reads).buffered(PARALLEL);
        while let Some(snapshot) = new.next().await {
            let Some(snapshot) = snapshot? else { continue };
            overwritten |= snapshot.commit_kind == CommitKind::Overwrite;
            self.note(&snapshot, user);
        }
        self.through = Some(latest.id);
        Ok(overwritten)
    }

    /// Skips the walk: for commits whose identifier is shared by all commits of their kind.
    pub(super) fn skip_to(&mut self, latest: SnapshotId) {
        if self.through.is_none_or(|through| through > latest) {
            *self = Self { through: Some(latest), own: Vec::new() };
        }
    }

    async fn walk_back(&mut self, snapshots: &Snapshots, latest: &Arc<Snapshot>, user: &str) -> Result<()> {
        let reads = (1..=latest.id.0).rev().map(|id| read(snapshots, latest, SnapshotId(id)).boxed());
        let mut older = futures::stream::iter(reads).buffered(PARALLEL);
        let mut found = Vec::new();
        while let Some(snapshot) = older.next().await {
            let Some(snapshot) = snapshot? else { break };
            if snapshot.commit_user != user {
                continue;
            }
            if snapshot.commit_identifier == super::BATCH_IDENTIFIER {
                continue;
            }
            let newest = found.first().map_or(snapshot.commit_identifier, |own: &Own| own.identifier);
            let end = snapshot.commit_identifier < newest || snapshot.commit_kind != CommitKind::Compact;
            found.push(Own { id: snapshot.id, identifier: snapshot.commit_identifier, kind: snapshot.commit_kind });
            // New rows come before their compaction, so there is nothing more of this commit further back.
            if end {
                break;
            }
        }
        found.reverse();
        self.own = found;
        Ok(())
    }

    /// Takes in a snapshot that is known to be there.
    pub(super) fn note(&mut self, snapshot: &Snapshot, user: &str) {
        self.through = self.through.max(Some(snapshot.id));
        let counted = snapshot.commit_user == user && snapshot.commit_identifier != super::BATCH_IDENTIFIER;
        if counted && self.own.last().is_none_or(|own| own.id < snapshot.id) {
            self.own.push(Own { id: snapshot.id, identifier: snapshot.commit_identifier, kind: snapshot.commit_kind });
            let excess = self.own.len().saturating_sub(KEPT);
            self.own.drain(..excess);
        }
    }

    /// Whether a commit has been made. Compactions are one kind, everything else is another.
    pub(super) fn seen(&self, identifier: i64, kind: CommitKind) -> Seen {
        let compact = kind == CommitKind::Compact;
        let same = |own: &&Own| own.identifier == identifier && (own.kind == CommitKind::Compact) == compact;
        if let Some(own) = self.own.iter().rfind(same) {
            return Seen::In(own.id);
        }
        match self.last_identifier() {
            Some(last) if last > identifier => Seen::Passed,
            // Its compaction is there, which comes after the new rows: there were none, or they have expired.
            Some(last) if last == identifier && !compact => Seen::Passed,
            _ => Seen::No,
        }
    }

    /// The largest identifier of the user's snapshots that were found.
    pub(super) fn last_identifier(&self) -> Option<i64> {
        self.own.iter().map(|own| own.identifier).max()
    }
}

async fn read(snapshots: &Snapshots, latest: &Arc<Snapshot>, id: SnapshotId) -> Result<Option<Arc<Snapshot>>> {
    if id == latest.id {
        return Ok(Some(Arc::clone(latest)));
    }
    match snapshots.get(id).await {
        Ok(snapshot) => Ok(Some(snapshot)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}
