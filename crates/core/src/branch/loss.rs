//! What a table loses when it takes over the history of a branch.

use std::sync::Arc;

use linn_format::snapshot::Snapshot;
use linn_format::{Error, ErrorKind, Result, SnapshotId};

use super::store::Branches;
use crate::snapshot::Snapshots;
use crate::snapshot::Tags;

/// What goes.
#[derive(Debug, Clone, Default)]
pub struct Loss {
    /// Snapshots of the table that the branch does not have, oldest first.
    pub snapshots: Vec<Arc<Snapshot>>,
    /// Tags of the table on snapshots that go, unless the branch has a tag of that name.
    pub tags: Vec<String>,
    /// Keys whose rows the table has changed since the branch was made, of a table with a primary key where that can be told.
    pub keys: Option<usize>,
}

impl Branches {
    /// What [`fast_forward`](Self::fast_forward) to a branch would take from the table.
    ///
    /// # Errors
    /// `NotFound` when there is no such branch, and those of reading the snapshots.
    pub async fn loss(&self, name: &str) -> Result<Loss> {
        self.require(name).await?;
        let branch = self.table(name).await?;
        let (ours, theirs) = (Snapshots::new(&self.table), Snapshots::new(&branch));
        let Some(first) = theirs.list().await?.first().copied() else { return Ok(Loss::default()) };
        let mut loss = Loss::default();
        for id in ours.list().await?.into_iter().filter(|id| *id >= first) {
            let Some(snapshot) = found(&ours, id).await? else { continue };
            let same = found(&theirs, id).await?.is_some_and(|other| other == snapshot);
            if !same {
                loss.snapshots.push(snapshot);
            }
        }
        let kept = Tags::new(&branch).list().await?;
        for (_, tagged) in Tags::new(&self.table).snapshots().await?.into_iter().filter(|(id, _)| *id >= first) {
            loss.tags.extend(tagged.names.into_iter().filter(|tag| !kept.contains(tag)));
        }
        if self.table.schema().is_primary_key_table() && !loss.snapshots.is_empty() {
            loss.keys = self.changed_keys(name).await?;
        }
        Ok(loss)
    }

    /// How many keys of the table are not as the branch found them.
    async fn changed_keys(&self, name: &str) -> Result<Option<usize>> {
        match Box::pin(self.key_changes("main", name)).await {
            Ok(changes) => {
                let counts = changes.counts(None);
                Ok(Some(counts.written + counts.deleted + counts.conflicts))
            }
            Err(e) if is_untold(&e) => Ok(None),
            Err(e) => Err(e),
        }
    }
}

fn is_untold(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Unsupported)
}

async fn found(snapshots: &Snapshots, id: SnapshotId) -> Result<Option<Arc<Snapshot>>> {
    match snapshots.get(id).await {
        Ok(snapshot) => Ok(Some(snapshot)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}
