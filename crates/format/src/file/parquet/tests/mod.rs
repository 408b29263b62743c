//! Tests of reading and writing Parquet files.

mod corrupt;
mod golden;
mod large;
mod pages;
mod prune;
mod random;
mod roundtrip;
mod units;

use std::io::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use arrow_array::RecordBatch;
use async_trait::async_trait;
use bytes::Bytes;
use futures::TryStreamExt;
use futures::executor::block_on;

use super::Parquet;
use crate::file::{FileFormat, FileRead, FileWrite, RangeReader};
use crate::fixture::plainly;
use crate::options::Options;
use crate::types::DataField;
use crate::{Error, Result};

/// A file in memory that counts how often it is read, and how much at once.
pub(super) struct Memory {
    bytes: Bytes,
    reads: AtomicUsize,
    largest: AtomicUsize,
}

impl Memory {
    pub(super) fn new(bytes: impl Into<Bytes>) -> Arc<Self> {
        Arc::new(Self { bytes: bytes.into(), reads: AtomicUsize::new(0), largest: AtomicUsize::new(0) })
    }

    fn reads(&self) -> usize {
        self.reads.load(Ordering::Relaxed)
    }

    /// Bytes of the largest read.
    fn largest(&self) -> usize {
        self.largest.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl RangeReader for Memory {
    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn path(&self) -> &str {
        "bucket-0/data-x.parquet"
    }

    async fn read(&self, range: Range<u64>) -> Result<Bytes> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let range = range.start as usize..range.end as usize;
        self.largest.fetch_max(range.len(), Ordering::Relaxed);
        self.bytes.get(range.clone()).map(|_| self.bytes.slice(range)).ok_or_else(|| Error::corrupt("short file"))
    }
}

#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(buf);
        Ok(buf.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub(super) fn file_read(fields: &[DataField]) -> FileRead {
    FileRead { fields: fields.to_vec(), filter: None, exact_filter: false, deleted: None, batch_size: 1024 }
}

pub(super) fn read(file: &Arc<Memory>, read: FileRead) -> Result<Vec<RecordBatch>> {
    let file: Arc<dyn RangeReader> = Arc::<Memory>::clone(file);
    block_on(async { Parquet.read(file, read).await?.try_collect().await })
}

pub(super) fn write(fields: &[DataField], batches: &[RecordBatch], options: &[(&str, &str)]) -> Result<Vec<u8>> {
    let sink = Sink::default();
    let options: Options = options.iter().copied().collect();
    let write = FileWrite { parallel: false, options, ..plainly(fields, "zstd") };
    let mut writer = Parquet.write(write, Box::new(sink.clone()))?;
    for batch in batches {
        writer.write(batch)?;
    }
    writer.finish()?;
    Ok(std::mem::take(&mut *sink.0.lock().unwrap()))
}

/// A file of a table that Java 2.1 wrote.
fn fixture(table: &str) -> Vec<u8> {
    let (_, bytes) =
        crate::fixture::files(crate::fixture::java21(), table, |f| f.ends_with("-0.parquet")).next().unwrap();
    bytes.to_vec()
}

/// Its columns.
fn fixture_fields(table: &str) -> Vec<DataField> {
    crate::fixture::schema(crate::fixture::java21(), table).fields
}
