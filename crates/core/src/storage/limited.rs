//! A store whose bytes count against a budget of so many a second: that of compactions (`linn.compaction.io-limit`).
//!
//! Whoever moves bytes reserves the next free stretch of time and waits until it has begun. Stretches follow each other in
//! the order in which they are asked for, and everyone asks for a read or a piece of a file at a time; so buckets that
//! compact side by side take turns, whatever their sizes. Invariant: bytes moved since a budget was first used up are
//! never more than its time allows and one piece of each that waits.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use linn_format::Result;
use parking_lot::Mutex;

use crate::seam::{Clock, Entry, Storage, StorageWriter};

/// A budget, shared by those that compact side by side.
#[derive(Debug)]
pub(crate) struct IoLimit {
    per_second: u64,
    /// When the next stretch begins, in microseconds since the epoch.
    free: Mutex<i64>,
}

impl IoLimit {
    /// So many bytes a second, at least one.
    pub(crate) fn new(per_second: u64) -> Self {
        Self { per_second: per_second.max(1), free: Mutex::new(i64::MIN) }
    }

    /// Takes bytes from the budget, and waits until it is their turn.
    async fn take(&self, clock: &dyn Clock, bytes: usize) {
        let now = clock.now_millis().saturating_mul(1000);
        let micros = bytes as u128 * 1_000_000 / u128::from(self.per_second);
        let start = {
            let mut free = self.free.lock();
            let start = now.max(*free);
            *free = start.saturating_add(i64::try_from(micros).unwrap_or(i64::MAX));
            start
        };
        let wait = u64::try_from(start.saturating_sub(now)).unwrap_or(0).div_ceil(1000);
        if wait > 0 {
            clock.sleep(wait).await;
        }
    }
}

/// A store within a budget.
#[derive(Debug, Clone)]
pub(crate) struct Limited {
    inner: Arc<dyn Storage>,
    clock: Arc<dyn Clock>,
    limit: Arc<IoLimit>,
}

impl Limited {
    /// The store `inner` within a budget.
    pub(crate) fn new(inner: Arc<dyn Storage>, clock: Arc<dyn Clock>, limit: Arc<IoLimit>) -> Self {
        Self { inner, clock, limit }
    }

    async fn take(&self, bytes: usize) {
        self.limit.take(&*self.clock, bytes).await;
    }
}

#[async_trait]
impl Storage for Limited {
    async fn stat(&self, path: &str) -> Result<Entry> {
        self.inner.stat(path).await
    }

    async fn read(&self, path: &str, range: Option<Range<u64>>) -> Result<Bytes> {
        // Of a whole file the size is known only when it has been read.
        let known = range.as_ref().map(|range| usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(0));
        if let Some(bytes) = known {
            self.take(bytes).await;
        }
        let bytes = self.inner.read(path, range).await?;
        if known.is_none() {
            self.take(bytes.len()).await;
        }
        Ok(bytes)
    }

    async fn put(&self, path: &str, bytes: Bytes) -> Result<()> {
        self.take(bytes.len()).await;
        self.inner.put(path, bytes).await
    }

    async fn create(&self, path: &str, bytes: Bytes) -> Result<()> {
        self.take(bytes.len()).await;
        self.inner.create(path, bytes).await
    }

    async fn writer(&self, path: &str) -> Result<Box<dyn StorageWriter>> {
        let inner = self.inner.writer(path).await?;
        Ok(Box::new(LimitedWriter { store: self.clone(), inner }))
    }

    async fn list(&self, dir: &str) -> Result<Vec<Entry>> {
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

    async fn check_root(&self) -> Result<()> {
        self.inner.check_root().await
    }

    fn root(&self) -> &str {
        self.inner.root()
    }
}

struct LimitedWriter {
    store: Limited,
    inner: Box<dyn StorageWriter>,
}

#[async_trait]
impl StorageWriter for LimitedWriter {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.store.take(bytes.len()).await;
        self.inner.write(bytes).await
    }

    async fn close(&mut self) -> Result<()> {
        self.inner.close().await
    }

    async fn abort(&mut self) -> Result<()> {
        self.inner.abort().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seam::ManualClock;
    use crate::storage::Memory;

    fn store(per_second: u64) -> (Limited, Arc<ManualClock>) {
        let clock = Arc::new(ManualClock::new(1_000));
        let limit = Arc::new(IoLimit::new(per_second));
        (Limited::new(Arc::new(Memory::new(clock.clone())), clock.clone(), limit), clock)
    }

    #[tokio::test]
    async fn bytes_take_the_time_that_the_limit_gives_them() {
        let (store, clock) = store(1000);
        store.put("a", Bytes::from(vec![1; 500])).await.unwrap();
        assert_eq!(clock.now_millis(), 1_000, "the first bytes need not wait");
        assert_eq!(store.read("a", None).await.unwrap().len(), 500);
        assert_eq!(clock.now_millis(), 1_500);
        store.read("a", Some(0..250)).await.unwrap();
        assert_eq!(clock.now_millis(), 2_000);
        let mut writer = store.writer("b").await.unwrap();
        writer.write(Bytes::from(vec![2; 1])).await.unwrap();
        writer.close().await.unwrap();
        assert_eq!(clock.now_millis(), 2_250);
        store.stat("b").await.unwrap();
        assert_eq!(clock.now_millis(), 2_250, "metadata is free");
        // What was not used in the past is not saved up.
        clock.advance(10_000);
        store.read("a", None).await.unwrap();
        store.read("a", None).await.unwrap();
        assert_eq!(clock.now_millis(), 12_750);
    }

    #[tokio::test]
    async fn those_who_wait_take_turns() {
        let (store, _) = store(100);
        let order = Mutex::new(Vec::new());
        let work = |name: char, size: usize| {
            let (store, order) = (store.clone(), &order);
            async move {
                for _ in 0..4 {
                    store.put("x", Bytes::from(vec![0; size])).await.unwrap();
                    order.lock().push(name);
                }
            }
        };
        futures::join!(work('a', 1000), work('b', 10));
        let order: String = order.into_inner().into_iter().collect();
        // The very first need not wait, so it asks again before the other has begun.
        assert_eq!(order, "aabababb");
    }
}
