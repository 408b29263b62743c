//! A store of one's own: whatever implements `Storage` holds a warehouse. This one counts the requests to another.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use linn::core::seam::{Entry, Storage, StorageWriter, SystemClock};
use linn::core::storage::Memory;
use linn::{Env, FilesystemCatalog, Options, Result, Warehouse};

#[derive(Debug)]
struct Counted(Memory, AtomicUsize);
#[async_trait]
impl Storage for Counted {
    async fn read(&self, path: &str, range: Option<Range<u64>>) -> Result<Bytes> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.read(path, range).await
    }
    async fn stat(&self, path: &str) -> Result<Entry> {
        self.0.stat(path).await
    }
    async fn put(&self, path: &str, bytes: Bytes) -> Result<()> {
        self.0.put(path, bytes).await
    }
    // Must fail with `AlreadyExists` when the path is taken: commits rely on it.
    async fn create(&self, path: &str, bytes: Bytes) -> Result<()> {
        self.0.create(path, bytes).await
    }
    async fn writer(&self, path: &str) -> Result<Box<dyn StorageWriter>> {
        self.0.writer(path).await
    }
    async fn list(&self, dir: &str) -> Result<Vec<Entry>> {
        self.0.list(dir).await
    }
    async fn delete(&self, path: &str) -> Result<()> {
        self.0.delete(path).await
    }
    async fn delete_dir(&self, dir: &str) -> Result<()> {
        self.0.delete_dir(dir).await
    }
    async fn rename_dir(&self, from: &str, to: &str) -> Result<()> {
        self.0.rename_dir(from, to).await
    }
    fn root(&self) -> &str {
        self.0.root()
    }
}

#[tokio::main]
pub async fn main() -> Result<()> {
    let store = Arc::new(Counted(Memory::new(Arc::new(SystemClock)), AtomicUsize::new(0)));
    let env = Env::system(store.clone())?;
    let warehouse = Warehouse::of(Arc::new(FilesystemCatalog::new(env, Options::new())));
    let table = warehouse.create("t").column("k", "INT")?.run().await?;
    println!("{}: {} reads", table.name(), store.1.load(Ordering::Relaxed));
    assert!(store.1.load(Ordering::Relaxed) > 0);
    Ok(())
}
