//! Tags that make themselves: the first snapshot after the end of a period gets the tag of that period (spec: features.md B14;
//! cases: E9).

use chrono::{NaiveDateTime, TimeDelta, TimeZone};
use linn_format::options::TagCreation;
use linn_format::snapshot::Snapshot;
use linn_format::{Error, ErrorKind, Result, SnapshotId};

use super::Tags;
use crate::snapshot::{Period, Snapshots, watermark_of};
use crate::table::Table;

/// Up to which snapshot tags have been made.
#[derive(Debug, Clone)]
pub(super) struct Progress {
    period: Period,
    creation: TagCreation,
    delay: TimeDelta,
    /// The period after the last tag's.
    next_tag: Option<NaiveDateTime>,
    next_snapshot: SnapshotId,
}

impl Progress {
    /// What the tags that are there say; `None` for tables whose tags do not make themselves as time goes on.
    pub(super) async fn load(table: &Table) -> Result<Option<Self>> {
        let options = table.options();
        let creation = options.tag_creation()?;
        if !matches!(creation, TagCreation::ProcessTime | TagCreation::Watermark) {
            return Ok(None);
        }
        let period = Period::of(options)?;
        let tags = Tags::new(table);
        let newest = tags.list().await?.into_iter().filter_map(|name| Some((period.parse(&name)?, name))).max();
        let tag = match &newest {
            Some((_, name)) => tags.find(name).await?,
            None => None,
        };
        let next_snapshot = match tag {
            Some(tag) => tag.snapshot.id.next(),
            None => Snapshots::new(table).earliest_id().await?.unwrap_or(SnapshotId::FIRST),
        };
        let next_tag = newest.and_then(|(time, _)| period.next(time));
        let delay = TimeDelta::from_std(options.tag_delay()?).unwrap_or(TimeDelta::MAX);
        Ok(Some(Self { period, creation, delay, next_tag, next_snapshot }))
    }

    /// Whether a tag is due for which there is no snapshot: by the time of this machine, or where the watermark has stood
    /// still for `snapshot.watermark-idle-timeout`.
    pub(super) async fn waits(&self, table: &Table) -> Result<bool> {
        let (options, now) = (table.options(), table.env().clock.now_millis());
        if self.creation == TagCreation::ProcessTime {
            let Some(next) = self.next_tag else { return Ok(true) };
            return Ok(self
                .due(next)
                .is_some_and(|due| wall_clock(table, now, options.process_time_zone()).is_ok_and(|time| time >= due)));
        }
        let Some(idle) = options.watermark_idle_timeout()? else { return Ok(false) };
        let Some(latest) = Snapshots::new(table).latest().await? else { return Ok(false) };
        let idle = i64::try_from(idle.as_millis()).unwrap_or(i64::MAX);
        Ok(watermark_of(&latest).is_some_and(|watermark| now.saturating_sub(idle) >= watermark))
    }

    /// When the tag of a period is made.
    fn due(&self, period: NaiveDateTime) -> Option<NaiveDateTime> {
        self.period.next(period)?.checked_add_signed(self.delay)
    }

    /// Makes the tags that the snapshots since then ask for; their names.
    pub(super) async fn advance(&mut self, table: &Table) -> Result<Vec<String>> {
        let snapshots = Snapshots::new(table);
        let Some(latest) = snapshots.latest_id().await? else { return Ok(Vec::new()) };
        let mut made = Vec::new();
        while self.next_snapshot <= latest {
            match snapshots.get(self.next_snapshot).await {
                Ok(snapshot) => {
                    made.extend(self.tag(table, &snapshot).await?);
                    self.next_snapshot = self.next_snapshot.next();
                }
                // It has expired: go on with what is left.
                Err(e) if e.kind() == ErrorKind::NotFound => {
                    let earliest = snapshots.earliest_id().await?.unwrap_or(SnapshotId::FIRST);
                    self.next_snapshot = earliest.max(self.next_snapshot.next());
                }
                Err(e) => return Err(e),
            }
        }
        Ok(made)
    }

    /// Tags a snapshot if a period has ended before it.
    async fn tag(&mut self, table: &Table, snapshot: &Snapshot) -> Result<Option<String>> {
        let options = table.options();
        let Some(time) = self.time_of(table, snapshot)? else { return Ok(None) };
        if let Some(next) = self.next_tag
            && self.due(next).is_none_or(|due| time < due)
        {
            return Ok(None);
        }
        let this = match self.next_tag.filter(|_| options.tag_completion().unwrap_or(false)) {
            Some(next) => Some(next),
            None => self.period.before(time),
        };
        let Some(this) = this else { return Ok(None) };
        let name = self.period.name(this);
        let tags = Tags::new(table);
        let result = tags.create(&name, snapshot, options.tag_default_time_retained()?).await;
        match result {
            // Another committer was faster.
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            result => result?,
        }
        tracing::info!(table = table.name(), tag = name, snapshot = snapshot.id.0, "a period is over");
        self.next_tag = self.period.next(this);
        if let Some(max) = options.tag_num_retained_max()? {
            self.retain(table, max).await?;
        }
        Ok(Some(name))
    }

    /// The wall-clock time that decides which period a snapshot is in; `None` when it has no watermark.
    fn time_of(&self, table: &Table, snapshot: &Snapshot) -> Result<Option<NaiveDateTime>> {
        let options = table.options();
        if self.creation == TagCreation::ProcessTime {
            return wall_clock(table, snapshot.time_millis, options.process_time_zone()).map(Some);
        }
        match watermark_of(snapshot) {
            Some(watermark) => wall_clock(table, watermark, Some(options.watermark_time_zone())).map(Some),
            None => Ok(None),
        }
    }

    /// Deletes the oldest tags of periods until there are `max` tagged snapshots at most.
    async fn retain(&self, table: &Table, max: usize) -> Result<()> {
        let mut tagged: Vec<(SnapshotId, String)> = Vec::new();
        for (name, tag) in Tags::new(table).all(|name| self.period.parse(name).is_some()).await? {
            tagged.push((tag.snapshot.id, name));
        }
        tagged.sort_unstable();
        let excess = tagged.len().saturating_sub(max);
        for (_, name) in tagged.into_iter().take(excess) {
            match table.delete_tag(&name).await {
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                result => result?,
            }
        }
        Ok(())
    }
}

/// Milliseconds since the epoch as a wall clock in a time zone shows them; the machine's zone without one.
pub(super) fn wall_clock(table: &Table, millis: i64, zone: Option<&str>) -> Result<NaiveDateTime> {
    let bad = || Error::invalid(format!("{millis} is not a time")).with("table", table.name());
    let utc = |millis| chrono::DateTime::from_timestamp_millis(millis).ok_or_else(bad);
    match zone {
        None => Ok(utc(table.env().clock.local_millis(millis))?.naive_utc()),
        Some(zone) => {
            let zone: arrow_array::timezone::Tz = zone.parse().map_err(|e| {
                Error::invalid(format!("{zone:?} is not a time zone")).with("table", table.name()).with_source(e)
            })?;
            Ok(zone.from_utc_datetime(&utc(millis)?.naive_utc()).naive_local())
        }
    }
}
