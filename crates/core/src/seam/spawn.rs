//! Tasks on Tokio: work on the caller's runtime, compaction on threads of its own, so that neither starves the other.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use linn_format::{Error, Result};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::Semaphore;

use super::{Pool, Spawn};

/// Spawns on Tokio runtimes. Compaction tasks queue until one of the compaction threads is free.
pub struct TokioSpawn {
    work: Handle,
    work_threads: usize,
    compaction: Option<Runtime>,
    compaction_threads: usize,
    slots: Arc<Semaphore>,
}

impl TokioSpawn {
    /// Runs [`Pool::Work`] on the runtime that this is called from, and [`Pool::Compaction`] on a runtime of its own with
    /// `compaction_threads` threads (at least one).
    ///
    /// # Errors
    /// `Invalid` outside of a Tokio runtime, `Unavailable` when threads cannot be started.
    pub fn new(compaction_threads: usize) -> Result<Self> {
        let work = Handle::try_current()
            .map_err(|e| Error::invalid("tasks can only be spawned from within a Tokio runtime").with_source(e))?;
        let compaction_threads = compaction_threads.max(1);
        let compaction = Builder::new_multi_thread()
            .worker_threads(compaction_threads)
            .thread_name("linn-compaction")
            .enable_all()
            .build()
            .map_err(|e| Error::unavailable("cannot start the compaction threads").with_source(e))?;
        Ok(Self {
            work_threads: work.metrics().num_workers(),
            work,
            compaction: Some(compaction),
            compaction_threads,
            slots: Arc::new(Semaphore::new(compaction_threads)),
        })
    }
}

impl fmt::Debug for TokioSpawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokioSpawn")
            .field("work_threads", &self.work_threads)
            .field("compaction_threads", &self.compaction_threads)
            .finish_non_exhaustive()
    }
}

impl Spawn for TokioSpawn {
    fn spawn(&self, pool: Pool, task: BoxFuture<'static, ()>) {
        match (pool, &self.compaction) {
            (Pool::Compaction, Some(runtime)) => {
                let slots = Arc::clone(&self.slots);
                runtime.spawn(async move {
                    // The semaphore is never closed; were it, running unbounded beats losing the task.
                    let _slot = slots.acquire_owned().await.ok();
                    task.await;
                });
            }
            _ => {
                self.work.spawn(task);
            }
        }
    }

    fn parallelism(&self, pool: Pool) -> usize {
        match pool {
            Pool::Work => self.work_threads,
            Pool::Compaction => self.compaction_threads,
        }
    }
}

impl Drop for TokioSpawn {
    fn drop(&mut self) {
        // A runtime must not be dropped from within another one, where dropping would block.
        if let Some(runtime) = self.compaction.take() {
            runtime.shutdown_background();
        }
    }
}

/// The error of a task that panicked.
pub(crate) fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    Error::internal(format!("a task panicked: {text}"))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn compaction_runs_on_its_own_threads_and_is_bounded() {
        let spawn = TokioSpawn::new(2).unwrap();
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (send, mut receive) = tokio::sync::mpsc::unbounded_channel();
        for _ in 0..16 {
            let (running, most, send) = (Arc::clone(&running), Arc::clone(&most), send.clone());
            spawn.spawn(
                Pool::Compaction,
                Box::pin(async move {
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    tokio::task::yield_now().await;
                    running.fetch_sub(1, Ordering::SeqCst);
                    let name = std::thread::current().name().map(str::to_owned);
                    send.send(name).unwrap();
                }),
            );
        }
        for _ in 0..16 {
            assert_eq!(receive.recv().await.unwrap().as_deref(), Some("linn-compaction"));
        }
        assert!(most.load(Ordering::SeqCst) <= 2);
        assert_eq!(spawn.parallelism(Pool::Compaction), 2);
    }
}
