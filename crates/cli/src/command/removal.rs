//! What a deletion would take with it: shown, or asked about.

use linn::Result;
use linn::core::maintain::Removal;

use super::sure::confirmed;
use crate::args::Sure;
use crate::context::Context;
use crate::output::{Columns, count, size};
use crate::say::say;

/// Shows what would go when that is all that is asked for; else whether to go on.
///
/// # Errors
/// `Invalid` when there is nobody to ask, and `Unavailable` when the output is gone.
pub(super) fn go_on(context: &Context, removal: &Removal, what: &str, sure: &Sure) -> Result<bool> {
    let total = format!("{}, {}", count(removal.files(), "file"), bytes(removal.bytes()));
    if sure.dry_run {
        show(context, removal)?;
        say!("Would {what}: {total}.");
        return Ok(false);
    }
    confirmed(&format!("{what} ({total})"), sure.yes)
}

/// How many bytes go, for people.
pub(super) fn bytes(bytes: u64) -> String {
    size(i64::try_from(bytes).unwrap_or(i64::MAX))
}

fn show(context: &Context, removal: &Removal) -> Result<()> {
    let kinds = [("history", &removal.history), ("metadata", &removal.metadata), ("data", &removal.data)];
    let named = || kinds.iter().flat_map(|(kind, files)| files.iter().map(move |file| (*kind, file)));
    Columns::new()
        .text("kind", named().map(|(kind, _)| kind))
        .text("path", named().map(|(_, file)| &file.path))
        .number("bytes", named().map(|(_, file)| i64::try_from(file.bytes).ok()))
        .show(context.output)
}
