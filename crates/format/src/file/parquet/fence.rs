//! Keeping the library's panics inside: some checks of bytes in the decoders are assertions. A panic there says that the
//! file is corrupt; what the library was working on is dropped, so no broken state is seen.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::{FutureExt, Stream};

use crate::{Error, Result};

/// Calls the library.
pub(crate) fn fenced<T>(call: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| corrupt(&*panic))
}

/// Awaits the library.
pub(super) async fn fenced_async<T>(call: impl Future<Output = T>) -> Result<T> {
    AssertUnwindSafe(call).catch_unwind().await.map_err(|panic| corrupt(&*panic))
}

fn corrupt(panic: &(dyn Any + Send)) -> Error {
    let said =
        panic.downcast_ref::<&str>().map(|s| (*s).to_owned()).or_else(|| panic.downcast_ref::<String>().cloned());
    Error::corrupt(format!("not a readable parquet file: {}", said.unwrap_or_default()))
}

/// A stream of the library's that ends with an error where it would panic.
pub(super) struct Fenced<S>(Option<S>);

impl<S> Fenced<S> {
    pub(super) fn new(stream: S) -> Self {
        Self(Some(stream))
    }
}

impl<S: Stream + Unpin> Stream for Fenced<S> {
    type Item = Result<S::Item>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(stream) = &mut self.0 else { return Poll::Ready(None) };
        match fenced(|| Pin::new(stream).poll_next(cx)) {
            Ok(poll) => poll.map(|item| item.map(Ok)),
            Err(error) => {
                self.0 = None;
                Poll::Ready(Some(Err(error)))
            }
        }
    }
}
