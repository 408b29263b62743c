//! Files as a table: Parquet by DataFusion's reader, others from front to end by ours, many files as one.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session as DfSession, TableProvider};
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::Result as DfResult;
use datafusion::execution::context::SessionContext;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use linn::format::types::{DataField, arrow_schema};
use linn::{Error, Options, Result};
use tokio::runtime::Handle;
use url::Url;

use super::aside::aside;
use super::bytes::{failed, open as open_bytes};
use super::call::FileCall;
use super::columnar;
use super::csv::{self, Wanted};
use super::json::{self, Unlisted};
use super::options::{FileFormat, FileOptions};
use super::place::{FILES, Place, Stores};
use super::store::Readable;
use crate::error::{ours, theirs};

/// Files whose schemas are read at a time.
const AT_ONCE: usize = 16;

/// Opens files as a table of a query in `context`.
///
/// # Errors
/// `NotFound` without a file, and what reading the begin of files yields.
pub(crate) async fn open(
    context: &SessionContext,
    stores: &Stores,
    given: &Options,
    call: &FileCall,
) -> Result<Arc<dyn TableProvider>> {
    let mut places: Vec<Place> = Vec::new();
    for path in &call.paths {
        places.extend(stores.find(path, given).await?);
    }
    let Some(first) = places.first() else { return Err(Error::not_found("there is no such file")) };
    let format = call.options.format.or_else(|| FileFormat::of_path(&first.path));
    let format = format.ok_or_else(|| {
        Error::invalid("the format of the file is not known from its name")
            .with("file", &first.uri)
            .with_hint("give it: (FORMAT csv), or read_csv('…')")
    })?;
    match format {
        FileFormat::Parquet => parquet(context, &places).await,
        FileFormat::Csv | FileFormat::Json => texts(places, format, &call.options).await,
        FileFormat::Arrow | FileFormat::Orc | FileFormat::Avro => columnar(places, format, &call.options).await,
    }
}

/// Parquet files, which DataFusion reads.
async fn parquet(context: &SessionContext, places: &[Place]) -> Result<Arc<dyn TableProvider>> {
    // As nanoseconds, years before 1678 and after 2261 would wrap into others.
    let format = ParquetFormat::default().with_coerce_int96(Some("us".to_owned()));
    let options = ListingOptions::new(Arc::new(format)).with_file_extension("");
    let mut urls = Vec::with_capacity(places.len());
    let mut named = Vec::with_capacity(places.len());
    for place in places {
        let url = url(context, place)?;
        named.push((url.clone(), place.uri.clone()));
        urls.push(url);
    }
    let shared = Arc::new((context.state(), options.clone()));
    let schemas = stream::iter(named).map(move |(url, uri)| {
        let shared = Arc::clone(&shared);
        async move {
            // The library may panic on what is damaged.
            let schema = AssertUnwindSafe(shared.1.infer_schema(&shared.0, &url)).catch_unwind().await;
            let schema = schema.map_err(|_| Error::corrupt("the Parquet file cannot be read").with("file", &uri))?;
            schema.map_err(|e| ours(e).with("file", uri))
        }
    });
    let schemas: Vec<SchemaRef> = schemas.buffered(AT_ONCE).try_collect().await?;
    let config = ListingTableConfig::new_with_multi_paths(urls)
        .with_listing_options(options)
        .with_schema(columnar::merged(&schemas)?);
    Ok(Arc::new(ListingTable::try_new(config).map_err(ours)?))
}

/// The place as DataFusion knows it, its store registered.
fn url(context: &SessionContext, place: &Place) -> Result<ListingTableUrl> {
    let internal = || Error::internal("a path is not a URL").with("file", &place.uri);
    let host = if place.store.is_empty() { "local" } else { &place.store };
    let mut url = Url::parse(&format!("{FILES}://{host}/")).map_err(|_| internal())?;
    context.register_object_store(&url, Arc::new(Readable::new(Arc::clone(&place.storage))));
    let mut segments = url.path_segments_mut().map_err(|()| internal())?;
    segments.clear().extend(place.path.split('/'));
    drop(segments);
    ListingTableUrl::try_new(url, None).map_err(ours)
}

/// Files of text.
async fn texts(places: Vec<Place>, format: FileFormat, options: &FileOptions) -> Result<Arc<dyn TableProvider>> {
    for place in &places {
        options.packing(&place.path)?;
    }
    let fields = match (options.columns.as_slice(), places.first()) {
        ([], Some(first)) => inferred(first.clone(), format, options.clone()).await?,
        (given, _) => given.to_vec(),
    };
    let schema = arrow_schema(&fields)?;
    Ok(Arc::new(Streamed { places, format, options: options.clone(), fields, schema }))
}

/// Files of Arrow, ORC and Avro, whose columns they tell themselves.
async fn columnar(places: Vec<Place>, format: FileFormat, options: &FileOptions) -> Result<Arc<dyn TableProvider>> {
    if !options.columns.is_empty() {
        return Err(Error::invalid("the files have columns of their own").with_hint("leave out columns = …"));
    }
    let (handle, named) = (Handle::current(), places.clone());
    let schema = tokio::task::spawn_blocking(move || columnar::infer(&handle, &named, format)).await;
    let schema = schema.map_err(|e| Error::corrupt("reading the file failed").with_source(e))??;
    Ok(Arc::new(Streamed { places, format, options: options.clone(), fields: Vec::new(), schema }))
}

async fn inferred(place: Place, format: FileFormat, options: FileOptions) -> Result<Vec<DataField>> {
    let handle = Handle::current();
    let task = tokio::task::spawn_blocking(move || {
        let input = open_bytes(handle, &place, options.packing(&place.path)?)?;
        match format {
            FileFormat::Json => json::infer(Unlisted::new(input), &place.uri, options.sample),
            _ => csv::infer(input, &place.uri, &options, |e| failed(e, &place)),
        }
    });
    task.await.map_err(|e| Error::corrupt("reading the file failed").with_source(e))?
}

/// Files that are read from front to end as a table.
struct Streamed {
    places: Vec<Place>,
    format: FileFormat,
    options: FileOptions,
    /// The columns of text.
    fields: Vec<DataField>,
    schema: SchemaRef,
}

impl fmt::Debug for Streamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streamed").field("format", &self.format).field("files", &self.places.len()).finish()
    }
}

#[async_trait]
impl TableProvider for Streamed {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn DfSession,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let columns: Vec<usize> = match projection {
            Some(columns) => columns.clone(),
            None => (0..self.schema.fields().len()).collect(),
        };
        let schema = Arc::new(self.schema.project(&columns)?);
        let groups = state.config().target_partitions().clamp(1, self.places.len().max(1));
        let partitions = self.places.chunks(self.places.len().div_ceil(groups).max(1)).map(|places| {
            let part = Part {
                places: places.to_vec(),
                format: self.format,
                options: self.options.clone(),
                fields: self.fields.clone(),
                columns: columns.clone(),
                schema: Arc::clone(&schema),
            };
            Arc::new(part) as Arc<dyn PartitionStream>
        });
        let partitions = partitions.collect();
        Ok(Arc::new(StreamingTableExec::try_new(Arc::clone(&schema), partitions, None, [], false, limit)?))
    }
}

/// Some of the files, read one after the other.
#[derive(Debug, Clone)]
struct Part {
    places: Vec<Place>,
    format: FileFormat,
    options: FileOptions,
    fields: Vec<DataField>,
    columns: Vec<usize>,
    schema: SchemaRef,
}

impl PartitionStream for Part {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let part = self.clone();
        let rows = stream::once(async move {
            let handle = Handle::current();
            aside(move |sink| part.read(&handle, sink))
        });
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), rows.flatten().map_err(theirs)))
    }
}

impl Part {
    fn read(&self, handle: &Handle, sink: &super::aside::Sink) -> Result<()> {
        for place in &self.places {
            let text = || open_bytes(handle.clone(), place, self.options.packing(&place.path)?);
            let more = match self.format {
                FileFormat::Arrow | FileFormat::Orc | FileFormat::Avro => {
                    columnar::read(handle, place, self.format, &self.schema, sink)?
                }
                FileFormat::Json => {
                    let input = std::io::BufReader::with_capacity(1 << 16, Unlisted::new(text()?));
                    json::read(input, &place.uri, &self.schema, sink)?
                }
                _ => {
                    let wanted = Wanted { fields: &self.fields, columns: &self.columns, schema: &self.schema };
                    csv::read(text()?, &place.uri, &self.options, &wanted, sink, |e| failed(e, place))?
                }
            };
            if !more {
                break;
            }
        }
        Ok(())
    }
}
