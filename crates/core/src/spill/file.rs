//! Sorted runs of a write buffer on local disk, as Arrow IPC files compressed with zstd or lz4.
//!
//! A spill file is removed when the spill is dropped.

use std::fs::File;
use std::io::{BufReader, BufWriter};

use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, SchemaRef};
use futures::StreamExt;
use linn_format::{BatchStream, Error, Result};

use crate::seam::Env;

/// A run on disk.
#[derive(Debug)]
pub(crate) struct Spill {
    path: std::path::PathBuf,
    bytes: u64,
}

impl Spill {
    /// Writes a run.
    ///
    /// # Errors
    /// `Unavailable` when the disk is full or cannot be written; nothing is left behind then.
    pub(crate) fn write(
        env: &Env,
        schema: &SchemaRef,
        compression: Option<CompressionType>,
        batches: impl Iterator<Item = Result<RecordBatch>>,
    ) -> Result<Self> {
        let mut writer = Self::start(env, schema, compression)?;
        for batch in batches {
            writer.write(&batch?)?;
        }
        writer.finish()
    }

    /// Starts a run that is written batch by batch.
    ///
    /// # Errors
    /// As [`Spill::write`].
    pub(crate) fn start(env: &Env, schema: &SchemaRef, compression: Option<CompressionType>) -> Result<SpillWriter> {
        std::fs::create_dir_all(&env.spill_dir).map_err(|e| disk(&env.spill_dir, e))?;
        let path = env.spill_dir.join(format!("spill-{}.arrow", env.ids.uuid()));
        let file = File::create(&path).map_err(|e| disk(&path, e))?;
        // From here on dropping `spill` removes the file.
        let spill = Self { path, bytes: 0 };
        let options = IpcWriteOptions::default().try_with_compression(compression)?;
        let writer = StreamWriter::try_new_with_options(BufWriter::new(file), schema, options)
            .map_err(|e| disk(&spill.path, std::io::Error::other(e)))?;
        Ok(SpillWriter { writer, spill })
    }

    /// Bytes on disk.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads the run back.
    ///
    /// # Errors
    /// `Unavailable` when the file cannot be read.
    pub(crate) fn read(&self) -> Result<BatchStream> {
        let file = File::open(&self.path).map_err(|e| disk(&self.path, e))?;
        let path = self.path.clone();
        let reader =
            StreamReader::try_new(BufReader::new(file), None).map_err(|e| disk(&path, std::io::Error::other(e)))?;
        let batches = reader.map(move |b| b.map_err(|e| disk(&path, std::io::Error::other(e))));
        Ok(futures::stream::iter(batches).boxed())
    }
}

/// A run that is being written; dropping it removes the file.
pub(crate) struct SpillWriter {
    writer: StreamWriter<BufWriter<File>>,
    spill: Spill,
}

impl SpillWriter {
    /// Appends a batch.
    ///
    /// # Errors
    /// As [`Spill::write`].
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(batch).map_err(|e| self.failed(e))
    }

    /// Ends the run.
    ///
    /// # Errors
    /// As [`Spill::write`].
    pub(crate) fn finish(mut self) -> Result<Spill> {
        self.writer.finish().map_err(|e| self.failed(e))?;
        let Self { writer, mut spill } = self;
        drop(writer);
        spill.bytes = std::fs::metadata(&spill.path).map_err(|e| disk(&spill.path, e))?.len();
        Ok(spill)
    }

    fn failed(&self, e: ArrowError) -> Error {
        disk(&self.spill.path, std::io::Error::other(e))
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        std::fs::remove_file(&self.path).ok();
    }
}

fn disk(path: &std::path::Path, e: std::io::Error) -> Error {
    Error::unavailable("cannot spill to local disk")
        .with("path", path.display())
        .with_hint("free disk space, or set 'write-buffer-spillable' to 'false'")
        .with_source(e)
}
