//! Values as text: as the reference's casts to STRING spell them, and as Java's `toString` does.

use std::fmt::{Display, Write};

use super::civil::{MILLIS_PER_DAY, date_of};

/// Shortest decimal that reads back as the same number, in Java's notation.
pub(crate) fn double(value: f64) -> String {
    java_float(value, value == 0.0, value.abs(), value.is_sign_negative(), value.is_nan())
}

/// As [`double`], for 32 bits.
pub(crate) fn float(value: f32) -> String {
    java_float(value, value == 0.0, f64::from(value).abs(), value.is_sign_negative(), value.is_nan())
}

fn java_float(
    value: impl Display + std::fmt::LowerExp,
    zero: bool,
    magnitude: f64,
    negative: bool,
    nan: bool,
) -> String {
    if nan {
        return "NaN".to_owned();
    }
    let sign = if negative { "-" } else { "" };
    if magnitude.is_infinite() {
        return format!("{sign}Infinity");
    }
    if zero {
        return format!("{sign}0.0");
    }
    if (1e-3..1e7).contains(&magnitude) {
        let text = value.to_string();
        return if text.contains('.') { text } else { text + ".0" };
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    if digits.contains('.') {
        return format!("{digits}E{exponent}");
    }
    // Java never prints a single digit: of the two-digit decimals it takes the closest.
    let text = format!("{value:.1e}");
    text.replacen('e', "E", 1)
}

/// `2024-04-18`.
pub(crate) fn date(days: i64) -> String {
    let (year, month, day) = date_of(days);
    format!("{year:04}-{month:02}-{day:02}")
}

/// `01:02:03`, with a fraction for a precision above 0 that ends behind its last digit that is not zero, but has at least one.
pub(crate) fn time(millis: i32, precision: u8) -> String {
    let millis = i64::from(millis).rem_euclid(MILLIS_PER_DAY);
    let seconds = millis / 1_000;
    let mut out = format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if precision > 0 {
        let fraction = format!("{:03}", millis % 1_000);
        let wanted = fraction.trim_end_matches('0').len().clamp(1, usize::from(precision));
        out.push('.');
        out.push_str(fraction.get(..wanted).unwrap_or(&fraction));
    }
    out
}

/// `2024-04-18 01:02:03.123`, with as many digits of the fraction as the precision says, or more when they are not zero.
pub(crate) fn timestamp(millis: i64, nanos: i32, precision: u8) -> String {
    let (day, second, nano) = parts(millis, nanos);
    clocked(date(day), second, nano, precision)
}

/// As [`timestamp`], with a sign before years outside of 0 to 9999, so that every instant can be read back.
pub(crate) fn wide_timestamp(millis: i64, nanos: i32, precision: u8) -> String {
    let (day, second, nano) = parts(millis, nanos);
    clocked(iso_date(day), second, nano, precision)
}

fn clocked(date: String, second: i64, nano: i64, precision: u8) -> String {
    let fraction = format!("{nano:09}");
    let wanted = fraction.trim_end_matches('0').len().max(usize::from(precision));
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    let mut out = format!("{date} {hour:02}:{minute:02}:{:02}", second % 60);
    if wanted > 0 {
        out.push('.');
        out.push_str(fraction.get(..wanted).unwrap_or(&fraction));
    }
    out
}

/// The ISO form of Java's local date time: `2024-04-18T01:02`, seconds and fractions of 3, 6 or 9 digits only when needed.
pub(crate) fn iso_timestamp(millis: i64, nanos: i32) -> String {
    let (day, second, nano) = parts(millis, nanos);
    let mut out = iso_date(day);
    // Writing to a String cannot fail.
    let _ = write!(out, "T{:02}:{:02}", second / 3_600, second / 60 % 60);
    if second % 60 > 0 || nano > 0 {
        let _ = write!(out, ":{:02}", second % 60);
    }
    if nano > 0 {
        let _ = match nano {
            n if n % 1_000_000 == 0 => write!(out, ".{:03}", n / 1_000_000),
            n if n % 1_000 == 0 => write!(out, ".{:06}", n / 1_000),
            n => write!(out, ".{n:09}"),
        };
    }
    out
}

fn iso_date(days: i64) -> String {
    let (year, month, day) = date_of(days);
    match year {
        10_000.. => format!("+{year}-{month:02}-{day:02}"),
        0.. => format!("{year:04}-{month:02}-{day:02}"),
        _ => format!("-{:04}-{month:02}-{day:02}", -year),
    }
}

/// Day, second of the day, nanosecond of the second.
fn parts(millis: i64, nanos: i32) -> (i64, i64, i64) {
    let of_day = millis.rem_euclid(MILLIS_PER_DAY);
    (millis.div_euclid(MILLIS_PER_DAY), of_day / 1_000, of_day % 1_000 * 1_000_000 + i64::from(nanos))
}

/// A decimal without exponent, with all digits of the scale.
pub(crate) fn decimal(unscaled: i128, scale: u8) -> String {
    let scale = usize::from(scale);
    let sign = if unscaled < 0 { "-" } else { "" };
    let digits = format!("{:0width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}
