//! Ctrl-C during work that leaves something to put in order: the work is given up and says so; a second Ctrl-C ends the
//! program at once. Work that is not run through here ends with the program, as nothing uncommitted can be seen anyway.

use std::future::Future;

use linn::{Error, ErrorKind, Result};

/// The exit code of shells for a program that was interrupted.
pub(crate) const CODE: i32 = 130;

/// Marks the error of work that was given up.
#[derive(Debug)]
struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ctrl-C was pressed")
    }
}

impl std::error::Error for Interrupted {}

/// Runs work until it is done or the user interrupts it. What is interrupted is dropped.
///
/// # Errors
/// Those of the work, and `Unavailable` when it was interrupted; see [`is_interruption`].
pub(crate) async fn until_interrupted<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let impatient = tokio::spawn(async {
        if pressed().await && pressed().await {
            std::process::exit(CODE);
        }
    });
    let done = tokio::select! {
        // Listening begins before the work does.
        biased;
        true = pressed() => Err(Error::new(ErrorKind::Unavailable, "interrupted").with_source(Interrupted)),
        done = work => done,
    };
    impatient.abort();
    done
}

/// Waits for Ctrl-C; false when it cannot be waited for.
async fn pressed() -> bool {
    tokio::signal::ctrl_c().await.is_ok()
}

/// Whether this is the error of work that was given up.
pub(crate) fn is_interruption(error: &Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<Interrupted>())
}
