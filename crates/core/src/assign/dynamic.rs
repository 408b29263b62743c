//! Dynamic buckets of a table: loads what partitions hold when rows come for them, gives rows their buckets, and hands
//! the hash indexes of changed buckets over with the files of a commit (spec: format.md C.8, C.11).
//!
//! Invariant: a message names the index files that its rows were given their buckets by and the snapshot that they were read
//! at, so that of two writers of one partition one is refused at its commit, and no key is ever in two buckets.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_array::RecordBatch;
use futures::{FutureExt, StreamExt};
use linn_format::hash::hash_columns;
use linn_format::manifest::{FileKind, HASH_INDEX, IndexManifestEntry};
use linn_format::row::BinaryRow;
use linn_format::schema::Bucketing;
use linn_format::{Result, ResultExt, SnapshotId};

use super::file::{IndexFiles, Lines};
use super::partition::{Limits, PartitionIndex};
use super::{Columns, Partitions};
use crate::commit::CommitMessage;
use crate::table::Table;

/// Index files read at once.
const PARALLEL: usize = 8;

/// Keys whose hashes are gathered at once to write them.
const KEYS_AT_ONCE: u64 = 16 << 20;

/// Keys for which room is made beforehand, whatever the manifest says.
const MAX_EXPECTED: usize = 1 << 24;

/// Messages by serialised partition and bucket.
pub(crate) type Messages = BTreeMap<(Vec<u8>, i32), CommitMessage>;

/// The dynamic buckets of one table.
pub(crate) struct DynamicBuckets {
    table: String,
    files: IndexFiles,
    key: Columns,
    limits: Limits,
    /// Whether what the table holds matters; not when it is overwritten.
    restore: bool,
    partitions: HashMap<BinaryRow, State>,
}

struct State {
    index: PartitionIndex,
    /// Index files that commits will find.
    lines: Lines,
    /// The snapshot that they were read at.
    loaded_at: SnapshotId,
    /// Whether rows came since the last commit.
    used: bool,
}

impl State {
    fn names(&self) -> Arc<[String]> {
        let mut names: Vec<String> = self.lines.values().map(|line| line.file_name.clone()).collect();
        names.sort_unstable();
        names.into()
    }
}

impl DynamicBuckets {
    /// The buckets of a table; `restore` unless it is overwritten.
    ///
    /// # Errors
    /// `Invalid` for a bad option value.
    pub(crate) fn new(table: &Table, restore: bool) -> Result<Self> {
        let schema = table.schema();
        let names = schema.trimmed_primary_keys().into_iter().map(|f| f.name.clone()).collect::<Vec<_>>();
        Ok(Self {
            table: table.name().to_owned(),
            files: IndexFiles::new(table),
            key: Columns::of(schema, names)?,
            limits: Limits::of(&schema.options)?,
            restore,
            partitions: HashMap::new(),
        })
    }

    /// The bucket of each row.
    ///
    /// # Errors
    /// `Corrupt` for a damaged index, `Unavailable`, and `Invalid` when there can be no more buckets.
    pub(crate) async fn assign(&mut self, rows: &RecordBatch, partitions: &Partitions) -> Result<Vec<i32>> {
        self.load(&partitions.rows).await.context("table", &self.table)?;
        let hashes = hash_columns(&self.key.pick(rows), self.key.types())?;
        let mut states: Vec<(&BinaryRow, State)> = Vec::with_capacity(partitions.rows.len());
        for partition in &partitions.rows {
            if let Some(mut state) = self.partitions.remove(partition) {
                state.used = true;
                states.push((partition, state));
            }
        }
        let buckets = partitions
            .of_row
            .iter()
            .zip(&hashes)
            .map(|(partition, hash)| match states.get_mut(*partition as usize) {
                Some((_, state)) => state.index.assign(*hash).map(i32::from),
                None => Err(linn_format::Error::internal("a partition whose index was not loaded")),
            })
            .collect::<Result<Vec<_>>>();
        self.partitions.extend(states.into_iter().map(|(partition, state)| (partition.clone(), state)));
        buckets.context("table", &self.table)
    }

    async fn load(&mut self, partitions: &[BinaryRow]) -> Result<()> {
        let missing: Vec<&BinaryRow> = partitions.iter().filter(|p| !self.partitions.contains_key(*p)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let (loaded_at, latest) =
            if self.restore { self.files.latest().await? } else { (SnapshotId(0), Arc::default()) };
        for partition in missing {
            let lines = latest.get(&*partition.to_serialized()).cloned().unwrap_or_default();
            let keys: i64 = lines.values().map(|line| line.row_count).fold(0, i64::saturating_add);
            let keys = usize::try_from(keys).unwrap_or(0).min(MAX_EXPECTED);
            let mut index = PartitionIndex::new(self.limits, partition.hash(), keys);
            let files = &self.files;
            let read = |line: IndexManifestEntry| async move { (files.hashes(&line).await, line) }.boxed();
            let reads: Vec<_> = lines.values().cloned().map(read).collect();
            let mut reads = futures::stream::iter(reads).buffered(PARALLEL);
            while let Some((hashes, line)) = reads.next().await {
                index.restore(line.bucket, &hashes?).context("file", line.file_name)?;
            }
            drop(reads);
            self.partitions.insert(partition.clone(), State { index, lines, loaded_at, used: false });
        }
        Ok(())
    }

    /// Writes the indexes of changed buckets and adds them to the messages, together with what they build upon.
    ///
    /// # Errors
    /// `Unavailable`; nothing has happened then, and the call can be made again.
    pub(crate) async fn hand_over(&mut self, messages: &mut Messages) -> Result<()> {
        let mut written: Vec<IndexManifestEntry> = Vec::new();
        if let Err(e) = self.write_changed(&mut written).await {
            for line in &written {
                self.files.delete(line).await;
            }
            return Err(e.with("table", &self.table));
        }
        // Everything is on disk; from here on nothing fails.
        for line in written {
            if let (Some(state), Ok(bucket)) = (self.partitions.get_mut(&line.partition), u16::try_from(line.bucket)) {
                state.index.saved(bucket);
            }
            let key = (line.partition.to_serialized().to_vec(), line.bucket);
            let new = || CommitMessage::new(line.partition.clone(), line.bucket, Bucketing::NONE);
            messages.entry(key).or_insert_with(new).index_changes.push(line);
        }
        if self.restore {
            self.say_basis(messages);
        }
        self.replace_lines(messages);
        self.forget().await;
        Ok(())
    }

    /// Says in the messages by what their rows were given their buckets.
    fn say_basis(&self, messages: &mut Messages) {
        let mut names: HashMap<BinaryRow, Arc<[String]>> = HashMap::new();
        for message in messages.values_mut() {
            let Some(state) = self.partitions.get(&message.partition) else { continue };
            if !message.new_files.is_empty() || !message.index_changes.is_empty() {
                let names = names.entry(message.partition.clone()).or_insert_with(|| state.names());
                message.hash_base = Some(names.clone());
                message.alone_since = Some(state.loaded_at);
            }
        }
    }

    /// Takes over the new index files, and has the messages remove those that they replace.
    fn replace_lines(&mut self, messages: &mut Messages) {
        for message in messages.values_mut() {
            let Some(state) = self.partitions.get_mut(&message.partition) else { continue };
            let is_new = |line: &&IndexManifestEntry| line.kind == FileKind::Add && line.index_type == HASH_INDEX;
            let new: Vec<IndexManifestEntry> = message.index_changes.iter().filter(is_new).cloned().collect();
            for line in new {
                if let Some(before) = state.lines.insert(line.bucket, line) {
                    message.index_changes.push(IndexManifestEntry { kind: FileKind::Delete, ..before });
                }
            }
        }
    }

    async fn write_changed(&self, written: &mut Vec<IndexManifestEntry>) -> Result<()> {
        let mut partitions: Vec<_> = self.partitions.iter().filter(|(_, s)| !s.index.changed().is_empty()).collect();
        partitions.sort_by_cached_key(|(partition, _)| partition.to_serialized());
        for (partition, state) in partitions {
            let changed: Vec<u16> = state.index.changed().iter().copied().collect();
            let mut rest = changed.as_slice();
            while !rest.is_empty() {
                let hashes = state.index.hashes(rest, KEYS_AT_ONCE);
                rest = rest.get(hashes.len()..).unwrap_or_default();
                for (bucket, hashes) in hashes {
                    written.push(self.files.write(partition, i32::from(bucket), &hashes).await?);
                }
            }
        }
        Ok(())
    }

    /// Lets go of partitions that got no rows since the last commit and whose index is in the table, as yesterday's.
    async fn forget(&mut self) {
        let idle = |state: &State| !state.used && state.index.changed().is_empty();
        if self.partitions.values().any(idle) {
            match self.files.latest().await {
                Ok((_, latest)) => self.partitions.retain(|partition, state| {
                    let there = latest.get(&*partition.to_serialized());
                    !idle(state) || there.map_or(!state.lines.is_empty(), |lines| *lines != state.lines)
                }),
                // They are let go the next time.
                Err(e) => tracing::debug!(table = self.table, error = %e, "index manifest not readable"),
            }
        }
        for state in self.partitions.values_mut() {
            state.used = false;
        }
    }
}
