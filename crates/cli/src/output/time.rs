//! Dates and timestamps of any year as text that can be read again: a sign stands before years outside of 0 to 9999.

use std::fmt::Write;

const SECONDS_OF_DAY: i64 = 86_400;

/// Writes a date of days since the epoch.
pub(super) fn date(days: i64, out: &mut String) {
    let (year, month, day) = date_of(days);
    // Writing to a String cannot fail.
    let _ = match year {
        0..=9_999 => write!(out, "{year:04}-{month:02}-{day:02}"),
        10_000.. => write!(out, "+{year}-{month:02}-{day:02}"),
        _ => write!(out, "-{:04}-{month:02}-{day:02}", year.unsigned_abs()),
    };
}

/// Writes an instant of `units` since the epoch, `per_second` of which are a second; fractions have 3, 6 or 9 digits.
pub(super) fn timestamp(units: i64, per_second: i64, separator: char, out: &mut String) {
    let (seconds, fraction) = (units.div_euclid(per_second), units.rem_euclid(per_second));
    date(seconds.div_euclid(SECONDS_OF_DAY), out);
    let clock = seconds.rem_euclid(SECONDS_OF_DAY);
    let _ = write!(out, "{separator}{:02}:{:02}:{:02}", clock / 3_600, clock / 60 % 60, clock % 60);
    let nanos = fraction * (1_000_000_000 / per_second);
    let _ = match nanos {
        0 => Ok(()),
        n if n % 1_000_000 == 0 => write!(out, ".{:03}", n / 1_000_000),
        n if n % 1_000 == 0 => write!(out, ".{:06}", n / 1_000),
        n => write!(out, ".{n:09}"),
    };
}

/// Year, month and day of a day since the epoch, in the proleptic Gregorian calendar.
fn date_of(days: i64) -> (i64, i64, i64) {
    // Eras of 400 years that begin in March, so that leap days come last.
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instant_has_its_text() {
        let text = |units, per_second| {
            let mut out = String::new();
            timestamp(units, per_second, ' ', &mut out);
            out
        };
        assert_eq!(text(1_500, 1_000), "1970-01-01 00:00:01.500");
        assert_eq!(text(-1, 1_000_000), "1969-12-31 23:59:59.999999");
        assert_eq!(text(951_782_400, 1), "2000-02-29 00:00:00");
        assert_eq!(text(i64::MAX, 1_000_000), "+294247-01-10 04:00:54.775807");
        assert_eq!(text(-62_198_755_200, 1), "-0001-01-01 00:00:00");
    }
}
