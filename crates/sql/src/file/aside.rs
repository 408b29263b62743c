//! Work that blocks, on a thread of its own, as a stream of batches. A panic there is an error here, and never the end of the
//! rows.

use datafusion::arrow::record_batch::RecordBatch;
use futures::{StreamExt, stream};
use linn::format::BatchStream;
use linn::{Error, Result};
use tokio::sync::mpsc;

/// Batches that may be ready ahead.
const AHEAD: usize = 2;

/// Where the work puts its batches.
pub(super) struct Sink(mpsc::Sender<RecordBatch>);

impl Sink {
    /// Hands a batch over; false when nobody wants more.
    pub(super) fn send(&self, batch: RecordBatch) -> bool {
        self.0.blocking_send(batch).is_ok()
    }
}

/// Runs `work` aside and streams what it sends.
pub(super) fn aside(work: impl FnOnce(&Sink) -> Result<()> + Send + 'static) -> BatchStream {
    let start = async move {
        let (sender, receiver) = mpsc::channel(AHEAD);
        let task = tokio::task::spawn_blocking(move || work(&Sink(sender)));
        stream::unfold((receiver, Some(task)), |(mut receiver, task)| async move {
            if let Some(batch) = receiver.recv().await {
                return Some((Ok(batch), (receiver, task)));
            }
            match task?.await {
                Ok(Ok(())) => None,
                Ok(Err(e)) => Some((Err(e), (receiver, None))),
                Err(e) => Some((Err(Error::corrupt("reading the file failed").with_source(e)), (receiver, None))),
            }
        })
    };
    stream::once(start).flatten().boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_error() {
        let mut rows = aside(|_| panic!("on purpose"));
        assert!(rows.next().await.unwrap().is_err());
        assert!(rows.next().await.is_none());
    }
}
