//! Rows on their way from a file to a table: a batch as it was read, with the number and the text of each row.

use std::sync::Arc;

use arrow::array::{ArrayRef, StringBuilder};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use linn::Result;

/// Rows in a chunk.
pub(crate) const ROWS: usize = 8192;

/// Bytes of text from which on a chunk gets no more rows.
const BYTES: usize = 32 << 20;

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
pub(crate) type Chunks = Box<dyn Iterator<Item = Result<Chunk>> + Send>;

/// A column that is wanted of a file, with the text that stands for it where a row does not have it.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// Name.
    pub(crate) name: String,
    /// Default value.
    pub(crate) default: Option<String>,
}

/// The name of a column: a file may leave it blank, a table may not.
pub(super) fn named(name: &str) -> &str {
    if name.trim().is_empty() { "_" } else { name }
}

/// A chunk of text columns that is being filled.
#[derive(Debug)]
pub(super) struct Filling {
    /// The columns.
    pub(super) columns: Vec<StringBuilder>,
    /// As in [`Chunk`].
    pub(super) rows: Vec<u64>,
    /// As in [`Chunk`].
    pub(super) originals: Vec<String>,
    /// As in [`Chunk`].
    pub(super) broken: Vec<Bad>,
    /// Bytes of the rows so far.
    pub(super) bytes: usize,
}

impl Filling {
    /// No rows of so many columns.
    pub(super) fn new(columns: usize) -> Self {
        let columns = (0..columns).map(|_| StringBuilder::new()).collect();
        Self { columns, rows: Vec::new(), originals: Vec::new(), broken: Vec::new(), bytes: 0 }
    }

    /// Whether it has the rows of a chunk.
    pub(super) fn is_full(&self) -> bool {
        self.rows.len() + self.broken.len() >= ROWS || self.bytes >= BYTES
    }

    /// The chunk; none without rows.
    pub(super) fn finish(self, schema: &SchemaRef) -> Result<Option<Chunk>> {
        let Self { columns, rows, originals, broken, .. } = self;
        if rows.is_empty() && broken.is_empty() {
            return Ok(None);
        }
        let columns = columns.into_iter().map(|mut column| Arc::new(column.finish()) as ArrayRef).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let batch = RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?;
        Ok(Some(Chunk { batch, rows, originals, broken }))
    }
}

/// The chunks that `next` gives, until there is none or one that cannot be read.
pub(super) fn until_end(mut next: impl FnMut() -> Result<Option<Chunk>>) -> impl Iterator<Item = Result<Chunk>> {
    let mut done = false;
    std::iter::from_fn(move || {
        let chunk = if done { None } else { next().transpose() };
        done = !matches!(chunk, Some(Ok(_)));
        chunk
    })
}

/// What comes until there is nothing or an error, after which nothing comes.
pub(super) fn until_error<T>(items: impl Iterator<Item = Result<T>>) -> impl Iterator<Item = Result<T>> {
    let mut items = Some(items);
    std::iter::from_fn(move || {
        let item = items.as_mut()?.next();
        if !matches!(item, Some(Ok(_))) {
            items = None;
        }
        item
    })
}
