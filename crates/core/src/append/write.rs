//! The writer of one bucket whose rows are not merged: of an append table, or of rows that wait for their bucket.
//!
//! Rows go through to an open file once there is enough of them. Open files cost memory too, so only some of a table's
//! writers may have one; the others buffer within the shared budget, and spill to local disk what does not fit. Order is
//! kept: what is in the open file comes before what was spilled, and that before what is buffered.

use std::sync::Arc;

use arrow_array::{Int8Array, Int64Array, RecordBatch};
use arrow_ipc::CompressionType;
use arrow_schema::SchemaRef;
use futures::StreamExt;
use linn_format::file::{DataFileMeta, FileSource};
use linn_format::options::table::write::{WRITE_BUFFER_SPILL_MAX_DISK_SIZE, WRITE_MAX_WRITERS_TO_SPILL};
use linn_format::row::BinaryRow;
use linn_format::schema::Bucketing;
use linn_format::{Error, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::commit::CommitMessage;
use crate::file::{FileKind, RollingWriter, extra_file_path, place_of};
use crate::spill::{MemoryBudget, Share, Spill, spill_compression};
use crate::table::Table;

/// Buffered bytes that are worth writing through to an open file.
const CHUNK: u64 = 4 << 20;

/// What the writers of one table share.
pub(crate) struct Settings {
    table: Table,
    total_buckets: i32,
    /// How rows become key-value batches; none for those of append tables.
    keyed: Option<SchemaRef>,
    /// One permit for every file that may be open between writes.
    open_files: Arc<Semaphore>,
    /// Codec of spill files; `None` when spilling is not allowed.
    spill: Option<Option<CompressionType>>,
    max_spill_bytes: u64,
}

impl Settings {
    /// The settings of a table.
    ///
    /// # Errors
    /// `Invalid` for a bad option value, `Unsupported` for tables whose files hold more than rows.
    pub(crate) fn of(table: &Table, total_buckets: i32) -> Result<Self> {
        super::check(table)?;
        Self::new(table, total_buckets, None)
    }

    /// The settings of a table whose rows wait for a bucket: key-value files, rows in the order in which they come.
    /// `schema` is that of key-value batches, `table` names and writes the files.
    ///
    /// # Errors
    /// `Invalid` for a bad option value.
    pub(crate) fn of_waiting(table: &Table, schema: &SchemaRef) -> Result<Self> {
        Self::new(table, Bucketing::POSTPONED, Some(schema.clone()))
    }

    fn new(table: &Table, total_buckets: i32, keyed: Option<SchemaRef>) -> Result<Self> {
        let options = table.options();
        let open = usize::try_from(options.require(&WRITE_MAX_WRITERS_TO_SPILL)?).unwrap_or(Semaphore::MAX_PERMITS);
        Ok(Self {
            table: table.clone(),
            total_buckets,
            keyed,
            open_files: Arc::new(Semaphore::new(open.min(Semaphore::MAX_PERMITS))),
            spill: options.write_buffer_spillable()?.then(|| spill_compression(options)).transpose()?,
            max_spill_bytes: options.require(&WRITE_BUFFER_SPILL_MAX_DISK_SIZE)?,
        })
    }
}

/// A file in progress.
struct OpenFile {
    writer: RollingWriter,
    _permit: OwnedSemaphorePermit,
}

/// The writer of one bucket.
pub(crate) struct AppendWriter {
    partition: BinaryRow,
    bucket: i32,
    settings: Arc<Settings>,
    /// Sequence number of the first row that is in no finished file.
    next_sequence: i64,
    open: Option<OpenFile>,
    /// Oldest first.
    spills: Vec<Spill>,
    buffer: Vec<RecordBatch>,
    memory: Share,
    new_files: Vec<Arc<DataFileMeta>>,
    /// Rows were lost with a file that could not be written; nothing may be committed any more.
    failed: bool,
}

impl AppendWriter {
    /// A writer whose first row gets the sequence number `next_sequence`.
    pub(crate) fn new(
        partition: BinaryRow,
        bucket: i32,
        settings: Arc<Settings>,
        next_sequence: i64,
        budget: &MemoryBudget,
    ) -> Self {
        Self {
            partition,
            bucket,
            settings,
            next_sequence,
            open: None,
            spills: Vec::new(),
            buffer: Vec::new(),
            memory: budget.share(),
            new_files: Vec::new(),
            failed: false,
        }
    }

    /// Bytes buffered.
    pub(crate) fn memory(&self) -> u64 {
        self.memory.bytes()
    }

    /// Takes rows; those of append tables are all `+I`.
    pub(crate) async fn write(&mut self, rows: RecordBatch, kinds: Int8Array) -> Result<()> {
        self.usable()?;
        let rows = match &self.settings.keyed {
            Some(schema) => unnumbered(&rows, kinds, schema)?,
            None => rows,
        };
        self.memory.grow(rows.get_array_memory_size() as u64);
        self.buffer.push(rows);
        if self.memory.bytes() >= CHUNK && self.may_open() {
            self.write_through().await?;
        }
        Ok(())
    }

    /// Empties the buffer for want of memory: into the open file, to local disk, or else into files of their own.
    pub(crate) async fn free_memory(&mut self) -> Result<()> {
        self.usable()?;
        if self.may_open() {
            return self.write_through().await;
        }
        let spilled: u64 = self.spills.iter().map(Spill::bytes).sum();
        let Some(compression) = self.settings.spill.filter(|_| spilled < self.settings.max_spill_bytes) else {
            return self.finish_files().await;
        };
        let Some(first) = self.buffer.first() else { return Ok(()) };
        let (env, schema) = (self.settings.table.env(), first.schema());
        self.spills.push(Spill::write(env, &schema, compression, self.buffer.iter().cloned().map(Ok))?);
        self.buffer.clear();
        drop(self.memory.take());
        Ok(())
    }

    /// Whether there is an open file, or one can be opened now without overtaking what was spilled.
    fn may_open(&mut self) -> bool {
        if self.open.is_some() {
            return true;
        }
        if !self.spills.is_empty() {
            return false;
        }
        let Ok(permit) = Arc::clone(&self.settings.open_files).try_acquire_owned() else { return false };
        // An error shows up again when the buffer is written for good.
        let Ok(writer) = self.rolling() else { return false };
        self.open = Some(OpenFile { writer, _permit: permit });
        true
    }

    fn rolling(&self) -> Result<RollingWriter> {
        let kind = match self.settings.keyed {
            Some(_) => FileKind::KeyValue,
            None => FileKind::Append { first_sequence: self.next_sequence },
        };
        RollingWriter::new(&self.settings.table, &self.partition, self.bucket, 0, FileSource::Append, kind)
            .map(RollingWriter::in_parallel)
    }

    async fn write_through(&mut self) -> Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        for batch in &self.buffer {
            if let Err(e) = open.writer.write(batch).await {
                self.failed = true;
                return Err(e);
            }
        }
        self.buffer.clear();
        drop(self.memory.take());
        Ok(())
    }

    /// Writes everything into finished files. When that fails before any row had gone through, the rows are still here.
    async fn finish_files(&mut self) -> Result<()> {
        if self.open.is_none() && self.spills.is_empty() && self.buffer.is_empty() {
            return Ok(());
        }
        let (mut writer, gone_through) = match self.open.take() {
            Some(open) => (open.writer, true),
            None => (self.rolling()?, false),
        };
        let files = match drain(&self.spills, &self.buffer, &mut writer).await {
            Ok(()) => writer.close().await,
            Err(e) => {
                writer.abort().await.ok();
                Err(e)
            }
        };
        let files = files.inspect_err(|_| self.failed = gone_through)?;
        self.spills.clear();
        self.buffer.clear();
        drop(self.memory.take());
        if let Some(last) = files.last() {
            self.next_sequence = last.max_sequence_number.saturating_add(1);
        }
        self.new_files.extend(files);
        Ok(())
    }

    /// Finishes the files, and hands over those that are new since the last call. `None` when there are none.
    pub(crate) async fn prepare_commit(&mut self) -> Result<Option<CommitMessage>> {
        self.usable()?;
        self.finish_files().await?;
        if self.new_files.is_empty() {
            return Ok(None);
        }
        let mut message = CommitMessage::new(self.partition.clone(), self.bucket, self.settings.total_buckets);
        message.new_files = std::mem::take(&mut self.new_files);
        Ok(Some(message))
    }

    /// Takes a message back that will not be committed now; the next one has it again.
    pub(crate) fn take_back(&mut self, message: CommitMessage) {
        self.new_files.splice(0..0, message.new_files);
    }

    /// Gives up what was not handed over, and deletes its files.
    pub(crate) async fn abort(&mut self) {
        if let Some(open) = self.open.take() {
            open.writer.abort().await.ok();
        }
        self.spills.clear();
        self.buffer.clear();
        drop(self.memory.take());
        for file in self.new_files.drain(..) {
            delete(&self.settings.table, &self.partition, self.bucket, &file).await.ok();
        }
    }

    fn usable(&self) -> Result<()> {
        match self.failed {
            true => Err(Error::invalid("an earlier write failed and lost rows; close this writer and write again")
                .with("table", self.settings.table.name())),
            false => Ok(()),
        }
    }
}

/// Rows without sequence numbers: they get theirs with their bucket.
fn unnumbered(rows: &RecordBatch, kinds: Int8Array, schema: &SchemaRef) -> Result<RecordBatch> {
    let mut columns = rows.columns().to_vec();
    columns.push(Arc::new(Int64Array::from_value(-1, rows.num_rows())));
    columns.push(Arc::new(kinds));
    Ok(RecordBatch::try_new(schema.clone(), columns)?)
}

async fn drain(spills: &[Spill], buffer: &[RecordBatch], writer: &mut RollingWriter) -> Result<()> {
    for spill in spills {
        let mut batches = spill.read()?;
        while let Some(batch) = batches.next().await {
            writer.write(&batch?).await?;
        }
    }
    for batch in buffer {
        writer.write(batch).await?;
    }
    Ok(())
}

/// Deletes a file that no snapshot ever named, with what lies beside it.
pub(crate) async fn delete(table: &Table, partition: &BinaryRow, bucket: i32, file: &DataFileMeta) -> Result<()> {
    for name in &file.extra_files {
        table.storage().delete(&extra_file_path(table, partition, bucket, file, name)?).await?;
    }
    table.storage().delete(&place_of(table, partition, bucket, file)?.path).await
}
