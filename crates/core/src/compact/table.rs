//! The files of one bucket of a table, as the merge tree reads and writes them.

use std::sync::Arc;

use arrow_array::RecordBatch;
use async_trait::async_trait;
use bytes::Bytes;
use linn_format::file::{DataFileMeta, FileSource};
use linn_format::manifest::IndexManifestEntry;
use linn_format::row::BinaryRow;
use linn_format::types::DataField;
use linn_format::{BatchStream, Result};
use roaring::RoaringTreemap;

use crate::file::{BucketFiles, Output, Positions, Sink};
use crate::file::{FileKind, FileQuery, RollingWriter, extra_file_path, place_of, read_remaining};
use crate::merge::key_value_fields;
use crate::storage::{IoLimit, Limited};
use crate::table::Table;
use crate::vector;

/// The files of one bucket.
#[derive(Clone)]
pub(crate) struct TableFiles {
    /// The table.
    pub(crate) table: Table,
    /// The partition.
    pub(crate) partition: BinaryRow,
    /// The bucket.
    pub(crate) bucket: i32,
    /// Rows in a batch.
    pub(crate) batch_size: usize,
    /// Whether compactions of the bucket have the machine to themselves.
    pub(crate) alone: bool,
}

#[async_trait]
impl BucketFiles for TableFiles {
    async fn read(
        &self,
        file: &Arc<DataFileMeta>,
        fields: &[DataField],
        deleted: Option<Arc<RoaringTreemap>>,
    ) -> Result<BatchStream> {
        let query = FileQuery::all(key_value_fields(fields), self.batch_size);
        read_remaining(&self.table, &self.partition, self.bucket, file, deleted, query).await
    }

    async fn write(&self, output: Output) -> Result<Box<dyn Sink>> {
        let (level, source, kind) = match output {
            Output::Data(level, source) => (level, source, FileKind::KeyValue),
            Output::Changelog(level) => (level, FileSource::Append, FileKind::Changelog),
        };
        let writer = RollingWriter::new(&self.table, &self.partition, self.bucket, level, source, kind)?;
        // A flush is what its writer waits for; a compaction beside a writer leaves the other cores to it.
        Ok(Box::new(if self.alone || source == FileSource::Append { writer.in_parallel() } else { writer }))
    }

    async fn delete(&self, file: &DataFileMeta) -> Result<()> {
        let storage = self.table.storage();
        for name in &file.extra_files {
            storage.delete(&extra_file_path(&self.table, &self.partition, self.bucket, file, name)?).await?;
        }
        storage.delete(&place_of(&self.table, &self.partition, self.bucket, file)?.path).await
    }

    async fn read_extra(&self, file: &DataFileMeta, name: &str) -> Result<Bytes> {
        let path = extra_file_path(&self.table, &self.partition, self.bucket, file, name)?;
        self.table.storage().read(&path, None).await
    }

    async fn write_extra(&self, file: &DataFileMeta, name: &str, bytes: Bytes) -> Result<()> {
        let path = extra_file_path(&self.table, &self.partition, self.bucket, file, name)?;
        self.table.storage().put(&path, bytes).await
    }

    async fn delete_extra(&self, file: &DataFileMeta, name: &str) -> Result<()> {
        self.table.storage().delete(&extra_file_path(&self.table, &self.partition, self.bucket, file, name)?).await
    }

    async fn write_vectors(&self, vectors: &Positions) -> Result<Vec<IndexManifestEntry>> {
        vector::write(&self.table, &self.partition, self.bucket, vectors).await
    }

    async fn delete_vectors(&self, line: &IndexManifestEntry) -> Result<()> {
        vector::delete(&self.table, line).await
    }

    fn limited(&self, limit: &Arc<IoLimit>) -> Option<Arc<dyn BucketFiles>> {
        Some(Arc::new(Self { table: limited(&self.table, limit), ..self.clone() }))
    }
}

/// The table, whose bytes count against a budget.
pub(crate) fn limited(table: &Table, limit: &Arc<IoLimit>) -> Table {
    let env = table.env();
    table.with_storage(Arc::new(Limited::new(env.storage.clone(), env.clock.clone(), limit.clone())))
}

#[async_trait]
impl Sink for RollingWriter {
    async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        Self::write(self, batch).await
    }

    async fn close(self: Box<Self>) -> Result<Vec<Arc<DataFileMeta>>> {
        Self::close(*self).await
    }

    async fn abort(self: Box<Self>) -> Result<()> {
        Self::abort(*self).await
    }
}
