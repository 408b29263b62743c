//! A store of tables as the object store that DataFusion reads Parquet and Arrow files from. It reads, and does nothing else.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use linn::core::Storage;
use linn::{Error, ErrorKind};
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetRange, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// Bytes of one read of a whole file.
const CHUNK: u64 = 8 << 20;

/// A store by its name.
#[derive(Debug)]
pub(super) struct Readable {
    storage: Arc<dyn Storage>,
}

impl Readable {
    pub(super) fn new(storage: Arc<dyn Storage>) -> Self {
        Self { storage }
    }
}

impl fmt::Display for Readable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.storage.root())
    }
}

fn failed(path: &Path, error: Error) -> object_store::Error {
    match error.kind() {
        ErrorKind::NotFound => object_store::Error::NotFound { path: path.to_string(), source: Box::new(error) },
        _ => object_store::Error::Generic { store: "linn", source: Box::new(error) },
    }
}

fn refused() -> object_store::Error {
    object_store::Error::Generic { store: "linn", source: Box::new(Error::unsupported("writing files by a query")) }
}

#[async_trait]
impl ObjectStore for Readable {
    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        Err(refused())
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        Err(refused())
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let entry = self.storage.stat(location.as_ref()).await.map_err(|e| failed(location, e))?;
        let last_modified = entry.modified_millis.and_then(DateTime::from_timestamp_millis);
        let last_modified = last_modified.unwrap_or(DateTime::<Utc>::UNIX_EPOCH);
        let meta =
            ObjectMeta { location: location.clone(), last_modified, size: entry.size, e_tag: None, version: None };
        let range = match options.range {
            None => 0..entry.size,
            Some(GetRange::Bounded(range)) => range.start..range.end.min(entry.size),
            Some(GetRange::Offset(from)) => from.min(entry.size)..entry.size,
            Some(GetRange::Suffix(last)) => entry.size.saturating_sub(last)..entry.size,
        };
        let bytes: BoxStream<'static, Result<bytes::Bytes>> = if options.head {
            stream::empty().boxed()
        } else {
            let starts = (range.start..range.end).step_by(usize::try_from(CHUNK).unwrap_or(usize::MAX));
            let (storage, location, end) = (Arc::clone(&self.storage), location.clone(), range.end);
            let read = move |from: u64| {
                let (storage, location) = (Arc::clone(&storage), location.clone());
                async move {
                    let read = storage.read(location.as_ref(), Some(from..(from + CHUNK).min(end))).await;
                    read.map_err(|e| failed(&location, e))
                }
            };
            stream::iter(starts.map(Ok::<_, object_store::Error>)).and_then(read).boxed()
        };
        let payload = GetResultPayload::Stream(bytes);
        Ok(GetResult { payload, meta, range, attributes: Default::default() })
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        locations.and_then(|_| async { Err(refused()) }).boxed()
    }

    fn list(&self, _: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        // Files are found before.
        stream::empty().boxed()
    }

    async fn list_with_delimiter(&self, _: Option<&Path>) -> Result<ListResult> {
        Ok(ListResult { common_prefixes: Vec::new(), objects: Vec::new() })
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        Err(refused())
    }
}
