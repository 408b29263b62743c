//! Compaction as a job of its own: all buckets of a snapshot are looked at, and what is due is done.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use futures::channel::oneshot;
use linn_format::file::DataFileMeta;
use linn_format::row::BinaryRow;
use linn_format::snapshot::Snapshot;
use linn_format::{Error, Result};

use super::bucket::{Compactor, Settings};
use super::pick::{Choice, Reason};
use super::plan::Step;
use super::run::{Compacted, Task};
use super::table::TableFiles;
use crate::append;
use crate::commit::CommitMessage;
use crate::merge::{KeyOrder, MergeSpec};
use crate::postpone::{self, POSTPONED, Waiting};
use crate::seam::Pool;
use crate::snapshot::Snapshots;
use crate::table::Table;
use crate::vector::{BucketVectors, vector_lines};

/// What a compaction would do in one bucket.
#[derive(Debug, Clone)]
pub struct BucketPlan {
    /// Partition.
    pub partition: BinaryRow,
    /// Bucket.
    pub bucket: i32,
    /// Bucket count of the partition.
    pub total_buckets: i32,
    /// The files that were picked, where they go, and why.
    pub choice: Choice,
    /// How; empty when the files are where they belong, for append tables, whose files are only put together, and for rows
    /// that wait for a bucket.
    pub steps: Vec<Step>,
}

impl From<append::Bin> for BucketPlan {
    fn from(bin: append::Bin) -> Self {
        let append::Bin { partition, bucket, total_buckets, files, .. } = bin;
        let choice = Choice { output_level: 0, files, reason: Reason::SmallFiles };
        Self { partition, bucket, total_buckets, choice, steps: Vec::new() }
    }
}

impl From<Waiting> for BucketPlan {
    fn from(waiting: Waiting) -> Self {
        let Waiting { partition, files } = waiting;
        let choice = Choice { output_level: 0, files, reason: Reason::Postponed };
        Self { partition, bucket: POSTPONED, total_buckets: POSTPONED, choice, steps: Vec::new() }
    }
}

/// A compaction that is due.
struct Due {
    plan: BucketPlan,
    compactor: Compactor,
    task: Task,
}

impl Due {
    /// What to commit of it, and the task that can give it up.
    async fn message(mut self, compacted: Compacted) -> Result<(Task, CommitMessage)> {
        self.compactor.take(&compacted);
        let BucketPlan { partition, bucket, total_buckets, .. } = self.plan;
        let mut message = CommitMessage::new(partition, bucket, total_buckets);
        message.compact_before = compacted.before;
        message.compact_after = compacted.after;
        message.compact_changelog = compacted.changelog;
        match self.compactor.vectors().hand_over(&*self.task.files).await {
            Ok(changes) => message.compact_index_changes = changes,
            Err(e) => {
                let CommitMessage { compact_before, compact_after, compact_changelog, .. } = &message;
                self.task.give_up(compact_before, compact_after, compact_changelog, &[]).await;
                return Err(e);
            }
        }
        if let Some(now) = self.compactor.basis() {
            message.compact_basis_from(&now);
        }
        Ok((self.task, message))
    }
}

struct Bucket {
    total_buckets: i32,
    files: Vec<Arc<DataFileMeta>>,
}

/// Rows of a table that wait for a bucket.
struct Postponed {
    snapshot: Arc<Snapshot>,
    waiting: Vec<Waiting>,
    /// The real buckets of each partition.
    buckets: HashMap<BinaryRow, BTreeSet<i32>>,
}

impl Postponed {
    fn has(&self, partition: &BinaryRow) -> bool {
        self.waiting.iter().any(|waiting| waiting.partition == *partition)
    }

    async fn place(self, table: &Table, full: bool) -> Result<Vec<CommitMessage>> {
        postpone::compact(table, &self.snapshot, self.waiting, &self.buckets, full).await
    }
}

impl Table {
    /// What [`Table::compact`] would do at the latest snapshot, for display.
    ///
    /// # Errors
    /// As [`Table::compact`].
    pub async fn plan_compaction(&self, partitions: Option<&[BinaryRow]>, full: bool) -> Result<Vec<BucketPlan>> {
        if !self.schema().is_primary_key_table() {
            let bins = append::plan(self, partitions, full).await?;
            return Ok(bins.into_iter().map(BucketPlan::from).collect());
        }
        let postponed = self.postponed(partitions).await?;
        let mut plans: Vec<BucketPlan> = Vec::new();
        for due in self.compactions(partitions, full).await? {
            if !postponed.as_ref().is_some_and(|postponed| postponed.has(&due.plan.partition)) {
                plans.push(due.plan);
            }
        }
        plans.extend(postponed.into_iter().flat_map(|postponed| postponed.waiting).map(BucketPlan::from));
        Ok(plans)
    }

    /// Compacts a table at its latest snapshot, all of it or some partitions, completely or only what the
    /// table's options say is due, and returns what to commit. Files are read and written on the compaction pool, as
    /// many buckets at once as it has threads; `write-only` does not matter here.
    ///
    /// # Errors
    /// `Unsupported` for a table whose compaction needs what Linn lacks. When one bucket fails, the new files of the
    /// others are deleted.
    pub async fn compact(&self, partitions: Option<&[BinaryRow]>, full: bool) -> Result<Vec<CommitMessage>> {
        if !self.schema().is_primary_key_table() {
            return append::compact(self, partitions, full).await;
        }
        let mut waiting: VecDeque<_> = self.compactions(partitions, full).await?.into();
        // Rows that wait for a bucket are placed afterwards, which compacts the other buckets of their partitions too.
        let postponed = self.postponed(partitions).await?;
        waiting.retain(|due| !postponed.as_ref().is_some_and(|postponed| postponed.has(&due.plan.partition)));
        let parallelism = self.env().spawn.parallelism(Pool::Compaction).max(1);
        let mut running = VecDeque::new();
        let mut done: Vec<(Task, CommitMessage)> = Vec::new();
        let mut failure: Option<Error> = None;
        loop {
            while running.len() < parallelism && failure.is_none() {
                let Some(due) = waiting.pop_front() else { break };
                let (sender, receiver) = oneshot::channel();
                let work = Task { beside: Some(self.env().clone()), ..due.task.clone() };
                let run = async move {
                    sender.send(work.run().await).ok();
                };
                self.env().spawn.spawn(Pool::Compaction, Box::pin(run));
                running.push_back((due, receiver));
            }
            let Some((due, receiver)) = running.pop_front() else { break };
            let result = receiver.await.unwrap_or_else(|_| Err(Error::internal("a compaction ended without a result")));
            let result = match result {
                Ok(compacted) => due.message(compacted).await,
                Err(e) => Err(e),
            };
            match result {
                Ok(message) => done.push(message),
                Err(e) => {
                    failure.get_or_insert(e);
                }
            }
        }
        let placed = match (&failure, postponed) {
            (None, Some(postponed)) => postponed.place(self, full).await,
            _ => Ok(Vec::new()),
        };
        let placed = placed.unwrap_or_else(|e| {
            failure = Some(e);
            Vec::new()
        });
        match failure {
            None => Ok(done.into_iter().map(|(_, message)| message).chain(placed).collect()),
            Some(e) => {
                for (task, message) in done {
                    let CommitMessage { compact_before, compact_after, compact_changelog, .. } = &message;
                    let lines = &message.compact_index_changes;
                    task.give_up(compact_before, compact_after, compact_changelog, lines).await;
                }
                Err(e)
            }
        }
    }

    /// What waits for a bucket, in tables where rows do.
    async fn postponed(&self, partitions: Option<&[BinaryRow]>) -> Result<Option<Postponed>> {
        if self.options().bucket()? != POSTPONED {
            return Ok(None);
        }
        let Some(snapshot) = Snapshots::new(self).latest().await? else { return Ok(None) };
        let waiting = postpone::waiting(self, &snapshot, partitions).await?;
        let mut buckets: HashMap<BinaryRow, BTreeSet<i32>> = HashMap::new();
        for (partition, bucket) in self.buckets(Arc::clone(&snapshot), partitions).await?.into_keys() {
            buckets.entry(BinaryRow::from_serialized(partition)?).or_default().insert(bucket);
        }
        Ok(Some(Postponed { snapshot, waiting, buckets }))
    }

    async fn compactions(&self, partitions: Option<&[BinaryRow]>, full: bool) -> Result<Vec<Due>> {
        let table = self.widened();
        let settings = Arc::new(Settings::of(table.schema())?.at_once());
        let spec = Arc::new(MergeSpec::of(table.schema(), &table.schema().fields)?);
        let order = KeyOrder::of(table.schema());
        let mut compactions = Vec::new();
        let Some(snapshot) = Snapshots::new(self).latest().await? else { return Ok(compactions) };
        let lines = match settings.keeps_vectors() {
            true => vector_lines(self, &snapshot).await?,
            false => Vec::new(),
        };
        for ((partition, bucket), found) in self.buckets(snapshot, partitions).await? {
            let partition = BinaryRow::from_serialized(partition)?;
            let of_bucket = lines.iter().filter(|line| line.partition == partition && line.bucket == bucket);
            let vectors = BucketVectors::load(self, of_bucket.cloned().collect()).await?;
            let files = Arc::new(TableFiles {
                table: table.clone(),
                partition: partition.clone(),
                bucket,
                batch_size: settings.batch_size,
                alone: true,
            });
            let (env, spec, order, settings) = (self.env().clone(), spec.clone(), order.clone(), settings.clone());
            let mut compactor = Compactor::new(env, files, spec, order, settings, found.files, vectors);
            if let Some((choice, task)) = compactor.task(full)? {
                let steps = task.steps.clone();
                let total_buckets = found.total_buckets;
                let plan = BucketPlan { partition, bucket, total_buckets, choice, steps };
                compactions.push(Due { plan, compactor, task });
            }
        }
        Ok(compactions)
    }

    /// The files of every bucket at a snapshot, by serialised partition and bucket.
    async fn buckets(
        &self,
        snapshot: Arc<Snapshot>,
        partitions: Option<&[BinaryRow]>,
    ) -> Result<BTreeMap<(Vec<u8>, i32), Bucket>> {
        let mut buckets: BTreeMap<(Vec<u8>, i32), Bucket> = BTreeMap::new();
        let mut scan = self.scan().with_statistics().snapshot(snapshot).every_level();
        if let Some(partitions) = partitions {
            scan = scan.partitions(partitions.to_vec());
        }
        for split in scan.plan().await?.splits {
            let key = (split.partition.to_serialized().to_vec(), split.bucket);
            let bucket =
                buckets.entry(key).or_insert_with(|| Bucket { total_buckets: split.total_buckets, files: Vec::new() });
            bucket.files.extend(split.files);
        }
        Ok(buckets)
    }
}
