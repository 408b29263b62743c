//! What may expire: the rule of numbers, times and readers, without a store (spec: features.md B14).
//!
//! A snapshot that is beyond the largest number goes whatever its age. Of the others one goes when its *successor* is older
//! than the retention, because until then it was the table's state for somebody. The newest ones and those that a consumer
//! waits for stay.

use chrono::{NaiveDate, NaiveDateTime};
use linn_format::{Error, Result};

use crate::table::Table;

/// How much history stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// At most so many snapshots stay, whatever their age.
    pub max: i64,
    /// At least so many stay.
    pub min: i64,
    /// What is younger than this stays (milliseconds since the epoch), unless there are more than `max`.
    pub older_than: i64,
    /// At most so many go in one run.
    pub limit: i64,
    /// Whether what a consumer has yet to read stays.
    pub consumers_hold: bool,
}

/// What a rule leaves open: everything below `timed` goes; from there up to `end` time decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    /// The oldest.
    pub earliest: i64,
    /// Below this one age does not matter.
    pub timed: i64,
    /// This one and later ones stay.
    pub end: i64,
}

impl Retention {
    /// What the options `snapshot.num-retained.min`, `.max`, `snapshot.time-retained`, `snapshot.expire.limit` and
    /// `consumer.changelog-only` say.
    ///
    /// # Errors
    /// `Invalid` for values that are none.
    pub fn of_snapshots(table: &Table) -> Result<Self> {
        let options = table.options();
        Ok(Self {
            max: options.snapshot_retain_max()?.into(),
            min: options.snapshot_retain_min()?.into(),
            older_than: before(table, options.snapshot_retain_time()?),
            limit: options.snapshot_expire_limit()?.into(),
            consumers_hold: !options.consumer_changelog_only()?,
        })
    }

    /// What the options `changelog.num-retained.min`, `.max` and `changelog.time-retained` say, else those of snapshots.
    ///
    /// # Errors
    /// `Invalid` for values that are none.
    pub fn of_changelogs(table: &Table) -> Result<Self> {
        let options = table.options();
        Ok(Self {
            max: options.changelog_retain_max()?.into(),
            min: options.changelog_retain_min()?.into(),
            older_than: before(table, options.changelog_retain_time()?),
            limit: options.snapshot_expire_limit()?.into(),
            consumers_hold: true,
        })
    }

    /// What numbers and consumers allow to go. `consumer` is the smallest number that a consumer has yet to read.
    ///
    /// # Errors
    /// `Invalid` when fewer are to stay at most than at least, or none at all.
    pub fn reach(&self, earliest: i64, latest: i64, consumer: Option<i64>) -> Result<Reach> {
        if self.max < self.min || self.min < 1 {
            return Err(Error::invalid(format!(
                "the minimum of {} snapshots to keep is above the maximum of {}",
                self.min, self.max
            ))
            .with_hint(
                "keep at least 1, and at most as many or more: lower retain_min (snapshot.num-retained.min) or raise \
                 retain_max (snapshot.num-retained.max)",
            ));
        }
        let held = consumer.filter(|_| self.consumers_hold).unwrap_or(i64::MAX);
        let end = latest.saturating_sub(self.min).saturating_add(1);
        let end = end.min(held).min(earliest.saturating_add(self.limit.max(0)));
        let timed = latest.saturating_sub(self.max).saturating_add(1).max(earliest);
        Ok(Reach { earliest, timed, end })
    }
}

/// A local time such as `2024-01-31 12:30:00` or `2024-01-31`, or milliseconds since the epoch, as the latter.
///
/// # Errors
/// `Invalid` for other text.
pub fn parse_time(table: &Table, text: &str) -> Result<i64> {
    let text = text.trim();
    if let Ok(millis) = text.parse() {
        return Ok(millis);
    }
    let time = NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f").ok();
    let time = time.or_else(|| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0));
    let time = time.ok_or_else(|| Error::invalid(format!("{text:?} is not a time such as 2024-01-31 12:30:00")))?;
    Ok(table.env().clock.instant_millis(time.and_utc().timestamp_millis()))
}

/// The time so long ago.
fn before(table: &Table, age: std::time::Duration) -> i64 {
    table.env().clock.now_millis().saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(min: i64, max: i64, limit: i64) -> Retention {
        Retention { max, min, older_than: 0, limit, consumers_hold: true }
    }

    #[test]
    fn numbers_readers_and_the_limit_bound_what_goes() {
        let check = |keep: Retention, earliest, latest, consumer, timed, end| {
            assert_eq!(keep.reach(earliest, latest, consumer).unwrap(), Reach { earliest, timed, end }, "{keep:?}");
        };
        check(keep(10, i64::MAX, 50), 1, 5, None, 1, -4);
        check(keep(1, i64::MAX, 50), 1, 5, None, 1, 5);
        check(keep(1, 3, 50), 1, 5, None, 3, 5);
        check(keep(2, 3, 50), 1, 5, None, 3, 4);
        check(keep(1, 3, 50), 1, 5, Some(2), 3, 2);
        check(keep(1, 1, 10), 100, 500, None, 500, 110);
        check(Retention { consumers_hold: false, ..keep(1, 3, 50) }, 1, 5, Some(2), 3, 5);
        check(keep(1, i64::MAX, i64::MAX), 7, 9, None, 7, 9);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(keep(4, 3, 1).reach(1, 9, None).is_err());
        assert!(keep(0, 3, 1).reach(1, 9, None).is_err());
    }
}
