//! UPDATE, DELETE and MERGE on tables without a primary key: rows are deleted where they stand, new ones are appended, and
//! both are committed at once.

use std::sync::Arc;

use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::array::{Array, RecordBatch};
use datafusion::arrow::datatypes::{Int32Type, Int64Type};
use futures::StreamExt;
use futures::stream::BoxStream;
use linn::core::append::RowDeletion;
use linn::core::commit::{Commit, CommitMessage, CommitOutcome};
use linn::core::write::TableWriter;
use linn::{Error, Result, Table, committed};

use crate::provider::PlacedTable;

/// What becomes of some rows.
pub(super) struct Changed {
    /// New rows: all columns of the table.
    pub(super) added: Option<RecordBatch>,
    /// Places of rows that go: file and position.
    pub(super) gone: Option<RecordBatch>,
    /// How many rows this counts for.
    pub(super) rows: u64,
}

/// Carries the changes out and commits them once; the rows they count for.
pub(super) async fn change(
    table: &Table,
    placed: &Arc<PlacedTable>,
    operation: &str,
    changes: BoxStream<'_, Result<Changed>>,
) -> Result<u64> {
    let user = table.new_user();
    let mut writer = table.writer(&user)?;
    let result = prepare(table, placed, &mut writer, changes).await;
    let (rows, messages) = match result {
        Ok(prepared) => prepared,
        Err(e) => {
            writer.close().await?;
            return Err(e);
        }
    };
    let operation = Some(operation.to_owned());
    let committer = table.committer(user);
    let outcome = committer.commit(Commit { operation, ..Commit::batch(messages.clone()) }).await?;
    writer.close().await?;
    if matches!(outcome, CommitOutcome::Conflict(_)) {
        committer.abort(&messages).await?;
    }
    committed(outcome)?;
    Ok(rows)
}

async fn prepare(
    table: &Table,
    placed: &PlacedTable,
    writer: &mut TableWriter,
    mut changes: BoxStream<'_, Result<Changed>>,
) -> Result<(u64, Vec<CommitMessage>)> {
    let mut deletion: Option<RowDeletion> = match placed.snapshot() {
        Some(snapshot) => Some(table.delete_rows(Arc::clone(snapshot))?),
        None => None,
    };
    let mut rows = 0u64;
    while let Some(changed) = changes.next().await {
        let changed = changed?;
        rows += changed.rows;
        if let (Some(gone), Some(deletion)) = (&changed.gone, &mut deletion) {
            mark(placed, deletion, gone)?;
        }
        if let Some(added) = changed.added.filter(|added| added.num_rows() > 0) {
            writer.write(&added, None).await?;
        }
    }
    let mut messages = match deletion {
        Some(deletion) => deletion.finish().await?,
        None => Vec::new(),
    };
    match writer.prepare_commit(false).await {
        Ok(added) => messages.extend(added),
        Err(e) => {
            // The vectors that were written belong to no snapshot.
            table.committer(table.new_user()).abort(&messages).await?;
            return Err(e);
        }
    }
    Ok((rows, messages))
}

/// Marks the rows at these places: columns file and position.
fn mark(placed: &PlacedTable, deletion: &mut RowDeletion, places: &RecordBatch) -> Result<()> {
    let wrong = || Error::internal("the place of a row is not a pair of numbers");
    let (Some(files), Some(positions)) = (places.columns().first(), places.columns().get(1)) else {
        return Err(wrong());
    };
    let files = files.as_primitive_opt::<Int32Type>().filter(|c| c.null_count() == 0).ok_or_else(wrong)?;
    let positions = positions.as_primitive_opt::<Int64Type>().filter(|c| c.null_count() == 0).ok_or_else(wrong)?;
    for (file, position) in files.values().iter().zip(positions.values()) {
        placed.mark(deletion, *file, *position)?;
    }
    Ok(())
}
