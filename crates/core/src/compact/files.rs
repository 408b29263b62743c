//! What the merge tree of one bucket needs of files: to read one, to write some, to delete one. The table's files are one
//! implementation; tests have files in memory.

use std::sync::Arc;

use arrow_array::RecordBatch;
use async_trait::async_trait;
use linn_format::file::{DataFileMeta, FileSource};
use linn_format::manifest::IndexManifestEntry;
use linn_format::types::DataField;
use linn_format::{BatchStream, Error, Result};
use roaring::RoaringTreemap;

use crate::merge::LeveledStream;
use crate::vector::{BucketVectors, Positions};

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

    /// Writes deletion vectors into new index files, none when there are no vectors; their lines.
    async fn write_vectors(&self, vectors: &Positions) -> Result<Vec<IndexManifestEntry>>;

    /// Deletes an index file that no snapshot ever named; absent is fine.
    async fn delete_vectors(&self, line: &IndexManifestEntry) -> Result<()>;
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

/// Streams the rows of a sorted run that `vectors` leave, with the level of each file, opening one file at a time.
pub(crate) fn read_run(
    files: Arc<dyn BucketFiles>,
    run: Vec<Arc<DataFileMeta>>,
    fields: Arc<[DataField]>,
    vectors: &BucketVectors,
) -> LeveledStream {
    use futures::{StreamExt, TryStreamExt};
    let run: Vec<_> = run.into_iter().map(|file| (vectors.get(&file.file_name).cloned(), file)).collect();
    futures::stream::iter(run)
        .then(move |(deleted, file)| {
            let (files, fields) = (files.clone(), fields.clone());
            async move {
                let level = file.level;
                Ok::<_, Error>(files.read(&file, &fields, deleted).await?.map_ok(move |batch| (batch, level)))
            }
        })
        .try_flatten()
        .boxed()
}
