//! Files that are read batch after batch, as streams.

use std::future::Future;

use arrow_array::RecordBatch;
use futures::{StreamExt, TryStreamExt, stream};

use super::BatchStream;
use crate::{Error, Result, ResultExt};

/// An open file.
pub(super) trait Batches: Send + Sized + 'static {
    /// The next batch; none at the end.
    fn next(&mut self) -> impl Future<Output = Result<Option<RecordBatch>>> + Send;

    /// The batches as a stream, when the file could be opened; every error names the file.
    fn stream(opened: Result<Self>, path: String) -> Result<BatchStream> {
        let reader = opened.context("path", &path)?;
        let batches = stream::try_unfold(reader, |mut reader| async move {
            let batch = reader.next().await?;
            Ok(batch.map(|batch| (batch, reader)))
        });
        Ok(batches.map_err(move |e: Error| e.with("path", &path)).boxed())
    }
}
