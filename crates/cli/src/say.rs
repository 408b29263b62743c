//! Messages on standard error that tell what was done. `--quiet` silences them; errors and warnings are always written.

use std::fmt::Arguments;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

static QUIET: AtomicBool = AtomicBool::new(false);

/// Sets whether messages are left out.
pub(crate) fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Writes a message, unless messages are left out.
pub(crate) fn message(text: Arguments<'_>) {
    if !QUIET.load(Ordering::Relaxed) {
        always(text);
    }
}

/// Writes a warning.
pub(crate) fn warning(text: Arguments<'_>) {
    let label = crate::theme::stderr().paint(crate::theme::Role::Warning, "warning:").into_owned();
    always(format_args!("{label} {text}"));
}

/// Writes to standard error; nothing can be done when it is closed.
pub(crate) fn always(text: Arguments<'_>) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Tells what was done, as `format!` takes it.
macro_rules! say {
    ($($text:tt)*) => { $crate::say::message(format_args!($($text)*)) };
}

/// Warns, as `format!` takes it.
macro_rules! caution {
    ($($text:tt)*) => { $crate::say::warning(format_args!($($text)*)) };
}

pub(crate) use {caution, say};
