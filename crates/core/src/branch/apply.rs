//! Doing to one branch what another one did by key.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_cast::display::array_value_to_string;
use linn_format::options::table::commit::LINN_ISOLATION_LEVEL;
use linn_format::row::BinaryRow;
use linn_format::{Error, ErrorKind, Result, SnapshotId};

use super::keyed::{KeyChanges, KeyCounts, Prefer};
use super::store::Branches;
use crate::commit::{Commit, CommitMessage, CommitOutcome, Reads};
use crate::table::Table;

/// How often a merge looks again because commits came meanwhile.
const TRIES: usize = 10;
/// Rows of a batch that is written.
const ROWS: usize = 8192;
/// Keys that an error names.
const NAMED: usize = 5;

impl Branches {
    /// Does to `target` what `source` did to its rows since both parted; keys that both changed are settled as `prefer` says.
    /// The counts, and the snapshot that the changes are in; none when there were none.
    ///
    /// # Errors
    /// As [`key_changes`](Self::key_changes); `Conflict` naming keys that both changed when nothing says what to do about them, and
    /// when commits of others to these keys keep coming first; `Unsupported` for settling conflicts in favour of the branch where a
    /// `sequence.field` decides; `UnknownOutcome` when it is not known whether the commit is made.
    pub async fn merge_keys(
        &self,
        source: &str,
        target: &str,
        prefer: Option<Prefer>,
    ) -> Result<(KeyCounts, Option<SnapshotId>)> {
        let mut why = String::new();
        for _ in 0..TRIES {
            let changes = Box::pin(self.key_changes(source, target)).await?;
            let counts = changes.counts(prefer);
            if counts.conflicts > 0 {
                self.check_conflicts(&changes, prefer)?;
            }
            if counts.written + counts.deleted == 0 {
                return Ok((counts, None));
            }
            match Box::pin(self.apply(&changes, prefer)).await? {
                Applied::In(snapshot) => return Ok((counts, snapshot)),
                Applied::RuledOut(by) => why = by,
            }
        }
        Err(Error::conflict(format!("other commits to the branch kept coming first: {why}"))
            .with("table", self.table.name()))
    }

    fn check_conflicts(&self, changes: &KeyChanges, prefer: Option<Prefer>) -> Result<()> {
        let Some(prefer) = prefer else { return Err(self.conflict(changes)?) };
        if prefer == Prefer::Theirs && !changes.into.options().sequence_fields().is_empty() {
            return Err(Error::unsupported(
                "taking the rows of a branch where 'sequence.field' decides which row wins",
            )
            .with("table", self.table.name())
            .with_hint("write the rows that should win with a later sequence, or resolve the conflicts with ours"));
        }
        Ok(())
    }

    fn conflict(&self, changes: &KeyChanges) -> Result<Error> {
        let count = changes.counts(None).conflicts;
        let rows = changes.conflicts(NAMED)?;
        let mut keys = Vec::new();
        for row in (0..rows.num_rows()).step_by(2) {
            let columns = changes.into.schema().primary_keys.iter().filter_map(|name| rows.column_by_name(name));
            let values = columns.map(|column| Ok(array_value_to_string(column, row)?)).collect::<Result<Vec<_>>>()?;
            keys.push(format!("({})", values.join(", ")));
        }
        if count > keys.len() {
            keys.push("…".to_owned());
        }
        let what = if count == 1 { "1 key was".to_owned() } else { format!("{count} keys were") };
        let since = match changes.base {
            Some(id) => format!("since snapshot {id}"),
            None => "since the branch was made".to_owned(),
        };
        Ok(Error::conflict(format!("{what} changed on both sides {since}"))
            .with("table", self.table.name())
            .with("keys", keys.join(", "))
            .with_hint("a dry run shows both rows; resolve them with ours, which keeps the rows of the table, or with theirs, which takes those of the branch"))
    }

    /// Writes the changes, unless others have written to their keys since these were compared.
    async fn apply(&self, changes: &KeyChanges, prefer: Option<Prefer>) -> Result<Applied> {
        let table = &changes.into;
        let (rows, kinds) = changes.settled(prefer)?;
        let user = table.new_user();
        let mut writer = table.batch_writer(&user).await?;
        let written = async {
            for start in (0..rows.num_rows()).step_by(ROWS) {
                let count = ROWS.min(rows.num_rows() - start);
                writer.write(&rows.slice(start, count), Some(&kinds.slice(start, count))).await?;
            }
            writer.prepare_commit(false).await
        };
        let messages = match written.await {
            Ok(messages) => messages,
            Err(e) => {
                writer.close().await?;
                return Err(e);
            }
        };
        let committer = held_against(changes)?.committer(user);
        let commit = Commit { operation: Some("MERGE BRANCH".to_owned()), ..Commit::batch(messages.clone()) };
        let outcome = committer.commit(commit).await?;
        writer.settle(&outcome).await?;
        writer.close().await?;
        match outcome {
            CommitOutcome::Committed(made) => Ok(Applied::In(made.last().copied())),
            CommitOutcome::CompactionLost { snapshots, .. } => {
                let partitions = partitions(&messages);
                let lost: Vec<CommitMessage> = messages.into_iter().map(CommitMessage::compaction).collect();
                committer.abort(&lost).await?;
                table.show_level_0(&partitions).await?;
                Ok(Applied::In(snapshots.last().copied()))
            }
            CommitOutcome::Conflict(why) => {
                committer.abort(&messages).await?;
                Ok(Applied::RuledOut(why))
            }
            CommitOutcome::Unknown(why) => {
                Err(Error::new(ErrorKind::UnknownOutcome, why).with("table", self.table.name()))
            }
        }
    }
}

/// How writing the changes ended.
enum Applied {
    /// They are in this snapshot.
    In(Option<SnapshotId>),
    /// Nothing was done, because of this.
    RuledOut(String),
}

/// The table, whose next commit is ruled out by whoever wrote to its keys since the snapshot that was compared, at any
/// `linn.isolation-level`: their rows would be lost unseen. Other keys do not matter, as they are not compared.
fn held_against(changes: &KeyChanges) -> Result<Table> {
    let reads = Reads::default();
    reads.note(Arc::new(changes.into.scan()), changes.ours.clone());
    let table = changes.into.with_options(&[(LINN_ISOLATION_LEVEL.key, "snapshot")].into_iter().collect())?;
    Ok(table.with_reads(Some(reads)))
}

/// The partitions that messages change, each once.
fn partitions(messages: &[CommitMessage]) -> Vec<BinaryRow> {
    let all = messages.iter().map(|message| (message.partition.to_serialized(), message.partition.clone()));
    all.collect::<BTreeMap<_, _>>().into_values().collect()
}
