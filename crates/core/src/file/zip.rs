//! Data evolution: several files that hold different columns of the same rows (spec: format.md C.14).
//!
//! Files of one group have the same first row id and the same number of rows; only blob files may hold a part of the
//! rows. Each column comes from the newest file that has it.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::{Field, FieldRef, Schema};
use futures::{StreamExt, TryStreamExt};
use linn_format::file::DataFileMeta;
use linn_format::predicate::Predicate;
use linn_format::row::BinaryRow;
use linn_format::types::{DataField, arrow_field};
use linn_format::{BatchStream, Error, Result, ResultExt};

use super::blob::is_blob;
use super::query::{FileQuery, read_file, stored_fields};
use super::{ROW_POSITION_ID, blob, rows};
use crate::table::Table;

/// Files that hold the same rows, together, newest first and those of blobs last; groups in the order of their rows. Files
/// without a row id are groups of their own.
pub fn row_groups(files: &[Arc<DataFileMeta>]) -> Vec<Vec<Arc<DataFileMeta>>> {
    let mut sorted = files.to_vec();
    sorted.sort_by_key(|file| file.first_row_id);
    let mut groups: Vec<Vec<Arc<DataFileMeta>>> = Vec::new();
    // Behind the last row of the group.
    let mut end = i64::MIN;
    for file in sorted {
        let last = file.first_row_id.map(|first| first.saturating_add(file.row_count));
        match (groups.last_mut(), file.first_row_id) {
            (Some(group), Some(first)) if first < end => group.push(file),
            _ => {
                groups.push(vec![file]);
                end = i64::MIN;
            }
        }
        end = end.max(last.unwrap_or(i64::MIN));
    }
    for group in &mut groups {
        group.sort_by_key(|file| (is_blob(file), std::cmp::Reverse(file.max_sequence_number)));
    }
    groups
}

/// Streams the rows of one group of [`row_groups`].
///
/// # Errors
/// As [`read_file`]; `Corrupt` when the files do not hold the same rows.
pub async fn read_group(
    table: &Table,
    partition: &BinaryRow,
    bucket: i32,
    group: &[Arc<DataFileMeta>],
    query: FileQuery,
) -> Result<BatchStream> {
    let blobs = group.iter().position(|file| is_blob(file)).unwrap_or(group.len());
    let (group, blobs) = group.split_at(blobs);
    let Some(anchor) = group.first() else {
        return Err(Error::corrupt("blob files without the rows they belong to").with("table", table.name()));
    };
    if let ([file], []) = (group, blobs) {
        return read_file(table, partition, bucket, file, None, query).await;
    }
    let (first, rows) = (anchor.first_row_id, anchor.row_count);
    if let Some(other) = group.iter().find(|file| file.row_count != rows || file.first_row_id != first) {
        return Err(Error::corrupt("files of the same row ids have different numbers of rows")
            .with("file", &other.file_name)
            .with("table", table.name()));
    }
    let (sources, missing) = sources(table, group, &query.fields).await?;
    let mut parts = Vec::new();
    for (file, fields) in sources.iter().filter(|(_, fields)| !fields.is_empty()) {
        let query = FileQuery::all(fields.clone(), query.batch_size);
        parts.push(Part { stream: read_file(table, partition, bucket, file, None, query).await?, batch: None });
    }
    let mut order: Vec<i32> = sources.iter().flat_map(|(_, fields)| fields.iter().map(|f| f.id)).collect();
    for field in missing {
        let files = holding(table, blobs, &field).await?;
        if !files.is_empty() {
            let first = first.unwrap_or_default();
            let rows = first..first.saturating_add(rows);
            let stream = blob::stream(table, partition, bucket, &field, &files, rows, query.batch_size).await;
            parts.push(Part { stream: stream.context("table", table.name())?, batch: None });
            order.push(field.id);
        }
    }
    Ok(zipped(parts, order, rows, query))
}

/// The blob files that hold a column.
async fn holding(table: &Table, blobs: &[Arc<DataFileMeta>], field: &DataField) -> Result<Vec<Arc<DataFileMeta>>> {
    let mut files = Vec::new();
    for file in blobs {
        if stored_fields(table, file).await?.iter().any(|stored| stored.id == field.id) {
            files.push(Arc::clone(file));
        }
    }
    Ok(files)
}

/// Which file gives which columns, and the columns that none has.
async fn sources(
    table: &Table,
    group: &[Arc<DataFileMeta>],
    wanted: &[DataField],
) -> Result<(Vec<(Arc<DataFileMeta>, Vec<DataField>)>, Vec<DataField>)> {
    let mut missing = wanted.to_vec();
    let mut sources = Vec::with_capacity(group.len());
    for file in group {
        let stored = stored_fields(table, file).await?;
        let has = |field: &DataField| field.id == ROW_POSITION_ID || stored.iter().any(|s| s.id == field.id);
        let (here, rest): (Vec<_>, Vec<_>) = missing.into_iter().partition(has);
        missing = rest;
        sources.push((Arc::clone(file), here));
    }
    Ok((sources, missing))
}

struct Part {
    stream: BatchStream,
    /// Rows that were read and not yet returned.
    batch: Option<RecordBatch>,
}

impl Part {
    /// Makes rows available; false at the end.
    async fn fill(&mut self) -> Result<bool> {
        while self.batch.as_ref().is_none_or(|b| b.num_rows() == 0) {
            match self.stream.try_next().await? {
                Some(batch) => self.batch = Some(batch),
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    fn take(&mut self, rows: usize) -> Option<RecordBatch> {
        let batch = self.batch.take()?;
        self.batch = Some(batch.slice(rows, batch.num_rows() - rows));
        Some(batch.slice(0, rows))
    }
}

/// Batches side by side; `order` tells the field ids of their columns.
fn zipped(parts: Vec<Part>, order: Vec<i32>, rows: i64, query: FileQuery) -> BatchStream {
    let state = (parts, rows, query);
    futures::stream::try_unfold(state, move |(mut parts, left, query)| {
        let order = order.clone();
        async move {
            let mut count = usize::try_from(left).unwrap_or_default().min(query.batch_size.max(1));
            let mut ended = 0;
            for part in &mut parts {
                match part.fill().await? {
                    true => count = count.min(part.batch.as_ref().map_or(0, RecordBatch::num_rows)),
                    false => ended += 1,
                }
            }
            if ended > 0 || count == 0 {
                let whole = ended == parts.len() && left == 0;
                let uneven = || Error::corrupt("files of the same row ids have different numbers of rows");
                return if whole { Ok(None) } else { Err(uneven()) };
            }
            let columns: Vec<(FieldRef, ArrayRef)> =
                parts.iter_mut().filter_map(|p| p.take(count)).flat_map(columns).collect();
            let batch = assemble(&query.fields, &order, &columns, count)?;
            let batch = match exact(&query) {
                Some(filter) => rows::matching(&batch, filter, &query.fields)?,
                None => batch,
            };
            Ok(Some((batch, (parts, left - count as i64, query))))
        }
    })
    .try_filter(|batch| std::future::ready(batch.num_rows() > 0))
    .boxed()
}

fn exact(query: &FileQuery) -> Option<&Predicate> {
    query.filter.as_ref().filter(|_| query.exact_filter)
}

fn columns(batch: RecordBatch) -> Vec<(FieldRef, ArrayRef)> {
    let fields = batch.schema().fields().clone();
    fields.iter().cloned().zip(batch.columns().iter().cloned()).collect()
}

fn assemble(wanted: &[DataField], order: &[i32], parts: &[(FieldRef, ArrayRef)], rows: usize) -> Result<RecordBatch> {
    let (mut fields, mut columns) = (Vec::with_capacity(wanted.len()), Vec::with_capacity(wanted.len()));
    for field in wanted {
        match order.iter().position(|id| *id == field.id).and_then(|at| parts.get(at)) {
            Some((arrow, column)) => {
                fields.push(Arc::clone(arrow));
                columns.push(Arc::clone(column));
            }
            None => {
                let arrow: Field = arrow_field(field)?.with_nullable(true);
                columns.push(new_null_array(arrow.data_type(), rows));
                fields.push(Arc::new(arrow));
            }
        }
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)?)
}
