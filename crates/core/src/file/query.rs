//! Reading a data file as batches of the columns asked for (spec: format.md C.7; cases F8).
//!
//! Columns are found by field id through the schema of the file. Deleted rows never come back. The filter is applied as
//! deep as the types allow, and again afterwards where it must be exact.

use std::sync::Arc;

use arrow_array::RecordBatch;
use futures::{StreamExt, TryStreamExt};
use linn_format::file::resolve::Resolution;
use linn_format::file::{BATCH_BYTES, DataFileMeta, FileRead, FileSource, RangeReader, format_of};
use linn_format::predicate::Predicate;
use linn_format::row::BinaryRow;
use linn_format::schema::TableSchema;
use linn_format::types::{
    DataField, DataType, KEY_FIELD_ID_OFFSET, Kind, ROW_ID_ID, SEQUENCE_NUMBER, SEQUENCE_NUMBER_ID, widened,
};
use linn_format::{BatchStream, Error, Result, ResultExt};
use roaring::RoaringTreemap;

use super::DeletionFile;
use super::rows::{self, Tracking};
use super::tolerance::Tolerance;
use super::{ROW_POSITION_ID, StoredFile, index, place_of, row_id_field};
use crate::schema::Schemas;
use crate::table::Table;

/// What to read of a data file.
#[derive(Debug, Clone)]
pub struct FileQuery {
    /// Columns to return, found by field id: columns of the table, `_SEQUENCE_NUMBER` and `_VALUE_KIND` of key-value
    /// files, `_ROW_ID` and `_SEQUENCE_NUMBER` with row tracking, and [`ROW_POSITION`](super::ROW_POSITION).
    pub fields: Vec<DataField>,
    /// A filter over `fields`. Rows for which it is not true may be left out.
    pub filter: Option<Predicate>,
    /// Whether rows for which `filter` is not true must be left out.
    pub exact_filter: bool,
    /// Rows in a batch at the most.
    pub batch_size: usize,
    /// Which faults of the file end its rows.
    pub tolerance: Tolerance,
}

impl FileQuery {
    /// All rows, and no fault is passed over.
    pub fn all(fields: Vec<DataField>, batch_size: usize) -> Self {
        Self { fields, filter: None, exact_filter: false, batch_size, tolerance: Tolerance::default() }
    }
}

/// Streams a file of one bucket, without the rows that `deletion` removes.
///
/// # Errors
/// `NotFound` when the file is gone, `Corrupt` with the path, `Invalid` for a value that the column's type cannot hold.
pub async fn read_file(
    table: &Table,
    partition: &BinaryRow,
    bucket: i32,
    file: &DataFileMeta,
    deletion: Option<&DeletionFile>,
    query: FileQuery,
) -> Result<BatchStream> {
    let deleted = match deletion {
        Some(deletion) => Some(Arc::new(index::deleted(table, deletion).await?)),
        None => None,
    };
    read_remaining(table, partition, bucket, file, deleted, query).await
}

/// Streams a file of one bucket, without the rows at the positions `deleted`.
///
/// # Errors
/// As [`read_file`].
pub async fn read_remaining(
    table: &Table,
    partition: &BinaryRow,
    bucket: i32,
    file: &DataFileMeta,
    deleted: Option<Arc<RoaringTreemap>>,
    query: FileQuery,
) -> Result<BatchStream> {
    let Some((column, snapshot)) = stamped(table, file, &query)? else {
        return remaining(table, partition, bucket, file, deleted, query).await;
    };
    let rows = remaining(table, partition, bucket, file, deleted, query).await?;
    Ok(rows.map(move |batch| rows::with_sequence(&batch?, column, snapshot)).boxed())
}

/// With `sequence.snapshot-ordering`, where the sequence numbers stand among the columns that are read, and the snapshot
/// that takes their place: in files of a writer, whose metadata it was put into when they were committed. Rows that a
/// compaction wrote have theirs already.
fn stamped(table: &Table, file: &DataFileMeta, query: &FileQuery) -> Result<Option<(usize, i64)>> {
    if !table.schema().is_primary_key_table() || !table.options().snapshot_ordering()? {
        return Ok(None);
    }
    let Some(column) = query.fields.iter().position(|field| field.id == SEQUENCE_NUMBER_ID) else { return Ok(None) };
    match file.file_source {
        Some(FileSource::Append) => Ok(Some((column, file.min_sequence_number))),
        Some(FileSource::Compact) => Ok(None),
        None => Err(Error::invalid("sequence.snapshot-ordering over a file without the snapshot that wrote it")
            .with("table", table.name())
            .with("file", &file.file_name)
            .with_hint("copy the rows into a table that has the option from the start")),
    }
}

async fn remaining(
    table: &Table,
    partition: &BinaryRow,
    bucket: i32,
    file: &DataFileMeta,
    deleted: Option<Arc<RoaringTreemap>>,
    query: FileQuery,
) -> Result<BatchStream> {
    let stored = lossless(stored_fields(table, file).await?, &query.fields);
    if query.fields.iter().any(|f| is_positional(f, &stored)) {
        return tracked(table, partition, bucket, file, deleted, query, &stored).await;
    }
    let resolution = Resolution::new(&query.fields, &stored).context("file", &file.file_name)?;
    let (filter, complete) = match &query.filter {
        Some(filter) => resolution.predicate(filter),
        None => (None, true),
    };
    let deleted = match &filter {
        Some(filter) => {
            let fields = resolution.file_fields();
            match index::excluded(table, partition, bucket, file, fields, filter).await? {
                Some(excluded) => index::union(deleted, excluded),
                None => {
                    if let Some(counts) = table.counts() {
                        counts.by_index.add(1);
                    }
                    return Ok(futures::stream::empty().boxed());
                }
            }
        }
        None => deleted,
    };
    let read = FileRead {
        fields: resolution.file_fields().to_vec(),
        filter,
        exact_filter: query.exact_filter && complete,
        deleted,
        batch_size: query.batch_size,
        counts: table.counts().map(|counts| Arc::clone(&counts.groups)),
    };
    let opened = open(table, partition, bucket, file, read).await;
    let batches = query.tolerance.rows(table, file, opened)?;
    let after = query.filter.filter(|_| query.exact_filter && !complete);
    let (fields, name) = (query.fields, file.file_name.clone());
    let resolved = batches.map(move |batch| {
        let batch = batch?;
        let resolved = resolution.apply(&batch).map_err(|e| rows::named(e, &batch, &resolution));
        let batch = resolved.context("file", &name)?;
        match &after {
            Some(filter) => rows::matching(&batch, filter, &fields),
            None => Ok(batch),
        }
    });
    Ok(resolved.try_filter(|batch| std::future::ready(batch.num_rows() > 0)).boxed())
}

/// Streams all rows of a file that `deletion` leaves, each with its position in the file as the last column.
///
/// # Errors
/// As [`read_file`].
pub async fn read_positions(
    table: &Table,
    partition: &BinaryRow,
    bucket: i32,
    file: &DataFileMeta,
    deletion: Option<&DeletionFile>,
    mut query: FileQuery,
) -> Result<BatchStream> {
    query.fields.push(super::row_position_field());
    read_file(table, partition, bucket, file, deletion, query).await
}

/// Rows in a batch: `most`, or fewer where even compressed rows are large.
fn batch_rows(file: &DataFileMeta, most: usize) -> usize {
    let row = file.file_size.checked_div(file.row_count).unwrap_or(0).max(1);
    usize::try_from(BATCH_BYTES as i64 / row).unwrap_or(most).clamp(1, most.max(1))
}

async fn open(
    table: &Table,
    partition: &BinaryRow,
    bucket: i32,
    file: &DataFileMeta,
    read: FileRead,
) -> Result<BatchStream> {
    let place = place_of(table, partition, bucket, file)?;
    let size = u64::try_from(file.file_size).map_err(|_| Error::corrupt("a file has a negative size"))?;
    let format = format_of(&file.file_name)?;
    let read = FileRead { batch_size: batch_rows(file, read.batch_size), ..read };
    let source: Arc<dyn RangeReader> = Arc::new(StoredFile::new(Arc::clone(table.storage()), place, size));
    format.read(source, read).await.context("table", table.name())
}

/// The columns that a file holds, by the schema it was written with.
pub(super) async fn stored_fields(table: &Table, file: &DataFileMeta) -> Result<Vec<DataField>> {
    let schema = if file.schema_id == table.schema().id {
        Arc::new(table.schema().clone())
    } else {
        Schemas::new(table).get(file.schema_id).await?
    };
    let mut fields = if schema.is_primary_key_table() { key_value_columns(&schema) } else { schema.fields.clone() };
    if !schema.is_primary_key_table() {
        fields.push(row_id_field());
        fields.push(DataField::new(SEQUENCE_NUMBER_ID, SEQUENCE_NUMBER, DataType::nullable(Kind::BigInt)));
    }
    if let Some(columns) = &file.write_cols {
        fields.retain(|field| columns.contains(&field.name) || is_system(field));
    }
    Ok(fields)
}

/// The columns of a file as they are asked for: timestamps that become something else on the way are wide until then, so
/// that nothing is lost.
pub(super) fn lossless(stored: Vec<DataField>, wanted: &[DataField]) -> Vec<DataField> {
    let column = |field: DataField| {
        let changes = wanted.iter().any(|w| w.id == field.id && w.data_type.kind != field.data_type.kind);
        if changes { widened(&[field]).remove(0) } else { field }
    };
    stored.into_iter().map(column).collect()
}

/// `_KEY_` columns are left out: the values hold the same.
fn key_value_columns(schema: &TableSchema) -> Vec<DataField> {
    let key = |f: &DataField| f.id >= KEY_FIELD_ID_OFFSET && !is_system(f);
    schema.key_value_fields().into_iter().filter(|f| !key(f)).collect()
}

fn is_system(field: &DataField) -> bool {
    field.id >= ROW_ID_ID
}

/// Whether a column's values depend on where in the file the row stands or on the file as a whole.
fn is_positional(field: &DataField, stored: &[DataField]) -> bool {
    // Without a primary key the file may hold row ids and sequence numbers, or leave them to its metadata.
    let tracking = stored.iter().any(|f| f.id == ROW_ID_ID);
    field.id == ROW_POSITION_ID || (tracking && matches!(field.id, ROW_ID_ID | SEQUENCE_NUMBER_ID))
}

/// Positions are only known when every row is read, so deletion vector and filter are applied afterwards.
async fn tracked(
    table: &Table,
    partition: &BinaryRow,
    bucket: i32,
    file: &DataFileMeta,
    deleted: Option<Arc<RoaringTreemap>>,
    query: FileQuery,
    stored: &[DataField],
) -> Result<BatchStream> {
    let wanted: Vec<DataField> = query.fields.iter().filter(|f| f.id != ROW_POSITION_ID).cloned().collect();
    let resolution = Resolution::new(&wanted, stored).context("file", &file.file_name)?;
    let read = FileRead {
        fields: resolution.file_fields().to_vec(),
        filter: None,
        exact_filter: false,
        deleted: None,
        batch_size: query.batch_size,
        counts: table.counts().map(|counts| Arc::clone(&counts.groups)),
    };
    let opened = open(table, partition, bucket, file, read).await;
    let batches = query.tolerance.rows(table, file, opened)?;
    let mut tracking = Tracking::new(file, query.fields, deleted);
    let filter = query.filter.filter(|_| query.exact_filter);
    let name = file.file_name.clone();
    let rows = batches.map(move |batch: Result<RecordBatch>| {
        let batch = batch?;
        let resolved = resolution.apply(&batch).map_err(|e| rows::named(e, &batch, &resolution));
        let batch = tracking.apply(&resolved.context("file", &name)?).context("file", &name)?;
        match &filter {
            Some(filter) => rows::matching(&batch, filter, tracking.fields()),
            None => Ok(batch),
        }
    });
    Ok(rows.try_filter(|batch| std::future::ready(batch.num_rows() > 0)).boxed())
}
