//! Times in partition values: which columns form one, and how it is written (spec: features.md B14). Pure.
//!
//! Formats are those of the options `partition.timestamp-pattern` and `partition.timestamp-formatter`: the letters `y`, `u`,
//! `M`, `d`, `H`, `m`, `s` and `S`, quoted text, and everything that is no letter stands for itself.

use chrono::{Days, Months, NaiveDate, NaiveDateTime, NaiveTime};
use linn_format::{Error, Result};

/// How the values of a partition become a time.
#[derive(Debug, Clone)]
pub(super) struct TimeFormat {
    pattern: Option<String>,
    formatter: Option<Vec<Token>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Field(char, usize),
    Text(String),
}

impl TimeFormat {
    /// A format from the two options.
    ///
    /// # Errors
    /// `Unsupported` for a letter of the formatter that Linn does not know, `Invalid` for a quote that does not end.
    pub(super) fn new(pattern: Option<&str>, formatter: Option<&str>) -> Result<Self> {
        Ok(Self { pattern: pattern.map(str::to_owned), formatter: formatter.map(tokens).transpose()? })
    }

    /// The time of a partition; `None` when its values form none.
    pub(super) fn time(&self, keys: &[&str], values: &[Option<String>]) -> Option<NaiveDateTime> {
        let text = match &self.pattern {
            None => values.first()?.clone()?,
            Some(pattern) => fill(pattern, keys, values)?,
        };
        match &self.formatter {
            None => lenient(&text),
            Some(tokens) => parse(tokens, &text),
        }
    }
}

/// Replaces `$key` by the value of the key; a longer key goes first, so that `$dt1` is not `$dt` and a 1.
fn fill(pattern: &str, keys: &[&str], values: &[Option<String>]) -> Option<String> {
    let (mut out, mut rest) = (String::with_capacity(pattern.len()), pattern);
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let named = keys.iter().zip(values).filter(|(key, _)| c == '$' && after.starts_with(**key));
        match named.max_by_key(|(key, _)| key.len()) {
            Some((key, value)) => {
                out.push_str(value.as_ref()?);
                rest = &after[key.len()..];
            }
            None => {
                out.push(c);
                rest = after;
            }
        }
    }
    Some(out)
}

/// `y-M-d` or `y-M-d H:m:s[.f]`, of one or more digits; what is beyond a month or a day carries over.
fn lenient(text: &str) -> Option<NaiveDateTime> {
    let (date, time) = match text.split_once(' ') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.splitn(3, '-').map(|part| digits(part, 10));
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if date.splitn(3, '-').skip(1).any(|part| part.len() > 2) {
        return None;
    }
    let first = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, 1, 1)?;
    let months = |n: i64| u32::try_from(n).ok().map(Months::new);
    let date = match month {
        0 => first.checked_sub_months(Months::new(1))?,
        month => first.checked_add_months(months(month - 1)?)?,
    };
    let date = match day {
        0 => date.checked_sub_days(Days::new(1))?,
        day => date.checked_add_days(Days::new(u64::try_from(day - 1).ok()?))?,
    };
    let Some(time) = time else { return date.and_hms_opt(0, 0, 0) };
    let mut parts = time.splitn(3, ':');
    let (hour, minute, second) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?, parts.next()?);
    let (second, fraction) = second.split_once('.').map_or((second, None), |(s, f)| (s, Some(f)));
    let nanos = match fraction {
        None => 0,
        Some(fraction) => digits(fraction, 9)?.checked_mul(10_i64.pow(9 - u32::try_from(fraction.len()).ok()?))?,
    };
    let seconds = hour * 3600 + minute * 60 + digits(second, 2)?;
    date.and_hms_opt(0, 0, 0)?.checked_add_signed(chrono::TimeDelta::new(seconds, u32::try_from(nanos).ok()?)?)
}

/// A number of one to `most` digits.
fn digits(text: &str, most: usize) -> Option<i64> {
    let fits = !text.is_empty() && text.len() <= most && text.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| text.parse().ok()).flatten()
}

fn tokens(formatter: &str) -> Result<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut chars = formatter.chars().peekable();
    let text = |tokens: &mut Vec<Token>, c: char| match tokens.last_mut() {
        Some(Token::Text(text)) => text.push(c),
        _ => tokens.push(Token::Text(c.to_string())),
    };
    while let Some(c) = chars.next() {
        match c {
            '\'' if chars.next_if_eq(&'\'').is_some() => text(&mut tokens, '\''),
            '\'' => loop {
                match chars.next() {
                    Some('\'') if chars.next_if_eq(&'\'').is_none() => break,
                    Some(c) => text(&mut tokens, c),
                    None => {
                        return Err(Error::invalid(format!("a quote of the time format {formatter:?} does not end")));
                    }
                }
            },
            'y' | 'u' | 'M' | 'd' | 'H' | 'm' | 's' | 'S' => {
                let mut count = 1;
                while chars.next_if_eq(&c).is_some() {
                    count += 1;
                }
                tokens.push(Token::Field(c, count));
            }
            c if c.is_ascii_alphabetic() || matches!(c, '[' | ']' | '{' | '}' | '#') => {
                return Err(Error::unsupported(format!("the letter {c:?} in the time format {formatter:?}")));
            }
            c => text(&mut tokens, c),
        }
    }
    Ok(tokens)
}

fn parse(tokens: &[Token], text: &str) -> Option<NaiveDateTime> {
    let mut rest = text;
    let (mut year, mut month, mut day) = (None, None, None);
    let (mut hour, mut minute, mut second, mut nanos) = (None, 0, 0, 0);
    for (i, token) in tokens.iter().enumerate() {
        let (letter, count) = match token {
            Token::Text(text) => {
                rest = rest.strip_prefix(text.as_str())?;
                continue;
            }
            Token::Field(letter, count) => (*letter, *count),
        };
        let there = rest.bytes().take_while(u8::is_ascii_digit).count();
        // A field that is followed by another one takes as many digits as it has letters.
        let adjacent = matches!(tokens.get(i + 1), Some(Token::Field(..)));
        let width = match (letter, count) {
            ('S', count) => count,
            (_, 1) if !adjacent => there,
            ('y' | 'u', 4..) if !adjacent => there.max(count),
            (_, count) => count,
        };
        let (number, after) = rest.split_at_checked(width)?;
        let value = digits(number, 18)?;
        rest = after;
        match letter {
            'y' | 'u' if count == 2 => year = Some(2000 + value),
            'y' | 'u' => year = Some(value),
            'M' => month = Some(value),
            'd' => day = Some(value),
            'H' => hour = Some(value),
            'm' => minute = value,
            's' => second = value,
            _ => nanos = value.checked_mul(10_i64.checked_pow(9_u32.checked_sub(u32::try_from(count).ok()?)?)?)?,
        }
    }
    if !rest.is_empty() {
        return None;
    }
    let small = |value: i64| u32::try_from(value).ok();
    let date = NaiveDate::from_ymd_opt(i32::try_from(year?).ok()?, small(month?)?, small(day?)?)?;
    let time = match hour {
        None => NaiveTime::MIN,
        Some(hour) => NaiveTime::from_hms_nano_opt(small(hour)?, small(minute)?, small(second)?, small(nanos)?)?,
    };
    Some(date.and_time(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: Option<&str>, formatter: Option<&str>, values: &[(&str, &str)], expected: Option<&str>) {
        let keys: Vec<&str> = values.iter().map(|(key, _)| *key).collect();
        let texts: Vec<Option<String>> = values.iter().map(|(_, v)| (!v.is_empty()).then(|| (*v).to_owned())).collect();
        let time = TimeFormat::new(pattern, formatter).unwrap().time(&keys, &texts);
        assert_eq!(time.map(|t| t.to_string()).as_deref(), expected, "{pattern:?} {formatter:?} {values:?}");
    }

    #[test]
    fn the_first_column_is_a_date_or_a_time() {
        check(None, None, &[("dt", "2024-01-31"), ("x", "y")], Some("2024-01-31 00:00:00"));
        check(None, None, &[("dt", "2024-1-3 4:5:6")], Some("2024-01-03 04:05:06"));
        check(None, None, &[("dt", "2024-01-03 04:05:06.25")], Some("2024-01-03 04:05:06.250"));
        check(None, None, &[("dt", "2024-02-30")], Some("2024-03-01 00:00:00"));
        check(None, None, &[("dt", "2024-13-01")], Some("2025-01-01 00:00:00"));
        for bad in ["", "20240131", "19753", "2024-01", "2024-01-001", "a-b-c", "2024-01-31 1:2"] {
            check(None, None, &[("dt", bad)], None);
        }
    }

    #[test]
    fn patterns_take_several_columns() {
        let values = [("dt", "2024-01-31"), ("dt1", "07"), ("h", "")];
        check(Some("$dt $dt1:00:00"), None, &values, Some("2024-01-31 07:00:00"));
        check(Some("$dt $h:00:00"), None, &values, None);
        let parts = [("y", "2024"), ("m", "1"), ("d", "9")];
        check(Some("$y-$m-$d"), None, &parts, Some("2024-01-09 00:00:00"));
    }

    #[test]
    fn formatters_read_what_they_say() {
        check(None, Some("yyyyMMdd"), &[("dt", "20240131")], Some("2024-01-31 00:00:00"));
        check(None, Some("yyyyMMddHH"), &[("dt", "2024013107")], Some("2024-01-31 07:00:00"));
        check(
            None,
            Some("yyyy-MM-dd'T'HH:mm:ss.SSS"),
            &[("dt", "2024-01-31T01:02:03.004")],
            Some("2024-01-31 01:02:03.004"),
        );
        check(None, Some("d/M/yy"), &[("dt", "9/12/24")], Some("2024-12-09 00:00:00"));
        for bad in ["2024013", "202401311", "2024013a", "20241331", "20240230"] {
            check(None, Some("yyyyMMdd"), &[("dt", bad)], None);
        }
        assert!(TimeFormat::new(None, Some("yyyy-MM-dd EEE")).is_err());
        assert!(TimeFormat::new(None, Some("yyyy'T")).is_err());
    }
}
