//! The writer of one bucket: a buffer, spilled runs, the files written since the last commit, and compaction.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{Array, Int8Array, RecordBatch};
use arrow_schema::DataType;
use futures::StreamExt;
use futures::stream::BoxStream;
use linn_format::file::{DataFileMeta, FileSource};
use linn_format::row::BinaryRow;
use linn_format::{BatchStream, ErrorKind, Result};

use super::absent::Absent;
use super::check::key_value;
use super::settings::Settings;
use super::writer::OpenBucket;
use crate::commit::CommitMessage;
use crate::compact::{Compacted, Compactor};
use crate::file::{BucketFiles, Output, Sink, give_up};
use crate::merge::{Before, Columns, MergeOptions, Merged, Ranks, SortedBuffer, merge_changes};
use crate::read::prefetch;
use crate::spill::{MemoryBudget, Share, Spill};

/// Bounds of a batch between the merge and the file.
const FLUSH_ROWS: usize = 32 << 10;
const FLUSH_BYTES: u64 = 8 << 20;

/// The writer of one bucket.
pub(crate) struct BucketWriter {
    partition: BinaryRow,
    bucket: i32,
    settings: Arc<Settings>,
    files: Arc<dyn BucketFiles>,
    /// `None` for `write-only` tables.
    compactor: Option<Compactor>,
    next_sequence: i64,
    buffer: Vec<RecordBatch>,
    absent: Absent,
    /// Bytes of rows that lacked columns, if they had them all.
    row_bytes: u64,
    memory: Share,
    /// Oldest first.
    spills: Vec<Spill>,
    new_files: Vec<Arc<DataFileMeta>>,
    changelog: Vec<Arc<DataFileMeta>>,
    before: Vec<Arc<DataFileMeta>>,
    after: Vec<Arc<DataFileMeta>>,
    compact_changelog: Vec<Arc<DataFileMeta>>,
    /// What compactions of the last message made; not in the table if its compaction was lost.
    handed: Vec<Arc<DataFileMeta>>,
    /// Whether files of a compaction were gone: the levels are not those of the table any more.
    stale: bool,
}

impl BucketWriter {
    /// A writer on top of the bucket's live files.
    pub(crate) fn new(
        partition: BinaryRow,
        bucket: i32,
        settings: Arc<Settings>,
        open: OpenBucket,
        budget: &MemoryBudget,
    ) -> Self {
        let OpenBucket { files, live, vectors } = open;
        let next_sequence = live.iter().map(|f| f.max_sequence_number).max().map_or(0, |last| last.saturating_add(1));
        let compactor = settings.compaction.as_ref().map(|compaction| {
            let (env, spec) = (settings.env.clone(), settings.spec.clone());
            Compactor::new(env, files.clone(), spec, settings.order.clone(), compaction.clone(), live, vectors)
        });
        Self {
            partition,
            bucket,
            settings,
            files,
            compactor,
            next_sequence,
            buffer: Vec::new(),
            absent: Absent::default(),
            row_bytes: 0,
            memory: budget.share(),
            spills: Vec::new(),
            new_files: Vec::new(),
            changelog: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
            compact_changelog: Vec::new(),
            handed: Vec::new(),
            stale: false,
        }
    }

    /// Bytes in memory.
    pub(crate) fn memory(&self) -> u64 {
        self.memory.bytes()
    }

    /// Buffers rows.
    pub(crate) fn write(&mut self, rows: &RecordBatch, kinds: Int8Array) -> Result<()> {
        let schema = self.settings.spec.input_schema();
        let batch = key_value(rows, &mut self.absent, kinds, self.next_sequence, schema)?;
        self.next_sequence += batch.num_rows() as i64;
        // Columns that the rows lack are shared by all batches; on their way out they take what the others do.
        let bytes = rows.get_array_memory_size() + 9 * rows.num_rows();
        let present = rows.columns().iter().filter(|column| *column.data_type() != DataType::Null).count();
        if present < rows.num_columns() {
            let whole = (bytes / rows.num_rows().max(1)).saturating_mul(rows.num_columns()) / present.max(1);
            self.row_bytes = self.row_bytes.max(whole as u64);
        }
        self.memory.grow(bytes as u64);
        self.buffer.push(batch);
        Ok(())
    }

    /// Empties the buffer for want of memory: to local disk where that is allowed, else into files. When the disk
    /// fails the rows stay in the buffer, and the writer can go on.
    pub(crate) async fn free_memory(&mut self) -> Result<()> {
        if !self.settings.may_spill(self.spills.len(), self.spills.iter().map(Spill::bytes).sum()) {
            return self.flush(false).await;
        }
        let rows = self.flush_rows().min(self.settings.batch_size);
        let sorted =
            SortedBuffer::new(&self.buffer, self.settings.spec.clone(), self.settings.view(Ranks::Together), rows)?
                .rows();
        let schema = self.settings.spec.output_schema();
        self.spills.push(Spill::write(&self.settings.env, schema, self.settings.spill_compression, sorted)?);
        self.buffer.clear();
        drop(self.memory.take());
        Ok(())
    }

    /// Writes what is buffered to level 0 and starts a compaction if one is due.
    pub(crate) async fn flush(&mut self, wait: bool) -> Result<()> {
        let stops = self.has_buffered() && self.compactor.as_ref().is_some_and(Compactor::stops_writes);
        self.write_level_0().await?;
        self.take_compacted(wait || stops).await?;
        match &mut self.compactor {
            Some(compactor) if !self.stale => compactor.trigger(false),
            _ => Ok(()),
        }
    }

    fn has_buffered(&self) -> bool {
        !self.buffer.is_empty() || !self.spills.is_empty()
    }

    /// Whether rows were written since the last commit.
    pub(crate) fn has_rows(&self) -> bool {
        self.has_buffered() || !self.new_files.is_empty()
    }

    async fn write_level_0(&mut self) -> Result<()> {
        if !self.has_buffered() {
            return Ok(());
        }
        let changelog = match self.settings.input_changelog {
            true => self.write_changelog().await?,
            false => Vec::new(),
        };
        let written = self.write_data().await;
        let files = match written {
            Ok(files) => files,
            Err(e) => {
                for file in &changelog {
                    self.files.delete(file).await.ok();
                }
                return Err(match e.kind() {
                    // An overflow, for one: it is only found where rows meet.
                    ErrorKind::Invalid => e.with("bucket", self.bucket).with_hint(
                        "the rows cannot be merged; committed data is unchanged: close the writer, and write the rows since the \
                         last commit again, without those that do not fit",
                    ),
                    _ => e,
                });
            }
        };
        self.buffer.clear();
        self.spills.clear();
        drop(self.memory.take());
        self.changelog.extend(changelog);
        if let Some(compactor) = &mut self.compactor {
            compactor.add(&files);
        }
        self.new_files.extend(files);
        Ok(())
    }

    /// Writes what is buffered into a file of level 0, or several where records of a key stay apart: the newest of each key
    /// into the last one, and so on. Read one after the other they tell what was written.
    async fn write_data(&self) -> Result<Vec<Arc<DataFileMeta>>> {
        // Encoding a file and merging its rows each keep a core busy.
        let mut merged = prefetch(&self.settings.env, self.merged()?);
        let mut sinks: Vec<Box<dyn Sink>> = Vec::new();
        let written = async {
            while let Some(part) = merged.next().await {
                let part = part?;
                while sinks.len() <= part.apart.len() {
                    sinks.push(self.files.write(Output::Data(0, FileSource::Append)).await?);
                }
                let ranks = std::iter::once(&part.rows).chain(&part.apart);
                for (sink, rows) in sinks.iter_mut().zip(ranks) {
                    if let Some(rows) = rows {
                        sink.write(rows).await?;
                    }
                }
            }
            Ok(())
        };
        let written: Result<()> = written.await;
        self.close_all(sinks, written).await
    }

    /// What is buffered and spilled, merged.
    fn merged(&self) -> Result<BoxStream<'static, Result<Merged>>> {
        let (spec, batch_size) = (&self.settings.spec, self.flush_rows());
        if self.spills.is_empty() {
            let sorted =
                SortedBuffer::new(&self.buffer, spec.clone(), self.settings.view(Ranks::FromNewest), batch_size)?;
            return Ok(futures::stream::iter(sorted).boxed());
        }
        let sorted = SortedBuffer::new(&self.buffer, spec.clone(), self.settings.view(Ranks::Together), batch_size)?;
        let mut runs: Vec<BatchStream> = vec![futures::stream::iter(sorted.rows()).boxed()];
        for spill in self.spills.iter().rev() {
            runs.push(spill.read()?);
        }
        let runs = runs.into_iter().map(|run| run.map(|batch| Ok((batch?, 0))).boxed()).collect();
        let view = self.settings.view(Ranks::FromNewest);
        let how =
            MergeOptions { view, batch_size, before: Before::NotCompared, changes: None, columns: Columns::InTurn };
        Ok(merge_changes(runs, spec.clone(), how))
    }

    /// Finishes the files of a flush, the oldest first; when something failed nothing stays.
    async fn close_all(&self, sinks: Vec<Box<dyn Sink>>, mut written: Result<()>) -> Result<Vec<Arc<DataFileMeta>>> {
        let mut files = Vec::new();
        for sink in sinks.into_iter().rev() {
            if written.is_err() {
                sink.abort().await.ok();
                continue;
            }
            match sink.close().await {
                Ok(closed) => files.extend(closed),
                Err(e) => written = Err(e),
            }
        }
        if let Err(e) = written {
            for file in &files {
                self.files.delete(file).await.ok();
            }
            return Err(e);
        }
        Ok(files)
    }

    /// Rows of a batch on its way from the merge to a file: many, so that the two and the columns among themselves seldom
    /// wait for each other, but of bounded size where rows are large.
    fn flush_rows(&self) -> usize {
        let rows: usize = self.buffer.iter().map(RecordBatch::num_rows).sum();
        let row_bytes = (self.memory.bytes() / (rows as u64).max(1)).max(self.row_bytes);
        let rows = FLUSH_BYTES / row_bytes.max(1);
        usize::try_from(rows).unwrap_or(FLUSH_ROWS).clamp(1, FLUSH_ROWS)
    }

    /// The input as it came; spilled input is merged already, so changelog tables do not spill.
    async fn write_changelog(&self) -> Result<Vec<Arc<DataFileMeta>>> {
        let batches: Vec<Result<RecordBatch>> = self.buffer.iter().cloned().map(Ok).collect();
        let sink = self.files.write(Output::Changelog(0)).await?;
        write_all(sink, futures::stream::iter(batches).boxed()).await
    }

    /// Asks for a compaction of what is there.
    pub(crate) async fn compact(&mut self, full: bool) -> Result<()> {
        if !full {
            return self.flush(true).await;
        }
        self.write_level_0().await?;
        self.take_compacted(true).await?;
        match &mut self.compactor {
            Some(compactor) => compactor.trigger(true),
            None => Ok(()),
        }
    }

    /// Flushes, and hands over what changed since the last call; waits for the running compaction when `wait`, when the
    /// table's options say so, when there are too many sorted runs, or when it is a `full` one that comes with this
    /// commit. `None` when nothing changed.
    pub(crate) async fn prepare_commit(&mut self, wait: bool, full: bool) -> Result<Option<CommitMessage>> {
        let wait = wait || full || self.settings.wait_compact;
        match full {
            true => self.compact(true).await?,
            false => self.flush(wait).await?,
        }
        let wait = wait || self.compactor.as_ref().is_some_and(Compactor::stops_commits);
        self.take_compacted(wait).await?;
        let index_changes = match &mut self.compactor {
            Some(compactor) => compactor.vectors().hand_over(&*self.files).await?,
            None => Vec::new(),
        };
        let mut message = CommitMessage::new(self.partition.clone(), self.bucket, self.settings.total_buckets);
        message.new_files = std::mem::take(&mut self.new_files);
        message.changelog_files = std::mem::take(&mut self.changelog);
        message.compact_before = std::mem::take(&mut self.before);
        message.compact_after = std::mem::take(&mut self.after);
        message.compact_index_changes = index_changes;
        if let Some(now) = self.compactor.as_ref().and_then(Compactor::basis) {
            message.compact_basis_from(&now);
        }
        message.compact_changelog = std::mem::take(&mut self.compact_changelog);
        self.handed = made(&message.compact_before, &message.compact_after);
        self.handed.extend(message.compact_changelog.iter().cloned());
        let empty = message.new_files.is_empty()
            && message.changelog_files.is_empty()
            && message.compact_before.is_empty()
            && message.compact_after.is_empty()
            && message.compact_changelog.is_empty();
        Ok((!empty).then_some(message))
    }

    /// Takes a message back that will not be committed now; the next one has it again.
    pub(crate) fn take_back(&mut self, message: CommitMessage) {
        self.new_files.splice(0..0, message.new_files);
        self.changelog.splice(0..0, message.changelog_files);
        self.before.splice(0..0, message.compact_before);
        self.after.splice(0..0, message.compact_after);
        if let Some(compactor) = &mut self.compactor {
            compactor.vectors().take_back(message.compact_index_changes);
        }
        self.compact_changelog.splice(0..0, message.compact_changelog);
    }

    /// Whether nothing is buffered, nothing runs, and nothing waits for a compaction that looks it up.
    pub(crate) fn is_idle(&self) -> bool {
        self.buffer.is_empty()
            && self.spills.is_empty()
            && self.new_files.is_empty()
            && self.after.is_empty()
            && !self.compactor.as_ref().is_some_and(|c| c.is_running() || c.is_behind())
    }

    /// What is in the table only once it was committed, for a writer on top of newer levels.
    pub(crate) async fn move_to(&mut self, newer: &mut Self, lost: bool) {
        // A compaction of levels that are not those of the table is of no use, however it ends.
        if let Some(compactor) = &mut self.compactor
            && let Ok(Some(compacted)) = compactor.result(true).await
        {
            self.record(compacted).await;
        }
        if let Some(compactor) = &mut self.compactor {
            compactor.vectors().abort(&*self.files).await;
        }
        give_up(&*self.files, &self.before, &self.after).await;
        let mut unused = std::mem::take(&mut self.compact_changelog);
        if lost {
            unused.append(&mut self.handed);
        }
        for file in unused {
            self.files.delete(&file).await.ok();
        }
        self.before.clear();
        self.after.clear();
        newer.next_sequence = newer.next_sequence.max(self.next_sequence);
        newer.buffer = std::mem::take(&mut self.buffer);
        newer.memory = self.memory.take();
        newer.spills = std::mem::take(&mut self.spills);
        newer.new_files = std::mem::take(&mut self.new_files);
        newer.changelog = std::mem::take(&mut self.changelog);
        if let Some(compactor) = &mut newer.compactor {
            compactor.add(&newer.new_files);
        }
    }

    /// Whether files that the writer counts on are gone.
    pub(crate) fn is_stale(&self) -> bool {
        self.stale
    }

    async fn take_compacted(&mut self, wait: bool) -> Result<()> {
        let Some(compactor) = &mut self.compactor else { return Ok(()) };
        match compactor.result(wait).await {
            Ok(Some(compacted)) => self.record(compacted).await,
            Ok(None) => {}
            // Another compaction came first, and its snapshot's predecessors have expired: this one is dropped.
            Err(e) if e.kind() == ErrorKind::NotFound => {
                tracing::warn!(bucket = self.bucket, error = %e, "another compaction took the files of this one");
                self.stale = true;
            }
            Err(e) => return Err(e),
        }
        Ok(())
    }

    /// Takes a compaction into the message. A file that an earlier compaction of the same message made is not needed
    /// any more and deleted, unless it is an upgrade: then it is the committed file itself.
    async fn record(&mut self, compacted: Compacted) {
        let kept: HashSet<&str> = compacted.after.iter().map(|f| f.file_name.as_str()).collect();
        for file in compacted.before {
            let made = self.after.iter().position(|a| a.file_name == file.file_name && a.level == file.level);
            match made {
                Some(at) => {
                    self.after.remove(at);
                    if !kept.contains(file.file_name.as_str()) {
                        give_up(&*self.files, &self.before, std::slice::from_ref(&file)).await;
                    }
                }
                None => self.before.push(file),
            }
        }
        self.after.extend(compacted.after);
        self.compact_changelog.extend(compacted.changelog);
    }

    /// Gives up what was not handed over, and deletes its files.
    pub(crate) async fn abort(&mut self) {
        if self.take_compacted(true).await.is_err() {
            // The compaction has cleaned up after itself.
        }
        self.buffer.clear();
        self.spills.clear();
        drop(self.memory.take());
        give_up(&*self.files, &std::mem::take(&mut self.before), &std::mem::take(&mut self.after)).await;
        let changelog = self.changelog.drain(..).chain(self.compact_changelog.drain(..));
        for file in self.new_files.drain(..).chain(changelog) {
            self.files.delete(&file).await.ok();
        }
        if let Some(compactor) = &mut self.compactor {
            compactor.vectors().abort(&*self.files).await;
        }
    }
}

/// Files that a compaction wrote, without those that only moved to another level.
fn made(before: &[Arc<DataFileMeta>], after: &[Arc<DataFileMeta>]) -> Vec<Arc<DataFileMeta>> {
    let before: HashSet<&str> = before.iter().map(|f| f.file_name.as_str()).collect();
    after.iter().filter(|f| !before.contains(f.file_name.as_str())).cloned().collect()
}

async fn write_all(mut sink: Box<dyn Sink>, mut batches: BatchStream) -> Result<Vec<Arc<DataFileMeta>>> {
    while let Some(batch) = batches.next().await {
        let written = match batch {
            Ok(batch) => sink.write(&batch).await,
            Err(e) => Err(e),
        };
        if let Err(e) = written {
            sink.abort().await.ok();
            return Err(e);
        }
    }
    sink.close().await
}
