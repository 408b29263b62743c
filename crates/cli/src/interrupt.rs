//! Ctrl-C and SIGTERM during work that leaves something to put in order: the work is given up and says so; a second signal
//! ends the program at once. Work that is not run through here ends with the program, as nothing uncommitted can be seen anyway.

use std::future::Future;

use linn::{Error, ErrorKind, Result};

/// The exit code of shells for a program that was interrupted.
pub(crate) const CODE: i32 = 130;

/// Marks the error of work that was given up.
#[derive(Debug)]
struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a signal asked to stop")
    }
}

impl std::error::Error for Interrupted {}

/// Runs work until it is done or the user interrupts it. What is interrupted is dropped.
///
/// # Errors
/// Those of the work, and `Unavailable` when it was interrupted; see [`is_interruption`].
pub(crate) async fn until_interrupted<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let impatient = tokio::spawn(async {
        if stop_signal().await && stop_signal().await {
            std::process::exit(CODE);
        }
    });
    let done = tokio::select! {
        // Listening begins before the work does.
        biased;
        true = stop_signal() => Err(Error::new(ErrorKind::Unavailable, "interrupted").with_source(Interrupted)),
        done = work => done,
    };
    impatient.abort();
    done
}

/// Waits for Ctrl-C, or for SIGTERM, as service managers send it; false when they cannot be waited for.
pub(crate) async fn stop_signal() -> bool {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            return tokio::select! {
                pressed = tokio::signal::ctrl_c() => pressed.is_ok(),
                told = terminate.recv() => told.is_some(),
            };
        }
    }
    tokio::signal::ctrl_c().await.is_ok()
}

/// Whether this is the error of work that was given up.
pub(crate) fn is_interruption(error: &Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<Interrupted>())
}
