//! Parquet files, row group by row group, so that what is damaged can be named.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use linn::format::file::parquet::int96_as_bytes;
use linn::format::types::{DataField, DataType, Kind, fields_from_arrow};
use linn::{Error, Result};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::LogicalType;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader, RowGroupMetaData};

use super::{Batches, int96};
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
    file: File,
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
        check_magic(&mut file, source)?;
        let metadata = read_metadata(&file).map_err(|e| broken(e).with("file", source.name()))?;
        let declared = load(&metadata.declared, metadata.has_int96).map_err(|e| e.with("file", source.name()))?;
        refuse_shredded(&declared).map_err(|e| e.with("file", source.name()))?;
        let schema = Arc::clone(declared.schema());
        let metadata = if metadata.has_int96 { load(&metadata.read, true)? } else { declared };
        Ok(Self { file, name: source.name(), metadata, schema, group: 0, reader: None })
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
        let start = || reader(&self.file, &self.metadata, self.group, ProjectionMask::all());
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
            let only = ProjectionMask::roots(self.metadata.parquet_schema(), [at]);
            let read = guarded(|| {
                reader(&self.file, &self.metadata, self.group, only).is_ok_and(|mut reader| reader.all(|b| b.is_ok()))
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

fn reader(
    file: &File,
    metadata: &ArrowReaderMetadata,
    group: usize,
    columns: ProjectionMask,
) -> Result<ParquetRecordBatchReader> {
    let rows = metadata.metadata().row_groups().get(group).map_or(Ok(ROWS), batch_rows)?;
    let file = file.try_clone().map_err(|e| Error::unavailable("the input cannot be read").with_source(e))?;
    ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
        .with_row_groups(vec![group])
        .with_projection(columns)
        .with_batch_size(rows)
        .build()
        .map_err(broken)
}

/// Rows in a batch of a row group.
fn batch_rows(group: &RowGroupMetaData) -> Result<usize> {
    let bytes = group.columns().iter().map(|chunk| chunk.uncompressed_size()).fold(0, i64::saturating_add);
    let row = bytes.checked_div(group.num_rows()).unwrap_or(0);
    if row > LARGEST_ROW {
        return Err(Error::unsupported(format!("feature rows of {} MiB in Parquet files", row >> 20))
            .with_hint(format!("rows of up to {} MiB are read", LARGEST_ROW >> 20)));
    }
    Ok(BATCH.checked_div(row).and_then(|rows| usize::try_from(rows).ok()).map_or(ROWS, |rows| rows.clamp(1, ROWS)))
}

fn check_magic(file: &mut File, source: &Source) -> Result<()> {
    let mut ends = [0; 8];
    let (start, end) = ends.split_at_mut(4);
    let read = file.read_exact(start).and_then(|()| file.seek(SeekFrom::End(-4))).and_then(|_| file.read_exact(end));
    match read {
        Ok(()) if matches!(&ends, b"PAR1PAR1") => Ok(()),
        Ok(()) if matches!(&ends, [b'P', b'A', b'R', b'1', ..]) => {
            Err(damaged("the end of the file is missing").with("file", source.name()))
        }
        Ok(()) if matches!(&ends, [b'P', b'A', b'R', b'E', ..]) => {
            Err(Error::unsupported("feature encrypted Parquet files").with("file", source.name()))
        }
        Ok(()) => Err(source.wrong("a Parquet file", "the bytes PAR1 are not at its beginning and end")),
        Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof || e.kind() == std::io::ErrorKind::InvalidInput => {
            Err(source.wrong("a Parquet file", "it is too short"))
        }
        Err(e) => Err(source.failed(e)),
    }
}

struct Footer {
    declared: Arc<ParquetMetaData>,
    /// With bytes in place of INT96.
    read: Arc<ParquetMetaData>,
    has_int96: bool,
}

fn read_metadata(file: &File) -> Result<Footer, ParquetError> {
    let declared = ParquetMetaDataReader::new().parse_and_finish(file)?;
    let bytes = int96_as_bytes(declared.file_metadata().schema_descr())?;
    let has_int96 = bytes.is_some();
    let read = match bytes {
        Some(schema) => {
            let options = ParquetMetaDataOptions::new().with_schema(Arc::new(schema));
            ParquetMetaDataReader::new().with_metadata_options(Some(options)).parse_and_finish(file)?
        }
        None => declared.clone(),
    };
    Ok(Footer { declared: Arc::new(mended(declared)?), read: Arc::new(mended(read)?), has_int96 })
}

/// Some writers say that a dictionary is at the beginning of the file, which is none.
fn mended(metadata: ParquetMetaData) -> Result<ParquetMetaData, ParquetError> {
    let is_wrong = |group: &RowGroupMetaData| group.columns().iter().any(|c| c.dictionary_page_offset() == Some(0));
    if !metadata.row_groups().iter().any(is_wrong) {
        return Ok(metadata);
    }
    let mut builder = metadata.into_builder();
    let mut groups = Vec::new();
    for group in builder.take_row_groups() {
        let mut columns = Vec::new();
        for column in group.columns() {
            let offset = column.dictionary_page_offset().filter(|offset| *offset > 0);
            columns.push(column.clone().into_builder().set_dictionary_page_offset(offset).build()?);
        }
        groups.push(group.into_builder().set_column_metadata(columns).build()?);
    }
    Ok(builder.set_row_groups(groups).build())
}

fn refuse_shredded(metadata: &ArrowReaderMetadata) -> Result<()> {
    for root in metadata.parquet_schema().root_schema().get_fields() {
        let is_variant = root.get_basic_info().logical_type_ref() == Some(&LogicalType::variant(None));
        if is_variant && root.get_fields().iter().any(|part| part.name() == "typed_value") {
            return Err(Error::unsupported("feature shredded VARIANT in Parquet files").with("column", root.name()));
        }
    }
    Ok(())
}

fn broken(e: ParquetError) -> Error {
    match e {
        ParquetError::NYI(what) => Error::unsupported(format!("feature of Parquet: {what}")),
        other => damaged(other),
    }
}

/// The library tells errors of Parquet as text within those of Arrow.
fn of_arrow(e: ArrowError) -> Error {
    match e {
        ArrowError::ParquetError(text) if text.contains("NYI") => {
            Error::unsupported("feature of Parquet").with_source(ArrowError::ParquetError(text))
        }
        other => super::broken(other),
    }
}
