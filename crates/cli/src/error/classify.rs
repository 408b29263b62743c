//! Which code of the index an error has, and the exit code. The most telling cause decides: an operation that the operating
//! system refused is that, whatever was being done.

use std::io;

use linn::{Error, ErrorKind};

use super::index::{Entry, find};
use crate::interrupt::{self, is_interruption};

/// Files of a table begin like this.
const TABLE_FILES: &[&str] =
    &["snapshot-", "schema-", "manifest-", "index-", "data-", "changelog-", "lookup-", "stat-", "stats-"];

/// The exit code of an error (documented in `linn --help`).
pub(crate) fn code(error: &anyhow::Error) -> i32 {
    let Some(ours) = ours(error) else {
        return if error.chain().any(|cause| cause.is::<io::Error>()) { 7 } else { 1 };
    };
    if is_interruption(ours) {
        return interrupt::CODE;
    }
    let digit = entry(ours).code.as_bytes().get("LINN-".len()).copied().unwrap_or(b'1');
    i32::from(digit.saturating_sub(b'0'))
}

/// Linn's error in a chain.
pub(super) fn ours(error: &anyhow::Error) -> Option<&Error> {
    error.chain().find_map(|cause| cause.downcast_ref::<Error>())
}

/// The code of an error in the index.
pub(crate) fn entry(error: &Error) -> &'static Entry {
    find(number(error)).or_else(|| find("100")).unwrap_or(&super::ENTRIES[0])
}

/// What the operating system or the store said, if it was asked.
pub(super) fn refused(error: &Error) -> Option<io::ErrorKind> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(current) = cause {
        if let Some(e) = current.downcast_ref::<io::Error>() {
            match e.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    return Some(io::ErrorKind::PermissionDenied);
                }
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => return Some(io::ErrorKind::StorageFull),
                _ => {}
            }
        }
        // The stores' library is not ours to name; its errors say their kind first.
        if current.to_string().starts_with("PermissionDenied ") {
            return Some(io::ErrorKind::PermissionDenied);
        }
        cause = current.source();
    }
    None
}

fn number(error: &Error) -> &'static str {
    let has = |key: &str| error.context().iter().any(|(known, _)| *known == key);
    let message = error.message();
    let says = |word: &str| message.contains(word);
    match (error.kind(), refused(error)) {
        (ErrorKind::UnknownOutcome, _) => "800",
        (ErrorKind::Conflict, _) => "600",
        (_, Some(io::ErrorKind::PermissionDenied)) => "701",
        (_, Some(_)) => "702",
        (ErrorKind::Invalid, _) if message.starts_with("SQL") => "201",
        (ErrorKind::Invalid, _) if says("confirm") => "204",
        (ErrorKind::Invalid, _) if has("option") || says("option") => "202",
        (ErrorKind::Invalid, _) if has("row") || has("line") || has("rows") => "203",
        (ErrorKind::Invalid, _) => "200",
        (ErrorKind::NotFound, _) if is_of_table(error) => "901",
        (ErrorKind::NotFound, _) => absent(error),
        (ErrorKind::AlreadyExists, _) => "400",
        (ErrorKind::Unsupported, _) => "500",
        (ErrorKind::Unavailable, _) if says("output cannot be written") => "703",
        (ErrorKind::Unavailable, _) => "700",
        (ErrorKind::Corrupt, _) if message.starts_with("integrity check failed") => "902",
        (ErrorKind::Corrupt, _) => "900",
        _ => "100",
    }
}

/// What is not there.
fn absent(error: &Error) -> &'static str {
    let has = |key: &str| error.context().iter().any(|(known, _)| *known == key);
    let message = error.message().to_lowercase();
    let about = |word: &str| message.contains(word);
    match () {
        () if about("row with") => "307",
        () if about("column") => "303",
        () if about("snapshot") || about("watermark") => "304",
        () if about("tag") || about("branch") || about("consumer") => "305",
        () if about("database") => "302",
        () if about("option") => "300",
        () if about("table") => "301",
        () if about("file") || has("file") => "306",
        () => "300",
    }
}

/// Whether a file of a table is missing, not one that the user named.
fn is_of_table(error: &Error) -> bool {
    let message = error.message();
    let file = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        TABLE_FILES.iter().any(|start| name.starts_with(start))
    };
    (message == "no such file" && error.context().iter().any(|(key, value)| *key == "path" && file(value)))
        || message.starts_with("a manifest of the table is missing")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(error: &Error, expected: &str) {
        assert_eq!(entry(error).code, format!("LINN-{expected}"), "{error}");
    }

    #[test]
    fn the_most_telling_cause_decides() {
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        check(&Error::invalid("the file system does not permit this").with_source(denied()), "701");
        let inner = Error::invalid("the file system does not permit this").with_source(denied());
        check(&Error::unavailable("the file cannot be written").with_source(inner), "701");
        check(&Error::unavailable("x").with_source(io::Error::from(io::ErrorKind::StorageFull)), "702");
        check(&Error::invalid("x").with_source("PermissionDenied (persistent) at write => no"), "701");
        check(&Error::unknown_outcome("x").with_source(denied()), "800");
    }

    #[test]
    fn what_is_missing_is_told_apart() {
        check(&Error::not_found("no such file").with("path", "file:/w/d.db/t/bucket-0/data-1.parquet"), "901");
        check(&Error::not_found("the file cannot be read").with("file", "a.csv"), "306");
        check(&Error::not_found("there is no such table").with("table", "d.t"), "301");
        check(&Error::not_found("there is no such database").with("database", "d"), "302");
        check(&Error::not_found("tag \"x\"").with("table", "d.t"), "305");
    }

    #[test]
    fn every_kind_has_a_code_whose_first_digit_is_the_exit_code() {
        use ErrorKind::*;
        let kinds =
            [Internal, Invalid, NotFound, AlreadyExists, Unsupported, Conflict, Unavailable, UnknownOutcome, Corrupt];
        for (exit, kind) in (1..).zip(kinds) {
            assert_eq!(code(&anyhow::Error::new(Error::new(kind, "x"))), exit, "{kind:?}");
        }
    }
}
