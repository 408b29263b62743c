//! Files that a task of their own writes, so that those of the rows and those of their changes are encoded side by side.
//!
//! A task that hears no more without having been told to finish gives its files up.

use std::sync::Arc;

use arrow_array::RecordBatch;
use async_trait::async_trait;
use linn_format::file::DataFileMeta;
use linn_format::{Error, Result};
use tokio::sync::{mpsc, oneshot};

use crate::file::Sink;
use crate::seam::{Env, Pool};

/// Batches that may wait.
const QUEUE: usize = 2;

enum Order {
    Write(RecordBatch),
    Close,
}

/// The task, as who sends it batches sees it.
struct ConcurrentSink {
    orders: mpsc::Sender<Order>,
    /// What came of it; `None` when that was told.
    outcome: Option<oneshot::Receiver<Result<Vec<Arc<DataFileMeta>>>>>,
}

/// The same files, written by a task on the work pool.
pub(super) fn aside(env: &Env, sink: Box<dyn Sink>) -> Box<dyn Sink> {
    let (orders, receive) = mpsc::channel(QUEUE);
    let (send, outcome) = oneshot::channel();
    env.spawn.spawn(
        Pool::Work,
        Box::pin(async move {
            send.send(write(sink, receive).await).ok();
        }),
    );
    Box::new(ConcurrentSink { orders, outcome: Some(outcome) })
}

async fn write(mut sink: Box<dyn Sink>, mut orders: mpsc::Receiver<Order>) -> Result<Vec<Arc<DataFileMeta>>> {
    loop {
        let written = match orders.recv().await {
            Some(Order::Write(batch)) => sink.write(&batch).await,
            Some(Order::Close) => return sink.close().await,
            None => return sink.abort().await.map(|()| Vec::new()),
        };
        if let Err(error) = written {
            // The first error says more than one of the clean-up.
            sink.abort().await.ok();
            return Err(error);
        }
    }
}

impl ConcurrentSink {
    /// Why the task takes no more.
    async fn error(&mut self) -> Error {
        match self.outcome().await {
            Err(error) => error,
            Ok(_) => ended(),
        }
    }

    async fn outcome(&mut self) -> Result<Vec<Arc<DataFileMeta>>> {
        match self.outcome.take() {
            Some(outcome) => outcome.await.unwrap_or_else(|_| Err(ended())),
            None => Err(ended()),
        }
    }
}

fn ended() -> Error {
    Error::internal("a task that writes files ended early")
}

#[async_trait]
impl Sink for ConcurrentSink {
    async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self.orders.send(Order::Write(batch.clone())).await {
            Ok(()) => Ok(()),
            Err(_) => Err(self.error().await),
        }
    }

    async fn close(mut self: Box<Self>) -> Result<Vec<Arc<DataFileMeta>>> {
        // Where nobody listens any more the outcome says why.
        self.orders.send(Order::Close).await.ok();
        self.outcome().await
    }

    async fn abort(self: Box<Self>) -> Result<()> {
        let Self { orders, outcome } = *self;
        drop(orders);
        match outcome {
            Some(outcome) => outcome.await.unwrap_or_else(|_| Err(ended())).map(|_| ()),
            None => Ok(()),
        }
    }
}
