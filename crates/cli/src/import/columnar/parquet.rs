//! Parquet files, row group by row group, so that what is damaged can be named.

use std::fs::File;
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use linn::format::types::{DataField, DataType, Kind, fields_from_arrow};
use linn::{Error, Result};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::LogicalType;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};

use super::patched::Patched;
use super::{Batches, footer, int96, page};
use crate::import::ahead::damaged;
use crate::import::chunk::{ROWS, until_error};
use crate::import::guard::guarded;
use crate::import::source::Source;

/// Bytes of a batch from which on it gets fewer rows.
const BATCH: i64 = 32 << 20;

/// Bytes of a row, on average over a row group, that are read at the most.
const LARGEST_ROW: i64 = 256 << 20;

/// The columns of a table that holds the rows of a file.
pub(super) fn fields(source: &Source) -> Result<Vec<DataField>> {
    let rows = guarded(|| Rows::open(source)).unwrap_or_else(|panic| Err(damaged(panic)))?;
    let mut fields = fields_from_arrow(&rows.schema)?;
    for (field, root) in fields.iter_mut().zip(rows.metadata.parquet_schema().root_schema().get_fields()) {
        if root.get_basic_info().logical_type_ref() == Some(&LogicalType::variant(None)) {
            field.data_type = DataType { kind: Kind::Variant, nullable: field.data_type.nullable };
        }
    }
    Ok(fields)
}

/// Opens a file.
pub(super) fn open(source: &Source) -> Result<(SchemaRef, Batches)> {
    let mut rows = Rows::open(source)?;
    let schema = Arc::clone(&rows.schema);
    Ok((schema, Box::new(until_error(std::iter::from_fn(move || rows.next().transpose())))))
}

struct Rows {
    file: Arc<File>,
    name: String,
    metadata: ArrowReaderMetadata,
    /// The columns as the file declares them.
    schema: SchemaRef,
    /// The row group that is read, or is next.
    group: usize,
    /// The reader of the row group, and its rows so far.
    reader: Option<(ParquetRecordBatchReader, i64)>,
}

impl Rows {
    fn open(source: &Source) -> Result<Self> {
        let mut file = source.raw()?;
        footer::check_magic(&mut file, source)?;
        let metadata = footer::read(&file).map_err(|e| broken(e).with("file", source.name()))?;
        let declared = load(&metadata.declared, metadata.has_int96).map_err(|e| e.with("file", source.name()))?;
        refuse_shredded(&declared).map_err(|e| e.with("file", source.name()))?;
        let schema = Arc::clone(declared.schema());
        let metadata = if metadata.has_int96 { load(&metadata.read, true)? } else { declared };
        Ok(Self { file: Arc::new(file), name: source.name(), metadata, schema, group: 0, reader: None })
    }

    fn next(&mut self) -> Result<Option<RecordBatch>> {
        while self.group < self.metadata.metadata().num_row_groups() {
            let (mut reader, rows) = match self.reader.take() {
                Some(reader) => reader,
                None => (self.start().map_err(|e| self.placed(e))?, 0),
            };
            match guarded(|| reader.next()) {
                Ok(None) => {
                    self.check_end(rows)?;
                    self.group += 1;
                }
                Ok(Some(Ok(batch))) => {
                    let rows = rows.saturating_add(i64::try_from(batch.num_rows()).unwrap_or(i64::MAX));
                    self.reader = Some((reader, rows));
                    return self.declared(batch).map(Some);
                }
                Ok(Some(Err(e))) => return Err(self.placed(of_arrow(e))),
                Err(panic) => return Err(self.placed(damaged(panic))),
            }
        }
        Ok(None)
    }

    fn start(&self) -> Result<ParquetRecordBatchReader> {
        let start = || reader(&self.file, &self.metadata, self.group, None);
        guarded(start).unwrap_or_else(|panic| Err(damaged(panic)))
    }

    /// The batch in the types that the file declares.
    fn declared(&self, batch: RecordBatch) -> Result<RecordBatch> {
        if batch.schema() == self.schema {
            return Ok(batch);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let (mut fields, mut columns): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
        for (column, declared) in batch.columns().iter().zip(self.schema.fields()) {
            let column = int96::decode(column, declared.data_type())
                .map_err(|e| e.with("file", &self.name).with("column", declared.name()))?;
            fields.push(declared.as_ref().clone().with_data_type(column.data_type().clone()));
            columns.push(column);
        }
        Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)?)
    }

    /// A row group must have the rows that the footer says.
    fn check_end(&self, rows: i64) -> Result<()> {
        let said = self.metadata.metadata().row_groups().get(self.group).map_or(0, RowGroupMetaData::num_rows);
        if said == rows {
            return Ok(());
        }
        Err(damaged(format!("the row group has {rows} rows, the footer says {said}"))
            .with("file", &self.name)
            .with("row group", self.group))
    }

    /// The error with the place: the first column that cannot be read by itself.
    fn placed(&self, error: Error) -> Error {
        let error = error.with("file", &self.name).with("row group", self.group);
        let columns = self.metadata.parquet_schema().root_schema().get_fields();
        let fails = |at: usize| {
            let read = guarded(|| {
                reader(&self.file, &self.metadata, self.group, Some(at))
                    .is_ok_and(|mut reader| reader.all(|b| b.is_ok()))
            });
            !read.unwrap_or(false)
        };
        match columns.iter().enumerate().find(|(at, _)| fails(*at)) {
            Some((_, column)) => error.with("column", column.name()),
            None => error,
        }
    }
}

/// With `by_parquet` the types of an Arrow schema in the file do not matter, nor do they where they are damaged.
fn load(metadata: &Arc<ParquetMetaData>, by_parquet: bool) -> Result<ArrowReaderMetadata> {
    let load = |by_parquet| {
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(by_parquet);
        ArrowReaderMetadata::try_new(Arc::clone(metadata), options)
    };
    load(by_parquet).or_else(|_| load(true)).map_err(broken)
}

/// Reads a row group, one of its columns where that is given.
fn reader(
    file: &Arc<File>,
    metadata: &ArrowReaderMetadata,
    group: usize,
    column: Option<usize>,
) -> Result<ParquetRecordBatchReader> {
    let schema = metadata.parquet_schema();
    let wanted = column.map_or(ProjectionMask::all(), |column| ProjectionMask::roots(schema, [column]));
    let Some(chunks) = metadata.metadata().row_groups().get(group) else {
        return Err(Error::internal("there is no such row group"));
    };
    let rows = batch_rows(chunks)?;
    let mut places = Vec::new();
    if says_too_little(metadata.metadata()) {
        let mut file = file.try_clone().map_err(|e| Error::unavailable("the input cannot be read").with_source(e))?;
        for (_, chunk) in chunks.columns().iter().enumerate().filter(|(leaf, _)| wanted.leaf_included(*leaf)) {
            let Some((start, end)) = place(chunk) else { continue };
            places.extend(page::not_compressed(&mut file, start, end)?);
        }
    }
    places.sort_unstable();
    let file = Patched { file: Arc::clone(file), places: Arc::new(places) };
    ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
        .with_row_groups(vec![group])
        .with_projection(wanted)
        .with_batch_size(rows)
        .build()
        .map_err(broken)
}

/// Where the pages of a column chunk begin and end.
fn place(chunk: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    let data = u64::try_from(chunk.data_page_offset()).ok()?;
    let dictionary = chunk.dictionary_page_offset().and_then(|offset| u64::try_from(offset).ok());
    let start = dictionary.map_or(data, |dictionary| dictionary.min(data));
    Some((start, start.checked_add(u64::try_from(chunk.compressed_size()).ok()?)?))
}

/// Whether the writer says of compressed pages of version 2 that they are not: the C++ library did so until its version 3.
fn says_too_little(metadata: &ParquetMetaData) -> bool {
    let Some(writer) = metadata.file_metadata().created_by() else { return false };
    let version =
        writer.strip_prefix("parquet-cpp-arrow version ").or_else(|| writer.strip_prefix("parquet-cpp version "));
    let major = version.and_then(|version| version.split('.').next()).and_then(|major| major.parse::<u32>().ok());
    major.is_some_and(|major| major < 3)
}

/// Rows in a batch of a row group.
fn batch_rows(group: &RowGroupMetaData) -> Result<usize> {
    let bytes = group.columns().iter().map(|chunk| chunk.uncompressed_size()).fold(0, i64::saturating_add);
    let row = bytes.checked_div(group.num_rows()).unwrap_or(0);
    if row > LARGEST_ROW {
        return Err(Error::unsupported(format!("rows of {} MiB in Parquet files", row >> 20))
            .with_hint(format!("rows of up to {} MiB are read", LARGEST_ROW >> 20)));
    }
    Ok(BATCH.checked_div(row).and_then(|rows| usize::try_from(rows).ok()).map_or(ROWS, |rows| rows.clamp(1, ROWS)))
}

fn refuse_shredded(metadata: &ArrowReaderMetadata) -> Result<()> {
    for root in metadata.parquet_schema().root_schema().get_fields() {
        let is_variant = root.get_basic_info().logical_type_ref() == Some(&LogicalType::variant(None));
        if is_variant && root.get_fields().iter().any(|part| part.name() == "typed_value") {
            return Err(Error::unsupported("shredded VARIANT in Parquet files").with("column", root.name()));
        }
    }
    Ok(())
}

fn broken(e: ParquetError) -> Error {
    match e {
        ParquetError::NYI(what) => Error::unsupported(format!("a feature of Parquet: {what}")),
        other => damaged(other),
    }
}

/// The library tells errors of Parquet as text within those of Arrow.
fn of_arrow(e: ArrowError) -> Error {
    match e {
        ArrowError::ParquetError(text) if text.contains("NYI") => {
            Error::unsupported("a feature of Parquet").with_source(ArrowError::ParquetError(text))
        }
        other => super::broken(other),
    }
}
