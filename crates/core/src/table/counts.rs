//! What a scan does, counted for whoever asks: requests and bytes of the store, and what was left out by what.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use linn_format::Result;
use linn_format::file::PartCounts;

use super::Table;
use crate::seam::{Entry, Storage, StorageWriter};

/// A number that many tasks add to.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds to it.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// What it is now.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counts of one scan.
#[derive(Debug, Default)]
pub struct ScanCounts {
    /// Requests to the store.
    pub requests: Count,
    /// Bytes that it gave.
    pub bytes: Count,
    /// Manifests and manifest lists that the cache had.
    pub cached: Count,
    /// Manifests left out as a whole.
    pub manifests_pruned: Count,
    /// Files left out by their partition.
    pub by_partition: Count,
    /// Files left out by their bucket.
    pub by_bucket: Count,
    /// Files left out by their level.
    pub by_level: Count,
    /// Files left out by the statistics of their keys.
    pub by_key: Count,
    /// Files left out by the statistics of their columns.
    pub by_statistics: Count,
    /// Files left out by their indexes.
    pub by_index: Count,
    /// Row groups and the like.
    pub groups: Arc<PartCounts>,
}

impl Table {
    /// The table, whose scans and reads count what they do.
    #[must_use]
    pub fn counted(&self, counts: Arc<ScanCounts>) -> Self {
        let storage = Counted { inner: Arc::clone(self.storage()), counts: Arc::clone(&counts) };
        self.with_storage(Arc::new(storage)).with_counts(counts)
    }
}

/// A store whose reads are counted.
#[derive(Debug)]
struct Counted {
    inner: Arc<dyn Storage>,
    counts: Arc<ScanCounts>,
}

#[async_trait]
impl Storage for Counted {
    async fn stat(&self, path: &str) -> Result<Entry> {
        self.counts.requests.add(1);
        self.inner.stat(path).await
    }

    async fn read(&self, path: &str, range: Option<Range<u64>>) -> Result<Bytes> {
        self.counts.requests.add(1);
        let bytes = self.inner.read(path, range).await?;
        self.counts.bytes.add(bytes.len() as u64);
        Ok(bytes)
    }

    async fn put(&self, path: &str, bytes: Bytes) -> Result<()> {
        self.inner.put(path, bytes).await
    }

    async fn create(&self, path: &str, bytes: Bytes) -> Result<()> {
        self.inner.create(path, bytes).await
    }

    async fn writer(&self, path: &str) -> Result<Box<dyn StorageWriter>> {
        self.inner.writer(path).await
    }

    async fn list(&self, dir: &str) -> Result<Vec<Entry>> {
        self.counts.requests.add(1);
        self.inner.list(dir).await
    }

    async fn delete(&self, path: &str) -> Result<()> {
        self.inner.delete(path).await
    }

    async fn create_dir(&self, dir: &str) -> Result<()> {
        self.inner.create_dir(dir).await
    }

    async fn delete_dir(&self, dir: &str) -> Result<()> {
        self.inner.delete_dir(dir).await
    }

    async fn delete_empty_dir(&self, dir: &str) -> Result<bool> {
        self.inner.delete_empty_dir(dir).await
    }

    async fn rename_dir(&self, from: &str, to: &str) -> Result<()> {
        self.inner.rename_dir(from, to).await
    }

    fn root(&self) -> &str {
        self.inner.root()
    }
}
