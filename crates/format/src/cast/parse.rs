//! Text as values: what the reference's casts from STRING accept. `None` where it would throw.

use crate::datum::civil::{MILLIS_PER_DAY, day_of};

/// `t`, `true`, `y`, `yes`, `1` and their opposites, in any case.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "t" | "true" | "y" | "yes" | "1" => Some(true),
        "f" | "false" | "n" | "no" | "0" => Some(false),
        _ => None,
    }
}

/// An integer, with digits behind a point ignored.
pub(crate) fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if digits.is_empty() || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let negative = text.starts_with('-');
    whole.bytes().try_fold(0i64, |value, digit| {
        let digit = i64::from(digit - b'0');
        value.checked_mul(10)?.checked_add(if negative { -digit } else { digit })
    })
}

/// A 64-bit float as Java reads it, but without hexadecimal floats.
pub(crate) fn double(text: &str) -> Option<f64> {
    float_text(text)?.parse().ok()
}

/// A 32-bit float as Java reads it, but without hexadecimal floats.
pub(crate) fn float(text: &str) -> Option<f32> {
    float_text(text)?.parse().ok()
}

/// The text that Rust reads like Java reads `text`.
fn float_text(text: &str) -> Option<&str> {
    let text = trim(text);
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if unsigned == "NaN" || unsigned == "Infinity" {
        return Some(text);
    }
    let number = |t: &str| t.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'-' | b'+'));
    let text = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    number(text).then_some(text)
}

/// The unscaled value of a decimal, rounded half up; `None` also when it does not fit.
pub(crate) fn decimal(text: &str, precision: u8, scale: u8) -> Option<i128> {
    exact_decimal(text)?.fit(precision, scale)
}

/// Digits and scale of a decimal of any length.
pub(crate) struct BigDecimal {
    unscaled: num_bigint::BigInt,
    scale: i64,
}

/// Reads `[+-]digits[.digits][e[+-]digits]`; `None` for anything else.
pub(crate) fn exact_decimal(text: &str) -> Option<BigDecimal> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let unsigned = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    if unsigned.len() == usize::from(unsigned.contains('.')) || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let unscaled: num_bigint::BigInt = format!("{whole}{fraction}").parse().ok()?;
    let unscaled = if mantissa.starts_with('-') { -unscaled } else { unscaled };
    Some(BigDecimal { unscaled, scale: fraction.len() as i64 - i64::from(exponent) })
}

impl BigDecimal {
    /// The unscaled value at `scale`, rounded half up; `None` when it has more digits than `precision`.
    pub(crate) fn fit(&self, precision: u8, scale: u8) -> Option<i128> {
        use num_bigint::{BigInt, Sign};
        if self.unscaled.sign() == Sign::NoSign {
            return Some(0);
        }
        let shift = i64::from(scale) - self.scale;
        let digits = self.unscaled.magnitude().to_string().len() as i64;
        if digits + shift > i64::from(precision) + 1 {
            return None;
        }
        if digits + shift < 0 {
            return Some(0);
        }
        let power = BigInt::from(10).pow(u32::try_from(shift.unsigned_abs()).ok()?);
        let scaled = if shift >= 0 {
            &self.unscaled * power
        } else {
            let half = &power / 2;
            let magnitude = BigInt::from(self.unscaled.magnitude().clone());
            let rounded: BigInt = (magnitude + half) / power;
            if self.unscaled.sign() == Sign::Minus { -rounded } else { rounded }
        };
        let scaled = i128::try_from(scaled).ok()?;
        (scaled.unsigned_abs() < 10u128.pow(u32::from(precision))).then_some(scaled)
    }
}

/// A date: days since the epoch as a number, or `year[-month[-day]]` with anything behind a space ignored.
pub(crate) fn date(text: &str) -> Option<i32> {
    if is_numeric(text) {
        return integer(text).and_then(|days| i32::try_from(days).ok());
    }
    let text = match text.split_once(' ') {
        Some((before, _)) if !before.is_empty() => before,
        _ => text,
    };
    let mut parts = text.splitn(3, '-').map(|part| unsigned(trim(part)));
    let year = parts.next()??;
    let month = parts.next().unwrap_or(Some(1))?;
    let day = parts.next().unwrap_or(Some(1))?;
    if year > 9_999 {
        return None;
    }
    day_of(i64::from(year), month, day).and_then(|days| i32::try_from(days).ok())
}

/// A time: milliseconds of the day as a number, or `hour[:minute[:second[.fraction]]]` with an offset added or taken away.
pub(crate) fn time(text: &str) -> Option<i32> {
    if is_numeric(text) {
        return integer(text).and_then(|millis| i32::try_from(millis).ok());
    }
    let (sign, at) = match (text.find('-'), text.find('+')) {
        (Some(at), _) => (-1, Some(at)),
        (None, at) => (1, at),
    };
    let (clock, offset) = at.map_or((text, None), |at| (&text[..at], Some(&text[at + 1..])));
    let number = |part: &str| unsigned(trim(part)).map(i64::from);
    let (offset_hour, offset_minute) = match offset.map(|o| o.split_once(':').unwrap_or((o, "0"))) {
        Some((hour, minute)) => (number(hour)?, number(minute)?),
        None => (0, 0),
    };
    let mut parts = clock.splitn(3, ':');
    let hour = number(parts.next()?)?;
    let minute = parts.next().map_or(Some(0), number)?;
    let (second, millis) = match parts.next() {
        Some(part) => match part.split_once('.') {
            Some((second, fraction)) => (number(second)?, millis_of(trim(fraction))),
            None => (number(part)?, 0),
        },
        None => (0, 0),
    };
    let hours = hour + sign * offset_hour;
    let minutes = minute + sign * offset_minute;
    i32::try_from(hours * 3_600_000 + minutes * 60_000 + second * 1_000 + millis).ok()
}

/// Milliseconds of a fraction of a second, rounded by its fourth digit.
fn millis_of(fraction: &str) -> i64 {
    let digit = |i: usize| fraction.as_bytes().get(i).filter(|b| b.is_ascii_digit()).map_or(0, |b| i64::from(b - b'0'));
    let round = fraction.as_bytes().get(3).is_some_and(|b| *b >= b'5');
    digit(0) * 100 + digit(1) * 10 + digit(2) + i64::from(round)
}

/// A timestamp: `year-month-day`, then ` h:m:s[.fraction]` or `Th:m[:s[.fraction]]`; or a count of units since the epoch as a
/// number. Digits beyond the precision are dropped. Milliseconds and nanoseconds within the millisecond.
pub(crate) fn timestamp(text: &str, precision: u8) -> Option<(i64, i32)> {
    if is_numeric(text) { epoch(integer(text)?, precision) } else { date_time(text, precision) }
}

/// A count of seconds, milliseconds, microseconds or nanoseconds, by the precision.
fn epoch(count: i64, precision: u8) -> Option<(i64, i32)> {
    match precision {
        0 => count.checked_mul(1_000).map(|millis| (millis, 0)),
        3 => Some((count, 0)),
        6 => Some((count.div_euclid(1_000), (count.rem_euclid(1_000) * 1_000) as i32)),
        9 => Some((count.div_euclid(1_000_000), count.rem_euclid(1_000_000) as i32)),
        _ => None,
    }
}

/// A timestamp in the written form of [`timestamp`]. A day beyond the end of its month is the last one, as Java reads it.
pub(crate) fn date_time(text: &str, precision: u8) -> Option<(i64, i32)> {
    clocked(text, precision, date_of_text)
}

/// As [`date_time`], for years of any number of digits with a sign, and with the `Z` of an instant (see [`wide_timestamp`](super::text::wide_timestamp)).
pub(crate) fn wide_date_time(text: &str, precision: u8) -> Option<(i64, i32)> {
    clocked(text.strip_suffix('Z').unwrap_or(text), precision, any_date_of_text)
}

fn clocked(text: &str, precision: u8, date_of: impl Fn(&str) -> Option<i64>) -> Option<(i64, i32)> {
    let (date, clock) = match text.find([' ', 'T']) {
        Some(at) => (&text[..at], Some((text.as_bytes()[at] == b'T', &text[at + 1..]))),
        None => (text, None),
    };
    let days = date_of(date)?;
    let (seconds, nanos) = clock.map_or(Some((0, 0)), |(iso, clock)| clock_of_text(clock, iso))?;
    let unit = 10i64.pow(9u32.saturating_sub(u32::from(precision)));
    let nanos = nanos / unit * unit;
    let millis = days.checked_mul(MILLIS_PER_DAY)?.checked_add(seconds * 1_000 + nanos / 1_000_000)?;
    Some((millis, (nanos % 1_000_000) as i32))
}

fn date_of_text(text: &str) -> Option<i64> {
    let mut parts = text.splitn(3, '-');
    let year = parts.next()?;
    let plus = year.strip_prefix('+');
    let digits = plus.unwrap_or(year);
    if digits.len() < 4 || (digits.len() > 4) != plus.is_some() {
        return None;
    }
    let (year, month, day) = (unsigned(digits)?, short(parts.next()?)?, short(parts.next()?)?);
    if year == 0 || day > 31 {
        return None;
    }
    (0..4).find_map(|back| day_of(i64::from(year), month, day.checked_sub(back)?))
}

fn any_date_of_text(text: &str) -> Option<i64> {
    let (negative, rest) = (text.starts_with('-'), text.strip_prefix(['-', '+']).unwrap_or(text));
    let mut parts = rest.splitn(3, '-');
    let digits = parts.next()?;
    if digits.len() < 4 || (digits.len() > 4 && rest.len() == text.len()) {
        return None;
    }
    let (year, month, day) = (i64::from(unsigned(digits)?), short(parts.next()?)?, short(parts.next()?)?);
    day_of(if negative { -year } else { year }, month, day)
}

/// Seconds of the day and nanoseconds of the second; 24:00 is the end of the day.
fn clock_of_text(text: &str, iso: bool) -> Option<(i64, i64)> {
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) if (0..=9).contains(&fraction.len()) && is_digits(fraction) => (clock, Some(fraction)),
        Some(_) => return None,
        None => (text, None),
    };
    let mut parts = clock.splitn(3, ':');
    let (hour, minute, second) = (short(parts.next()?)?, short(parts.next()?)?, parts.next());
    if second.is_none() && (!iso || fraction.is_some()) {
        return None;
    }
    let second = second.map_or(Some(0), short)?;
    let nanos = format!("{:0<9}", fraction.unwrap_or("")).parse::<i64>().ok()?;
    let midnight = hour == 24 && minute == 0 && second == 0 && nanos == 0;
    if (hour > 23 && !midnight) || minute > 59 || second > 59 {
        return None;
    }
    Some((i64::from(hour) * 3_600 + i64::from(minute) * 60 + i64::from(second), nanos))
}

/// A number of one or two digits.
fn short(text: &str) -> Option<u32> {
    if (1..=2).contains(&text.len()) { unsigned(text) } else { None }
}

fn unsigned(text: &str) -> Option<u32> {
    if text.is_empty() || !is_digits(text) { None } else { text.parse().ok() }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

/// Digits with an optional minus.
fn is_numeric(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && is_digits(digits)
}

/// Java's `trim`: everything up to the space.
fn trim(text: &str) -> &str {
    text.trim_matches(|c| c <= ' ')
}
