//! Files in memory, for tests, simulations and throw-away tables. Every operation is one step under one lock.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use linn_format::{Error, Result};
use parking_lot::Mutex;

use super::path;
use crate::seam::{Clock, Entry, Storage, StorageWriter};

type Files = BTreeMap<String, (Bytes, i64)>;

/// A store that lives as long as its last clone.
#[derive(Debug, Clone)]
pub struct Memory {
    files: Arc<Mutex<Files>>,
    clock: Arc<dyn Clock>,
}

impl Memory {
    /// An empty store whose files take their times from `clock`.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { files: Arc::default(), clock }
    }

    /// The paths of all files, in order.
    pub fn paths(&self) -> Vec<String> {
        self.files.lock().keys().cloned().collect()
    }

    fn insert(&self, path: &str, bytes: Bytes) {
        let now = self.clock.now_millis();
        self.files.lock().insert(path.to_owned(), (bytes, now));
    }
}

fn absent(path: &str) -> Error {
    Error::not_found("no such file").with("path", format_args!("memory:/{path}"))
}

/// The range of keys below a folder: `/` is followed by `0` in byte order.
fn below(dir: &str) -> Range<String> {
    format!("{dir}/")..format!("{dir}0")
}

#[async_trait]
impl Storage for Memory {
    async fn stat(&self, path: &str) -> Result<Entry> {
        let path = path::normal(path)?;
        let files = self.files.lock();
        if let Some((bytes, modified)) = files.get(path) {
            return Ok(Entry { path: path.to_owned(), size: bytes.len() as u64, modified_millis: Some(*modified) });
        }
        if files.range(below(path)).next().is_some() {
            return Ok(Entry { path: format!("{path}/"), size: 0, modified_millis: None });
        }
        Err(absent(path))
    }

    async fn read(&self, path: &str, range: Option<Range<u64>>) -> Result<Bytes> {
        let path = path::normal(path)?;
        let bytes = self.files.lock().get(path).map(|(bytes, _)| bytes.clone()).ok_or_else(|| absent(path))?;
        let Some(range) = range else { return Ok(bytes) };
        match (usize::try_from(range.start), usize::try_from(range.end)) {
            (Ok(start), Ok(end)) if start <= end && end <= bytes.len() => Ok(bytes.slice(start..end)),
            _ => Err(super::short(&range, bytes.len() as u64).with("path", format_args!("memory:/{path}"))),
        }
    }

    async fn put(&self, path: &str, bytes: Bytes) -> Result<()> {
        self.insert(path::normal(path)?, bytes);
        Ok(())
    }

    async fn create(&self, path: &str, bytes: Bytes) -> Result<()> {
        let path = path::normal(path)?;
        let now = self.clock.now_millis();
        let mut files = self.files.lock();
        if files.contains_key(path) {
            return Err(Error::already_exists("a file of this name exists already")
                .with("path", format_args!("memory:/{path}")));
        }
        files.insert(path.to_owned(), (bytes, now));
        Ok(())
    }

    async fn writer(&self, path: &str) -> Result<Box<dyn StorageWriter>> {
        let path = path::normal(path)?.to_owned();
        Ok(Box::new(MemoryWriter { store: self.clone(), path, bytes: Some(BytesMut::new()) }))
    }

    async fn list(&self, dir: &str) -> Result<Vec<Entry>> {
        let dir = path::folder(dir)?;
        let prefix = if dir.is_empty() { String::new() } else { format!("{dir}/") };
        let files = self.files.lock();
        let mut entries: Vec<Entry> = Vec::new();
        for (path, (bytes, modified)) in files.range(prefix.clone()..) {
            let Some(rest) = path.strip_prefix(&prefix) else { break };
            match rest.split_once('/') {
                None => entries.push(Entry {
                    path: path.clone(),
                    size: bytes.len() as u64,
                    modified_millis: Some(*modified),
                }),
                Some((child, _)) => {
                    let path = format!("{prefix}{child}/");
                    if entries.last().is_none_or(|last| last.path != path) {
                        entries.push(Entry { path, size: 0, modified_millis: None });
                    }
                }
            }
        }
        Ok(entries)
    }

    async fn delete(&self, path: &str) -> Result<()> {
        self.files.lock().remove(path::normal(path)?);
        Ok(())
    }

    async fn delete_dir(&self, dir: &str) -> Result<()> {
        let range = below(path::normal(dir)?);
        self.files.lock().retain(|path, _| !range.contains(path));
        Ok(())
    }

    async fn rename_dir(&self, from: &str, to: &str) -> Result<()> {
        let (from, to) = (path::normal(from)?, path::normal(to)?);
        let mut files = self.files.lock();
        if files.range(below(to)).next().is_some() || files.contains_key(to) {
            return Err(Error::already_exists("a folder of this name exists already")
                .with("path", format_args!("memory:/{to}")));
        }
        let moved: Vec<String> = files.range(below(from)).map(|(path, _)| path.clone()).collect();
        if moved.is_empty() {
            return Err(Error::not_found("no such folder").with("path", format_args!("memory:/{from}")));
        }
        for path in moved {
            if let (Some(file), Some(rest)) = (files.remove(&path), path.strip_prefix(from)) {
                files.insert(format!("{to}{rest}"), file);
            }
        }
        Ok(())
    }

    fn root(&self) -> &str {
        "memory:"
    }
}

struct MemoryWriter {
    store: Memory,
    path: String,
    bytes: Option<BytesMut>,
}

#[async_trait]
impl StorageWriter for MemoryWriter {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.bytes.as_mut().ok_or_else(|| Error::invalid("the writer is closed"))?.extend_from_slice(&bytes);
        Ok(())
    }

    async fn close(&mut self) -> Result<()> {
        let bytes = self.bytes.take().ok_or_else(|| Error::invalid("the writer is closed"))?;
        self.store.insert(&self.path, bytes.freeze());
        Ok(())
    }

    async fn abort(&mut self) -> Result<()> {
        self.bytes = None;
        Ok(())
    }
}
