//! A file of the store as a [`RangeReader`]: small files are fetched whole with one request.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use linn_format::{Error, RangeReader, Result, ResultExt};
use tokio::sync::OnceCell;

use super::Place;
use crate::seam::Storage;

/// Files up to this size are fetched whole: several requests cost more than the bytes.
const WHOLE: u64 = 1 << 20;

/// One immutable file of the store, or a part of one.
pub struct StoredFile {
    storage: Arc<dyn Storage>,
    path: String,
    start: u64,
    size: u64,
    whole: OnceCell<Bytes>,
}

impl StoredFile {
    /// The file at `place`, of which `size` bytes are known to be there unless it is a part.
    pub fn new(storage: Arc<dyn Storage>, place: Place, size: u64) -> Self {
        let (start, size) = place.part.map_or((0, size), |part| (part.start, part.end - part.start));
        Self { storage, path: place.path, start, size, whole: OnceCell::new() }
    }

    async fn fetch(&self, range: Range<u64>) -> Result<Bytes> {
        let shifted = self.start + range.start..self.start + range.end;
        let bytes = self.storage.read(&self.path, Some(shifted)).await.context("path", &self.path)?;
        if bytes.len() as u64 == range.end - range.start {
            Ok(bytes)
        } else {
            Err(Error::corrupt("the file is shorter than its metadata says").with("path", &self.path))
        }
    }
}

#[async_trait]
impl RangeReader for StoredFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn path(&self) -> &str {
        &self.path
    }

    async fn read(&self, range: Range<u64>) -> Result<Bytes> {
        if range.start > range.end || range.end > self.size {
            return Err(Error::corrupt("the file is shorter than its content says").with("path", &self.path));
        }
        if self.size > WHOLE {
            return self.fetch(range).await;
        }
        let whole = self.whole.get_or_try_init(|| self.fetch(0..self.size)).await?;
        // Within the whole, hence within usize.
        Ok(whole.slice(range.start as usize..range.end as usize))
    }
}
