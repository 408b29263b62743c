//! Rows on their way from a file to a table: a batch as it was read, with the number and the text of each row.

use arrow::record_batch::RecordBatch;

/// Rows in a chunk.
pub(crate) const ROWS: usize = 8192;

/// A row that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bad {
    /// Number of the row in its file, from 1 on; headers do not count.
    pub(crate) row: u64,
    /// Column, where one is to blame.
    pub(crate) column: Option<String>,
    /// What is wrong.
    pub(crate) reason: String,
    /// The row as it stands in the file, or as JSON.
    pub(crate) original: String,
}

/// Some rows of a file.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// The rows that could be read at all: text as Utf8, columnar formats in their own types.
    pub(crate) batch: RecordBatch,
    /// Number of each row of the batch.
    pub(crate) rows: Vec<u64>,
    /// Text of each row of the batch; empty when it is not kept.
    pub(crate) originals: Vec<String>,
    /// Rows that could not be read.
    pub(crate) broken: Vec<Bad>,
}

/// The chunks of one input.
pub(crate) type Chunks = Box<dyn Iterator<Item = linn::Result<Chunk>> + Send>;

/// A column that is wanted of a file, with the text that stands for it where a row does not have it.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// Name.
    pub(crate) name: String,
    /// Default value.
    pub(crate) default: Option<String>,
}
