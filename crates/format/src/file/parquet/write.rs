//! Writing: Arrow's column writers fed with our arrays, under a schema of our own.
//!
//! INT96 is written as 12 bytes of fixed length, whose pages are the same, and declared INT96 when a column chunk is
//! put into the file.

use std::cmp::Reverse;
use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType as Arrow, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression, Type as Physical};
use parquet::column::writer::ColumnCloseResult;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescPtr, ColumnPath, SchemaDescriptor};
use rayon::prelude::*;

use super::conform::conform;
use super::dictionary;
use super::pages::{Pages, Press};
use super::property::{Properties, properties};
use super::schema::{INT96_LENGTH, Nanos, message};
use super::writing;
use crate::file::{BATCH_BYTES, FileWrite, FileWriter, value_bytes};
use crate::types::{arrow_schema, narrowed};
use crate::{Error, Result, ResultExt};

/// Rows that are encoded in one go, so that row groups end near their size.
const SLICE: usize = 64 << 10;

/// Bytes of a batch from which on it counts whether a row group ends before or after it.
const LARGE_BATCH: usize = BATCH_BYTES / 2;

/// A file being written.
pub(super) struct Writer {
    file: SerializedFileWriter<Box<dyn Write + Send>>,
    /// How columns are encoded.
    properties: Arc<WriterProperties>,
    /// With what pages are compressed here; the library does it where there is nothing.
    press: Option<Press>,
    /// Whether pages pass through here: the library alone writes the same without checksums.
    here: bool,
    /// The leaf columns as they are encoded.
    leaves: SchemaDescriptor,
    /// The columns as they are encoded.
    schema: SchemaRef,
    /// How many leaf columns each column has.
    leaf_counts: Vec<usize>,
    /// Row group in progress: a writer for each leaf.
    group: Vec<ArrowColumnWriter>,
    /// Its pages, where they pass through here.
    pages: Option<Arc<Pages>>,
    group_rows: usize,
    block_size: usize,
    block_rows: usize,
    parallel: bool,
}

impl Writer {
    pub(super) fn start(write: FileWrite, sink: Box<dyn Write + Send>) -> Result<Self> {
        Self::paging(write, sink, true)
    }

    /// With pages that get their checksums `here` and are compressed where they can be.
    pub(super) fn paging(write: FileWrite, sink: Box<dyn Write + Send>, here: bool) -> Result<Self> {
        let schema = message(&write.fields, Nanos::Int96).map_err(writing)?;
        let Properties { writer, block_size, block_rows } = properties(&write, &schema)?;
        let writer = Arc::new(writer);
        let arrow = encoded(&*arrow_schema(&narrowed(&write.fields))?);
        let file = SerializedFileWriter::new(sink, schema.root_schema_ptr(), Arc::clone(&writer)).map_err(writing)?;
        let leaves = message(&write.fields, Nanos::Bytes).map_err(writing)?;
        let press = press(&writer).filter(|_| here);
        let properties = match &press {
            Some(_) => {
                let builder = WriterProperties::clone(&writer).into_builder();
                Arc::new(builder.set_compression(Compression::UNCOMPRESSED).build())
            }
            None => writer,
        };
        let mut leaf_counts = vec![0; write.fields.len()];
        (0..leaves.num_columns()).for_each(|leaf| leaf_counts[leaves.get_column_root_idx(leaf)] += 1);
        Ok(Self {
            file,
            properties,
            press,
            here,
            leaves,
            leaf_counts,
            schema: arrow,
            group: Vec::new(),
            pages: None,
            group_rows: 0,
            block_size,
            block_rows,
            parallel: write.parallel,
        })
    }

    fn append(&mut self, batch: &RecordBatch) -> Result<()> {
        // Of large rows one more would make the row group much larger.
        let bytes = value_bytes(batch)?;
        if bytes >= LARGE_BATCH && self.group_rows > 0 && self.buffered() + bytes > self.block_size {
            self.flush()?;
        }
        if self.group.is_empty() {
            let group = self.file.flushed_row_groups().len();
            let properties = dictionary::fit(&self.properties, &self.leaves, batch);
            let mut columns = factory(&self.leaves, properties, &self.schema)?;
            if self.here {
                let pages = self.pages.insert(Arc::new(Pages::new(self.press.clone())));
                columns = columns.with_page_store_factory(Arc::<Pages>::clone(pages));
            }
            self.group = columns.create_column_writers(group).map_err(writing)?;
        }
        let mut writers = self.group.as_mut_slice();
        let mut columns = Vec::with_capacity(batch.num_columns());
        for ((field, column), count) in self.schema.fields().iter().zip(batch.columns()).zip(&self.leaf_counts) {
            let (of_column, rest) = std::mem::take(&mut writers)
                .split_at_mut_checked(*count)
                .ok_or_else(|| Error::internal("the parquet columns and their writers differ in number"))?;
            writers = rest;
            columns.push(Column { field, values: column, writers: of_column });
        }
        if self.parallel {
            // The largest first, or the others would wait for it at the end.
            columns.sort_by_cached_key(|column| Reverse(column.size()));
            columns.into_par_iter().with_max_len(1).try_for_each(Column::encode)?;
        } else {
            columns.into_iter().try_for_each(Column::encode)?;
        }
        self.group_rows += batch.num_rows();
        if self.group_rows >= self.block_rows || self.buffered() >= self.block_size { self.flush() } else { Ok(()) }
    }

    fn buffered(&self) -> usize {
        let columns = self.group.iter().enumerate().map(|(leaf, writer)| {
            let (given, made) = self.pages.as_ref().map_or((0, 0), |pages| pages.sizes(leaf));
            writer.get_estimated_total_bytes().saturating_sub(given) + made
        });
        columns.sum()
    }

    fn flush(&mut self) -> Result<()> {
        let declared = self.file.schema_descr().columns().to_vec();
        let mut group = self.file.next_row_group().map_err(writing)?;
        let writers = std::mem::take(&mut self.group);
        let chunks: Vec<_> = if self.parallel {
            writers.into_par_iter().map(ArrowColumnWriter::close).collect()
        } else {
            writers.into_iter().map(ArrowColumnWriter::close).collect()
        };
        let pages = self.pages.take();
        for (leaf, (chunk, column)) in chunks.into_iter().zip(declared).enumerate() {
            let mut chunk = chunk.map_err(writing)?;
            let Some(pages) = &pages else {
                if column.physical_type() == Physical::INT96 {
                    declare(chunk.close_mut(), column)?;
                }
                chunk.append_to_row_group(&mut group).map_err(writing)?;
                continue;
            };
            let (laid, mut close) = pages.take(leaf, &mut chunk)?;
            if column.physical_type() == Physical::INT96 {
                declare(&mut close, column)?;
            }
            group.append_column(&laid, close).map_err(writing)?;
        }
        group.close().map_err(writing)?;
        self.group_rows = 0;
        Ok(())
    }
}

/// With what pages are compressed here: zstd, which is the default, in pages of the first version, which are compressed as a
/// whole.
fn press(properties: &WriterProperties) -> Option<Press> {
    match (properties.writer_version(), properties.compression(&ColumnPath::new(Vec::new()))) {
        (WriterVersion::PARQUET_1_0, Compression::ZSTD(level)) => Some(Press::new(level)),
        _ => None,
    }
}

/// A column of a batch and the writers of its leaves.
struct Column<'a> {
    field: &'a FieldRef,
    values: &'a ArrayRef,
    writers: &'a mut [ArrowColumnWriter],
}

impl Column<'_> {
    /// Bytes of the row group so far: the values of a column stay about as large.
    fn size(&self) -> usize {
        self.writers.iter().map(ArrowColumnWriter::get_estimated_total_bytes).sum()
    }

    fn encode(self) -> Result<()> {
        let name = self.field.name();
        let values = fit(self.field, self.values).context("column", name)?;
        let leaves = compute_leaves(self.field, &values).map_err(writing).context("column", name)?;
        if leaves.len() != self.writers.len() {
            return Err(Error::internal("a parquet column and its writers differ in number")).context("column", name);
        }
        let mut leaves = self.writers.iter_mut().zip(&leaves);
        leaves.try_for_each(|(writer, leaf)| writer.write(leaf)).map_err(writing).context("column", name)
    }
}

impl FileWriter for Writer {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_columns() != self.schema.fields().len() {
            return Err(Error::internal(format!(
                "a batch of {} columns for a file of {}",
                batch.num_columns(),
                self.schema.fields().len()
            )));
        }
        let rows = batch.num_rows();
        for start in (0..rows).step_by(SLICE) {
            self.append(&batch.slice(start, SLICE.min(rows - start)))?;
        }
        Ok(())
    }

    fn size(&self) -> u64 {
        self.file.bytes_written() as u64 + self.buffered() as u64
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        if self.group_rows > 0 {
            self.flush()?;
        }
        self.file.finish().map_err(writing)?;
        self.file.inner_mut().flush().map_err(super::sink)
    }
}

/// Column writers with properties of their own, for leaves that may differ from the file's. The library makes them for a file
/// only, so it gets one to nowhere.
fn factory(
    schema: &SchemaDescriptor,
    writer: Arc<WriterProperties>,
    arrow: &SchemaRef,
) -> Result<ArrowRowGroupWriterFactory> {
    let nowhere = SerializedFileWriter::new(std::io::sink(), schema.root_schema_ptr(), writer).map_err(writing)?;
    Ok(ArrowRowGroupWriterFactory::new(&nowhere, Arc::clone(arrow)))
}

/// Makes a chunk of 12-byte values one of the INT96 column `column`; these have no statistics.
fn declare(close: &mut ColumnCloseResult, column: ColumnDescPtr) -> Result<()> {
    let metadata = &close.metadata;
    let mut builder = ColumnChunkMetaData::builder(column)
        .set_compression_codec(metadata.compression_codec())
        .set_encodings_mask(*metadata.encodings_mask())
        .set_total_compressed_size(metadata.compressed_size())
        .set_total_uncompressed_size(metadata.uncompressed_size())
        .set_num_values(metadata.num_values())
        .set_data_page_offset(metadata.data_page_offset())
        .set_dictionary_page_offset(metadata.dictionary_page_offset())
        .set_repetition_level_histogram(metadata.repetition_level_histogram().cloned())
        .set_definition_level_histogram(metadata.definition_level_histogram().cloned());
    if let Some(stats) = metadata.page_encoding_stats() {
        builder = builder.set_page_encoding_stats(stats.clone());
    }
    close.metadata = builder.build().map_err(writing)?;
    close.column_index = None;
    Ok(())
}

/// The array as it is encoded; refuses nulls where the column has none.
fn fit(field: &Field, column: &ArrayRef) -> Result<ArrayRef> {
    if !field.is_nullable() && column.null_count() > 0 {
        return Err(Error::invalid("the column is NOT NULL, but a value is null")
            .with_hint("a merge engine such as partial-update or aggregation can produce nulls"));
    }
    conform(column, field.data_type())
}

/// Columns as they are encoded: nanoseconds as 12 bytes.
fn encoded(schema: &Schema) -> SchemaRef {
    Arc::new(Schema::new(schema.fields().iter().map(encoded_field).collect::<Vec<_>>()))
}

fn encoded_field(field: &FieldRef) -> FieldRef {
    Arc::new(field.as_ref().clone().with_data_type(encoded_type(field.data_type())))
}

fn encoded_type(data_type: &Arrow) -> Arrow {
    match data_type {
        Arrow::Timestamp(TimeUnit::Nanosecond, _) => Arrow::FixedSizeBinary(INT96_LENGTH),
        Arrow::List(element) => Arrow::List(encoded_field(element)),
        Arrow::FixedSizeList(element, length) => Arrow::FixedSizeList(encoded_field(element), *length),
        Arrow::Map(entries, sorted) => Arrow::Map(encoded_field(entries), *sorted),
        Arrow::Struct(fields) => Arrow::Struct(fields.iter().map(encoded_field).collect()),
        other => other.clone(),
    }
}
