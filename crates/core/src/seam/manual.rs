//! Time and names that a test or a simulation owns: the same seed gives the same history.

use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{Clock, Ids, Pool, Spawn};

/// A clock that stands still until it is told otherwise; sleeping moves it on at once.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that shows `millis`.
    pub fn new(millis: i64) -> Self {
        Self(AtomicI64::new(millis))
    }

    /// Moves the clock on.
    pub fn advance(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }

    /// Sets the clock, also backwards.
    pub fn set(&self, millis: i64) {
        self.0.store(millis, Ordering::SeqCst);
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now_millis(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    async fn sleep(&self, millis: u64) {
        self.advance(i64::try_from(millis).unwrap_or(i64::MAX));
        tokio::task::yield_now().await;
    }
}

/// UUIDs and jitter from a seed.
#[derive(Debug)]
pub struct SeededIds(Mutex<StdRng>);

impl SeededIds {
    /// Names that depend on `seed` and on nothing else.
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(StdRng::seed_from_u64(seed)))
    }
}

impl Ids for SeededIds {
    fn uuid(&self) -> String {
        uuid::Builder::from_random_bytes(self.0.lock().random()).into_uuid().to_string()
    }

    fn jitter(&self) -> f64 {
        self.0.lock().random_range(0.0..1.0)
    }
}

/// Runs every task on the current Tokio runtime, compaction or not.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalSpawn;

impl Spawn for LocalSpawn {
    fn spawn(&self, _pool: Pool, task: BoxFuture<'static, ()>) {
        tokio::spawn(task);
    }

    fn parallelism(&self, _pool: Pool) -> usize {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_names() {
        let (a, b) = (SeededIds::new(7), SeededIds::new(7));
        assert_eq!((a.uuid(), a.uuid()), (b.uuid(), b.uuid()));
        assert_ne!(SeededIds::new(8).uuid(), SeededIds::new(7).uuid());
    }

    #[tokio::test]
    async fn sleeping_moves_the_clock() {
        let clock = ManualClock::new(5);
        clock.sleep(10).await;
        assert_eq!(clock.now_millis(), 15);
    }
}
