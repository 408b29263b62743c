//! Where a streaming read begins (spec: features.md B11; cases R1–R3).
//!
//! A snapshot that has expired is replaced by the earliest there is, as long as nobody saved it as a position: then it is an
//! error, since something would be missing.

use std::sync::Arc;

use linn_format::options::ScanMode;
use linn_format::snapshot::Snapshot;
use linn_format::{Error, Result, SnapshotId};

use super::Consumers;
use crate::snapshot::{History, Since};
use crate::table::Table;

/// Where a read begins.
#[derive(Debug, Clone)]
pub(super) enum Start {
    /// Nowhere yet: the table is empty.
    Later,
    /// With all rows of a snapshot, or those of files made since then; its successors' changes follow.
    Rows { snapshot: Arc<Snapshot>, made_since: Option<i64> },
    /// With the changes of a snapshot.
    Changes(SnapshotId),
}

/// Where the options, or the progress of their consumer, say that a read begins.
///
/// # Errors
/// `Invalid` for options that a stream cannot start by.
pub(super) async fn start(table: &Table) -> Result<Start> {
    let (options, history) = (table.options(), History::new(table)?);
    if let Some(id) = options.consumer_id().filter(|_| !options.consumer_ignore_progress().unwrap_or(false))
        && let Some(consumer) = Consumers::new(table).get(id).await?
    {
        return clamped(table, &history, consumer.next_snapshot).await;
    }
    let millis = |value: Option<i64>| value.ok_or_else(|| invalid(table, "the time to start from is missing"));
    match options.scan_mode()? {
        ScanMode::Default | ScanMode::LatestFull | ScanMode::Full => Ok(rows(history.snapshots.latest().await?, None)),
        ScanMode::Latest => Ok(match history.snapshots.latest_id().await? {
            Some(latest) => Start::Changes(latest.next()),
            None => Start::Changes(SnapshotId::FIRST),
        }),
        ScanMode::CompactedFull => Ok(rows(history.compacted(options.full_compaction_commits()?).await?, None)),
        ScanMode::FromTimestamp => {
            let time = match options.scan_timestamp() {
                Some(text) if options.scan_timestamp_millis()?.is_none() => history.snapshots.parse_time(text)?,
                _ => millis(options.scan_timestamp_millis()?)?,
            };
            Ok(match history.since(time).await? {
                Since::Empty => Start::Later,
                Since::All(id) | Since::From(id) => Start::Changes(id),
            })
        }
        ScanMode::FromFileCreationTime => {
            let since = millis(options.scan_file_creation_millis()?)?;
            Ok(rows(history.snapshots.latest().await?, Some(since)))
        }
        ScanMode::FromCreationTimestamp => {
            let since = millis(options.scan_creation_millis()?)?;
            match history.since(since).await? {
                Since::From(id) if history.find(id).await?.is_some() => Ok(Start::Changes(id)),
                _ => Ok(rows(history.snapshots.latest().await?, Some(since))),
            }
        }
        ScanMode::FromSnapshot => clamped(table, &history, wanted(table)?).await,
        ScanMode::FromSnapshotFull => {
            let wanted = wanted(table)?;
            let Some(earliest) = history.snapshots.earliest_id().await? else { return Ok(Start::Later) };
            match history.snapshots.get(wanted.max(earliest)).await {
                Ok(snapshot) => Ok(rows(Some(snapshot), None)),
                Err(e) => Err(history.snapshots.out_of_range(e).await),
            }
        }
        mode @ (ScanMode::LatestDelta | ScanMode::Incremental) => {
            Err(invalid(table, &format!("scan mode {mode} is for batch reads")))
        }
    }
}

async fn clamped(table: &Table, history: &History, wanted: SnapshotId) -> Result<Start> {
    let Some(earliest) = history.earliest_id().await? else { return Ok(Start::Later) };
    if wanted < earliest {
        tracing::warn!(
            table = table.name(),
            snapshot = wanted.0,
            earliest = earliest.0,
            "the snapshot to start from has expired; starting from the earliest"
        );
    }
    Ok(Start::Changes(wanted.max(earliest)))
}

/// The time since when files were made whose rows a read began with, for going on within them.
pub(super) fn made_since(table: &Table) -> Result<Option<i64>> {
    let options = table.options();
    match options.scan_mode()? {
        ScanMode::FromFileCreationTime => options.scan_file_creation_millis(),
        ScanMode::FromCreationTimestamp => options.scan_creation_millis(),
        _ => Ok(None),
    }
}

/// The snapshot that the options name.
fn wanted(table: &Table) -> Result<SnapshotId> {
    let options = table.options();
    let named = match options.scan_version() {
        Some(version) => version.trim().parse().ok(),
        None => options.scan_snapshot_id()?,
    };
    named.map(SnapshotId).ok_or_else(|| {
        invalid(table, "a stream starts from a snapshot by its number, not from a tag or a watermark")
            .with_hint("set scan.snapshot-id; `$tags` and `$snapshots` show the numbers")
    })
}

fn rows(snapshot: Option<Arc<Snapshot>>, made_since: Option<i64>) -> Start {
    snapshot.map_or(Start::Later, |snapshot| Start::Rows { snapshot, made_since })
}

fn invalid(table: &Table, what: &str) -> Error {
    Error::invalid(what).with("table", table.name())
}
