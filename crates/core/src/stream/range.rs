//! What a reader asked for that is not there: it has expired, or it is ahead of the table (cases: R2; reliability.md H16).

use std::fmt;

use linn_format::{Error, ErrorKind, Result, SnapshotId};

use super::position::Part;
use crate::snapshot::History;
use crate::table::Table;

/// The snapshot that a reader wanted, and those whose changes can be read. It is the source of the reader's error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfRange {
    /// The snapshot that was wanted.
    pub wanted: SnapshotId,
    /// The oldest one there is.
    pub earliest: Option<SnapshotId>,
    /// The newest one there is.
    pub latest: Option<SnapshotId>,
}

impl OutOfRange {
    /// What an error of a stream says about the range, if that is what it is about.
    pub fn of(error: &Error) -> Option<&Self> {
        std::error::Error::source(error)?.downcast_ref()
    }

    /// Whether the snapshot has expired, rather than being ahead of the table.
    pub fn has_expired(&self) -> bool {
        self.earliest.is_some_and(|earliest| self.wanted < earliest)
    }
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.earliest, self.latest) {
            (Some(earliest), Some(latest)) => write!(f, "there are snapshots {earliest} to {latest}"),
            _ => f.write_str("the table has no snapshots"),
        }
    }
}

impl std::error::Error for OutOfRange {}

/// Fails unless a snapshot that is not there may still come: it is the one after the latest.
///
/// # Errors
/// `NotFound` for one that has expired, `Invalid` for one ahead of the table, both with an [`OutOfRange`].
pub(super) async fn may_come(table: &Table, history: &History, wanted: SnapshotId) -> Result<()> {
    let (earliest, latest) = (history.earliest_id().await?, history.snapshots.latest_id().await?);
    let range = OutOfRange { wanted, earliest, latest };
    if range.has_expired() {
        // It may have come while we looked.
        return if history.find(wanted).await?.is_some() { Ok(()) } else { Err(expired(table, range)) };
    }
    let next = latest.map_or(SnapshotId::FIRST, SnapshotId::next);
    if wanted > next {
        let error =
            Error::invalid(format!("snapshot {wanted} is ahead of the table, which was rolled back or created again"));
        return Err(error.with("table", table.name()).with_source(range).with_hint(format!(
            "start without the old position, or from a snapshot before {next} to read again what was rolled back and \
             rewritten"
        )));
    }
    Ok(())
}

fn expired(table: &Table, range: OutOfRange) -> Error {
    Error::not_found(format!("the changes of snapshot {} have expired", range.wanted))
        .with("table", table.name())
        .with_source(range)
        .with_hint(
            "start again from the earliest snapshot; to keep changes until they are read, record progress as a consumer, or raise \
             snapshot.num-retained.min, snapshot.time-retained or changelog.time-retained",
        )
}

/// The error of reading a snapshot's rows or changes: that it has expired, when files are gone because it has.
pub(super) async fn explain(table: &Table, part: Part, wanted: SnapshotId, error: Error) -> Error {
    if error.kind() != ErrorKind::NotFound {
        return error;
    }
    let look = async {
        let history = History::new(table)?;
        let (there, earliest) = match part {
            // What a changelog keeps of a snapshot is not its rows.
            Part::Rows => (history.snapshots.exists(wanted).await?, history.snapshots.earliest_id().await?),
            Part::Changes => (history.find(wanted).await?.is_some(), history.earliest_id().await?),
        };
        let range = OutOfRange { wanted, earliest, latest: history.snapshots.latest_id().await? };
        Ok::<_, Error>(Some(range).filter(|range| !there && range.has_expired()))
    };
    match look.await {
        Ok(Some(range)) => expired(table, range),
        _ => error.with("snapshot", wanted),
    }
}
