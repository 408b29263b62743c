//! Compaction as a job of its own: all buckets of a snapshot are looked at, and what is due is done.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::sync::Arc;

use futures::StreamExt;
use futures::channel::oneshot;
use futures::stream::FuturesUnordered;
use linn_format::row::BinaryRow;
use linn_format::schema::Bucketing;
use linn_format::snapshot::Snapshot;
use linn_format::{Error, Result};

use super::queue::Queue;
use crate::append;
use crate::commit::CommitMessage;
use crate::compact::{Choice, Compacted, Compactor, Reason, Step, Task};
use crate::partition::worth_compacting;
use crate::scan::{Waiting, waiting};
use crate::seam::Pool;
use crate::snapshot::Snapshots;
use crate::table::Table;
use crate::write::postpone;

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
        Self { partition, bucket: Bucketing::POSTPONED, total_buckets: Bucketing::POSTPONED, choice, steps: Vec::new() }
    }
}

/// A compaction that is due.
pub(super) struct Due {
    /// What it does, for display.
    pub(super) plan: BucketPlan,
    /// The bucket.
    pub(super) compactor: Compactor,
    /// What there is to run.
    pub(super) task: Task,
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

/// What a compaction as a job of its own covers.
#[derive(Debug, Clone, Copy, Default)]
pub struct CompactJob<'a> {
    /// Only these partitions.
    pub partitions: Option<&'a [BinaryRow]>,
    /// Everything into the highest level, instead of what the table's options say is due.
    pub full: bool,
    /// Most buckets at once; without it as many as the compaction pool has threads.
    pub parallelism: Option<usize>,
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
    /// What [`Table::compact`] would do at the latest snapshot, for display, in the order in which it would be done.
    ///
    /// # Errors
    /// As [`Table::compact`].
    pub async fn plan_compaction(&self, partitions: Option<&[BinaryRow]>, full: bool) -> Result<Vec<BucketPlan>> {
        let covered = self.covered(partitions).await?;
        let partitions = covered.as_deref();
        if !self.schema().is_primary_key_table() {
            let bins = append::plan(self, partitions, full).await?;
            return Ok(bins.into_iter().map(BucketPlan::from).collect());
        }
        let mut queue = Queue::new(self, CompactJob { partitions, full, parallelism: None }).await?;
        let postponed = self.postponed(partitions).await?;
        if let Some(postponed) = &postponed {
            queue.leave_out(|partition| postponed.has(partition));
        }
        let mut plans: Vec<BucketPlan> = Vec::new();
        while let Some(due) = queue.next().await? {
            plans.push(due.plan);
        }
        plans.extend(postponed.into_iter().flat_map(|postponed| postponed.waiting).map(BucketPlan::from));
        Ok(plans)
    }

    /// Compacts a table at its latest snapshot, all of it or some partitions, completely or only what the
    /// table's options say is due, and returns what to commit. `write-only` does not matter here.
    ///
    /// # Errors
    /// As [`Table::compact_job`].
    pub async fn compact(&self, partitions: Option<&[BinaryRow]>, full: bool) -> Result<Vec<CommitMessage>> {
        self.compact_job(CompactJob { partitions, full, parallelism: None }).await
    }

    /// Compacts what a job covers at the table's latest snapshot, and returns what to commit. Files are read and written on
    /// the compaction pool; memory is bounded by the buckets at once times the runs of a section times a batch.
    ///
    /// # Errors
    /// `Unsupported` for a table whose compaction needs what Linn lacks. When one bucket fails, the new files of the
    /// others are deleted.
    pub async fn compact_job(&self, job: CompactJob<'_>) -> Result<Vec<CommitMessage>> {
        self.options().check_writable().map_err(|e| e.with("table", self.name()))?;
        let covered = self.covered(job.partitions).await?;
        let job = CompactJob { partitions: covered.as_deref(), ..job };
        if !self.schema().is_primary_key_table() {
            return append::compact(self, job.partitions, job.full).await;
        }
        let mut queue = Queue::new(self, job).await?;
        // Rows that wait for a bucket are placed afterwards, which compacts the other buckets of their partitions too.
        let postponed = self.postponed(job.partitions).await?;
        if let Some(postponed) = &postponed {
            queue.leave_out(|partition| postponed.has(partition));
        }
        let threads = self.env().spawn.parallelism(Pool::Compaction).max(1);
        let parallelism = job.parallelism.map_or(threads, |most| most.clamp(1, threads));
        let mut running = FuturesUnordered::new();
        let mut done: Vec<(Task, CommitMessage)> = Vec::new();
        let mut failure: Option<Error> = None;
        loop {
            while running.len() < parallelism && failure.is_none() {
                match queue.next().await {
                    Ok(Some(due)) => running.push(self.start(due)),
                    Ok(None) => break,
                    Err(e) => failure = Some(e),
                }
            }
            let Some((due, compacted)) = running.next().await else { break };
            let handed = match compacted {
                Ok(compacted) if compacted.is_empty() => continue,
                Ok(compacted) => due.message(compacted).await,
                Err(e) => Err(e),
            };
            match handed {
                Ok(message) => done.push(message),
                Err(e) => {
                    failure.get_or_insert(e);
                }
            }
        }
        let placed = match (&failure, postponed) {
            (None, Some(postponed)) => postponed.place(self, job.full).await,
            _ => Ok(Vec::new()),
        };
        let placed = placed.unwrap_or_else(|e| {
            failure = Some(e);
            Vec::new()
        });
        match failure {
            None => Ok(in_order(done.into_iter().map(|(_, message)| message).chain(placed).collect())),
            Some(e) => {
                for (task, message) in done {
                    let CommitMessage { compact_before, compact_after, compact_changelog, .. } = &message;
                    let lines = &message.compact_index_changes;
                    task.give_up(compact_before, compact_after, compact_changelog, lines).await;
                }
                Err(e.with("table", self.name()))
            }
        }
    }

    /// The partitions of a job, less those that are not worth it; `None` for all.
    async fn covered<'a>(&self, asked: Option<&'a [BinaryRow]>) -> Result<Option<Cow<'a, [BinaryRow]>>> {
        let Some(mut worth) = worth_compacting(self).await? else { return Ok(asked.map(Cow::Borrowed)) };
        worth.retain(|partition| asked.is_none_or(|asked| asked.contains(partition)));
        Ok(Some(Cow::Owned(worth)))
    }

    /// What waits for a bucket, in tables where rows do.
    async fn postponed(&self, partitions: Option<&[BinaryRow]>) -> Result<Option<Postponed>> {
        if self.schema().bucketing()? != Bucketing::Postponed {
            return Ok(None);
        }
        let Some(snapshot) = Snapshots::new(self).latest().await? else { return Ok(None) };
        let waiting = waiting(self, &snapshot, partitions).await?;
        let mut scan = self.scan().snapshot(Arc::clone(&snapshot)).every_level();
        if let Some(partitions) = partitions {
            scan = scan.partitions(partitions.to_vec());
        }
        let mut buckets: HashMap<BinaryRow, BTreeSet<i32>> = HashMap::new();
        for load in scan.bucket_loads().await? {
            buckets.entry(load.partition).or_default().insert(load.bucket);
        }
        Ok(Some(Postponed { snapshot, waiting, buckets }))
    }

    /// Starts a compaction on its pool.
    fn start(&self, due: Due) -> impl Future<Output = (Due, Result<Compacted>)> + use<> {
        let (sender, receiver) = oneshot::channel();
        let work = due.task.ahead();
        let run = async move {
            sender.send(work.run().await).ok();
        };
        self.env().spawn.spawn(Pool::Compaction, Box::pin(run));
        async move {
            let lost = || Err(Error::internal("a compaction ended without a result"));
            (due, receiver.await.unwrap_or_else(|_| lost()))
        }
    }
}

/// Messages by partition and bucket.
fn in_order(mut messages: Vec<CommitMessage>) -> Vec<CommitMessage> {
    messages
        .sort_by(|a, b| a.partition.to_serialized().cmp(&b.partition.to_serialized()).then(a.bucket.cmp(&b.bucket)));
    messages
}
