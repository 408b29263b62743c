//! Times as text by patterns of numbers alone, which most are: a value costs some divisions, where the general way parses the
//! pattern again for each.

use datafusion::arrow::array::{StringArray, StringBuilder, TimestampMicrosecondArray};

/// A part of a pattern.
enum Part {
    Text(char),
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

/// The times as text; `None` when the pattern of chrono has other fields, or a year has not four digits.
pub(super) fn show(times: &TimestampMicrosecondArray, pattern: &str) -> Option<StringArray> {
    let parts = parts(pattern)?;
    let mut text = StringBuilder::with_capacity(times.len(), times.len().saturating_mul(2 * parts.len()));
    let mut one = String::new();
    for time in times {
        let Some(time) = time else {
            text.append_null();
            continue;
        };
        one.clear();
        write(time, &parts, &mut one)?;
        text.append_value(&one);
    }
    Some(text.finish())
}

fn parts(pattern: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        parts.push(match letter {
            '%' => match letters.next()? {
                'Y' => Part::Year,
                'm' => Part::Month,
                'd' => Part::Day,
                'H' => Part::Hour,
                'M' => Part::Minute,
                'S' => Part::Second,
                _ => return None,
            },
            other => Part::Text(other),
        });
    }
    Some(parts)
}

fn write(time: i64, parts: &[Part], out: &mut String) -> Option<()> {
    let (year, month, day) = civil(time.div_euclid(DAY));
    if !(0..=9999).contains(&year) {
        return None;
    }
    let second = time.rem_euclid(DAY) / SECOND;
    for part in parts {
        match part {
            Part::Text(letter) => out.push(*letter),
            Part::Year => {
                two(year / 100, out);
                two(year % 100, out);
            }
            Part::Month => two(month, out),
            Part::Day => two(day, out),
            Part::Hour => two(second / 3600, out),
            Part::Minute => two(second / 60 % 60, out),
            Part::Second => two(second % 60, out),
        }
    }
    Some(())
}

/// Two digits.
fn two(number: i64, out: &mut String) {
    for digit in [number / 10 % 10, number % 10] {
        out.push(char::from(b'0' + u8::try_from(digit).unwrap_or(0)));
    }
}

/// Year, month and day of a day since 1970-01-01. Years are counted from March on, so that a leap day is the last of one.
fn civil(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use datafusion::arrow::array::Array;

    use super::*;

    #[test]
    fn it_shows_what_chrono_shows() {
        let pattern = "%Y-%m-%dT%H:%M:%S %Y%m";
        let step = 86_400 * SECOND * 13 + 12_345_678_901;
        let times: Vec<i64> = (-4000..4000).map(|n| n * step).chain([0, -1, 951_782_400_000_000]).collect();
        let times: Vec<i64> = times.into_iter().filter(|t| *t > -62_135_596_800_000_000).collect();
        let shown = show(&TimestampMicrosecondArray::from(times.clone()), pattern).unwrap();
        for (time, shown) in times.iter().zip(shown.iter()) {
            let expected = DateTime::from_timestamp_micros(*time).unwrap().format(pattern).to_string();
            assert_eq!(shown, Some(expected.as_str()));
        }
    }

    #[test]
    fn other_patterns_and_years_are_left_to_it() {
        let of = |time: Option<i64>, pattern: &str| show(&TimestampMicrosecondArray::from(vec![time]), pattern);
        assert!(of(Some(0), "%b").is_none());
        assert!(of(Some(i64::MAX), "%Y").is_none());
        assert_eq!(of(None, "%Y").unwrap().null_count(), 1);
    }
}
