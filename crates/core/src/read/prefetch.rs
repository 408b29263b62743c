//! Decoding ahead: a stream driven by a task of its own, with a short queue between.

use futures::StreamExt;
use futures::stream::BoxStream;

use linn_format::file::DataFileMeta;

use crate::seam::{Env, Pool};

/// Batches that may wait in the queue.
const QUEUE: usize = 2;

/// Bytes of a row of which no batches should wait in a queue.
const HUGE_ROW: i64 = 16 << 20;

/// Whether the rows of a file are so large that each batch which waits is felt.
pub(crate) fn has_huge_rows(file: &DataFileMeta) -> bool {
    file.file_size / file.row_count.max(1) >= HUGE_ROW
}

/// The same batches, computed by a task on the work pool, so that runs of a merge are decoded side by side.
/// Dropping the stream ends the task at its next batch.
pub fn prefetch<T: Send + 'static>(env: &Env, mut stream: BoxStream<'static, T>) -> BoxStream<'static, T> {
    let (send, receive) = tokio::sync::mpsc::channel(QUEUE);
    env.spawn.spawn(
        Pool::Work,
        Box::pin(async move {
            while let Some(batch) = stream.next().await {
                if send.send(batch).await.is_err() {
                    return;
                }
            }
        }),
    );
    futures::stream::unfold(receive, |mut receive| async move { Some((receive.recv().await?, receive)) }).boxed()
}
