//! One commit that adds, replaces or deletes rows.

use arrow_array::{Int8Array, RecordBatch};
use futures::TryStreamExt;
use linn_core::Table;
use linn_core::commit::{Overwrite, Reads};
use linn_core::write::TableWriter;
use linn_format::options::MergeEngine;
use linn_format::types::RowKind;
use linn_format::{Error, Result, SnapshotId};

use crate::filter::Filter;
use crate::once::{commit_once, overwrite_once};
use crate::read::TableRead;
use crate::table::WarehouseTable;

/// Rows on their way into a table, in one commit: all of them or none.
///
/// A program that writes a stream keeps a commit user and a growing identifier, so that a commit which is repeated after a crash is
/// made once; see `examples/upsert_stream.rs`.
#[derive(Debug)]
pub struct TableWrite {
    table: Table,
    batches: Vec<RecordBatch>,
    overwrite: Option<Overwrite>,
}

impl TableWrite {
    pub(crate) fn new(table: Table) -> Self {
        Self { table, batches: Vec::new(), overwrite: None }
    }

    /// Adds rows, with the table's columns in their order.
    #[must_use]
    pub fn batch(mut self, batch: RecordBatch) -> Self {
        self.batches.push(batch);
        self
    }

    /// Adds rows of several batches.
    #[must_use]
    pub fn batches(mut self, batches: impl IntoIterator<Item = RecordBatch>) -> Self {
        self.batches.extend(batches);
        self
    }

    /// The rows replace all that the table holds.
    #[must_use]
    pub fn overwrite(mut self) -> Self {
        self.overwrite = Some(Overwrite::Table);
        self
    }

    /// The rows replace the partitions that they are in.
    #[must_use]
    pub fn overwrite_partitions(mut self) -> Self {
        self.overwrite = Some(Overwrite::Dynamic);
        self
    }

    /// Commits the rows. The snapshots hold them; there is none when there were no rows.
    ///
    /// # Errors
    /// `Invalid` for rows that the table does not take, with row and column; `Conflict` when another commit ruled this one out;
    /// `UnknownOutcome` when it is not known whether the commit was made: nothing is deleted then.
    pub async fn commit(self) -> Result<Vec<SnapshotId>> {
        let user = self.table.new_user();
        let mut writer = match self.overwrite {
            Some(_) => self.table.batch_overwriter(&user).await?,
            None => self.table.batch_writer(&user).await?,
        };
        let mut written = Ok(());
        for batch in &self.batches {
            written = writer.write(batch, None).await;
            if written.is_err() {
                break;
            }
        }
        commit(&self.table, &user, writer, written, self.overwrite).await
    }
}

impl WarehouseTable {
    /// Writes rows into a table with a primary key: new keys are inserted, others are merged with what is there.
    ///
    /// # Errors
    /// As [`TableWrite::commit`], and `Invalid` for a table without a primary key.
    pub async fn upsert(&self, batches: impl IntoIterator<Item = RecordBatch>) -> Result<Vec<SnapshotId>> {
        keyed(self.core())?;
        self.write().batches(batches).commit().await
    }

    /// Deletes the rows of a table with a primary key for which a condition is true, and says how many there were.
    ///
    /// # Errors
    /// As [`TableWrite::commit`], `Conflict` also when another job has written to what was read; `Invalid` for a table without a primary
    /// key, and `Unsupported` where a merge engine decides what a delete does: the SQL statement DELETE deletes rows of those tables.
    pub async fn delete(&self, filter: Filter) -> Result<u64> {
        keyed(self.core())?;
        deletes(self.core())?;
        // Whoever writes to the rows between reading and committing them rules the commit out.
        let table = &self.core().noting(&Reads::default())?;
        let mut rows = TableRead::new(table.clone()).filter(filter).stream().await?;
        let user = table.new_user();
        let mut writer = table.batch_writer(&user).await?;
        let mut deleted = 0;
        let written: Result<()> = async {
            while let Some(batch) = rows.try_next().await? {
                let kinds = Int8Array::from(vec![RowKind::Delete.as_byte() as i8; batch.num_rows()]);
                writer.write(&batch, Some(&kinds)).await?;
                deleted += batch.num_rows() as u64;
            }
            Ok(())
        }
        .await;
        commit(table, &user, writer, written, None).await?;
        Ok(deleted)
    }
}

/// A delete removes the row, and nothing else decides about it.
fn deletes(table: &Table) -> Result<()> {
    let options = table.options();
    let plain = options.merge_engine()? == MergeEngine::Deduplicate
        && !options.ignore_delete()?
        && options.rowkind_field().is_none();
    match plain {
        true => Ok(()),
        false => Err(Error::unsupported("deleting rows by a condition from a table with these options")
            .with("table", table.name())
            .with_hint("use the SQL statement DELETE, or write -D records with the writer of the table")),
    }
}

fn keyed(table: &Table) -> Result<()> {
    match table.schema().is_primary_key_table() {
        true => Ok(()),
        false => Err(Error::invalid("the table has no primary key").with("table", table.name())),
    }
}

/// Commits what was written. When that has failed, the writer is closed, which deletes its files.
async fn commit(
    table: &Table,
    user: &str,
    mut writer: TableWriter,
    written: Result<()>,
    overwrite: Option<Overwrite>,
) -> Result<Vec<SnapshotId>> {
    let prepared = match written {
        Ok(()) => writer.prepare_commit(overwrite.is_none()).await,
        Err(e) => Err(e),
    };
    match (prepared, overwrite) {
        (Ok(messages), None) => commit_once(table, user, writer, messages).await,
        (Ok(messages), Some(target)) => overwrite_once(table, user, writer, target, messages).await,
        (Err(e), _) => {
            if let Err(left) = writer.close().await {
                tracing::warn!("files of a failed write may be left over: {left}");
            }
            Err(e)
        }
    }
}
