//! The store as one process sees it: slow, failing before and after the effect, answering late, and the place where
//! processes die or stand still. What it tells its caller is within the contract of [`Storage`], unless a bug is planted.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures::future::BoxFuture;
use linn_core::seam::{Entry, Storage, StorageWriter};
use linn_format::snapshot::Snapshot;
use linn_format::{Error, ErrorKind, Result};
use rand::Rng;

use super::actor::expire;
use super::cut::Cut;
use super::fault::{Fault, Op, Place};
use super::plant::Hazard;
use super::world::{Process, World};

/// Writes of this age are safe although nobody synced them.
const SAFE_AFTER_MILLIS: i64 = 2_000;

/// A process's way to the files of its world.
#[derive(Debug, Clone)]
pub struct Store {
    process: Arc<Process>,
}

impl Store {
    /// The store as `process` sees it.
    pub fn new(process: Arc<Process>) -> Self {
        Self { process }
    }

    fn world(&self) -> &Arc<World> {
        &self.process.world
    }

    fn trace(&self, op: Op, path: &str, content: u64, answer: &str) {
        self.world().trace(self.process.id, name(op), path, content, answer);
    }

    /// Lets time pass, and others come first.
    async fn delay(&self) {
        let most = self.process.latency;
        let millis = if most == 0 { 0 } else { self.world().draw(|random| random.random_range(0..=most)) };
        self.world().executor.sleep(millis).await;
    }

    async fn die(&self) -> ! {
        self.world().trace(self.process.id, "dies", "", 0, "");
        self.world().executor.kill(self.process.id);
        futures::future::pending::<()>().await;
        unreachable!("a dead process goes on")
    }

    /// Does something that changes nothing.
    async fn look<T>(&self, op: Op, path: &str, look: impl Future<Output = Result<T>> + Send) -> Result<(T, bool)> {
        self.delay().await;
        let mut bent = false;
        match self.process.roll(op, Place::of(path)) {
            Some(Fault::Before) => return Err(self.refuse(op, path, ErrorKind::Unavailable, "before")),
            Some(Fault::CrashBefore) => self.die().await,
            Some(Fault::Pause) => self.pause().await,
            Some(Fault::Short | Fault::Flip) => bent = true,
            _ => {}
        }
        let result = look.await;
        self.trace(op, path, 0, answer(&result));
        result.map(|value| (value, bent))
    }

    fn refuse(&self, op: Op, path: &str, kind: ErrorKind, why: &str) -> Error {
        self.trace(op, path, 0, why);
        Error::new(kind, "injected fault").with("path", path)
    }

    async fn pause(&self) {
        let long = self.world().draw(|random| random.random_range(1..30));
        self.world().trace(self.process.id, "pauses", "", long, "");
        self.process.set_paused(true);
        self.world().executor.sleep(long * self.world().knobs.pause_millis).await;
        self.process.set_paused(false);
    }

    /// Whether this is a step of expiry with a bug in it.
    fn is_expiry_with(&self, hazard: Hazard) -> bool {
        self.world().has(hazard) && self.process.name == expire::NAME
    }

    /// Does something that changes the store.
    async fn change(&self, change: Change) -> Result<()> {
        if let Change::Delete(path) = &change
            && self.is_expiry_with(Hazard::H7)
            && snapshot_id(path).is_some()
        {
            // Said to be gone, and gone a while after its data, unless the process ends before that.
            let (store, millis) = (self.clone(), self.world().draw(|random| random.random_range(0..20_000)));
            let late = async move {
                store.world().executor.sleep(millis).await;
                store.changed(change, false).await.ok();
            };
            self.world().executor.spawn(self.process.id, Box::pin(late));
            return Ok(());
        }
        let creating = match &change {
            Change::Create(path, _) => Some(Creating::enter(self.world(), path)),
            _ => None,
        };
        self.delay().await;
        let crossed = creating.as_ref().is_some_and(|creating| creating.crossed);
        self.changed(change, crossed).await
    }

    async fn changed(&self, change: Change, crossed: bool) -> Result<()> {
        let (op, path) = (change.op(), change.path().to_owned());
        let place = Place::of(&path);
        if crossed && self.world().faults() && self.world().draw(|random| random.random_bool(0.5)) {
            self.world().record().coverage.count(op, place, Fault::Race);
            let kind = if self.world().has(Hazard::H4) { ErrorKind::Conflict } else { ErrorKind::Unavailable };
            return Err(self.refuse(op, &path, kind, "race"));
        }
        let fault = match self.process.take_cut() {
            None => self.process.roll(op, place),
            Some(Cut::Before) => Some(Fault::CrashBefore),
            Some(Cut::After) => Some(Fault::CrashAfter),
            Some(Cut::Unclear) => Some(Fault::After),
        };
        match fault {
            Some(Fault::Before) => return Err(self.refuse(op, &path, ErrorKind::Unavailable, "before")),
            Some(Fault::Unclear) => return Err(self.refuse(op, &path, ErrorKind::UnknownOutcome, "unclear")),
            Some(Fault::Late) => {
                let millis = self.world().draw(|random| random.random_range(1..5_000));
                let store = self.clone();
                let late = async move {
                    store.world().executor.sleep(millis).await;
                    store.apply(change).await.ok();
                };
                // The store does this, whatever becomes of the process.
                self.world().executor.spawn(0, Box::pin(late));
                return Err(self.refuse(op, &path, ErrorKind::UnknownOutcome, "late"));
            }
            Some(Fault::CrashBefore) => self.die().await,
            Some(Fault::Torn) => {
                if let Change::Put(path, bytes) | Change::Create(path, bytes) | Change::Close(path, bytes) = change {
                    let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
                    // As atomic writes name what is not whole yet.
                    let number = self.world().executor.now();
                    let torn = format!("{folder}/.{name}.{:08x}-0000-4000-8000-{number:012x}.tmp", self.process.id);
                    self.world().disk.put(&torn, bytes.slice(..bytes.len() / 2)).await?;
                }
                self.die().await
            }
            Some(Fault::Pause) => self.pause().await,
            _ => {}
        }
        let result = self.apply(change).await;
        match fault {
            Some(Fault::CrashAfter) => self.die().await,
            Some(Fault::After | Fault::AfterAsBefore) if self.world().has(Hazard::H1) && place == Place::Snapshot => {
                // The client tries the rename again, finds the file, and takes it away.
                let (world, late) = (Arc::clone(self.world()), path.clone());
                self.world().executor.spawn(
                    0,
                    Box::pin(async move {
                        world.executor.sleep(1).await;
                        world.disk.delete(&late).await.ok();
                    }),
                );
                result
            }
            Some(Fault::After) => Err(self.refuse(op, &path, ErrorKind::UnknownOutcome, "after")),
            // Reading back or deleting again must make the same of it.
            Some(Fault::AfterAsBefore) => Err(self.refuse(op, &path, ErrorKind::Unavailable, "after as before")),
            _ => result,
        }
    }

    /// The effect itself.
    async fn apply(&self, change: Change) -> Result<()> {
        let (op, path, content) = (change.op(), change.path().to_owned(), change.content());
        let world = self.world();
        self.remember(&path).await;
        let result = match change {
            Change::Create(path, bytes) if world.has(Hazard::H5) => {
                // A store that looks first and writes then.
                match world.disk.stat(&path).await {
                    Ok(_) => Err(Error::already_exists("a file of this name exists already").with("path", &path)),
                    Err(_) => {
                        world.executor.sleep(world.draw(|random| random.random_range(0..30))).await;
                        let done = world.disk.put(&path, bytes.clone()).await;
                        self.created(&path, &bytes);
                        done
                    }
                }
            }
            Change::Create(path, bytes) => {
                let done = world.disk.create(&path, bytes.clone()).await;
                if done.is_ok() {
                    self.created(&path, &bytes);
                }
                done
            }
            Change::Put(path, bytes) => world.disk.put(&path, bytes).await,
            Change::Close(path, bytes) => {
                let rots = world.has(Hazard::H19) && world.faults() && Place::of(&path) == Place::Data;
                let bytes = if rots { self.rotten(bytes) } else { bytes };
                world.disk.put(&path, bytes).await
            }
            Change::Delete(path) => {
                world.record().expired.extend(snapshot_id(&path));
                world.disk.delete(&path).await
            }
            Change::DeleteDir(path) => world.disk.delete_dir(&path).await,
            Change::Rename(from, to) => world.disk.rename_dir(&from, &to).await,
        };
        self.trace(op, &path, content, answer(&result));
        result
    }

    /// Notes what a power cut would bring back, where a store acknowledges before it syncs.
    async fn remember(&self, path: &str) {
        let world = self.world();
        if !world.has(Hazard::H18) {
            return;
        }
        let before = world.disk.read(path, None).await.ok();
        let now = world.executor.now();
        let mut record = world.record();
        record.unsynced.retain(|(at, ..)| now - at < SAFE_AFTER_MILLIS);
        record.unsynced.push((now, path.to_owned(), before));
    }

    /// Notes a snapshot that has come to be.
    fn created(&self, path: &str, bytes: &Bytes) {
        if snapshot_id(path).is_some()
            && let Ok(snapshot) = Snapshot::from_json(bytes)
        {
            let now = self.world().executor.now();
            let mut record = self.world().record();
            record.committed = Some(now);
            record.snapshots.insert(snapshot.id.0, Arc::new(snapshot));
        }
    }

    /// Where a file ends too early: anywhere, or where an Avro file has no blocks yet and is a whole one all the same.
    fn cut(&self, path: &str, bytes: &Bytes) -> usize {
        let (anywhere, at_header) =
            self.world().draw(|random| (random.random_range(0..bytes.len()), random.random_bool(0.5)));
        let sync = bytes.len().checked_sub(16).map(|at| &bytes[at..]);
        let header = sync.and_then(|sync| bytes.windows(16).position(|window| window == sync)).map(|at| at + 16);
        match header {
            // Of an index manifest the format does not say how much there must be.
            Some(end) if at_header && bytes.starts_with(b"Obj\x01") && !path.contains("/index-manifest-") => end,
            _ => anywhere,
        }
    }

    fn rotten(&self, bytes: Bytes) -> Bytes {
        if bytes.is_empty() || !self.world().draw(|random| random.random_bool(0.3)) {
            return bytes;
        }
        self.flip(&bytes)
    }

    fn flip(&self, bytes: &Bytes) -> Bytes {
        let mut bytes = bytes.to_vec();
        let bit = self.world().draw(|random| random.random_range(0..bytes.len() * 8));
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes.into()
    }
}

/// The number of the snapshot of the table itself that a path is of.
fn snapshot_id(path: &str) -> Option<i64> {
    let (table, id) = path.rsplit_once("/snapshot/snapshot-")?;
    if table.contains("/branch/") { None } else { id.parse().ok() }
}

/// An exclusive creation under way; `crossed` when there was another one of the same file at its beginning.
struct Creating {
    world: Arc<World>,
    path: String,
    crossed: bool,
}

impl Creating {
    fn enter(world: &Arc<World>, path: &str) -> Self {
        let mut record = world.record();
        let under_way = record.creating.entry(path.to_owned()).or_default();
        *under_way += 1;
        Self { world: Arc::clone(world), path: path.to_owned(), crossed: *under_way > 1 }
    }
}

impl Drop for Creating {
    fn drop(&mut self) {
        if let Some(under_way) = self.world.record().creating.get_mut(&self.path) {
            *under_way = under_way.saturating_sub(1);
        }
    }
}

/// Something that changes the store.
enum Change {
    Put(String, Bytes),
    Create(String, Bytes),
    Close(String, Bytes),
    Delete(String),
    DeleteDir(String),
    Rename(String, String),
}

impl Change {
    fn op(&self) -> Op {
        match self {
            Self::Put(..) => Op::Put,
            Self::Create(..) => Op::Create,
            Self::Close(..) => Op::Close,
            Self::Delete(_) | Self::DeleteDir(_) => Op::Delete,
            Self::Rename(..) => Op::Rename,
        }
    }

    fn path(&self) -> &str {
        match self {
            Self::Put(path, _)
            | Self::Create(path, _)
            | Self::Close(path, _)
            | Self::Delete(path)
            | Self::DeleteDir(path)
            | Self::Rename(path, _) => path,
        }
    }

    fn content(&self) -> u64 {
        match self {
            Self::Put(_, bytes) | Self::Create(_, bytes) | Self::Close(_, bytes) => {
                let mut hash = DefaultHasher::new();
                bytes.hash(&mut hash);
                hash.finish()
            }
            _ => 0,
        }
    }
}

fn name(op: Op) -> &'static str {
    match op {
        Op::Stat => "stat",
        Op::Read => "read",
        Op::Put => "put",
        Op::Create => "create",
        Op::Close => "close",
        Op::List => "list",
        Op::Delete => "delete",
        Op::Rename => "rename",
    }
}

fn answer<T>(result: &Result<T>) -> &'static str {
    match result {
        Ok(_) => "done",
        Err(e) => e.kind().as_str(),
    }
}

#[async_trait]
impl Storage for Store {
    async fn stat(&self, path: &str) -> Result<Entry> {
        self.look(Op::Stat, path, self.world().disk.stat(path)).await.map(|(entry, _)| entry)
    }

    async fn read(&self, path: &str, range: Option<Range<u64>>) -> Result<Bytes> {
        let whole = range.is_none();
        let (bytes, bent) = self.look(Op::Read, path, self.world().disk.read(path, range)).await?;
        if !bent || bytes.is_empty() {
            return Ok(bytes);
        }
        if Place::of(path) == Place::Index {
            self.process.lie();
            return Ok(self.flip(&bytes));
        }
        // A range that comes back short is an error of the store; a whole file just ends.
        if !whole {
            self.process.lie();
            return Err(Error::corrupt("the file ends early").with("path", path));
        }
        self.process.lie();
        Ok(bytes.slice(..self.cut(path, &bytes)))
    }

    async fn put(&self, path: &str, bytes: Bytes) -> Result<()> {
        self.change(Change::Put(path.to_owned(), bytes)).await
    }

    async fn create(&self, path: &str, bytes: Bytes) -> Result<()> {
        self.change(Change::Create(path.to_owned(), bytes)).await
    }

    async fn writer(&self, path: &str) -> Result<Box<dyn StorageWriter>> {
        Ok(Box::new(StoreWriter { store: self.clone(), path: path.to_owned(), bytes: BytesMut::new() }))
    }

    async fn list(&self, dir: &str) -> Result<Vec<Entry>> {
        if self.is_expiry_with(Hazard::H16) && dir.ends_with("/tag") {
            return Ok(Vec::new());
        }
        self.look(Op::List, dir, self.world().disk.list(dir)).await.map(|(entries, _)| entries)
    }

    async fn delete(&self, path: &str) -> Result<()> {
        self.change(Change::Delete(path.to_owned())).await
    }

    async fn delete_dir(&self, dir: &str) -> Result<()> {
        self.change(Change::DeleteDir(dir.to_owned())).await
    }

    async fn rename_dir(&self, from: &str, to: &str) -> Result<()> {
        self.change(Change::Rename(from.to_owned(), to.to_owned())).await
    }

    fn root(&self) -> &str {
        self.world().disk.root()
    }
}

/// A file being written; nothing of it is there before it is closed.
struct StoreWriter {
    store: Store,
    path: String,
    bytes: BytesMut,
}

#[async_trait]
impl StorageWriter for StoreWriter {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.bytes.extend_from_slice(&bytes);
        Ok(())
    }

    async fn close(&mut self) -> Result<()> {
        let bytes = std::mem::take(&mut self.bytes).freeze();
        let work: BoxFuture<'_, Result<()>> = Box::pin(self.store.change(Change::Close(self.path.clone(), bytes)));
        work.await
    }

    async fn abort(&mut self) -> Result<()> {
        self.bytes.clear();
        Ok(())
    }
}
