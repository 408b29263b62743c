//! The periods of tags that make themselves, and the names of their tags: pure, on wall-clock times.
//!
//! A tag is named after the period that is over when it is made: on the 2nd of a month at 00:05 the daily tag of the 1st.

use chrono::{NaiveDate, NaiveDateTime, NaiveTime, TimeDelta};
use linn_format::options::{Options, TagFormatter, TagPeriod};
use linn_format::{Error, Result};

/// How often tags make themselves, and how they are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Period {
    length: TimeDelta,
    pattern: &'static str,
    /// Names are of days; what follows a blank in one is not looked at.
    daily: bool,
}

const DASHED_DAY: &str = "%Y-%m-%d";
const DAY: &str = "%Y%m%d";
const DASHED_HOUR: &str = "%Y-%m-%d %H";
const SPACED_HOUR: &str = "%Y%m%d %H";
const HOUR: &str = "%Y%m%d%H";
const MINUTE: &str = "%Y%m%d%H%M";

impl Period {
    /// What the options ask for.
    pub(crate) fn of(options: &Options) -> Result<Self> {
        let formatter = options.tag_formatter()?;
        let period = match (options.tag_period_duration()?, options.tag_period()?) {
            (Some(length), _) => {
                let length = TimeDelta::from_std(length)
                    .map_err(|_| Error::invalid("option \"tag.creation-period-duration\" is too long"))?;
                Self { length, pattern: MINUTE, daily: false }
            }
            (None, TagPeriod::Daily) => {
                let pattern = if formatter == TagFormatter::WithDashes { DASHED_DAY } else { DAY };
                Self { length: TimeDelta::days(1), pattern, daily: true }
            }
            (None, TagPeriod::Hourly) => {
                let pattern = match formatter {
                    TagFormatter::WithDashes => DASHED_HOUR,
                    TagFormatter::WithoutDashes => SPACED_HOUR,
                    TagFormatter::WithoutDashesAndSpaces => HOUR,
                };
                Self { length: TimeDelta::hours(1), pattern, daily: false }
            }
            (None, TagPeriod::TwoHours) => Self { length: TimeDelta::hours(2), pattern: DASHED_HOUR, daily: false },
        };
        let delay = options.tag_delay()?;
        if TimeDelta::from_std(delay).map_or(true, |delay| delay >= period.length) {
            return Err(Error::invalid("option \"tag.creation-delay\" must be shorter than the period of tags"));
        }
        Ok(period)
    }

    /// The period that ended last at `time`: its beginning.
    pub(crate) fn before(&self, time: NaiveDateTime) -> Option<NaiveDateTime> {
        let millis = time.and_utc().timestamp_millis();
        let length = self.length.num_milliseconds();
        let begin = chrono::DateTime::from_timestamp_millis(millis - millis % length)?;
        begin.naive_utc().checked_sub_signed(self.length)
    }

    /// The period after that which begins at `time`.
    pub(crate) fn next(&self, time: NaiveDateTime) -> Option<NaiveDateTime> {
        time.checked_add_signed(self.length)
    }

    /// The name of the tag of a period.
    pub(crate) fn name(&self, time: NaiveDateTime) -> String {
        time.format(self.pattern).to_string()
    }

    /// The period that a tag is named after; `None` for names that are not of periods.
    pub(crate) fn parse(&self, name: &str) -> Option<NaiveDateTime> {
        let name = if self.daily { name.split(' ').next()? } else { name };
        // The pattern's digits all have their full width.
        let length = self.pattern.chars().fold(0, |length, c| match c {
            '%' => length,
            'Y' => length + 4,
            'm' | 'd' | 'H' | 'M' => length + 2,
            _ => length + 1,
        });
        if name.len() != length || !name.is_ascii() {
            return None;
        }
        let number = |from: usize, digits: usize| {
            let text = name.get(from..from + digits)?;
            text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u32>().ok()).flatten()
        };
        let mut parts = [1u32, 1, 1, 0, 0];
        let (mut at, mut part) = (0, 0);
        let mut pattern = self.pattern.chars();
        while let Some(c) = pattern.next() {
            if c != '%' {
                if name.get(at..=at)? != c.to_string() {
                    return None;
                }
                at += 1;
                continue;
            }
            let digits = if pattern.next()? == 'Y' { 4 } else { 2 };
            *parts.get_mut(part)? = number(at, digits)?;
            (at, part) = (at + digits, part + 1);
        }
        let [year, month, day, hour, minute] = parts;
        let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
        Some(date.and_time(NaiveTime::from_hms_opt(hour, minute, 0)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn period(options: &[(&str, &str)]) -> Period {
        Period::of(&options.iter().copied().collect()).unwrap()
    }

    fn time(text: &str) -> NaiveDateTime {
        NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M").unwrap()
    }

    #[test]
    fn names_are_those_of_the_period_that_is_over() {
        for (options, at, name) in [
            (&[][..], "2024-03-01 00:00", "2024-02-29"),
            (&[("tag.period-formatter", "without_dashes")], "2024-03-01 23:59", "20240229"),
            (&[("tag.creation-period", "hourly")], "2024-03-01 00:30", "2024-02-29 23"),
            (
                &[("tag.creation-period", "hourly"), ("tag.period-formatter", "without_dashes")],
                "2024-03-01 05:00",
                "20240301 04",
            ),
            (
                &[("tag.creation-period", "hourly"), ("tag.period-formatter", "without_dashes_and_spaces")],
                "2024-03-01 05:00",
                "2024030104",
            ),
            (&[("tag.creation-period", "two-hours")], "2024-03-01 05:00", "2024-03-01 02"),
            (&[("tag.creation-period-duration", "5 min")], "2024-03-01 05:13", "202403010505"),
        ] {
            let period = period(options);
            let begin = period.before(time(at)).unwrap();
            assert_eq!(period.name(begin), name);
            assert_eq!(period.parse(name), Some(begin), "{name}");
            assert_eq!(period.next(begin).map(|next| period.name(next) != name), Some(true));
        }
    }

    #[test]
    fn other_names_are_not_of_a_period() {
        let daily = period(&[]);
        for name in ["2024-3-01", "2024-03-32", "20240301", "t", "", "2024-03-0x", "２024-03-01", "+024-03-01"] {
            assert_eq!(daily.parse(name), None, "{name}");
        }
        // Hours behind the day do not matter to a daily tag.
        assert!(daily.parse("2024-03-01 05").is_some());
        assert!(period(&[("tag.creation-period", "hourly")]).parse("2024-03-01").is_none());
    }

    #[test]
    fn a_delay_is_shorter_than_the_period() {
        let options = [("tag.creation-period", "hourly"), ("tag.creation-delay", "1 h")].into_iter().collect();
        assert!(Period::of(&options).is_err());
    }
}
