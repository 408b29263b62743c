//! Success files: marks that something is done, with the times when they were made and changed.

use bytes::Bytes;
use linn_format::snapshot::SuccessFile;
use linn_format::{ErrorKind, Result, ResultExt};

use crate::table::Table;

/// Writes a mark; one that is there keeps the time when it was made.
///
/// # Errors
/// `Corrupt` when there is something else at the path, and what the store yields.
pub(crate) async fn mark(table: &Table, path: &str) -> Result<()> {
    let now = table.env().clock.now_millis();
    let first = match table.storage().read(path, None).await {
        Ok(bytes) => SuccessFile::from_json(&bytes).context("path", path)?.creation_time,
        Err(e) if e.kind() == ErrorKind::NotFound => now,
        Err(e) => return Err(e),
    };
    let mark = SuccessFile { creation_time: first, modification_time: now };
    table.storage().put(path, Bytes::from(mark.to_json()?)).await
}
