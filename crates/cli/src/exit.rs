//! Exit codes and how an error is shown: what, where, and what to do.

use std::io::Write;

use linn::{Error, ErrorKind};

use crate::interrupt::{self, is_interruption};

/// The exit code of an error (documented in `linn --help`).
pub(crate) fn code(error: &anyhow::Error) -> i32 {
    let Some(ours) = find(error) else {
        return if error.chain().any(|c| c.is::<std::io::Error>()) { 7 } else { 1 };
    };
    match ours.kind() {
        _ if is_interruption(ours) => interrupt::CODE,
        ErrorKind::Invalid => 2,
        ErrorKind::NotFound => 3,
        ErrorKind::AlreadyExists => 4,
        ErrorKind::Unsupported => 5,
        ErrorKind::Conflict => 6,
        ErrorKind::Unavailable => 7,
        ErrorKind::UnknownOutcome => 8,
        ErrorKind::Corrupt => 9,
        _ => 1,
    }
}

/// Writes the error to standard error, with its context and hint on lines of their own.
pub(crate) fn report(error: &anyhow::Error) {
    let mut err = std::io::stderr().lock();
    // Nothing can be done when standard error is gone.
    let _ = write_error(&mut err, error);
}

fn write_error(out: &mut impl Write, error: &anyhow::Error) -> std::io::Result<()> {
    let Some(ours) = find(error) else {
        return writeln!(out, "error: {error:#}");
    };
    if is_interruption(ours) {
        writeln!(out, "interrupted")?;
    } else {
        writeln!(out, "error: {}: {}", ours.kind().as_str(), ours.message())?;
    }
    for (key, value) in ours.context() {
        writeln!(out, "  {key}: {value}")?;
    }
    let mut source = std::error::Error::source(ours).filter(|_| !is_interruption(ours));
    let mut said = String::new();
    while let Some(cause) = source {
        let text = cause.to_string();
        // Some errors already end with their cause.
        if !said.ends_with(&text) {
            writeln!(out, "  because: {text}")?;
            said = text;
        }
        source = cause.source();
    }
    if let Some(hint) = ours.hint().or_else(|| usual_hint(ours.kind())) {
        writeln!(out, "  hint: {hint}")?;
    }
    Ok(())
}

/// What can be done about errors of a kind that say nothing of it themselves.
fn usual_hint(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::Corrupt => {
            Some("`linn check --deep` on the table lists what is damaged, and what can be done about it")
        }
        _ => None,
    }
}

fn find(error: &anyhow::Error) -> Option<&Error> {
    error.chain().find_map(|cause| cause.downcast_ref::<Error>())
}
