//! The seams through which effects enter, and the environment that carries them.

mod commit;
mod create;
mod manual;
mod post;
mod spawn;
mod system;

pub use commit::{Attempt, NewSnapshot, Published, SnapshotCommit};
pub use create::CreateIfAbsent;
pub use manual::{LocalSpawn, ManualClock, SeededIds};
pub use post::{NoPost, Post};
pub use spawn::TokioSpawn;
pub(crate) use spawn::panicked;
pub use system::{SystemClock, SystemIds};

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::future::BoxFuture;
use linn_format::Result;

/// What a store says of one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Path relative to the store's root, `/`-separated, without a leading slash; folders end in `/`.
    pub path: String,
    /// Size in bytes; 0 for folders.
    pub size: u64,
    /// Last modification, milliseconds since the epoch by the store's clock, where it tells.
    pub modified_millis: Option<i64>,
}

impl Entry {
    /// Whether this is a folder.
    pub fn is_dir(&self) -> bool {
        self.path.ends_with('/')
    }
}

/// A place for immutable files. Paths are relative to the store's root; a path with `..` is refused as `Invalid`.
///
/// Errors: `NotFound` when a file is absent, `Unavailable` when the store cannot be reached (nothing happened),
/// `UnknownOutcome` when a write may or may not have happened.
#[async_trait]
pub trait Storage: Send + Sync + fmt::Debug {
    /// Size and time of one file.
    async fn stat(&self, path: &str) -> Result<Entry>;

    /// The bytes of `range`, or the whole file. Short files are `Corrupt`.
    async fn read(&self, path: &str, range: Option<Range<u64>>) -> Result<Bytes>;

    /// Writes a whole file, replacing what was there; readers see the old or the new bytes, never a mixture.
    async fn put(&self, path: &str, bytes: Bytes) -> Result<()>;

    /// Writes a whole file only if nothing is there: of any number of racing calls exactly one succeeds.
    /// `AlreadyExists` when another file is there, `UnknownOutcome` when the store did not say,
    /// `Unsupported` when the store cannot do it.
    async fn create(&self, path: &str, bytes: Bytes) -> Result<()>;

    /// Streams a new file, which becomes visible as a whole at [`StorageWriter::close`].
    async fn writer(&self, path: &str) -> Result<Box<dyn StorageWriter>>;

    /// The direct children of a folder in path order; empty when there is no such folder.
    async fn list(&self, dir: &str) -> Result<Vec<Entry>>;

    /// Deletes a file; absent is fine.
    async fn delete(&self, path: &str) -> Result<()>;

    /// Makes a folder that can be listed while it is empty; one that is there is fine. A store without folders keeps
    /// an empty file in it.
    async fn create_dir(&self, dir: &str) -> Result<()> {
        self.put(&format!("{}/.folder", dir.trim_end_matches('/')), Bytes::new()).await
    }

    /// Deletes a folder with everything below; absent is fine.
    async fn delete_dir(&self, dir: &str) -> Result<()>;

    /// Deletes a folder unless there is something in it, in one step; whether it is gone. A store without folders has
    /// none that are empty.
    async fn delete_empty_dir(&self, _dir: &str) -> Result<bool> {
        Ok(false)
    }

    /// Moves a folder. `NotFound` without source, `AlreadyExists` with target, `Unsupported` where it is not atomic.
    async fn rename_dir(&self, from: &str, to: &str) -> Result<()>;

    /// Whether there is a root to keep files under: `NotFound` where its folder is missing, `Invalid` where it is a file. A
    /// store without folders has every root.
    async fn check_root(&self) -> Result<()> {
        Ok(())
    }

    /// The URI of the root, for messages and for engines that want whole paths (`file:/warehouse`, `s3://bucket/x`).
    fn root(&self) -> &str;
}

/// A file being streamed to a store.
#[async_trait]
pub trait StorageWriter: Send {
    /// Appends bytes.
    async fn write(&mut self, bytes: Bytes) -> Result<()>;

    /// Makes the file visible.
    async fn close(&mut self) -> Result<()>;

    /// Gives the file up; nothing becomes visible.
    async fn abort(&mut self) -> Result<()>;
}

/// No zone changes its clocks twice in so long.
const DAY_MILLIS: i64 = 86_400_000;

/// Time.
#[async_trait]
pub trait Clock: Send + Sync + fmt::Debug {
    /// Milliseconds since the epoch.
    fn now_millis(&self) -> i64;

    /// Milliseconds to add to UTC for the local wall-clock time at an instant, by the zone's rules at that time.
    fn offset_millis_at(&self, _instant: i64) -> i64 {
        0
    }

    /// What the local wall clock shows at an instant, in milliseconds, as file creation times want it.
    fn local_millis(&self, instant: i64) -> i64 {
        instant.saturating_add(self.offset_millis_at(instant))
    }

    /// The instant at which the local wall clock shows this. Of two, when clocks are set back, it is the earlier one; a time that
    /// is skipped, when they are set forward, is as much later.
    fn instant_millis(&self, local: i64) -> i64 {
        let before = self.offset_millis_at(local.saturating_sub(DAY_MILLIS));
        let after = self.offset_millis_at(local.saturating_add(DAY_MILLIS));
        let by = |offset: i64| local.saturating_sub(offset);
        match self.offset_millis_at(by(before)) != before && self.offset_millis_at(by(after)) == after {
            true => by(after),
            false => by(before),
        }
    }

    /// Waits.
    async fn sleep(&self, millis: u64);
}

/// Unique names and jitter.
pub trait Ids: Send + Sync + fmt::Debug {
    /// A new UUID in its usual text form.
    fn uuid(&self) -> String;

    /// A number from 0 inclusive to 1 exclusive.
    fn jitter(&self) -> f64;
}

/// Which pool a task belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pool {
    /// Reading, writing, planning.
    Work,
    /// Compaction, which must not take threads from the others.
    Compaction,
}

/// Where tasks run.
pub trait Spawn: Send + Sync + fmt::Debug {
    /// Runs a task to its end in a pool; the caller hears of its result through what the task captured.
    fn spawn(&self, pool: Pool, task: BoxFuture<'static, ()>);

    /// How many tasks of a pool make progress at once.
    fn parallelism(&self, pool: Pool) -> usize;
}

/// Everything a table needs from outside.
#[derive(Debug, Clone)]
pub struct Env {
    /// Files.
    pub storage: Arc<dyn Storage>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Names.
    pub ids: Arc<dyn Ids>,
    /// Tasks.
    pub spawn: Arc<dyn Spawn>,
    /// Folder on local disk for spills.
    pub spill_dir: std::path::PathBuf,
    /// Who makes snapshots atomic.
    pub commit: Arc<dyn SnapshotCommit>,
    /// Servers that are told of what is done.
    pub post: Arc<dyn Post>,
}

impl Env {
    /// These seams. Snapshots are made atomic by the store, and no server is reached.
    pub fn new(
        storage: Arc<dyn Storage>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        spawn: Arc<dyn Spawn>,
        spill_dir: std::path::PathBuf,
    ) -> Self {
        Self { storage, clock, ids, spawn, spill_dir, commit: Arc::new(CreateIfAbsent), post: Arc::new(NoPost) }
    }

    /// The machine's clock, randomness and threads around a store: what a program uses. Must be called from within a Tokio
    /// runtime.
    ///
    /// # Errors
    /// `Invalid` outside of a Tokio runtime, `Unavailable` when threads cannot be started.
    pub fn system(storage: Arc<dyn Storage>) -> Result<Self> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let spawn = Arc::new(TokioSpawn::new(threads.div_ceil(2))?);
        Ok(Self::new(storage, Arc::new(SystemClock), Arc::new(SystemIds), spawn, std::env::temp_dir()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A zone that is an hour ahead of UTC, and two from 2024-03-31 01:00 UTC to 2024-10-27 01:00 UTC.
    #[derive(Debug)]
    struct Berlin;

    const SPRING: i64 = 1_711_846_800_000;
    const AUTUMN: i64 = 1_729_990_800_000;
    const HOUR: i64 = 3_600_000;

    #[async_trait]
    impl Clock for Berlin {
        fn now_millis(&self) -> i64 {
            AUTUMN + 100 * 24 * HOUR
        }

        fn offset_millis_at(&self, instant: i64) -> i64 {
            if (SPRING..AUTUMN).contains(&instant) { 2 * HOUR } else { HOUR }
        }

        async fn sleep(&self, _: u64) {}
    }

    #[test]
    fn local_times_follow_the_rules_of_their_time() {
        for instant in [0, SPRING - 1, SPRING, SPRING + HOUR, AUTUMN - 2 * HOUR, AUTUMN + HOUR, Berlin.now_millis()] {
            assert_eq!(Berlin.instant_millis(Berlin.local_millis(instant)), instant);
        }
        // Between two and three in autumn it is the first time that the clock shows it.
        assert_eq!(Berlin.instant_millis(AUTUMN + HOUR + HOUR / 2), AUTUMN - HOUR / 2);
        assert_eq!(Berlin.local_millis(AUTUMN + HOUR / 2), AUTUMN + HOUR + HOUR / 2);
        // In spring that hour is skipped.
        assert_eq!(Berlin.instant_millis(SPRING + HOUR + HOUR / 2), SPRING + HOUR / 2);
    }
}
