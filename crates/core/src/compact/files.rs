//! What the merge tree of one bucket needs of data files: to read one, to write some, to delete one. The table's files
//! are one implementation; tests have files in memory.

use std::sync::Arc;

use arrow_array::RecordBatch;
use async_trait::async_trait;
use linn_format::file::{DataFileMeta, FileSource};
use linn_format::types::DataField;
use linn_format::{BatchStream, Result};

/// Which files a sink writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// Data files of this level, from this source.
    Data(i32, FileSource),
    /// Changelog files.
    Changelog,
}

/// The files of one bucket.
#[async_trait]
pub(crate) trait BucketFiles: Send + Sync {
    /// Streams a data file as key-value batches with these value columns.
    async fn read(&self, file: &Arc<DataFileMeta>, fields: &[DataField]) -> Result<BatchStream>;

    /// Starts writing; files roll at their target size.
    async fn write(&self, output: Output) -> Result<Box<dyn Sink>>;

    /// Deletes a file that no snapshot ever named; absent is fine.
    async fn delete(&self, file: &DataFileMeta) -> Result<()>;
}

/// Files being written.
#[async_trait]
pub(crate) trait Sink: Send {
    /// Appends key-value batches of all value columns, in key order for data files.
    async fn write(&mut self, batch: &RecordBatch) -> Result<()>;

    /// Finishes the last file; the files in order.
    async fn close(self: Box<Self>) -> Result<Vec<Arc<DataFileMeta>>>;

    /// Gives everything up and deletes what was written.
    async fn abort(self: Box<Self>) -> Result<()>;
}

/// Streams a sorted run, opening one file at a time.
pub(crate) fn read_run(
    files: Arc<dyn BucketFiles>,
    run: Vec<Arc<DataFileMeta>>,
    fields: Arc<[DataField]>,
) -> BatchStream {
    use futures::{StreamExt, TryStreamExt};
    futures::stream::iter(run)
        .then(move |file| {
            let (files, fields) = (files.clone(), fields.clone());
            async move { files.read(&file, &fields).await }
        })
        .try_flatten()
        .boxed()
}
