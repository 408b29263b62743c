//! Work that is spread over the pool: a few tasks at a time, results in the order of the inputs.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::channel::oneshot;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use linn_format::{Error, Result};

use crate::seam::{Env, Pool, panicked};

/// Runs one task in the pool and waits for what it says.
pub(crate) async fn run<T, F>(env: &Env, pool: Pool, task: F) -> Result<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    let (send, receive) = oneshot::channel();
    let task = async move {
        let done = AssertUnwindSafe(task).catch_unwind().await.unwrap_or_else(|panic| Err(panicked(&*panic)));
        // Nobody waits any more when the caller gave up; then the result is of no use.
        drop(send.send(done));
    };
    env.spawn.spawn(pool, Box::pin(task));
    receive.await.unwrap_or_else(|_| Err(Error::internal("a task ended without a result")))
}

/// Applies `work` to every item, as many at a time as the pool runs and as many again waiting for the store.
pub(crate) async fn map<I, T, F, Fut>(env: &Env, items: Vec<I>, work: F) -> Result<Vec<T>>
where
    I: Send + 'static,
    T: Send + 'static,
    F: Fn(I) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<T>> + Send + 'static,
{
    let at_once = env.spawn.parallelism(Pool::Work).max(1) * 2;
    let work = Arc::new(work);
    let tasks = items.into_iter().map(|item| {
        let work = Arc::clone(&work);
        run(env, Pool::Work, async move { work(item).await })
    });
    stream::iter(tasks).buffered(at_once).try_collect().await
}
