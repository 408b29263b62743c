//! Reading: row groups, pages and rows are left out as early as statistics and the filter allow.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use futures::StreamExt;
use parquet::arrow::arrow_reader::{ArrowPredicateFn, RowFilter};
use parquet::arrow::{ParquetRecordBatchStreamBuilder, ProjectionMask};
use parquet::file::metadata::ParquetMetaData;
use parquet::schema::types::SchemaDescriptor;

use super::conform::conform;
use super::fence::{Fenced, fenced};
use super::open::{Open, open};
use super::project::leaves;
use super::prune::{Columns, row_groups};
use super::source::Source;
use super::{page, reading};
use crate::file::{BatchStream, FileRead, RangeReader};
use crate::predicate::Predicate;
use crate::types::{DataField, arrow_field};
use crate::{Error, Result, ResultExt};

/// Streams the rows of a file; see [`FileFormat::read`](crate::file::FileFormat::read).
pub(super) async fn stream(file: Arc<dyn RangeReader>, read: FileRead) -> Result<BatchStream> {
    let path = file.path().to_owned();
    let deleted = read.deleted.clone().filter(|d| !d.is_empty());
    let Open { source, metadata } = open(file, read.filter.is_some() || deleted.is_some()).await?;
    let builder = ParquetRecordBatchStreamBuilder::new_with_metadata(source, metadata);
    let built =
        fenced(|| build(builder, &read, deleted.as_deref()).context("path", &path)).context("path", &path)??;
    let Built { stream, shape, filter } = built;
    let batches = Fenced::new(stream).map(move |item| {
        let batch = item.context("path", &path)?.map_err(|e| reading(e, &path))?;
        let batch = shape.apply(&batch).context("path", &path)?;
        match &filter {
            Some(filter) => {
                let keep = filter.evaluate(&batch, &read.fields)?;
                Ok(arrow_select::filter::filter_record_batch(&batch, &keep)?)
            }
            None => Ok(batch),
        }
    });
    let some = |batch: &Result<RecordBatch>| batch.as_ref().map_or(true, |b| b.num_rows() > 0);
    Ok(batches.filter(move |batch| std::future::ready(some(batch))).boxed())
}

struct Built {
    stream: parquet::arrow::async_reader::ParquetRecordBatchStream<Source>,
    shape: Shape,
    /// What is left to be filtered after decoding.
    filter: Option<Predicate>,
}

fn build(
    builder: ParquetRecordBatchStreamBuilder<Source>,
    read: &FileRead,
    deleted: Option<&roaring::RoaringTreemap>,
) -> Result<Built> {
    let metadata = Arc::clone(builder.metadata());
    let schema = builder.parquet_schema();
    let columns = Columns::new(&read.fields, schema);
    let groups = match &read.filter {
        Some(filter) => row_groups(&metadata, &columns, filter),
        None => (0..metadata.num_row_groups()).collect(),
    };
    let pages = read.filter.as_ref().map(|filter| (&columns, filter));
    let selection = page::rows(&metadata, &groups, pages, deleted);
    let projection = leaves(schema, &read.fields)?;
    let mut after = read.filter.clone().filter(|_| read.exact_filter);
    let before = match after.take_if(|filter| late(filter, &read.fields)) {
        Some(filter) => Some(row_filter(filter, &read.fields, schema)?),
        None => None,
    };
    let rows = batch_rows(&metadata, &groups, &projection, read.batch_size.max(1));
    let mut builder = builder.with_row_groups(groups).with_projection(projection).with_batch_size(rows);
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

/// Bytes of decoded values in a batch from which on it gets fewer rows.
const BATCH_BYTES: i64 = 32 << 20;

/// Rows in a batch: `most`, or fewer where rows are so large that a batch of that many would not fit in memory.
fn batch_rows(metadata: &ParquetMetaData, groups: &[usize], projection: &ProjectionMask, most: usize) -> usize {
    let largest = groups.iter().filter_map(|&group| {
        let group = metadata.row_groups().get(group)?;
        let leaves = group.columns().iter().enumerate().filter(|(leaf, _)| projection.leaf_included(*leaf));
        let bytes: i64 = leaves.map(|(_, chunk)| chunk.uncompressed_size()).sum();
        bytes.checked_div(group.num_rows())
    });
    let row = largest.max().unwrap_or(0).max(1);
    usize::try_from(BATCH_BYTES / row).unwrap_or(most).clamp(1, most)
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
