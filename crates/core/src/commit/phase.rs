//! One snapshot to be made: what it changes, and what its commit rests on.

use std::collections::BTreeMap;

use linn_format::SnapshotId;
use linn_format::snapshot::{CommitKind, Snapshot};

use super::Commit;
use super::alone::{self, Since};
use super::change::Change;
use super::overwrite::Target;
use super::settings::Settings;
use crate::table::{Noted, Table};

/// One snapshot to be made.
#[derive(Debug)]
pub(super) struct Phase {
    pub(super) identifier: i64,
    pub(super) watermark: Option<i64>,
    pub(super) properties: BTreeMap<String, String>,
    pub(super) operation: Option<String>,
    pub(super) kind: CommitKind,
    pub(super) check: bool,
    pub(super) provider: Provider,
    /// The statistics file that the snapshot brings.
    pub(super) statistics: Option<String>,
    /// The last snapshot of others that it may build upon, as its messages say.
    pub(super) since: Option<SnapshotId>,
    /// Since when no other user may have written rows, and where.
    pub(super) alone: Since,
    /// What the statement has read of the table, when its commit depends on that.
    pub(super) reads: Vec<Noted>,
}

/// Where the change comes from.
#[derive(Debug)]
pub(super) enum Provider {
    /// It is what the writer made.
    Fixed(Change),
    /// It removes what the target holds at the time, and adds what the writer made.
    Overwrite {
        /// What is replaced.
        target: Target,
        /// What comes instead.
        added: Change,
    },
    /// It makes the table what it was at this snapshot.
    Restore(Box<Snapshot>),
}

impl Phase {
    pub(super) fn new(table: &Table, commit: &Commit, kind: CommitKind, check: bool, provider: Provider) -> Self {
        let reads = table.reads().filter(|_| !matches!(kind, CommitKind::Compact | CommitKind::Analyze));
        Self {
            identifier: commit.identifier,
            watermark: commit.watermark,
            properties: commit.properties.clone(),
            operation: commit.operation.clone(),
            kind,
            check,
            provider,
            statistics: None,
            since: commit.messages.iter().filter_map(|message| message.made_at).min(),
            alone: if kind == CommitKind::Compact { Since::new() } else { alone::since(table, &commit.messages) },
            reads: reads.map(|reads| reads.of(table)).unwrap_or_default(),
        }
    }

    /// Whether the lines of the index manifest matter; most commits carry it on unread.
    pub(super) fn wants_index(&self, settings: &Settings) -> bool {
        match &self.provider {
            Provider::Fixed(change) => {
                !change.index.is_empty() || !change.hash_bases.is_empty() || (settings.deletion_vectors && self.check)
            }
            Provider::Overwrite { .. } => true,
            Provider::Restore(_) => false,
        }
    }

    /// Whether its new files carry the number of the snapshot, so that they differ from try to try. What a compaction
    /// writes, and what comes back, keeps the numbers of the rows' own snapshots.
    pub(super) fn is_stamped(&self, settings: &Settings) -> bool {
        let old = self.kind == CommitKind::Compact || matches!(self.provider, Provider::Restore(_));
        settings.snapshot_ordering && !old
    }

    /// Names of the files that the writer made; tell whether a batch commit is the same one again.
    pub(super) fn names(&self) -> Vec<String> {
        match &self.provider {
            Provider::Fixed(change) | Provider::Overwrite { added: change, .. } => {
                let files = change.names().into_iter().map(str::to_owned);
                files.chain(self.statistics.clone()).collect()
            }
            Provider::Restore(target) => vec![format!("snapshot-{}", target.id)],
        }
    }
}
