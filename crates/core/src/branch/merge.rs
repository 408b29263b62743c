//! Merging: files that only one branch has are added to another one (spec: features.md B14).
//!
//! Nothing tells where branches parted, so both must still have everything since their first snapshot, and only ever have added
//! rows: then a file that one of them lacks was added by the other, and never removed here. Files are shared, not copied.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use linn_format::file::DataFileMeta;
use linn_format::manifest::{DELETION_VECTORS_INDEX, EntryBatch, ManifestEntry, StatsColumns};
use linn_format::options::table::general::ROW_TRACKING_ENABLED;
use linn_format::snapshot::{CommitKind, Snapshot};
use linn_format::{Error, Result, SchemaId, SnapshotId};

use super::keyed::{KeyCounts, Prefer};
use super::store::{Branches, MAIN};
use crate::commit::{Commit, CommitMessage, CommitOutcome};
use crate::manifest::{LiveFiles, Manifests, Selection};
use crate::schema::Schemas;
use crate::snapshot::Snapshots;
use crate::table::Table;

/// What a merge brought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Merged {
    /// Files that were added.
    pub files: usize,
    /// What was done by key, of tables with a primary key.
    pub keys: Option<KeyCounts>,
    /// The snapshot that added them; none when the branch had them all.
    pub snapshot: Option<SnapshotId>,
}

impl Branches {
    /// Merges one branch into another; `main` names the table itself. In a table with a primary key as
    /// [`merge_keys`](Self::merge_keys) does; else the files that only one has are added to the other.
    ///
    /// # Errors
    /// Those of [`merge_keys`](Self::merge_keys). Without a primary key `NotFound` when there is no such branch; `Invalid` when one has no snapshot, lacks a snapshot since its first one, did
    /// anything but adding rows, has a primary key or evolving data, or when their columns differ; `Conflict` when another commit
    /// ruled it out; `UnknownOutcome` when it is not known whether the commit is made.
    pub async fn merge(&self, source: &str, target: &str, prefer: Option<Prefer>) -> Result<Merged> {
        if source == target {
            return Err(self.refused(format!("branch {source:?} cannot be merged into itself")));
        }
        if self.table.schema().is_primary_key_table() {
            let (keys, snapshot) = Box::pin(self.merge_keys(source, target, prefer)).await?;
            return Ok(Merged { files: 0, keys: Some(keys), snapshot });
        }
        if prefer.is_some() {
            return Err(self
                .refused("rows without a primary key cannot conflict".to_owned())
                .with_hint("merge without saying whose rows stay"));
        }
        let (from, into) = (self.named(source).await?, self.named(target).await?);
        self.check_tables(&from, &into)?;
        let (theirs, ours) = (self.history(&from, source).await?, self.history(&into, target).await?);
        let files = missing(&from, &theirs, &into, &ours).await?;
        self.check_schemas(&from, &into, &files).await?;
        let mut messages: BTreeMap<(Vec<u8>, i32), CommitMessage> = BTreeMap::new();
        let count = files.len();
        for entry in files {
            let key = (entry.partition.to_serialized().to_vec(), entry.bucket);
            let new = || CommitMessage::new(entry.partition.clone(), entry.bucket, entry.total_buckets);
            // Where rows are tracked, the branch gives them ids of its own.
            let file = DataFileMeta { first_row_id: None, ..entry.file };
            messages.entry(key).or_insert_with(new).new_files.push(Arc::new(file));
        }
        if messages.is_empty() {
            return Ok(Merged::default());
        }
        let commit = Commit::batch(messages.into_values().collect());
        match into.committer(into.new_user()).add_checked(commit).await? {
            CommitOutcome::Committed(made) | CommitOutcome::CompactionLost { snapshots: made, .. } => {
                Ok(Merged { files: count, keys: None, snapshot: made.last().copied() })
            }
            CommitOutcome::Conflict(why) => Err(Error::conflict(why).with("table", self.table.name())),
            CommitOutcome::Unknown(why) => Err(Error::unknown_outcome(why).with("table", self.table.name())),
        }
    }

    pub(super) fn refused(&self, why: String) -> Error {
        Error::invalid(why).with("table", self.table.name())
    }

    /// A branch, or the table itself.
    pub(super) async fn named(&self, name: &str) -> Result<Table> {
        if name != MAIN {
            self.require(name).await?;
        }
        self.table(name).await
    }

    fn check_tables(&self, from: &Table, into: &Table) -> Result<()> {
        for table in [from, into] {
            if table.schema().is_primary_key_table() {
                return Err(self.refused("branches of tables with a primary key are merged by key".to_owned()));
            }
            if table.data_evolves()? {
                return Err(self.refused("branches whose data evolves cannot be merged".to_owned()));
            }
        }
        let tracked = |table: &Table| table.options().is_on(&ROW_TRACKING_ENABLED);
        if tracked(from)? != tracked(into)? {
            return Err(self.refused("one of the branches tracks its rows, the other does not".to_owned()));
        }
        if from.schema().fields != into.schema().fields || from.schema().partition_keys != into.schema().partition_keys
        {
            return Err(self
                .refused("the branches have different columns".to_owned())
                .with_hint("alter one of them so that both have the same"));
        }
        Ok(())
    }

    /// The latest snapshot of a branch that has all of its history, in which rows were only added.
    async fn history(&self, branch: &Table, name: &str) -> Result<Arc<Snapshot>> {
        let snapshots = Snapshots::new(branch);
        let Some(latest) = snapshots.latest().await? else {
            return Err(self.refused(format!("branch {name:?} has no snapshot")));
        };
        let ids = snapshots.list().await?;
        for id in (SnapshotId::FIRST.0..=latest.id.0).map(SnapshotId) {
            if ids.binary_search(&id).is_err() {
                return Err(self
                    .refused(format!("snapshot {id} of branch {name:?} has expired"))
                    .with_hint("branches can be merged only while all their snapshots exist"));
            }
            let kind = snapshots.get(id).await?.commit_kind;
            if !matches!(kind, CommitKind::Append | CommitKind::Analyze) {
                return Err(self
                    .refused(format!("snapshot {id} of branch {name:?} is of kind {}", kind.as_str()))
                    .with_hint("branches can be merged only when nothing but appends was committed to them"));
            }
        }
        Ok(latest)
    }

    /// Files of a schema can be read where the same schema has the same number.
    async fn check_schemas(&self, from: &Table, into: &Table, files: &[ManifestEntry]) -> Result<()> {
        let (theirs, ours) = (Schemas::new(from), Schemas::new(into));
        let there = ours.list().await?;
        let used: HashSet<SchemaId> = files.iter().map(|entry| entry.file.schema_id).collect();
        for id in used {
            if there.binary_search(&id).is_err() || *theirs.get(id).await? != *ours.get(id).await? {
                return Err(self.refused(format!("schema {id} of files of the branch is a different one in the table")));
            }
        }
        Ok(())
    }
}

/// The files that `ours` lacks.
async fn missing(from: &Table, theirs: &Snapshot, into: &Table, ours: &Snapshot) -> Result<Vec<ManifestEntry>> {
    let key =
        |batch: &EntryBatch, i: usize| (batch.partition(i).to_vec(), batch.bucket(i), String::from(batch.file_name(i)));
    let known: HashSet<_> = live(into, ours).await?.iter().map(|(batch, i)| key(batch, i)).collect();
    let mut files = Vec::new();
    for (batch, i) in live(from, theirs).await?.iter().filter(|(batch, i)| !known.contains(&key(batch, *i))) {
        files.push(batch.entry(i)?);
    }
    let Some(index) = &theirs.index_manifest else { return Ok(files) };
    for line in Manifests::new(from).read_index(index).await?.iter().filter(|l| l.index_type == DELETION_VECTORS_INDEX)
    {
        let vectors = line.deletion_vectors.iter().flatten();
        if vectors.into_iter().any(|vector| files.iter().any(|entry| *entry.file.file_name == *vector.data_file)) {
            return Err(Error::invalid("rows were deleted from the branch").with("table", from.name()));
        }
    }
    Ok(files)
}

async fn live(table: &Table, snapshot: &Snapshot) -> Result<LiveFiles> {
    let manifests = Manifests::new(table);
    let all = |batch: Arc<EntryBatch>| async move { Ok(Selection::of(&batch, |_| true)) };
    manifests.live(manifests.of_snapshot(snapshot).await?, StatsColumns::All, all).await
}
