//! The writer of a table.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{Int8Array, RecordBatch};
use async_trait::async_trait;
use futures::TryStreamExt;
use linn_format::file::DataFileMeta;
use linn_format::row::BinaryRow;
use linn_format::schema::TableSchema;
use linn_format::{Error, ErrorKind, Result};

use super::absent::Absent;
use super::check::Check;
use super::due::Due;
use super::gather::{Gathering, Replaces, apart};
use super::open::Opener;
use super::pool::{BucketPool, Flushed};
use super::routing::Routing;
#[cfg(test)]
use super::settings::Settings;
use crate::append;
use crate::assign::{Routed, Router};
use crate::commit::{CommitMessage, CommitOutcome};
use crate::file::BucketFiles;
use crate::seam::Env;
use crate::spill::MemoryBudget;
use crate::table::Table;
use crate::vector::BucketVectors;

/// Where a writer finds the buckets of its table.
#[async_trait]
pub(crate) trait Buckets: Send + Sync {
    /// A bucket as it is by the latest snapshot.
    async fn open(&self, partition: &BinaryRow, bucket: i32) -> Result<OpenBucket>;

    /// The buckets that have files of levels below this one, by the latest snapshot.
    async fn below(&self, level: i32) -> Result<Vec<(BinaryRow, i32)>>;

    /// How many commits with rows followed the last full compaction that told its changes, counted up to `at_most`.
    async fn commits_since_full(&self, at_most: usize) -> Result<usize>;

    /// Says that buckets of these partitions will be opened at once, so that they can be looked up together. Holds until the
    /// next call.
    async fn announce(&self, _partitions: &[BinaryRow]) -> Result<()> {
        Ok(())
    }
}

/// A bucket and what it holds.
pub(crate) struct OpenBucket {
    /// Where its files are.
    pub(crate) files: Arc<dyn BucketFiles>,
    /// The live ones.
    pub(crate) live: Vec<Arc<DataFileMeta>>,
    /// Their deletion vectors, where compaction keeps them.
    pub(crate) vectors: BucketVectors,
}

/// Writes rows of one table into its buckets. At any time a bucket may have one writer only.
pub struct TableWriter {
    check: Check,
    routing: Routing,
    buckets: BucketPool,
    /// Rows were lost whose keys are known to have moved; nothing may be committed any more.
    failed: bool,
    /// Rows that were taken, and have no bucket yet because the store failed; in order, before those that come next.
    taken: VecDeque<(RecordBatch, Int8Array)>,
    /// The same, for rows whose bucket is known but could not be opened. They came before those of `taken`.
    routed: VecDeque<Routed>,
    /// Full compactions, where they come by commits.
    full: Option<Due>,
    /// What the rows replace.
    replaces: Replaces,
}

impl TableWriter {
    /// A writer of merge trees, wherever their files are, whose buffers draw on `budget`.
    #[cfg(test)]
    pub(crate) fn new(
        schema: &TableSchema,
        env: &Env,
        buckets: Arc<dyn Buckets>,
        budget: MemoryBudget,
    ) -> Result<Self> {
        let routing = Routing::of_rows(schema)?;
        let settings = Settings::of(schema, env, routing.buckets())?;
        Self::with_opener(schema, env, Opener::MergeTree(buckets, Arc::new(settings)), routing, budget)
    }

    /// A writer of an append table whose buffers draw on `budget`. Where sequence numbers go on, `buckets` tells.
    pub(crate) fn append(table: &Table, buckets: Arc<dyn Buckets>, budget: MemoryBudget) -> Result<Self> {
        let total_buckets = Router::new(table.schema())?.buckets();
        let settings = Arc::new(append::Settings::of(table, total_buckets)?);
        let options = table.options();
        // Where a bucket has no order, sequence numbers say nothing, and any number of jobs may write it.
        let ordered = total_buckets > 0 && (options.bucket_append_ordered()? || !options.write_only()?);
        let opener = Opener::Append(ordered.then_some(buckets), settings);
        Self::with_opener(table.schema(), table.env(), opener, Routing::of_rows(table.schema())?, budget)
    }

    /// A writer that writes what `opener` opens to where `routing` says.
    pub(crate) fn with_opener(
        schema: &TableSchema,
        env: &Env,
        opener: Opener,
        routing: Routing,
        budget: MemoryBudget,
    ) -> Result<Self> {
        let full = opener.compaction().map(|c| c.full_every).unwrap_or_default().map(Due::new);
        let (check, buckets) = (Check::new(schema)?, BucketPool::new(opener, env.clone(), budget));
        let (taken, routed) = (VecDeque::new(), VecDeque::new());
        Ok(Self { check, routing, buckets, failed: false, taken, routed, full, replaces: Replaces::NotAsked })
    }

    /// Writes rows: all columns of the table by name, in the Arrow types of the table (timestamps of more than six digits
    /// may come as text instead), with a row kind (0 to 3) for each, or all `+I`. With `rowkind.field` the kinds come from that column.
    ///
    /// # Errors
    /// `Invalid` naming the column and row that do not fit the table: nothing of the batch is written then.
    /// `Unavailable` when the store or the local disk fails: the rows are in the buffer, and the writer can go on. Where
    /// the primary key lacks partition columns, and without one, where rows go through into files, it may have to be closed, and
    /// says so then.
    pub async fn write(&mut self, batch: &RecordBatch, kinds: Option<&Int8Array>) -> Result<()> {
        self.usable()?;
        let (rows, kinds) = self.check.rows(batch, kinds)?;
        self.put(rows, kinds).await
    }

    /// Writes rows that the table holds elsewhere, with the values that they have.
    pub(crate) async fn write_stored(&mut self, batch: &RecordBatch, kinds: Option<&Int8Array>) -> Result<()> {
        self.usable()?;
        let (rows, kinds) = self.check.stored(batch, kinds)?;
        self.put(rows, kinds).await
    }

    async fn put(&mut self, rows: RecordBatch, kinds: Int8Array) -> Result<()> {
        match &mut self.replaces {
            Replaces::NotAsked => self.take(rows, kinds).await,
            Replaces::Gathering(gathering) => {
                let taken = gathering.push(&rows, &kinds);
                self.failed |= taken.is_err();
                taken
            }
            Replaces::Known(_) => {
                Err(Error::invalid("a dynamic partition overwrite is committed once").with_hint("use another writer"))
            }
        }
    }

    /// Writes rows that have only some of the table's columns; the others are null, which in a table that merges partial rows
    /// means that they are left alone. Otherwise as [`write`](Self::write); a column that must have a value must be there.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub async fn write_some(&mut self, batch: &RecordBatch, kinds: Option<&Int8Array>) -> Result<()> {
        let lacks_none = batch.num_columns() == self.check.arrow().fields().len();
        if lacks_none || !matches!(self.replaces, Replaces::NotAsked) || !self.takes_absent() {
            let columns = Absent::default().filled(&self.check.some(batch, None)?.0, self.check.arrow());
            return self.write(&RecordBatch::try_new(Arc::clone(self.check.arrow()), columns)?, kinds).await;
        }
        self.usable()?;
        let (rows, kinds) = self.check.some(batch, kinds)?;
        self.take(rows, kinds).await
    }

    /// Whether rows come to their bucket with the columns that they have.
    fn takes_absent(&self) -> bool {
        matches!(self.buckets.opener(), Opener::MergeTree(..)) && self.routing.is_of_rows()
    }

    /// Has rows wait until it is known which partitions they replace.
    pub(super) fn gather(mut self, gathering: Gathering) -> Self {
        self.replaces = Replaces::Gathering(Box::new(gathering));
        self
    }

    /// Writes the rows that have waited.
    async fn end_gathering(&mut self) -> Result<()> {
        let gathering = match std::mem::take(&mut self.replaces) {
            Replaces::Gathering(gathering) => gathering,
            other => {
                self.replaces = other;
                return Ok(());
            }
        };
        let ended = async {
            let mut gathered = gathering.end()?;
            let mut rows = gathered.rows()?;
            while let Some(batch) = rows.try_next().await? {
                let (rows, kinds) = apart(&batch)?;
                gathered.writer.take(rows, kinds).await?;
            }
            gathered.writer.replaces = Replaces::Known(gathered.partitions);
            Ok(gathered.writer)
        };
        match ended.await {
            Ok(writer) => *self = writer,
            Err(e) => {
                self.failed = true;
                return Err(e);
            }
        }
        Ok(())
    }

    /// Writes rows that were checked.
    async fn take(&mut self, rows: RecordBatch, kinds: Int8Array) -> Result<()> {
        self.taken.push_back((rows, kinds));
        self.pass_on().await?;
        self.buckets.keep_to_budget().await
    }

    /// Brings the rows that were taken into the buffers of their buckets. What cannot be brought there for want of the store
    /// stays for the next time, unless it is known to have moved keys.
    async fn pass_on(&mut self) -> Result<()> {
        loop {
            let written = self.write_routed().await;
            self.failed |= written.is_err() && self.routing.moves_keys();
            written?;
            let Some((rows, kinds)) = self.taken.front().cloned() else { return Ok(()) };
            let split = self.routing.split(rows, kinds).await;
            let later = |e: &Error| matches!(e.kind(), ErrorKind::Unavailable | ErrorKind::UnknownOutcome);
            if split.as_ref().is_err_and(later) && !self.routing.moves_keys() {
                return split.map(drop);
            }
            // Rows that are at fault themselves would be for ever.
            self.taken.pop_front();
            self.routed.extend(split?);
        }
    }

    async fn write_routed(&mut self) -> Result<()> {
        if self.routed.is_empty() {
            return Ok(());
        }
        self.announce().await?;
        while let Some((partition, bucket)) = self.routed.front().map(|r| (r.partition.clone(), r.bucket)) {
            let writer = self.buckets.bucket(&partition, bucket).await?;
            let Some(Routed { rows, kinds, .. }) = self.routed.pop_front() else { break };
            writer.write(rows, kinds).await?;
        }
        Ok(())
    }

    fn usable(&self) -> Result<()> {
        match self.failed {
            true => Err(Error::invalid("an earlier write failed and lost rows; close this writer and write again")),
            false => Ok(()),
        }
    }

    /// Compacts a bucket, completely when `full`; [`TableWriter::prepare_commit`] hands over the result.
    ///
    /// # Errors
    /// `Unsupported` for a `write-only` table and for tables whose compaction needs what Linn lacks.
    pub async fn compact(&mut self, partition: &BinaryRow, bucket: i32, full: bool) -> Result<()> {
        let settings = match self.buckets.opener() {
            Opener::MergeTree(_, settings) | Opener::Postponed(_, _, settings) => Some(settings),
            Opener::Append(..) => None,
        };
        if settings.is_some_and(|settings| settings.compaction.is_none()) {
            return Err(Error::unsupported("compaction by a write-only writer")
                .with_hint("set 'write-only' to 'false' for the compacting job"));
        }
        self.buckets.opener().announce(&[]).await?;
        self.buckets.bucket(partition, bucket).await?.compact(full).await
    }

    /// Takes up what earlier writers left at level 0 of tables whose compactions look older rows up (first-row, a lookup
    /// changelog, deletion vectors): the next [`TableWriter::prepare_commit`] compacts it, and the changes that were not
    /// told yet come with that commit. For a writer that goes on where another stopped (cases: C2); buckets that rows
    /// are written to take part without it. Returns the number of buckets.
    ///
    /// # Errors
    /// What reading the latest snapshot yields.
    pub async fn resume(&mut self) -> Result<usize> {
        let opener = self.buckets.opener();
        let (buckets, is_behind) = match opener {
            Opener::MergeTree(buckets, _) => (buckets.clone(), opener.compaction().is_some_and(|c| c.changes.looks_up)),
            Opener::Append(..) | Opener::Postponed(..) => return Ok(0),
        };
        if !is_behind {
            return Ok(0);
        }
        buckets.announce(&[]).await?;
        let left = buckets.below(1).await?;
        for (partition, bucket) in &left {
            self.buckets.bucket(partition, *bucket).await?;
        }
        Ok(left.len())
    }

    /// Opens all buckets that a full compaction has something to do in, when one is due.
    async fn due(&mut self) -> Result<bool> {
        let opener = self.buckets.opener();
        let Opener::MergeTree(buckets, _) = opener else { return Ok(false) };
        let (buckets, top) = (buckets.clone(), opener.compaction().map_or(0, |c| c.num_levels));
        let Some(due) = self.full.as_mut().filter(|_| self.buckets.has_rows()) else {
            return Ok(false);
        };
        if !due.is_now(&*buckets).await? {
            return Ok(false);
        }
        buckets.announce(&[]).await?;
        let top = i32::try_from(top.saturating_sub(1)).unwrap_or(i32::MAX);
        for (partition, bucket) in buckets.below(top).await? {
            self.buckets.bucket(&partition, bucket).await?;
        }
        Ok(true)
    }

    /// Writes out all buffers, on as many threads as the work pool has, and returns what to commit: one message for
    /// each bucket that changed, in partition and bucket order. With `wait` running compactions are waited for.
    /// Writers of buckets in which nothing happened are let go.
    ///
    /// # Errors
    /// What writing and compacting yield; what was written already is handed over by a later call.
    pub async fn prepare_commit(&mut self, wait: bool) -> Result<Vec<CommitMessage>> {
        self.usable()?;
        self.end_gathering().await?;
        self.pass_on().await?;
        self.buckets.refresh_stale().await?;
        let full = self.due().await?;
        let flushed = self.buckets.flush(wait, full).await;
        // A bucket that is lost has taken its rows along.
        self.failed |= flushed.is_err();
        let Flushed { mut messages, mut failure } = flushed?;
        if failure.is_none() {
            failure = self.routing.hand_over(&mut messages).await.err();
        }
        let Some(failure) = failure else {
            if let Some(due) = self.full.as_mut().filter(|_| messages.values().any(|m| !m.new_files.is_empty())) {
                due.committed(full);
            }
            let replaces = |message| CommitMessage { replaces: self.replaces.partitions(), ..message };
            return Ok(messages.into_values().map(replaces).collect());
        };
        self.buckets.take_back(messages);
        Err(failure)
    }

    /// Tells the writer how the commit of what it handed over ended. When the compaction was not committed, because another
    /// one came first, it is dropped, and the writer goes on from what the table holds now. To be called when nothing else
    /// that was handed over waits for its commit.
    ///
    /// # Errors
    /// `Unavailable` or `Corrupt` from reading the table; the writer is as before then.
    pub async fn settle(&mut self, outcome: &CommitOutcome) -> Result<()> {
        match outcome {
            CommitOutcome::CompactionLost { .. } | CommitOutcome::Conflict(_) => self.buckets.refresh(true).await,
            CommitOutcome::Committed(_) | CommitOutcome::Unknown(_) => Ok(()),
        }
    }

    /// Looks at the table anew: what other writers and compactions have done since the buckets were opened. Rows that were
    /// written stay; compactions that have not been handed over are dropped.
    ///
    /// # Errors
    /// As [`TableWriter::settle`].
    pub async fn refresh(&mut self) -> Result<()> {
        self.buckets.refresh(false).await
    }

    /// Ends the writer; what was not handed over by [`TableWriter::prepare_commit`] is given up and its files deleted.
    pub async fn close(mut self) -> Result<()> {
        self.buckets.abort().await;
        Ok(())
    }

    /// Has partitions looked up together of which no bucket is being written.
    async fn announce(&mut self) -> Result<()> {
        let mut new: Vec<BinaryRow> = Vec::new();
        for routed in &self.routed {
            let known = new.last() == Some(&routed.partition) || !self.buckets_of(&routed.partition).is_empty();
            if !known {
                new.push(routed.partition.clone());
            }
        }
        self.buckets.opener().announce(&new).await
    }

    /// The buckets of a partition that are being written.
    pub(crate) fn buckets_of(&self, partition: &BinaryRow) -> Vec<i32> {
        self.buckets.buckets_of(partition)
    }
}
