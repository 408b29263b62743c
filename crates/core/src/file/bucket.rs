//! The files of one bucket of a table, as the merge tree reads and writes them.

use std::sync::Arc;

use arrow_array::RecordBatch;
use async_trait::async_trait;
use linn_format::file::layout::key_value_batch_fields;
use linn_format::file::{DataFileMeta, FileSource};
use linn_format::row::BinaryRow;
use linn_format::types::DataField;
use linn_format::{BatchStream, Result};

use super::{FileKind, FileQuery, RollingWriter, extra_file_path, place_of, read_file};
use crate::compact::{BucketFiles, Output, Sink};
use crate::table::Table;

/// Rows of a batch for merging: enough to make the work per batch small.
const BATCH_SIZE: usize = 8192;

/// One bucket of a table in its store.
#[derive(Debug, Clone)]
pub(crate) struct StoredBucket {
    table: Table,
    partition: BinaryRow,
    bucket: i32,
}

impl StoredBucket {
    /// The bucket of a partition.
    pub(crate) fn new(table: &Table, partition: &BinaryRow, bucket: i32) -> Self {
        Self { table: table.clone(), partition: partition.clone(), bucket }
    }
}

#[async_trait]
impl BucketFiles for StoredBucket {
    async fn read(&self, file: &Arc<DataFileMeta>, fields: &[DataField]) -> Result<BatchStream> {
        let batch_size = self.table.options().read_batch_size()?.max(BATCH_SIZE);
        let fields = key_value_batch_fields(fields);
        let query = FileQuery { fields, filter: None, exact_filter: false, batch_size };
        read_file(&self.table, &self.partition, self.bucket, file, None, query).await
    }

    async fn write(&self, output: Output) -> Result<Box<dyn Sink>> {
        let (level, source, kind) = match output {
            Output::Data(level, source) => (level, source, FileKind::KeyValue),
            Output::Changelog => (0, FileSource::Append, FileKind::Changelog),
        };
        Ok(Box::new(RollingWriter::new(&self.table, &self.partition, self.bucket, level, source, kind)?))
    }

    async fn delete(&self, file: &DataFileMeta) -> Result<()> {
        let storage = self.table.storage();
        for name in &file.extra_files {
            storage.delete(&extra_file_path(&self.table, &self.partition, self.bucket, file, name)?).await?;
        }
        storage.delete(&place_of(&self.table, &self.partition, self.bucket, file)?.path).await
    }
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
