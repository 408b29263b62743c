//! Asking before something is done that cannot be undone.

use std::io::{IsTerminal, Write};

use linn::{Error, Result};

use crate::args::Sure;
use crate::say::say;

/// Whether something is to be done; when only that is asked for, what it would be is told instead.
///
/// # Errors
/// As [`confirmed`].
pub(super) fn agreed(what: &str, sure: &Sure) -> Result<bool> {
    if sure.dry_run {
        say!("Would {what}.");
        return Ok(false);
    }
    confirmed(what, sure.yes)
}

/// Whether it is to be done: `yes` says so, else the person at the terminal.
///
/// # Errors
/// `Invalid` when there is nobody to ask.
pub(super) fn confirmed(what: &str, yes: bool) -> Result<bool> {
    if yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        return Err(Error::invalid(format!("confirmation needed to {what}"))
            .with_hint("add --yes to do it, or --dry-run to see what would be done"));
    }
    let mut first = what.chars();
    let question: String = first.next().into_iter().flat_map(char::to_uppercase).chain(first).collect();
    let mut err = std::io::stderr().lock();
    let mut answer = String::new();
    let asked = write!(err, "{question}? [y/N] ").and_then(|()| err.flush());
    let read = asked.and_then(|()| std::io::stdin().read_line(&mut answer));
    read.map_err(|e| Error::unavailable("the answer cannot be read").with_source(e))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
