//! Decoding ahead: a stream driven by a task of its own, with a short queue between.

use std::panic::AssertUnwindSafe;

use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use linn_format::file::DataFileMeta;
use linn_format::{Error, Result};
use tokio::sync::mpsc::Receiver;

use crate::seam::{Env, Pool, panicked};

/// Batches that may wait in the queue.
const QUEUE: usize = 2;

/// Bytes of a row of which no batches should wait in a queue.
const HUGE_ROW: i64 = 16 << 20;

/// Whether the rows of a file are so large that each batch which waits is felt.
pub(crate) fn has_huge_rows(file: &DataFileMeta) -> bool {
    file.file_size / file.row_count.max(1) >= HUGE_ROW
}

/// The same batches, computed by a task on the work pool, so that runs of a merge are decoded side by side.
/// Dropping the stream ends the task at its next batch. A task that panics is an error of the stream, never its end.
pub fn prefetch<T: Send + 'static>(
    env: &Env,
    mut stream: BoxStream<'static, Result<T>>,
) -> BoxStream<'static, Result<T>> {
    let (send, receive) = tokio::sync::mpsc::channel(QUEUE);
    env.spawn.spawn(
        Pool::Work,
        Box::pin(async move {
            loop {
                let told = match AssertUnwindSafe(stream.next()).catch_unwind().await {
                    Ok(Some(item)) => Told::Item(item),
                    Ok(None) => Told::End,
                    Err(panic) => Told::Item(Err(panicked(&*panic))),
                };
                let goes_on = matches!(told, Told::Item(Ok(_)));
                if send.send(told).await.is_err() || !goes_on {
                    return;
                }
            }
        }),
    );
    let next = |receive: Option<Receiver<Told<T>>>| async move {
        let mut receive = receive?;
        match receive.recv().await {
            Some(Told::Item(Ok(item))) => Some((Ok(item), Some(receive))),
            Some(Told::Item(Err(error))) => Some((Err(error), None)),
            Some(Told::End) => None,
            None => Some((Err(Error::internal("a task that reads ended without saying so")), None)),
        }
    };
    futures::stream::unfold(Some(receive), next).boxed()
}

/// What the task tells: its end too, as it may also stop for other reasons.
enum Told<T> {
    Item(Result<T>),
    End,
}

#[cfg(test)]
mod tests {
    use futures::TryStreamExt;

    use super::*;
    use crate::seam::LocalSpawn;
    use crate::storage::Memory;

    fn env() -> Env {
        Env::new(
            std::sync::Arc::new(Memory::new(std::sync::Arc::new(crate::seam::SystemClock))),
            std::sync::Arc::new(crate::seam::SystemClock),
            std::sync::Arc::new(crate::seam::SystemIds),
            std::sync::Arc::new(LocalSpawn),
            std::env::temp_dir(),
        )
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_not_an_end() {
        let whole = futures::stream::iter([Ok(1), Ok(2)]).boxed();
        assert_eq!(prefetch(&env(), whole).try_collect::<Vec<i32>>().await.unwrap(), [1, 2]);
        let broken = futures::stream::iter(0..3).map(|at| if at < 2 { Ok(at) } else { panic!("bad bytes") }).boxed();
        let error = prefetch(&env(), broken).try_collect::<Vec<i32>>().await.unwrap_err();
        assert_eq!(error.message(), "a task panicked: bad bytes");
    }
}
