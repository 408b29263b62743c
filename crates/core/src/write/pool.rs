//! The bucket writers that are open: found by bucket, emptied when memory is short, and flushed side by side.

use std::collections::BTreeMap;

use futures::{FutureExt, StreamExt};
use linn_format::row::BinaryRow;
use linn_format::{Error, Result};

use super::open::{OneBucket, Opener};
use crate::assign::Messages;
use crate::manifest::run;
use crate::seam::{Env, Pool};
use crate::spill::MemoryBudget;

/// Serialised partition and bucket.
type Key = (Vec<u8>, i32);

/// The writers of the buckets of one table.
pub(super) struct BucketPool {
    opener: Opener,
    env: Env,
    budget: MemoryBudget,
    /// By serialised partition and bucket, so that messages come in a fixed order.
    writers: BTreeMap<Key, OneBucket>,
}

/// What a flush of all buckets came to.
#[derive(Default)]
pub(super) struct Flushed {
    /// What to commit, by bucket.
    pub(super) messages: Messages,
    /// The first failure; the buckets that failed have their rows still.
    pub(super) failure: Option<Error>,
}

impl BucketPool {
    /// No buckets yet; those that `opener` opens draw on `budget`.
    pub(super) fn new(opener: Opener, env: Env, budget: MemoryBudget) -> Self {
        Self { opener, env, budget, writers: BTreeMap::new() }
    }

    /// What opens buckets.
    pub(super) fn opener(&self) -> &Opener {
        &self.opener
    }

    /// The writer of a bucket, which is opened if it is not open.
    ///
    /// # Errors
    /// Those of opening it.
    pub(super) async fn bucket(&mut self, partition: &BinaryRow, bucket: i32) -> Result<&mut OneBucket> {
        let key = (partition.to_serialized().to_vec(), bucket);
        if !self.writers.contains_key(&key) {
            let writer = self.opener.open(partition, bucket, &self.budget).await?;
            self.writers.insert(key.clone(), writer);
        }
        self.writers.get_mut(&key).ok_or_else(|| Error::internal("the writer of a bucket is missing"))
    }

    /// The open buckets of a partition.
    pub(super) fn buckets_of(&self, partition: &BinaryRow) -> Vec<i32> {
        let partition = partition.to_serialized().to_vec();
        let of_partition = (partition.clone(), i32::MIN)..=(partition, i32::MAX);
        self.writers.range(of_partition).map(|((_, bucket), _)| *bucket).collect()
    }

    /// Whether rows were written since the last commit.
    pub(super) fn has_rows(&self) -> bool {
        self.writers.values().any(OneBucket::has_rows)
    }

    /// Empties the largest buffers until the budget is kept.
    ///
    /// # Errors
    /// `Unavailable` when the store or the local disk fails; the rows stay.
    pub(super) async fn keep_to_budget(&mut self) -> Result<()> {
        while self.budget.is_exceeded() {
            let Some(largest) = self.writers.values_mut().max_by_key(|w| w.memory()).filter(|w| w.memory() > 0) else {
                break;
            };
            largest.free_memory().await?;
        }
        Ok(())
    }

    /// Writes out all buffers, on as many threads as the work pool has. With `wait` running compactions are waited for, with `full`
    /// everything is compacted. Buckets in which nothing happened are closed.
    ///
    /// # Errors
    /// `Internal` when a task ended without a result: the rows of its bucket are lost.
    pub(super) async fn flush(&mut self, wait: bool, full: bool) -> Result<Flushed> {
        let env = self.env.clone();
        let tasks = std::mem::take(&mut self.writers).into_iter().map(|(key, mut writer)| {
            let task = async move {
                let message = writer.prepare_commit(wait, full).await;
                Ok((key, writer, message))
            };
            run(&env, Pool::Work, task).boxed()
        });
        let tasks: Vec<_> = tasks.collect();
        let parallelism = env.spawn.parallelism(Pool::Work).max(1);
        let mut done = futures::stream::iter(tasks).buffered(parallelism);
        let mut flushed = Flushed::default();
        while let Some(result) = done.next().await {
            let (key, writer, message) = result?;
            match message {
                Ok(Some(message)) => _ = flushed.messages.insert(key.clone(), message),
                Ok(None) if writer.is_idle() => continue,
                Ok(None) => {}
                Err(e) => _ = flushed.failure.get_or_insert(e),
            }
            self.writers.insert(key, writer);
        }
        Ok(flushed)
    }

    /// Takes messages back that will not be committed now.
    pub(super) fn take_back(&mut self, messages: Messages) {
        for (key, message) in messages {
            if let Some(writer) = self.writers.get_mut(&key) {
                writer.take_back(message);
            }
        }
    }

    /// Has the buckets that count on files which are gone from the table look at it anew.
    ///
    /// # Errors
    /// As [`refresh`](Self::refresh).
    pub(super) async fn refresh_stale(&mut self) -> Result<()> {
        let stale: Vec<_> = self.writers.iter().filter(|(_, w)| w.is_stale()).map(|(key, _)| key.clone()).collect();
        for key in stale {
            self.refresh_bucket(&key, false).await?;
        }
        Ok(())
    }

    /// Has all buckets look at the table anew. With `lost` the compactions of the last messages were not committed, and their files
    /// go.
    ///
    /// # Errors
    /// `Unavailable` or `Corrupt` from reading the table; the bucket that failed is as before.
    pub(super) async fn refresh(&mut self, lost: bool) -> Result<()> {
        let keys: Vec<_> = self.writers.keys().cloned().collect();
        for key in keys {
            self.refresh_bucket(&key, lost).await?;
        }
        Ok(())
    }

    async fn refresh_bucket(&mut self, key: &Key, lost: bool) -> Result<()> {
        // Writers without a merge tree do not depend on what others do to the table.
        if !matches!(self.writers.get(key), Some(OneBucket::MergeTree(_))) {
            return Ok(());
        }
        let partition = BinaryRow::from_serialized(key.0.clone())?;
        // What was looked up for the rows written last may be older than what others have done since.
        self.opener.announce(&[]).await?;
        let mut newer = self.opener.open(&partition, key.1, &self.budget).await?;
        if let Some(writer) = self.writers.get_mut(key) {
            writer.move_to(&mut newer, lost).await;
            *writer = newer;
        }
        Ok(())
    }

    /// Gives up what was not handed over, and deletes its files.
    pub(super) async fn abort(&mut self) {
        for writer in self.writers.values_mut() {
            writer.abort().await;
        }
    }
}
