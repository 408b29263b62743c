//! Data files: their metadata, and the formats that read and write them (spec: format.md C.5, C.7).

use std::ops::Range;

use arrow_array::{Array, RecordBatch};
use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;

pub mod avro;
pub mod blob;
mod counts;
#[cfg(test)]
pub(crate) mod golden;
pub mod layout;
mod meta;
pub mod orc;
pub mod parquet;
pub mod resolve;
pub(crate) mod select;
mod stream;

pub use counts::PartCounts;
pub use layout::{KeyValueLayout, key_value_batch_fields, sequence_number_field};
pub use meta::{DataFileMeta, FileSource};

use crate::options::Options;
use crate::predicate::Predicate;
use crate::types::DataField;
use crate::{Error, Result};

/// Batches as they come out of files and merges.
pub type BatchStream = BoxStream<'static, Result<RecordBatch>>;

/// Reads byte ranges of one immutable file.
#[async_trait]
pub trait RangeReader: Send + Sync {
    /// Size of the file in bytes.
    fn size(&self) -> u64;

    /// The path, for error messages.
    fn path(&self) -> &str;

    /// The bytes of `range`; exactly `range.end - range.start` of them.
    ///
    /// # Errors
    /// `NotFound` when the file is gone, `Corrupt` when it is shorter than `range.end`, `Unavailable` otherwise.
    async fn read(&self, range: Range<u64>) -> Result<Bytes>;
}

/// Bytes of values in a batch from which on it gets fewer rows: where rows are large, what a batch holds in memory counts.
pub const BATCH_BYTES: usize = 32 << 20;

/// Bytes of the values of a batch, also where it is part of a larger one.
///
/// # Errors
/// Those of Arrow, for types whose values have no size.
pub fn value_bytes(batch: &RecordBatch) -> Result<usize> {
    let of_columns = batch.columns().iter().map(|column| column.to_data().get_slice_memory_size());
    Ok(of_columns.sum::<std::result::Result<_, _>>()?)
}

/// What to read of one data file.
#[derive(Debug, Clone)]
pub struct FileRead {
    /// Columns to return, in order, under these names and types, found in the file by **name**; a column that the file
    /// lacks comes back as nulls. Nested ROW fields are likewise found by name. (The caller maps field ids to the
    /// file's names through the file's schema, and casts afterwards; see [`resolve`](crate::file::resolve).)
    pub fields: Vec<DataField>,
    /// A filter over `fields` by field id. Rows for which it is not true may be left out; they need not be.
    pub filter: Option<Predicate>,
    /// Whether `filter` must be exact: then only rows for which it is true come back.
    pub exact_filter: bool,
    /// Row positions to skip (deletion vector), by ordinal in the file.
    pub deleted: Option<std::sync::Arc<roaring::RoaringTreemap>>,
    /// Rows in a batch at the most.
    pub batch_size: usize,
    /// Where the parts of the file that are read and left out are counted.
    pub counts: Option<std::sync::Arc<PartCounts>>,
}

/// How to write one data file.
#[derive(Debug, Clone)]
pub struct FileWrite {
    /// Columns in order; batches to be written have exactly these, in the Arrow types that
    /// [`arrow_schema`](crate::types) gives.
    pub fields: Vec<DataField>,
    /// Compression codec by name (`zstd`, `lz4`, `snappy`, `none` …) as in `file.compression`.
    pub compression: String,
    /// zstd level, 1 by default.
    pub zstd_level: i32,
    /// Table options, for the format's own keys (`parquet.*`, `orc.*`, `avro.*`, `file.block-size`).
    pub options: Options,
    /// Whether columns may be encoded side by side, on as many threads as the machine has cores.
    pub parallel: bool,
    /// Whether a reader may look for some of the rows, for which statistics of their pages are kept where the format can.
    pub searched: bool,
}

/// A writer of one data file. Bytes go to the sink given at creation, in order.
pub trait FileWriter: Send {
    /// Appends rows.
    ///
    /// # Errors
    /// `Unsupported` naming the column for a type the format cannot write, `Unavailable` when the sink fails.
    fn write(&mut self, batch: &RecordBatch) -> Result<()>;

    /// Bytes written so far plus an estimate of those in memory.
    fn size(&self) -> u64;

    /// Finishes the file.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// One format of data files.
#[async_trait]
pub trait FileFormat: Send + Sync {
    /// `parquet`, `avro` or `orc`; the file name's suffix.
    fn name(&self) -> &'static str;

    /// Opens a file and streams batches with exactly `read.fields`.
    ///
    /// # Errors
    /// `Corrupt` with the path when the bytes contradict the format.
    async fn read(&self, source: std::sync::Arc<dyn RangeReader>, read: FileRead) -> Result<BatchStream>;

    /// Starts a file. Types that the format cannot write are refused here, before a byte is written.
    fn write(&self, write: FileWrite, sink: Box<dyn std::io::Write + Send>) -> Result<Box<dyn FileWriter>>;
}

/// Suffixes that name a compression rather than a format (spec: format.md C.1).
const CODECS: [&str; 11] = ["gz", "gzip", "zst", "zstd", "lz4", "lz4_raw", "snappy", "bz2", "deflate", "lzo", "br"];

/// The format of a data file by the suffix of its name; a suffix that names a compression is skipped.
///
/// # Errors
/// `Unsupported` for the suffix of a format that Linn does not read.
pub fn format_of(file_name: &str) -> Result<&'static dyn FileFormat> {
    let name = file_name.rsplit('/').next().unwrap_or(file_name);
    let mut suffixes = name.rsplit('.');
    let last = suffixes.next().unwrap_or_default();
    // Compacted changelog files say so in the suffix (spec: format.md C.10).
    let suffix = if CODECS.contains(&last) { suffixes.next().unwrap_or(last) } else { last };
    format_named(suffix.strip_prefix("cc-").unwrap_or(suffix)).map_err(|e| e.with("file", file_name))
}

/// The format called `name`, as in the option `file.format`.
///
/// # Errors
/// `Unsupported` for a format that Linn does not read.
pub fn format_named(name: &str) -> Result<&'static dyn FileFormat> {
    match name {
        "parquet" => Ok(&parquet::Parquet),
        "avro" => Ok(&avro::Avro),
        "orc" => Ok(&orc::Orc),
        other => Err(Error::unsupported(format!("file format {other:?}"))),
    }
}
