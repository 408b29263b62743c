//! What the merge tree of one bucket needs of files: to read one, to write some, to delete one. The table's files are one
//! implementation; tests have files in memory.

use std::sync::Arc;

use arrow_array::RecordBatch;
use async_trait::async_trait;
use bytes::Bytes;
use linn_format::file::{DataFileMeta, FileSource};
use linn_format::manifest::IndexManifestEntry;
use linn_format::types::DataField;
use linn_format::{BatchStream, Result};
use roaring::RoaringTreemap;

use super::Positions;
use crate::storage::IoLimit;

/// Which files a sink writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// Data files of this level, from this source.
    Data(i32, FileSource),
    /// Changelog files of rows that go to this level.
    Changelog(i32),
}

/// The files of one bucket.
#[async_trait]
pub(crate) trait BucketFiles: Send + Sync {
    /// Streams a data file as key-value batches with these value columns, without the rows at the positions `deleted`.
    async fn read(
        &self,
        file: &Arc<DataFileMeta>,
        fields: &[DataField],
        deleted: Option<Arc<RoaringTreemap>>,
    ) -> Result<BatchStream>;

    /// Starts writing; files roll at their target size.
    async fn write(&self, output: Output) -> Result<Box<dyn Sink>>;

    /// Deletes a file that no snapshot ever named; absent is fine.
    async fn delete(&self, file: &DataFileMeta) -> Result<()>;

    /// A whole file beside a data file, such as its lookup file.
    async fn read_extra(&self, file: &DataFileMeta, name: &str) -> Result<Bytes>;

    /// Puts a file beside a data file; its metadata must name it.
    async fn write_extra(&self, file: &DataFileMeta, name: &str, bytes: Bytes) -> Result<()>;

    /// Deletes a file beside a data file that no snapshot ever named; absent is fine.
    async fn delete_extra(&self, file: &DataFileMeta, name: &str) -> Result<()>;

    /// Writes deletion vectors into new index files, none when there are no vectors; their lines.
    async fn write_vectors(&self, vectors: &Positions) -> Result<Vec<IndexManifestEntry>>;

    /// Deletes an index file that no snapshot ever named; absent is fine.
    async fn delete_vectors(&self, line: &IndexManifestEntry) -> Result<()>;

    /// The same files, whose bytes count against a budget from now on; `None` for files that no disk or network moves.
    fn limited(&self, _limit: &Arc<IoLimit>) -> Option<Arc<dyn BucketFiles>> {
        None
    }
}

/// Gives up files that a compaction made, and what it put beside those that only moved: `before` and `after` are what it
/// took in and made.
pub(crate) async fn give_up(files: &dyn BucketFiles, before: &[Arc<DataFileMeta>], after: &[Arc<DataFileMeta>]) {
    for file in after {
        match before.iter().find(|b| b.file_name == file.file_name) {
            None => _ = files.delete(file).await,
            Some(was) => {
                for name in file.extra_files.iter().filter(|name| !was.extra_files.contains(name)) {
                    files.delete_extra(file, name).await.ok();
                }
            }
        }
    }
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
