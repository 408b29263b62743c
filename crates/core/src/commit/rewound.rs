//! Noticing that a table was rolled back: then numbers of snapshots are given anew, and what a committer knows of the old ones
//! must not decide about the new ones (cases: E10).

use std::sync::Arc;

use linn_format::snapshot::Snapshot;
use linn_format::{ErrorKind, Result};

use super::BATCH_IDENTIFIER;
use super::alone::Alone;
use super::attempt::State;
use super::history::History;

impl State {
    /// Takes in the newest snapshot. If the one that was newest before is not part of the same history, everything known of
    /// it is forgotten.
    pub(super) async fn follow(&mut self, latest: Option<&Arc<Snapshot>>) -> Result<()> {
        if let Some(seen) = self.seen_latest.clone()
            && !self.is_part(&seen, latest).await?
        {
            tracing::info!(table = self.table().name(), snapshot = seen.id.0, "the table was rolled back");
            self.snapshots.forget();
            self.history = History::default();
            self.checked_buckets.clear();
            self.alone = Alone::default();
            self.after.rewound().await;
            self.last_own = None;
            self.last_batch = None;
        }
        self.seen_latest = latest.cloned();
        Ok(())
    }

    /// Whether a step of a stream that changes nothing is to make a snapshot, because a tag waits for one.
    pub(super) async fn wants_snapshot(&mut self, identifier: i64) -> bool {
        identifier != BATCH_IDENTIFIER && {
            let table = self.table().clone();
            self.after.wants_snapshot(&table).await
        }
    }

    /// Whether a snapshot that was there belongs to the history that ends with `latest`.
    async fn is_part(&self, seen: &Snapshot, latest: Option<&Arc<Snapshot>>) -> Result<bool> {
        let Some(latest) = latest.filter(|latest| latest.id >= seen.id) else { return Ok(false) };
        if latest.id == seen.id {
            return Ok(**latest == *seen);
        }
        match self.snapshots.get_afresh(seen.id).await {
            Ok(now) => Ok(*now == *seen),
            // It has expired.
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(true),
            Err(e) => Err(e),
        }
    }
}
