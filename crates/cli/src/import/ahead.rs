//! Chunks that a thread of its own reads, a few ahead of the writing. So a pipe that nothing comes from blocks only that
//! thread. The end of the input is said: a channel that closes without it is an error, never an end.

use linn::{Error, Result};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::chunk::{Chunk, Chunks};
use super::guard::guarded;

/// Chunks that may wait.
const AHEAD: usize = 4;

enum Told {
    Chunk(Chunk),
    Failed(Error),
    End,
}

/// Chunks of one input.
pub(crate) struct Ahead(Receiver<Told>);

impl Ahead {
    /// Starts to read.
    pub(crate) fn new(chunks: Chunks) -> Self {
        let (send, receive) = channel(AHEAD);
        tokio::task::spawn_blocking(move || read(chunks, &send));
        Self(receive)
    }

    /// The next chunk; `None` at the end of the input.
    ///
    /// # Errors
    /// What reading yields, and `Corrupt` when it panics.
    pub(crate) async fn next(&mut self) -> Result<Option<Chunk>> {
        match self.0.recv().await {
            Some(Told::Chunk(chunk)) => Ok(Some(chunk)),
            Some(Told::End) => Ok(None),
            Some(Told::Failed(error)) => Err(error),
            None => Err(Error::internal("the input was not read to its end")),
        }
    }
}

fn read(mut chunks: Chunks, send: &Sender<Told>) {
    loop {
        let told = match guarded(|| chunks.next()) {
            Ok(Some(Ok(chunk))) => Told::Chunk(chunk),
            Ok(Some(Err(error))) => Told::Failed(error),
            Ok(None) => Told::End,
            Err(panic) => Told::Failed(damaged(panic)),
        };
        let goes_on = matches!(told, Told::Chunk(_));
        // Nobody listens any more when the import has failed.
        if send.blocking_send(told).is_err() || !goes_on {
            return;
        }
    }
}

/// The error of bytes that contradict the format of their file.
pub(crate) fn damaged(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::corrupt("the file is damaged")
        .with_source(why)
        .with_hint("get the file again from where it comes from; nothing of it was committed")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::datatypes::Schema;
    use arrow::record_batch::RecordBatch;

    use super::*;

    fn chunk() -> Chunk {
        let batch = RecordBatch::new_empty(Arc::new(Schema::empty()));
        Chunk { batch, rows: Vec::new(), originals: Vec::new(), broken: Vec::new() }
    }

    #[tokio::test]
    async fn an_end_is_an_end_and_a_panic_is_an_error() {
        let mut whole = Ahead::new(Box::new([Ok(chunk())].into_iter()));
        assert!(whole.next().await.unwrap().is_some() && whole.next().await.unwrap().is_none());
        let broken = (0..2).map(|at| if at == 0 { Ok(chunk()) } else { panic!("bad bytes") });
        let mut broken = Ahead::new(Box::new(broken));
        assert!(broken.next().await.unwrap().is_some());
        assert_eq!(broken.next().await.unwrap_err().kind(), linn::ErrorKind::Corrupt);
        assert!(broken.next().await.is_err());
    }
}
