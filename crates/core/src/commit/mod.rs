//! Commits: from messages to a published snapshot (spec: format.md C.17; reliability.md H1–H5).
//!
//! A commit is published by creating the next snapshot file exclusively, and by nothing else. Everything written before is
//! unreachable until then and is removed when the commit fails for certain. When it is *not* certain whether the snapshot
//! is there, it is read back, and nothing is ever deleted.

mod alone;
mod attempt;
mod base;
mod build;
mod change;
mod conflict;
mod files;
mod history;
mod index;
mod isolation;
mod judge;
mod merge;
mod message;
mod overwrite;
mod phase;
mod publish;
mod read;
mod reads;
mod restore;
mod rewound;
mod rewrite;
mod scope;
mod settings;
mod strict;
mod upgrade;
mod vector;

use std::collections::BTreeMap;
use std::sync::Arc;

use linn_format::options::table::commit::COMMIT_USER_PREFIX;
use linn_format::partition::PartitionSpec;
use linn_format::snapshot::{CommitKind, Snapshot};
use linn_format::{Error, Result, SnapshotId};

pub use crate::table::Reads;
pub(crate) use conflict::compare as compare_keys;
pub use message::CommitMessage;
use overwrite::Known;
pub use overwrite::Overwrite;
pub(crate) use overwrite::{Target, whole};
pub use rewrite::{
    ManifestCounts, Rewritten, compact_manifests, count_manifests, lost_manifests, remove_lost_manifests,
};

use crate::table::{AfterCommit, Table};
use attempt::Committed;
use change::Changes;
use phase::{Phase, Provider};
use settings::Settings;

/// The identifier of commits that are not one of a sequence, as batch jobs make them.
pub const BATCH_IDENTIFIER: i64 = i64::MAX;

/// How a commit ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitOutcome {
    /// It is in these snapshots, in order; none when there was nothing to commit.
    Committed(Vec<SnapshotId>),
    /// The new rows are in these snapshots (none when there were none), but the compaction was not committed: another commit
    /// changed its files first, or the store failed. The table has the same rows without it; levels must be read anew.
    CompactionLost {
        /// Where the new rows are.
        snapshots: Vec<SnapshotId>,
        /// What ruled the compaction out.
        why: String,
    },
    /// Another commit ruled it out; nothing of it is in the table.
    Conflict(String),
    /// It may or may not be in the table; nothing was deleted. Committing again with the same user and identifier
    /// finds out and finishes it.
    Unknown(String),
}

/// What to commit.
#[derive(Debug, Clone, Default)]
pub struct Commit {
    /// Names the commit among those of its user; must grow from commit to commit, or be [`BATCH_IDENTIFIER`].
    pub identifier: i64,
    /// The changes.
    pub messages: Vec<CommitMessage>,
    /// Watermark of the new rows, milliseconds since the epoch.
    pub watermark: Option<i64>,
    /// Free properties of the snapshot.
    pub properties: BTreeMap<String, String>,
    /// Name of the operation (`WRITE`, `DELETE` …), for the record.
    pub operation: Option<String>,
    /// Whether a snapshot is made although nothing changes.
    pub when_empty: WhenEmpty,
}

/// What happens to a commit without changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhenEmpty {
    /// No snapshot, unless `commit.force-create-snapshot` is set.
    #[default]
    Skip,
    /// A snapshot that only carries the identifier, the watermark and the properties.
    Create,
}

impl Commit {
    /// The messages of one job that commits once.
    pub fn batch(messages: Vec<CommitMessage>) -> Self {
        Self { identifier: BATCH_IDENTIFIER, messages, ..Self::default() }
    }

    /// The messages of one step of a stream.
    pub fn streaming(identifier: i64, messages: Vec<CommitMessage>) -> Self {
        Self { identifier, messages, ..Self::default() }
    }
}

impl Table {
    /// A name for a user that no other job has (`commit.user-prefix`).
    pub fn new_user(&self) -> String {
        let id = self.env().ids.uuid();
        match self.options().text(&COMMIT_USER_PREFIX) {
            Some(prefix) => format!("{prefix}_{id}"),
            None => id,
        }
    }

    /// A committer for one user: a name that a job keeps over its restarts, and that no two jobs share.
    pub fn committer(&self, user: impl Into<String>) -> Committer {
        Committer::new(self, user.into())
    }
}

/// Commits to one table in the name of one user. Commits through one committer happen one after the other.
#[derive(Debug)]
pub struct Committer {
    table: Table,
    user: String,
    state: tokio::sync::Mutex<attempt::State>,
    after: Arc<dyn AfterCommit>,
}

impl Committer {
    fn new(table: &Table, user: String) -> Self {
        let after = table.after_commit();
        let state = tokio::sync::Mutex::new(attempt::State::new(table, Arc::clone(&after)));
        Self { table: table.clone(), user, state, after }
    }

    /// The user.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// Commits the new rows, then the compactions of the same messages as a snapshot of its own. A commit with an identifier
    /// that this user has committed is recognised and not made again.
    ///
    /// # Errors
    /// `Unavailable` when the store failed, or others kept coming first, and certainly nothing was committed; `Invalid` and
    /// `Unsupported` for messages that no table could take.
    pub async fn commit(&self, commit: Commit) -> Result<CommitOutcome> {
        let mut state = self.state.lock().await;
        let settings = Settings::of(&self.table)?;
        let changes = Changes::of(&commit.messages);
        let forced = settings.force_create_snapshot || commit.when_empty == WhenEmpty::Create;
        if changes.is_empty() && !forced && !state.wants_snapshot(commit.identifier).await {
            return Ok(CommitOutcome::Committed(Vec::new()));
        }
        let mut phases = Vec::new();
        if !changes.append.is_empty() || changes.compact.is_empty() {
            let (kind, check) = if changes.append.removes() {
                (CommitKind::Overwrite, true)
            } else {
                (CommitKind::Append, changes.append.adds_above_level_zero())
            };
            phases.push(Phase::new(&self.table, &commit, kind, check, Provider::Fixed(changes.append)));
        }
        if !changes.compact.is_empty() {
            phases.push(Phase::new(&self.table, &commit, CommitKind::Compact, true, Provider::Fixed(changes.compact)));
        }
        let outcome = self.run(&mut state, &settings, phases).await?;
        drop(state);
        self.keep_up(&outcome, commit.identifier).await;
        Ok(outcome)
    }

    /// Replaces the rows of `target` by those of the messages. Changelog files of the messages are not committed.
    ///
    /// # Errors
    /// As [`commit`](Self::commit), and `Invalid` for new rows outside of the target.
    pub async fn overwrite(&self, target: Overwrite, commit: Commit) -> Result<CommitOutcome> {
        let mut state = self.state.lock().await;
        let settings = Settings::of(&self.table)?;
        let mut changes = Changes::of(&commit.messages);
        changes.append.changelog.clear();
        changes.compact.changelog.clear();
        let mut phases = Vec::new();
        let writing = commit.messages.iter().filter(|message| !message.new_files.is_empty());
        let alone = writing.clone().count() > 0 && writing.clone().all(|message| message.alone_since.is_some());
        let gone = commit.messages.iter().find_map(|message| message.replaces.as_deref());
        let known = if alone { Known::Keys(gone) } else { Known::Nothing };
        if let Some(target) = overwrite::resolve(&self.table, target, &changes.append, &known)? {
            if changes.compact.is_empty() && settings.overwrite_upgrade {
                changes.append.entries = upgrade::upgrade(&self.table, &target, changes.append.entries)?;
            }
            let provider = Provider::Overwrite { target, added: changes.append };
            phases.push(Phase::new(&self.table, &commit, CommitKind::Overwrite, true, provider));
        }
        if !changes.compact.is_empty() {
            phases.push(Phase::new(&self.table, &commit, CommitKind::Compact, true, Provider::Fixed(changes.compact)));
        }
        let outcome = self.run(&mut state, &settings, phases).await?;
        drop(state);
        self.keep_up(&outcome, commit.identifier).await;
        Ok(outcome)
    }

    /// Lets expire what is due after new snapshots.
    async fn keep_up(&self, outcome: &CommitOutcome, identifier: i64) {
        let (CommitOutcome::Committed(snapshots) | CommitOutcome::CompactionLost { snapshots, .. }) = outcome else {
            return;
        };
        if let Some(newest) = snapshots.last() {
            self.after.settled(&self.table, *newest, identifier).await;
        }
    }

    /// Removes all rows of the partitions that match any of these specs: some or all partition keys with their values as text, in
    /// which `None` is null and every text is itself.
    ///
    /// # Errors
    /// As [`overwrite`](Self::overwrite); `Invalid` for an empty list or a key that is not a partition key.
    pub async fn drop_partitions(&self, specs: Vec<PartitionSpec>, identifier: i64) -> Result<CommitOutcome> {
        if specs.is_empty() {
            return Err(Error::invalid("no partitions to drop").with("table", self.table.name()));
        }
        let commit = Commit { identifier, operation: Some("DELETE".into()), ..Commit::default() };
        self.overwrite(Overwrite::Specs(specs), commit).await
    }

    /// Removes all rows.
    ///
    /// # Errors
    /// As [`overwrite`](Self::overwrite).
    pub async fn truncate(&self, identifier: i64) -> Result<CommitOutcome> {
        let commit = Commit { identifier, operation: Some("TRUNCATE".into()), ..Commit::default() };
        self.overwrite(Overwrite::Table, commit).await
    }

    /// Makes the table what it was at `target`, as a snapshot of its own. Its files must be there, and something must keep them
    /// when the snapshots before expire; see [`Table::rollback_as_latest`].
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub async fn restore(&self, target: &Snapshot) -> Result<CommitOutcome> {
        let mut state = self.state.lock().await;
        let settings = Settings::of(&self.table)?;
        let provider = Provider::Restore(Box::new(target.clone()));
        let phase = Phase::new(&self.table, &Commit::batch(Vec::new()), CommitKind::Overwrite, true, provider);
        self.run(&mut state, &settings, vec![phase]).await
    }

    /// Commits new files that may be in the table by now: then it is a conflict.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub(crate) async fn add_checked(&self, commit: Commit) -> Result<CommitOutcome> {
        let mut state = self.state.lock().await;
        let settings = Settings::of(&self.table)?;
        let provider = Provider::Fixed(Changes::of(&commit.messages).append);
        let phase = Phase::new(&self.table, &commit, CommitKind::Append, true, provider);
        let outcome = self.run(&mut state, &settings, vec![phase]).await?;
        drop(state);
        self.keep_up(&outcome, commit.identifier).await;
        Ok(outcome)
    }

    /// Makes a snapshot that only brings a statistics file.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub(crate) async fn statistics(&self, file: String) -> Result<CommitOutcome> {
        let mut state = self.state.lock().await;
        let settings = Settings::of(&self.table)?;
        let provider = Provider::Fixed(change::Change::default());
        let mut phase = Phase::new(&self.table, &Commit::batch(Vec::new()), CommitKind::Analyze, false, provider);
        phase.statistics = Some(file);
        self.run(&mut state, &settings, vec![phase]).await
    }

    /// Those of the identifiers, which must be in ascending order, that this user has not committed yet.
    ///
    /// # Errors
    /// `Invalid` when they are not in order; `Unavailable` or `Corrupt` from reading snapshots.
    pub async fn filter_committed(&self, identifiers: &[i64]) -> Result<Vec<i64>> {
        if !identifiers.is_sorted_by(|a, b| a < b) {
            return Err(Error::invalid("identifiers to filter must be in ascending order"));
        }
        let mut state = self.state.lock().await;
        let last = state.last_identifier(&self.user).await?;
        Ok(identifiers.iter().copied().filter(|id| last.is_none_or(|last| *id > last)).collect())
    }

    /// Deletes the files of messages that will not be committed.
    ///
    /// # Errors
    /// `UnknownOutcome` when these messages, or others of this committer, may be committed: then nothing is deleted.
    pub async fn abort(&self, messages: &[CommitMessage]) -> Result<()> {
        let state = self.state.lock().await;
        if state.is_unresolved() {
            return Err(Error::unknown_outcome("the files may belong to a snapshot, so they stay")
                .with("table", self.table.name()));
        }
        for path in change::new_files(&self.table, messages)? {
            self.table.storage().delete(&path).await?;
        }
        Ok(())
    }

    /// Runs the phases in order. What the last one, a compaction, meets does not touch what the first one did.
    async fn run(&self, state: &mut attempt::State, settings: &Settings, phases: Vec<Phase>) -> Result<CommitOutcome> {
        let identifier = phases.first().map_or(BATCH_IDENTIFIER, |phase| phase.identifier);
        let outcome = self.run_phases(state, settings, phases).await?;
        let snapshots = match &outcome {
            CommitOutcome::Committed(snapshots) | CommitOutcome::CompactionLost { snapshots, .. } => {
                snapshots.as_slice()
            }
            CommitOutcome::Conflict(_) | CommitOutcome::Unknown(_) => &[],
        };
        if !snapshots.is_empty() {
            self.after.committed(&self.table, identifier).await;
        }
        Ok(outcome)
    }

    async fn run_phases(
        &self,
        state: &mut attempt::State,
        settings: &Settings,
        phases: Vec<Phase>,
    ) -> Result<CommitOutcome> {
        let mut snapshots = Vec::new();
        for phase in phases {
            let compaction = phase.kind == CommitKind::Compact;
            match state.commit(&self.user, settings, phase).await {
                Ok(Committed::In(id)) => snapshots.push(id),
                Ok(Committed::Earlier) => {}
                Ok(Committed::Conflict(why)) if compaction => {
                    return Ok(CommitOutcome::CompactionLost { snapshots, why });
                }
                Ok(Committed::Conflict(why)) => return Ok(CommitOutcome::Conflict(why)),
                Ok(Committed::Unknown(why)) => return Ok(CommitOutcome::Unknown(why)),
                Err(e) if compaction && !snapshots.is_empty() => {
                    return Ok(CommitOutcome::CompactionLost { snapshots, why: e.to_string() });
                }
                Err(e) => return Err(e.with("table", self.table.name())),
            }
        }
        Ok(CommitOutcome::Committed(snapshots))
    }
}

#[cfg(test)]
mod tests;
