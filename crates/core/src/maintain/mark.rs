//! Marks of partitions that are finished (spec: features.md B14).

use bytes::Bytes;
use linn_format::partition::escape;
use linn_format::snapshot::SuccessFile;
use linn_format::{Error, ErrorKind, Result, ResultExt};

use crate::table::Table;

/// What `partition.mark-done-action` may name that only a catalog or a class of another engine can do.
const FOREIGN: [&str; 4] = ["done-partition", "mark-event", "http-report", "custom"];

/// Marks partitions, given as text by key, as done: as `partition.mark-done-action` says, which can be `success-file`. What
/// comes back are the paths of the marks.
///
/// # Errors
/// `Unsupported` naming another action, `Invalid` for a partition with other keys than the table's; nothing is marked then.
pub async fn mark_done(table: &Table, partitions: &[Vec<(String, String)>]) -> Result<Vec<String>> {
    for action in table.options().partition_mark_done_actions() {
        if FOREIGN.contains(&action) {
            return Err(Error::unsupported(format!("the action {action} to mark partitions done"))
                .with("table", table.name())
                .with_hint("set partition.mark-done-action to success-file"));
        }
        if action != "success-file" {
            return Err(
                Error::invalid(format!("partition.mark-done-action {action:?} is none")).with("table", table.name())
            );
        }
    }
    let paths = partitions.iter().map(|partition| path(table, partition)).collect::<Result<Vec<_>>>()?;
    let now = table.env().clock.now_millis();
    for path in &paths {
        let first = match table.storage().read(path, None).await {
            Ok(bytes) => SuccessFile::from_json(&bytes).context("path", path)?.creation_time,
            Err(e) if e.kind() == ErrorKind::NotFound => now,
            Err(e) => return Err(e),
        };
        let mark = SuccessFile { creation_time: first, modification_time: now };
        table.storage().put(path, Bytes::from(mark.to_json()?)).await?;
    }
    Ok(paths)
}

/// Where the mark of a partition lies. The values are taken as they are given, as paths spell them.
fn path(table: &Table, partition: &[(String, String)]) -> Result<String> {
    let keys = &table.schema().partition_keys;
    if keys.is_empty() || partition.len() != keys.len() {
        return Err(Error::invalid(format!("a partition of the table has {} values", keys.len()))
            .with("table", table.name())
            .with_hint(format!("name {}", keys.join(", "))));
    }
    let part = |key: &String| match partition.iter().find(|(name, _)| name == key) {
        Some((_, value)) => Ok(format!("{}={}", escape(key), escape(value))),
        None => Err(Error::invalid(format!("the partition key {key} has no value")).with("table", table.name())),
    };
    let parts = keys.iter().map(part).collect::<Result<Vec<_>>>()?;
    Ok(format!("{}/{}/{}", table.path(), parts.join("/"), SuccessFile::NAME))
}
