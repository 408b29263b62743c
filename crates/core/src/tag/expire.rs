//! Tags whose time is over (spec: features.md B14).

use chrono::{NaiveDateTime, TimeDelta};
use linn_format::{Error, ErrorKind, Result, SnapshotId};

use super::Tags;
use crate::snapshot::{local_time, wall_time};
use crate::table::Table;

/// A wall-clock time of this machine: tags that were made before are old.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OlderThan(pub NaiveDateTime);

impl OlderThan {
    /// From `yyyy-MM-dd HH:mm:ss`, with parts of seconds or without a time of day.
    ///
    /// # Errors
    /// `Invalid` for other text.
    pub fn parse(text: &str) -> Result<Self> {
        let time = wall_time(text.trim())
            .ok_or_else(|| Error::invalid(format!("{text:?} is not a time such as 2024-01-31 12:30:00")))?;
        Ok(Self(time))
    }
}

/// A tag whose time is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expired {
    /// Its name.
    pub name: String,
    /// The snapshot it is of.
    pub snapshot: SnapshotId,
    /// When it was made: wall clock of the machine that made it.
    pub created: NaiveDateTime,
}

/// The tags that are to go. One without a time to be retained only goes when it is older than asked, by the time of its file.
pub(super) async fn expired(table: &Table, older_than: Option<OlderThan>) -> Result<Vec<Expired>> {
    let tags = Tags::new(table);
    let Some(now) = local_time(table) else { return Ok(Vec::new()) };
    let mut expired = Vec::new();
    for (name, tag) in tags.all(|_| true).await? {
        let (created, retained) = match (tag.create_time, tag.time_retained) {
            (Some(created), Some(retained)) => (created, Some(retained)),
            _ if older_than.is_some() => match file_time(table, &tags.path(&name)).await? {
                Some(created) => (created, None),
                None => continue,
            },
            _ => continue,
        };
        let end = retained.and_then(|retained| created.checked_add_signed(TimeDelta::from_std(retained).ok()?));
        let over = end.is_some_and(|end| now > end);
        if over || older_than.is_some_and(|OlderThan(time)| created < time) {
            expired.push(Expired { name, snapshot: tag.snapshot.id, created });
        }
    }
    Ok(expired)
}

/// When a file was written, as the wall clock of this machine showed it; `None` when it is gone or the store does not tell.
async fn file_time(table: &Table, path: &str) -> Result<Option<NaiveDateTime>> {
    let entry = match table.storage().stat(path).await {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        result => result?,
    };
    let local = entry.modified_millis.map(|millis| table.env().clock.local_millis(millis));
    Ok(local.and_then(chrono::DateTime::from_timestamp_millis).map(|time| time.naive_utc()))
}
