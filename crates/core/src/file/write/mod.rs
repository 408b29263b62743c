//! Writing data files that roll at their target size, with the metadata that a commit needs (spec: format.md C.5, C.7).
//!
//! A file becomes visible only when it is complete. Giving up deletes whatever was written.

mod open;
mod settings;
mod sink;
mod summary;

use std::sync::Arc;

use arrow_array::RecordBatch;
use linn_format::file::{DataFileMeta, FileSource};
use linn_format::row::BinaryRow;
use linn_format::{Result, ResultExt};

use crate::table::Table;
use open::OpenFile;
use settings::Settings;

/// Rows after which a file's size is looked at.
const CHECK_ROWS: usize = 64 << 10;

/// Which kind of file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Key-value batches, sorted by key: all columns of the table, `_SEQUENCE_NUMBER`, `_VALUE_KIND`.
    KeyValue,
    /// Key-value batches in the order of arrival.
    Changelog,
    /// Rows of a table without a primary key: all columns of the table.
    Append {
        /// Sequence number of the first row; the next rows count on.
        first_sequence: i64,
    },
}

/// Writes the rows of one bucket to as many files as their size asks for.
pub struct RollingWriter {
    settings: Arc<Settings>,
    current: Option<OpenFile>,
    done: Vec<Arc<DataFileMeta>>,
    /// Rows written to finished files.
    rows: i64,
}

impl RollingWriter {
    /// A writer for files of one level.
    ///
    /// # Errors
    /// `Invalid` for options that cannot be used, `Unsupported` for a format that cannot be written.
    pub fn new(
        table: &Table,
        partition: &BinaryRow,
        bucket: i32,
        level: i32,
        source: FileSource,
        kind: FileKind,
    ) -> Result<Self> {
        let settings = Settings::new(table, partition, bucket, level, source, kind).context("table", table.name())?;
        Ok(Self { settings: Arc::new(settings), current: None, done: Vec::new(), rows: 0 })
    }

    /// Encodes columns side by side, where the format can: for whoever has all cores to itself.
    #[must_use]
    pub fn in_parallel(mut self) -> Self {
        if let Some(settings) = Arc::get_mut(&mut self.settings) {
            settings.write.parallel = true;
        }
        self
    }

    /// Appends rows.
    ///
    /// # Errors
    /// `Invalid` when a NOT NULL column holds a null, `Unavailable` when the store fails. The writer can then only be
    /// aborted.
    pub async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let rows = batch.num_rows();
        let step = CHECK_ROWS.min(usize::try_from(self.settings.target_rows).unwrap_or(CHECK_ROWS)).max(1);
        for start in (0..rows).step_by(step) {
            let part = batch.slice(start, step.min(rows - start));
            self.append(&part).await.context("table", self.settings.table.name())?;
        }
        Ok(())
    }

    async fn append(&mut self, batch: &RecordBatch) -> Result<()> {
        let file = match &mut self.current {
            Some(file) => file,
            none => none.insert(OpenFile::start(&self.settings, self.done.len(), self.rows).await?),
        };
        file.write(batch).await?;
        if file.size() >= self.settings.target_size || file.rows() >= self.settings.target_rows {
            self.roll().await?;
        }
        Ok(())
    }

    async fn roll(&mut self) -> Result<()> {
        if let Some(file) = self.current.take() {
            let meta = file.finish().await?;
            self.rows += meta.row_count;
            self.done.push(Arc::new(meta));
        }
        Ok(())
    }

    /// Bytes of all files so far, an estimate for the one in progress.
    pub fn size(&self) -> u64 {
        let done: u64 = self.done.iter().map(|f| f.file_size.unsigned_abs()).sum();
        done + self.current.as_ref().map_or(0, OpenFile::size)
    }

    /// Finishes the last file. On an error everything that was written is deleted.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub async fn close(mut self) -> Result<Vec<Arc<DataFileMeta>>> {
        match self.roll().await.context("table", self.settings.table.name()) {
            Ok(()) => Ok(std::mem::take(&mut self.done)),
            Err(error) => {
                // The first error says more than one of the clean-up.
                let _ = self.abort().await;
                Err(error)
            }
        }
    }

    /// Gives everything up and deletes the files that are complete.
    ///
    /// # Errors
    /// `Unavailable` when a file could not be deleted; it is then an orphan.
    pub async fn abort(mut self) -> Result<()> {
        let mut result = match self.current.take() {
            Some(file) => file.abort().await,
            None => Ok(()),
        };
        let storage = self.settings.table.storage();
        for file in &self.done {
            for name in file.extra_files.iter().chain([&file.file_name]) {
                result = result.and(storage.delete(&format!("{}/{name}", self.settings.folder)).await);
            }
        }
        result
    }
}
