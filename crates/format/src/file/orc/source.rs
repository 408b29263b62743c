//! Byte ranges for the library, with one window kept in memory: the file's tail, then a stripe at a time.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use orc_rust::error::OrcError;
use orc_rust::reader::AsyncChunkReader;

use crate::file::RangeReader;
use crate::{Error, Result};

/// A file as the library reads it.
pub(super) struct Source {
    file: Arc<dyn RangeReader>,
    start: u64,
    window: Bytes,
    failure: Option<Error>,
}

impl Source {
    pub(super) fn new(file: Arc<dyn RangeReader>) -> Self {
        Self { file, start: 0, window: Bytes::new(), failure: None }
    }

    pub(super) fn size(&self) -> u64 {
        self.file.size()
    }

    /// Puts a range into the window.
    ///
    /// # Errors
    /// `Corrupt` when it is not within the file.
    pub(super) async fn load(&mut self, start: u64, length: u64) -> Result<Bytes> {
        let window = self.fetch(start, length).await?;
        (self.start, self.window) = (start, window.clone());
        Ok(window)
    }

    /// The bytes of a range, from the window if it has them.
    pub(super) async fn fetch(&self, start: u64, length: u64) -> Result<Bytes> {
        let end = start.checked_add(length).filter(|end| *end <= self.file.size());
        let end = end.ok_or_else(|| Error::corrupt("orc file refers to bytes beyond its end"))?;
        let inside = start.checked_sub(self.start).and_then(|skip| {
            let skip = usize::try_from(skip).ok()?;
            let stop = skip.checked_add(usize::try_from(length).ok()?)?;
            (stop <= self.window.len()).then(|| self.window.slice(skip..stop))
        });
        match inside {
            Some(bytes) => Ok(bytes),
            None => self.file.read(start..end).await,
        }
    }

    /// The library's error as ours; a failed read keeps its kind.
    pub(super) fn explain(&mut self, error: OrcError) -> Error {
        self.failure.take().unwrap_or_else(|| Error::corrupt("orc file cannot be decoded").with_source(error))
    }
}

impl AsyncChunkReader for Source {
    fn len(&mut self) -> BoxFuture<'_, io::Result<u64>> {
        let size = self.file.size();
        async move { Ok(size) }.boxed()
    }

    fn get_bytes(&mut self, start: u64, length: u64) -> BoxFuture<'_, io::Result<Bytes>> {
        async move {
            match self.fetch(start, length).await {
                Ok(bytes) => Ok(bytes),
                Err(e) => {
                    self.failure = Some(e);
                    Err(io::Error::other("range cannot be read"))
                }
            }
        }
        .boxed()
    }
}
