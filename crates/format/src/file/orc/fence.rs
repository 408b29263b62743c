//! Keeping the library's panics inside.
//!
//! `orc-rust` unwraps and indexes on bytes of the file (a writer time zone it does not know, lengths that contradict
//! each other). A panic there says that the file is corrupt; what the library was working on is dropped afterwards, so
//! no broken state is seen.

use std::panic::{AssertUnwindSafe, catch_unwind};

use futures::FutureExt;

use crate::{Error, Result};

/// Calls the library.
pub(crate) fn fenced<T>(call: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(call)).map_err(panicked)
}

/// Awaits the library.
pub(super) async fn fenced_async<T>(call: impl Future<Output = T>) -> Result<T> {
    AssertUnwindSafe(call).catch_unwind().await.map_err(panicked)
}

fn panicked(payload: Box<dyn std::any::Any + Send>) -> Error {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
    Error::corrupt(format!("orc file cannot be decoded: {text}"))
}
