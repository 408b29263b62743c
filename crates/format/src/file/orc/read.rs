//! Streaming the batches of one file, stripe after stripe.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::{Field, Schema, SchemaRef};
use orc_rust::array_decoder::NaiveStripeDecoder;
use orc_rust::projection::ProjectionMask;
use orc_rust::reader::metadata::{FileMetadata, read_metadata_async};
use orc_rust::schema::RootDataType;
use orc_rust::stripe::{Stripe, StripeMetadata};

use super::carrier::{carrier, convert};
use super::fence::{fenced, fenced_async};
use super::source::Source;
use super::tail;
use crate::file::select::Selection;
use crate::file::stream::Batches;
use crate::file::{BatchStream, FileRead, RangeReader};
use crate::{Error, Result, ResultExt};

/// Stripes up to this size are fetched whole, even for few columns.
const WHOLE_STRIPE: u64 = 8 << 20;

/// Opens a file.
///
/// # Errors
/// `Corrupt` with the path when it is not an ORC file that holds the columns asked for.
pub(super) async fn open(source: Arc<dyn RangeReader>, read: FileRead) -> Result<BatchStream> {
    let path = source.path().to_owned();
    Reader::stream(Reader::open(source, read).await, path)
}

struct Reader {
    source: Source,
    metadata: FileMetadata,
    projected: RootDataType,
    /// What the library decodes: the projected columns in file order.
    carriers: SchemaRef,
    /// For each column asked for, its place among the carriers.
    places: Vec<Option<usize>>,
    schema: SchemaRef,
    selection: Selection,
    batch_size: usize,
    stripe: usize,
    decoder: Option<NaiveStripeDecoder>,
}

impl Batches for Reader {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let Some(decoder) = &mut self.decoder else {
                if !self.next_stripe().await? {
                    return Ok(None);
                }
                continue;
            };
            match fenced(|| decoder.next())? {
                Some(batch) => {
                    let batch = batch.map_err(|e| self.source.explain(e))?;
                    let batch = self.convert(&batch)?;
                    if let Some(batch) = self.selection.apply(batch)? {
                        return Ok(Some(batch));
                    }
                }
                None => self.decoder = None,
            }
        }
    }
}

impl Reader {
    async fn open(file: Arc<dyn RangeReader>, read: FileRead) -> Result<Self> {
        let mut source = Source::new(file);
        tail::check(&mut source).await?;
        let metadata = fenced_async(read_metadata_async(&mut source)).await?;
        let metadata = metadata.map_err(|e| source.explain(e))?;
        let names: Vec<&str> = read.fields.iter().map(|f| f.name.as_str()).collect();
        let root = metadata.root_data_type();
        let projected = root.project(&ProjectionMask::named_roots(root, &names));
        let children = projected.children();
        let carriers = children.iter().map(|c| Field::new(c.name(), carrier(c.data_type()), true));
        let carriers = Arc::new(Schema::new(carriers.collect::<Vec<_>>()));
        let places = names.iter().map(|name| children.iter().position(|c| c.name() == *name)).collect();
        let selection = Selection::new(&read);
        let schema = selection.schema(|name| children.iter().any(|c| c.name() == name))?;
        let batch_size = read.batch_size.max(1);
        if let Some(counts) = &read.counts {
            let stripes = metadata.stripe_metadatas().len();
            counts.note(stripes, stripes);
        }
        Ok(Self {
            source,
            metadata,
            projected,
            carriers,
            places,
            schema,
            selection,
            batch_size,
            stripe: 0,
            decoder: None,
        })
    }

    async fn next_stripe(&mut self) -> Result<bool> {
        let Some(info) = self.metadata.stripe_metadatas().get(self.stripe).cloned() else {
            return Ok(false);
        };
        self.stripe += 1;
        self.load(&info).await?;
        let stripe = Stripe::new_async(&mut self.source, &self.metadata, &self.projected, &info);
        let stripe = fenced_async(stripe).await?.map_err(|e| self.source.explain(e))?;
        let decoder = fenced(|| NaiveStripeDecoder::new(stripe, self.carriers.clone(), self.batch_size))?;
        self.decoder = Some(decoder.map_err(|e| self.source.explain(e))?);
        Ok(true)
    }

    /// Fetches a stripe whole when that is cheaper than its columns one by one.
    async fn load(&mut self, info: &StripeMetadata) -> Result<()> {
        let length = info.index_length().checked_add(info.data_length());
        let length = length.and_then(|n| n.checked_add(info.footer_length()));
        let length = length.ok_or_else(|| Error::corrupt("orc stripe is longer than any file"))?;
        let columns = self.metadata.root_data_type().children().len();
        if length <= WHOLE_STRIPE || self.projected.children().len() * 2 >= columns {
            self.source.load(info.offset(), length).await?;
        }
        Ok(())
    }

    fn convert(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let column = |(place, field): (&Option<usize>, &Arc<Field>)| -> Result<ArrayRef> {
            match place {
                Some(place) => {
                    let found = batch.columns().get(*place).zip(self.projected.children().get(*place));
                    let (array, child) = found.ok_or_else(|| Error::corrupt("orc stripe lacks a column"))?;
                    convert(array, child.data_type(), field.data_type()).context("column", field.name())
                }
                None => Ok(new_null_array(field.data_type(), batch.num_rows())),
            }
        };
        let columns = self.places.iter().zip(self.schema.fields()).map(column).collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
            .map_err(|e| Error::corrupt("orc column has a null where none may be").with_source(e))
    }
}
