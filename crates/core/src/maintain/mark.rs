//! Marks of partitions that are finished (spec: features.md B14).

use std::time::Duration;

use bytes::Bytes;
use linn_format::partition::partition_from_values;
use linn_format::row::BinaryRow;
use linn_format::snapshot::SuccessFile;
use linn_format::{Error, ErrorKind, Result, ResultExt};

use super::partition::{PartitionSummary, partitions, values};
use super::time::TimeFormat;
use crate::table::Table;

/// What `partition.mark-done-action` may name that only a catalog or a class of another engine can do.
const FOREIGN: [&str; 4] = ["done-partition", "mark-event", "http-report", "custom"];

/// Marks partitions, given as text by key, as done: as `partition.mark-done-action` says, which can be `success-file`. What
/// comes back are the paths of the marks.
///
/// # Errors
/// `Unsupported` naming another action, `Invalid` for a partition with other keys than the table's; nothing is marked then.
pub async fn mark_done(table: &Table, partitions: &[Vec<(String, String)>]) -> Result<Vec<String>> {
    check_actions(table)?;
    let paths = partitions.iter().map(|partition| path(table, partition)).collect::<Result<Vec<_>>>()?;
    for path in &paths {
        mark(table, path).await?;
    }
    Ok(paths)
}

/// Marks partitions that are there, as [`mark_done`] does.
///
/// # Errors
/// As [`mark_done`].
pub async fn mark_partitions(table: &Table, partitions: &[PartitionSummary]) -> Result<Vec<String>> {
    check_actions(table)?;
    let mut paths = Vec::with_capacity(partitions.len());
    for partition in partitions {
        let path = mark_of(table, &partition.partition)?;
        mark(table, &path).await?;
        paths.push(path);
    }
    Ok(paths)
}

/// The partitions that are finished and not marked so yet: the span of time that begins with the time in their values and lasts
/// `interval`, and the making of their newest file, ended more than `idle` ago. One whose values form no time never is.
///
/// # Errors
/// `Invalid` for a table without partitions, and what reading the table and the marks yields.
pub async fn idle_partitions(table: &Table, idle: Duration, interval: Duration) -> Result<Vec<PartitionSummary>> {
    let options = table.options();
    let keys: Vec<&str> = table.schema().partition_keys.iter().map(String::as_str).collect();
    if keys.is_empty() {
        return Err(Error::invalid("the table has no partitions").with("table", table.name()));
    }
    let format = TimeFormat::new(options.partition_timestamp_pattern(), options.partition_timestamp_formatter())?;
    let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    let clock = &table.env().clock;
    let offset = clock.local_offset_millis();
    let before = clock.now_millis().saturating_add(offset).saturating_sub(millis(idle));
    let mut finished = Vec::new();
    for partition in partitions(table).await? {
        let readable = values(table, &partition.partition, false)?;
        let begin = format.time(&keys, &partition.values).or_else(|| format.time(&keys, &readable));
        let Some(begin) = begin else { continue };
        let end = begin.and_utc().timestamp_millis().saturating_add(millis(interval));
        let newest = partition.newest.unwrap_or(i64::MIN);
        if end.max(newest) < before && !is_marked(table, &partition, newest.saturating_sub(offset)).await? {
            finished.push(partition);
        }
    }
    Ok(finished)
}

/// Whether a partition was marked when its newest file was there.
async fn is_marked(table: &Table, partition: &PartitionSummary, newest: i64) -> Result<bool> {
    let path = mark_of(table, &partition.partition)?;
    match table.storage().read(&path, None).await {
        Ok(bytes) => Ok(SuccessFile::from_json(&bytes).context("path", path)?.modification_time >= newest),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// Whether the actions that the table's options name can be done.
fn check_actions(table: &Table) -> Result<()> {
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
    Ok(())
}

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

/// The mark of a partition that need not be there, of which all values are named. They are read as values of their columns, so
/// that the mark lies where the data does, however a day is spelled.
fn path(table: &Table, partition: &[(String, String)]) -> Result<String> {
    let fields = table.schema().partition_fields();
    let keys = &table.schema().partition_keys;
    if keys.is_empty() {
        return Err(Error::invalid("the table has no partitions").with("table", table.name()));
    }
    if partition.len() != keys.len() {
        return Err(Error::invalid(format!("a partition of the table has {} values", keys.len()))
            .with("table", table.name())
            .with_hint(format!("name {}", keys.join(", "))));
    }
    let row = partition_from_values(partition, &fields, table.options().partition_default_name())
        .map_err(|e| e.with("table", table.name()))?;
    mark_of(table, &row)
}

/// Where the mark of a partition lies.
fn mark_of(table: &Table, partition: &BinaryRow) -> Result<String> {
    Ok(format!("{}/{}/{}", table.path(), table.partition_folders(partition)?, SuccessFile::NAME))
}
