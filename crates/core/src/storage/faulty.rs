//! A store that fails on demand, for tests and simulations of every other part: errors before and after the effect, and a
//! process that dies at its n-th effect (spec: reliability.md §4).

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use linn_format::{Error, ErrorKind, Result};
use parking_lot::Mutex;

use crate::seam::{Entry, Storage, StorageWriter};

/// What is being asked of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// [`Storage::stat`].
    Stat,
    /// [`Storage::read`].
    Read,
    /// [`Storage::put`].
    Put,
    /// [`Storage::create`].
    Create,
    /// [`StorageWriter::close`].
    Close,
    /// [`Storage::list`].
    List,
    /// [`Storage::delete`] and [`Storage::delete_dir`].
    Delete,
    /// [`Storage::rename_dir`].
    Rename,
}

impl Op {
    /// Whether the store is another one afterwards.
    pub fn is_effect(self) -> bool {
        !matches!(self, Self::Stat | Self::Read | Self::List)
    }
}

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing happens, and the caller hears of this kind of error.
    Before(ErrorKind),
    /// It happens, and the caller hears of this kind of error all the same.
    After(ErrorKind),
    /// A read gives the first half of what there is, and no error.
    Short,
}

#[derive(Debug)]
struct Rule {
    op: Op,
    path: String,
    skip: usize,
    times: usize,
    fault: Fault,
}

#[derive(Debug, Default)]
struct State {
    rules: Vec<Rule>,
    trace: Vec<(Op, String)>,
    calls: u64,
    stop_at: Option<(usize, bool)>,
    stopped: bool,
}

/// Passes everything on to another store, except for what it was told to break.
#[derive(Debug, Clone)]
pub struct Faulty {
    inner: Arc<dyn Storage>,
    state: Arc<Mutex<State>>,
}

impl Faulty {
    /// A store that breaks nothing yet.
    pub fn new(inner: Arc<dyn Storage>) -> Self {
        Self { inner, state: Arc::default() }
    }

    /// Breaks the next `times` calls of `op` whose path contains `path`, after letting `skip` of them pass.
    pub fn inject(&self, op: Op, path: &str, skip: usize, times: usize, fault: Fault) {
        self.state.lock().rules.push(Rule { op, path: path.to_owned(), skip, times, fault });
    }

    /// Lets `effects` more effects happen, then the process is dead: every further call fails. When `applied`, the next
    /// effect still happens although its caller never hears of it.
    pub fn stop_after(&self, effects: usize, applied: bool) {
        let mut state = self.state.lock();
        state.stop_at = Some((state.trace.len() + effects, applied));
    }

    /// Whether something that was injected has not failed yet.
    pub fn is_waiting(&self) -> bool {
        self.state.lock().rules.iter().any(|rule| rule.times > 0)
    }

    /// The effects so far, in order.
    pub fn trace(&self) -> Vec<(Op, String)> {
        self.state.lock().trace.clone()
    }

    /// How often the store was asked for anything so far, reading included.
    pub fn calls(&self) -> u64 {
        self.state.lock().calls
    }

    /// Whether the process is dead.
    pub fn stopped(&self) -> bool {
        self.state.lock().stopped
    }

    /// Whether this read comes back short.
    fn cuts(&self, path: &str) -> bool {
        let mut state = self.state.lock();
        let mut rules = state.rules.iter_mut();
        let rule = rules.find(|rule| rule.fault == Fault::Short && path.contains(&rule.path) && rule.times > 0);
        match rule {
            Some(rule) if rule.skip > 0 => {
                rule.skip -= 1;
                false
            }
            Some(rule) => {
                rule.times -= 1;
                true
            }
            None => false,
        }
    }

    /// What to do with a call: the error before it, or the error after it, if any.
    fn decide(&self, op: Op, path: &str) -> (Option<Error>, Option<Error>) {
        let dead = || Error::unknown_outcome("the process is dead").with("path", path);
        let mut state = self.state.lock();
        if state.stopped {
            return (Some(dead()), None);
        }
        state.calls += 1;
        if op.is_effect() {
            if let Some((at, applied)) = state.stop_at
                && state.trace.len() >= at
            {
                state.stopped = true;
                return if applied { (None, Some(dead())) } else { (Some(dead()), None) };
            }
            state.trace.push((op, path.to_owned()));
        }
        for rule in &mut state.rules {
            if rule.op != op || rule.fault == Fault::Short || !path.contains(&rule.path) || rule.times == 0 {
                continue;
            }
            if rule.skip > 0 {
                rule.skip -= 1;
                continue;
            }
            rule.times -= 1;
            let error = |kind| Some(Error::new(kind, "injected fault").with("path", path));
            return match rule.fault {
                Fault::Before(kind) => (error(kind), None),
                Fault::After(kind) => (None, error(kind)),
                Fault::Short => (None, None),
            };
        }
        (None, None)
    }

    async fn pass<T>(&self, op: Op, path: &str, call: impl Future<Output = Result<T>> + Send) -> Result<T> {
        let (before, after) = self.decide(op, path);
        if let Some(error) = before {
            return Err(error);
        }
        let result = call.await;
        match after {
            Some(error) => Err(error),
            None => result,
        }
    }
}

#[async_trait]
impl Storage for Faulty {
    async fn stat(&self, path: &str) -> Result<Entry> {
        self.pass(Op::Stat, path, self.inner.stat(path)).await
    }

    async fn read(&self, path: &str, range: Option<Range<u64>>) -> Result<Bytes> {
        let bytes = self.pass(Op::Read, path, self.inner.read(path, range)).await?;
        Ok(if self.cuts(path) { bytes.slice(..bytes.len() / 2) } else { bytes })
    }

    async fn put(&self, path: &str, bytes: Bytes) -> Result<()> {
        self.pass(Op::Put, path, self.inner.put(path, bytes)).await
    }

    async fn create(&self, path: &str, bytes: Bytes) -> Result<()> {
        self.pass(Op::Create, path, self.inner.create(path, bytes)).await
    }

    async fn writer(&self, path: &str) -> Result<Box<dyn StorageWriter>> {
        if self.stopped() {
            return Err(Error::unavailable("the process is dead").with("path", path));
        }
        let inner = self.inner.writer(path).await?;
        Ok(Box::new(FaultyWriter { store: self.clone(), path: path.to_owned(), inner }))
    }

    async fn list(&self, dir: &str) -> Result<Vec<Entry>> {
        self.pass(Op::List, dir, self.inner.list(dir)).await
    }

    async fn delete(&self, path: &str) -> Result<()> {
        self.pass(Op::Delete, path, self.inner.delete(path)).await
    }

    async fn create_dir(&self, dir: &str) -> Result<()> {
        self.pass(Op::Put, dir, self.inner.create_dir(dir)).await
    }

    async fn delete_dir(&self, dir: &str) -> Result<()> {
        self.pass(Op::Delete, dir, self.inner.delete_dir(dir)).await
    }

    async fn delete_empty_dir(&self, dir: &str) -> Result<bool> {
        self.pass(Op::Delete, dir, self.inner.delete_empty_dir(dir)).await
    }

    async fn rename_dir(&self, from: &str, to: &str) -> Result<()> {
        self.pass(Op::Rename, from, self.inner.rename_dir(from, to)).await
    }

    async fn check_root(&self) -> Result<()> {
        self.inner.check_root().await
    }

    fn root(&self) -> &str {
        self.inner.root()
    }
}

struct FaultyWriter {
    store: Faulty,
    path: String,
    inner: Box<dyn StorageWriter>,
}

#[async_trait]
impl StorageWriter for FaultyWriter {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.inner.write(bytes).await
    }

    async fn close(&mut self) -> Result<()> {
        let store = self.store.clone();
        store.pass(Op::Close, &self.path, self.inner.close()).await
    }

    async fn abort(&mut self) -> Result<()> {
        self.inner.abort().await
    }
}
