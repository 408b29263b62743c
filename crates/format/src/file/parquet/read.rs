//! Reading: row groups, pages and rows are left out as early as statistics and the filter allow.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use futures::{StreamExt, TryStreamExt};
use parquet::arrow::arrow_reader::{ArrowPredicateFn, ArrowReaderMetadata, RowFilter, RowSelection, RowSelector};
use parquet::arrow::{ParquetRecordBatchStreamBuilder, ProjectionMask};
use parquet::file::metadata::ParquetMetaData;
use parquet::schema::types::SchemaDescriptor;

use super::conform::conform;
use super::damage::Place;
use super::fence::{Fenced, fenced};
use super::open::{Open, open};
use super::project::leaves;
use super::prune::{Columns, row_groups};
use super::source::Source;
use super::{page, reading};
use crate::file::{BATCH_BYTES, BatchStream, FileRead, RangeReader};
use crate::predicate::Predicate;
use crate::types::{DataField, arrow_field};
use crate::{Error, Result, ResultExt};

/// Streams the rows of a file; see [`FileFormat::read`](crate::file::FileFormat::read).
pub(super) async fn stream(file: Arc<dyn RangeReader>, mut read: FileRead) -> Result<BatchStream> {
    let path: Arc<str> = file.path().into();
    let deleted = read.deleted.take().filter(|d| !d.is_empty());
    let indexed = read.filter.is_some() || deleted.is_some();
    let parts_of = |open: &Open| fenced(|| parts(&open.metadata, &read)).flatten().context("path", &path);
    let mut opened = open(Arc::clone(&file), indexed).await?;
    let mut parts = parts_of(&opened)?;
    if parts.wants_index && !indexed {
        opened = open(file, true).await?;
        parts = parts_of(&opened)?;
    }
    let Open { source, metadata } = opened;
    let Parts { parts, batch_rows, groups, .. } = parts;
    if let Some(counts) = &read.counts {
        counts.note(groups, metadata.metadata().num_row_groups());
    }
    let batches = futures::stream::iter(parts).then(move |part| {
        let builder = ParquetRecordBatchStreamBuilder::new_with_metadata(source.clone(), metadata.clone());
        let is_window = part.rows.is_some();
        let (groups, fields) = (part.groups.clone(), read.fields.clone());
        let place = Place { source: source.clone(), metadata: metadata.clone(), groups, fields };
        let built = fenced(|| build(builder, &read, deleted.as_deref(), part, batch_rows)).flatten();
        let batches = built.context("path", &path).map(|built| built.batches(Arc::clone(&path), place));
        async move {
            match batches? {
                // The pages of a window are let go of before its rows are handed out.
                batches if is_window => {
                    let all: Vec<_> = batches.try_collect().await?;
                    Ok::<_, Error>(futures::stream::iter(all.into_iter().map(Ok)).boxed())
                }
                batches => Ok(batches),
            }
        }
    });
    let some = |batch: &RecordBatch| std::future::ready(batch.num_rows() > 0);
    Ok(batches.try_flatten().try_filter(some).boxed())
}

/// Row groups, and which of the rows of a single one.
struct Part {
    groups: Vec<usize>,
    rows: Option<Range<usize>>,
}

struct Parts {
    parts: Vec<Part>,
    /// How many row groups they are of.
    groups: usize,
    /// Rows in a batch.
    batch_rows: usize,
    /// Whether rows are so large that pages are fetched when their turn comes, where an index says where they are.
    wants_index: bool,
}

/// What is read one after the other: all that the filter leaves; where rows are large a batch at a time, as a row group in
/// memory would be many batches.
fn parts(metadata: &ArrowReaderMetadata, read: &FileRead) -> Result<Parts> {
    let (metadata, schema) = (metadata.metadata(), metadata.parquet_schema());
    let columns = Columns::new(&read.fields, schema);
    let groups = match &read.filter {
        Some(filter) => row_groups(metadata, &columns, filter),
        None => (0..metadata.num_row_groups()).collect(),
    };
    let row = row_bytes(metadata, &groups, &leaves(schema, &read.fields)?);
    let batch_rows = (BATCH_BYTES / row).clamp(1, read.batch_size.max(1));
    let wants_index = row >= LARGE_ROW;
    if !wants_index || metadata.offset_index().is_none() {
        let count = groups.len();
        return Ok(Parts { parts: vec![Part { groups, rows: None }], groups: count, batch_rows, wants_index });
    }
    let windows = |group: usize| {
        let rows = rows_of(metadata, group);
        let window = move |start| Part { groups: vec![group], rows: Some(start..rows.min(start + batch_rows)) };
        (0..rows).step_by(batch_rows).map(window)
    };
    let parts = groups.iter().copied().flat_map(windows).collect();
    Ok(Parts { parts, groups: groups.len(), batch_rows, wants_index })
}

fn rows_of(metadata: &ParquetMetaData, group: usize) -> usize {
    metadata.row_groups().get(group).map_or(0, |group| usize::try_from(group.num_rows()).unwrap_or(0))
}

struct Built {
    stream: parquet::arrow::async_reader::ParquetRecordBatchStream<Source>,
    shape: Shape,
    /// What is left to be filtered after decoding.
    filter: Option<Predicate>,
}

impl Built {
    fn batches(self, path: Arc<str>, place: Place) -> BatchStream {
        let Self { stream, shape, filter } = self;
        let place = Arc::new(place);
        let fields = place.fields.clone();
        let batch = move |item: Result<parquet::errors::Result<RecordBatch>>| {
            let batch = item.context("path", &path)?.map_err(|e| reading(e, &path))?;
            let batch = shape.apply(&batch).context("path", &path)?;
            match &filter {
                Some(filter) => {
                    let keep = filter.evaluate(&batch, &fields)?;
                    Ok(arrow_select::filter::filter_record_batch(&batch, &keep)?)
                }
                None => Ok(batch),
            }
        };
        let placed = move |error| {
            let place = Arc::clone(&place);
            async move { Err(place.of(error).await) }
        };
        Fenced::new(stream).map(batch).or_else(placed).boxed()
    }
}

fn build(
    builder: ParquetRecordBatchStreamBuilder<Source>,
    read: &FileRead,
    deleted: Option<&roaring::RoaringTreemap>,
    part: Part,
    batch_rows: usize,
) -> Result<Built> {
    let metadata = Arc::clone(builder.metadata());
    let schema = builder.parquet_schema();
    let columns = Columns::new(&read.fields, schema);
    let pages = read.filter.as_ref().map(|filter| (&columns, filter));
    let mut selection = page::rows(&metadata, &part.groups, pages, deleted);
    if let Some(rows) = part.rows {
        let end: usize = part.groups.iter().map(|group| rows_of(&metadata, *group)).sum();
        let rows = RowSelection::from(vec![
            RowSelector::skip(rows.start),
            RowSelector::select(rows.len()),
            RowSelector::skip(end.saturating_sub(rows.end)),
        ]);
        selection = Some(selection.map_or(rows.clone(), |selection| selection.intersection(&rows)));
    }
    let projection = leaves(schema, &read.fields)?;
    let mut after = read.filter.clone().filter(|_| read.exact_filter);
    let before = match after.take_if(|filter| late(filter, &read.fields)) {
        Some(filter) => Some(row_filter(filter, &read.fields, schema)?),
        None => None,
    };
    let mut builder = builder.with_row_groups(part.groups).with_projection(projection).with_batch_size(batch_rows);
    if let Some(selection) = selection {
        builder = builder.with_row_selection(selection);
    }
    if let Some(filter) = before {
        builder = builder.with_row_filter(filter);
    }
    let stream = builder.build().map_err(|e| reading(e, ""))?;
    let shape = Shape::new(&read.fields, stream.schema())?;
    Ok(Built { stream, shape, filter: after })
}

/// Bytes of a large row.
const LARGE_ROW: usize = 64 << 10;

/// Bytes of a decoded row, on average over the row group where it is largest; at least one.
fn row_bytes(metadata: &ParquetMetaData, groups: &[usize], projection: &ProjectionMask) -> usize {
    let largest = groups.iter().filter_map(|&group| {
        let group = metadata.row_groups().get(group)?;
        let leaves = group.columns().iter().enumerate().filter(|(leaf, _)| projection.leaf_included(*leaf));
        let bytes: i64 = leaves.map(|(_, chunk)| chunk.uncompressed_size()).fold(0, i64::saturating_add);
        bytes.checked_div(group.num_rows())
    });
    largest.max().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0).max(1)
}

/// Whether the filter leaves columns that need not be decoded for rows that it drops.
fn late(filter: &Predicate, fields: &[DataField]) -> bool {
    let ids = filter.field_ids();
    fields.iter().any(|f| !ids.contains(&f.id))
}

fn row_filter(filter: Predicate, fields: &[DataField], schema: &SchemaDescriptor) -> Result<RowFilter> {
    let ids = filter.field_ids();
    let fields: Vec<DataField> = fields.iter().filter(|f| ids.contains(&f.id)).cloned().collect();
    let mask = leaves(schema, &fields)?;
    let mut shape: Option<Shape> = None;
    let mut evaluate = move |batch: RecordBatch| -> Result<BooleanArray> {
        let shape = match &mut shape {
            Some(shape) => shape,
            unset => unset.insert(Shape::new(&fields, &batch.schema())?),
        };
        filter.evaluate(&shape.apply(&batch)?, &fields)
    };
    let evaluate = move |batch| evaluate(batch).map_err(|e: Error| ArrowError::ExternalError(Box::new(e)));
    Ok(RowFilter::new(vec![Box::new(ArrowPredicateFn::new(mask, evaluate))]))
}

/// How decoded batches become batches of the wanted columns.
struct Shape {
    schema: SchemaRef,
    /// Where each wanted column is in a decoded batch.
    columns: Vec<Option<usize>>,
}

impl Shape {
    fn new(fields: &[DataField], decoded: &Schema) -> Result<Self> {
        let columns: Vec<_> = fields.iter().map(|f| decoded.index_of(&f.name).ok()).collect();
        let field = |(field, column): (&DataField, &Option<usize>)| -> Result<Field> {
            let arrow = arrow_field(field)?;
            Ok(if column.is_none() { arrow.with_nullable(true) } else { arrow })
        };
        let schema = fields.iter().zip(&columns).map(field).collect::<Result<Vec<_>>>()?;
        Ok(Self { schema: Arc::new(Schema::new(schema)), columns })
    }

    fn apply(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let column = |(field, at): (&Arc<Field>, &Option<usize>)| -> Result<ArrayRef> {
            match at.and_then(|i| batch.columns().get(i)) {
                Some(array) => conform(array, field.data_type()).context("column", field.name()),
                None => Ok(new_null_array(field.data_type(), batch.num_rows())),
            }
        };
        let columns = self.schema.fields().iter().zip(&self.columns).map(column).collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
            .map_err(|e| Error::corrupt("values do not fit their column").with_source(e))
    }
}
