//! Whether a branch was made to the end.

use linn_format::{ErrorKind, Result};

use super::Schemas;
use crate::snapshot::Snapshots;
use crate::table::Table;

/// Whether the making of a branch came to its end: it has the schema of its snapshots, which is brought last.
///
/// # Errors
/// `Unavailable` when the store fails, `Corrupt` with the path of a snapshot that cannot be read.
pub(crate) async fn is_made(branch: &Table) -> Result<bool> {
    let Some(newest) = Schemas::new(branch).list().await?.pop() else { return Ok(false) };
    let snapshots = Snapshots::new(branch);
    let Some(first) = snapshots.list().await?.first().copied() else { return Ok(true) };
    match snapshots.get(first).await {
        Ok(snapshot) => Ok(snapshot.schema_id <= newest),
        // It expired meanwhile.
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(true),
        Err(e) => Err(e),
    }
}
