//! Marks of partitions that are finished (spec: features.md B14).

use std::time::Duration;

use linn_format::partition::{PartitionSpec, partition_from_values};
use linn_format::row::BinaryRow;
use linn_format::snapshot::SuccessFile;
use linn_format::{Error, ErrorKind, Result, ResultExt};

use super::report::Report;
use crate::partition::{PartitionSummary, Times, partitions};
use crate::snapshot::mark;
use crate::table::Table;

/// What `partition.mark-done-action` may name that only a catalog or a class of another engine can do.
const FOREIGN: [&str; 3] = ["done-partition", "mark-event", "custom"];

/// The action that leaves a mark.
const SUCCESS_FILE: &str = "success-file";

/// What is done to mark a partition.
#[derive(Debug)]
enum Action {
    SuccessFile,
    Report(Report),
}

/// Marks partitions, given as text by key where `None` is null, as done: as `partition.mark-done-action` says, which can be `success-file` and
/// `http-report`. What comes back are the paths of the marks and the addresses of those who were told.
///
/// # Errors
/// `Unsupported` naming another action, `Invalid` for a partition with other keys than the table's; nothing is marked then.
/// `Unavailable` when a server was not told; partitions and actions before are marked then.
pub async fn mark_done(table: &Table, partitions: &[PartitionSpec]) -> Result<Vec<String>> {
    let rows = partitions.iter().map(|partition| row(table, partition)).collect::<Result<Vec<_>>>()?;
    mark_all(table, rows.iter()).await
}

/// Marks partitions that are there, as [`mark_done`] does.
///
/// # Errors
/// As [`mark_done`].
pub async fn mark_partitions(table: &Table, partitions: &[PartitionSummary]) -> Result<Vec<String>> {
    mark_all(table, partitions.iter().map(|partition| &partition.partition)).await
}

async fn mark_all(table: &Table, partitions: impl Iterator<Item = &BinaryRow>) -> Result<Vec<String>> {
    let actions = actions(table)?;
    let mut marks = Vec::new();
    for partition in partitions {
        for action in &actions {
            match action {
                Action::SuccessFile => {
                    let path = mark_of(table, partition)?;
                    mark(table, &path).await?;
                    marks.push(path);
                }
                Action::Report(report) => {
                    report.tell(&*table.env().post, &format!("{}/", table.partition_folders(partition)?)).await?;
                    marks.push(report.url().to_owned());
                }
            }
        }
    }
    Ok(marks)
}

/// The partitions that are finished and not marked so yet: the span of time that begins with the time in their values and lasts
/// `interval`, and the making of their newest file, ended more than `idle` ago. One whose values form no time never is.
///
/// # Errors
/// `Invalid` for a table without partitions or without marks that stay, and what reading the table and the marks yields.
pub async fn idle_partitions(table: &Table, idle: Duration, interval: Duration) -> Result<Vec<PartitionSummary>> {
    let options = table.options();
    if table.schema().partition_keys.is_empty() {
        return Err(Error::invalid("the table has no partitions").with("table", table.name()));
    }
    if !options.partition_mark_done_actions().contains(&SUCCESS_FILE) {
        return Err(Error::invalid("it cannot be known which partitions are marked already")
            .with("table", table.name())
            .with_hint("add success-file to partition.mark-done-action"));
    }
    let times = Times::of(table)?;
    let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    let clock = &table.env().clock;
    let before = clock.now_millis().saturating_sub(millis(idle));
    let mut finished = Vec::new();
    for partition in partitions(table).await? {
        let Some(begin) = times.time(&partition.partition)? else { continue };
        let end = clock.instant_millis(begin.and_utc().timestamp_millis().saturating_add(millis(interval)));
        let newest = partition.newest.unwrap_or(i64::MIN);
        if end.max(newest) < before && !is_marked(table, &partition, newest).await? {
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

/// The actions that the table's options name.
fn actions(table: &Table) -> Result<Vec<Action>> {
    let options = table.options();
    let action = |name: &str| match name {
        SUCCESS_FILE => Ok(Action::SuccessFile),
        "http-report" => match options.partition_mark_done_url() {
            Some(url) => {
                let path = format!("{}/{}", table.storage().root(), table.path());
                Ok(Action::Report(Report::new(url, options.partition_mark_done_params(), table.name(), path)))
            }
            None => Err(Error::invalid("partition.mark-done-action http-report needs an address")
                .with_hint("set partition.mark-done-action.http.url")),
        },
        _ if FOREIGN.contains(&name) => Err(Error::unsupported(format!("the action {name} to mark partitions done"))
            .with_hint("set partition.mark-done-action to success-file, http-report or both")),
        _ => Err(Error::invalid(format!("unknown partition.mark-done-action {name:?}"))),
    };
    let actions: Result<Vec<_>> = options.partition_mark_done_actions().into_iter().map(action).collect();
    actions.map_err(|e| e.with("table", table.name()))
}

/// A partition that need not be there, of which all values are named. They are read as values of their columns, so that the mark
/// lies where the data does, however a day is spelled.
fn row(table: &Table, partition: &[(String, Option<String>)]) -> Result<BinaryRow> {
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
    partition_from_values(partition, &fields).map_err(|e| e.with("table", table.name()))
}

/// Where the mark of a partition lies.
fn mark_of(table: &Table, partition: &BinaryRow) -> Result<String> {
    Ok(format!("{}/{}/{}", table.path(), table.partition_folders(partition)?, SuccessFile::NAME))
}
