//! Option text to values (spec: options.md).

use std::time::Duration;

use super::def::{OptionDef, OptionKind};
use crate::{Error, Result};

/// Parses a size in bytes: `128 mb`, `64kb`, `1g`, or plain bytes; units are powers of 1024.
///
/// # Errors
/// `Invalid` for text that is no size or one beyond 63 bits.
pub fn parse_memory(text: &str) -> Result<u64> {
    let (number, unit) = split_unit(text)?;
    let factor: u64 = match unit.as_str() {
        "" | "b" | "bytes" => 1,
        "k" | "kb" | "kibibytes" => 1 << 10,
        "m" | "mb" | "mebibytes" => 1 << 20,
        "g" | "gb" | "gibibytes" => 1 << 30,
        "t" | "tb" | "tebibytes" => 1 << 40,
        _ => return Err(Error::invalid(format!("{unit:?} is not a unit of size; use b, kb, mb, gb or tb"))),
    };
    number
        .checked_mul(factor)
        .filter(|bytes| i64::try_from(*bytes).is_ok())
        .ok_or_else(|| Error::invalid(format!("size {text:?} is too large")))
}

/// Parses a time: `1 h`, `10s`, `500 ms`, `1 d`, plain milliseconds, or ISO 8601 (`P1D`, `PT1H30M`).
///
/// # Errors
/// `Invalid` for text that is no time or too long a one.
pub fn parse_duration(text: &str) -> Result<Duration> {
    if text.trim_start().starts_with(['P', 'p']) {
        return iso_duration(text.trim());
    }
    let (number, unit) = split_unit(text)?;
    let seconds = |factor: u64| number.checked_mul(factor).map(Duration::from_secs);
    let duration = match unit.as_str() {
        "" | "ms" | "milli" | "millis" | "millisecond" | "milliseconds" => Some(Duration::from_millis(number)),
        "d" | "day" | "days" => seconds(86_400),
        "h" | "hour" | "hours" => seconds(3_600),
        "min" | "m" | "minute" | "minutes" => seconds(60),
        "s" | "sec" | "secs" | "second" | "seconds" => seconds(1),
        "µs" | "micro" | "micros" | "microsecond" | "microseconds" => Some(Duration::from_micros(number)),
        "ns" | "nano" | "nanos" | "nanosecond" | "nanoseconds" => Some(Duration::from_nanos(number)),
        _ => return Err(Error::invalid(format!("{unit:?} is not a unit of time; use d, h, min, s or ms"))),
    };
    duration.ok_or_else(|| Error::invalid(format!("time {text:?} is too long")))
}

/// `P[nD][T[nH][nM][n[.f]S]]`.
fn iso_duration(text: &str) -> Result<Duration> {
    let bad = || Error::invalid(format!("{text:?} is not an ISO 8601 time such as PT1H30M"));
    let upper = text.to_ascii_uppercase();
    let mut rest = upper.strip_prefix('P').ok_or_else(bad)?;
    let mut in_time = false;
    let mut parts = 0;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('T').filter(|_| !in_time) {
            (in_time, rest) = (true, after);
            continue;
        }
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(bad)?;
        let (number, unit) = rest.split_at(end);
        let mut chars = unit.chars();
        let factor: f64 = match (in_time, chars.next()) {
            (false, Some('D')) => 86_400.0,
            (true, Some('H')) => 3_600.0,
            (true, Some('M')) => 60.0,
            (true, Some('S')) => 1.0,
            _ => return Err(bad()),
        };
        let number: f64 = number.parse().map_err(|_| bad())?;
        let part = Duration::try_from_secs_f64(number * factor).map_err(|_| bad())?;
        total = total.checked_add(part).ok_or_else(bad)?;
        (rest, parts) = (chars.as_str(), parts + 1);
    }
    if parts == 0 { Err(bad()) } else { Ok(total) }
}

fn split_unit(text: &str) -> Result<(u64, String)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    if number.is_empty() {
        return Err(Error::invalid(format!("{text:?} does not start with a number")));
    }
    let number = number.parse().map_err(|_| Error::invalid(format!("number {number} is too large")))?;
    Ok((number, unit.trim().to_lowercase()))
}

/// Splits `a, b ,c` into trimmed names; empty ones are left out.
pub fn parse_list(text: &str) -> Vec<&str> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
}

/// Splits `k:v,k2:v2` into trimmed pairs.
///
/// # Errors
/// `Invalid` for a part without a colon.
pub fn parse_map(text: &str) -> Result<Vec<(&str, &str)>> {
    parse_list(text)
        .into_iter()
        .map(|pair| match pair.split_once(':') {
            Some((key, value)) => Ok((key.trim(), value.trim())),
            None => Err(Error::invalid(format!("{pair:?} is not of the form key:value"))),
        })
        .collect()
}

/// `true` or `false` in any case.
/// Whether two texts are the same value of an option; texts that are no values are compared as texts.
pub(super) fn same_value(def: &OptionDef, a: &str, b: &str) -> bool {
    fn both<T: PartialEq>(a: Result<T>, b: Result<T>) -> Option<bool> {
        Some(a.ok()? == b.ok()?)
    }
    let same = match def.kind {
        OptionKind::Bool => both(parse_bool(a), parse_bool(b)),
        OptionKind::Int | OptionKind::Long => both(parse_number::<i64>(a), parse_number::<i64>(b)),
        OptionKind::Double => both(parse_number::<f64>(a), parse_number::<f64>(b)),
        OptionKind::Memory => both(parse_memory(a), parse_memory(b)),
        OptionKind::Duration => both(parse_duration(a), parse_duration(b)),
        OptionKind::Map => both(parse_map(a), parse_map(b)),
        OptionKind::Choice(words) => both(parse_choice(a, words), parse_choice(b, words)),
        OptionKind::Text => None,
    };
    same.unwrap_or_else(|| a.trim() == b.trim())
}

pub(super) fn parse_bool(text: &str) -> Result<bool> {
    match text.trim() {
        t if t.eq_ignore_ascii_case("true") => Ok(true),
        t if t.eq_ignore_ascii_case("false") => Ok(false),
        _ => Err(Error::invalid("expected true or false")),
    }
}

/// A number.
pub(super) fn parse_number<T: std::str::FromStr>(text: &str) -> Result<T> {
    text.trim().parse().map_err(|_| Error::invalid("expected a number in range"))
}

/// The spelling in the table of the word that `text` is.
pub(super) fn parse_choice(text: &str, words: &'static [&'static str]) -> Result<&'static str> {
    let found = words.iter().find(|word| word.eq_ignore_ascii_case(text.trim()));
    found.copied().ok_or_else(|| Error::invalid(format!("expected one of {}", words.join(", "))))
}

/// Checks that `text` is a value of the option.
///
/// # Errors
/// `Invalid` naming key, value and what is allowed.
pub fn check_value(def: &OptionDef, text: &str) -> Result<()> {
    let checked = match def.kind {
        OptionKind::Bool => parse_bool(text).map(drop),
        OptionKind::Int => parse_number::<i32>(text).map(drop),
        OptionKind::Long => parse_number::<i64>(text).map(drop),
        OptionKind::Double => parse_number::<f64>(text).map(drop),
        OptionKind::Memory => parse_memory(text).map(drop),
        OptionKind::Duration => parse_duration(text).map(drop),
        OptionKind::Map => parse_map(text).map(drop),
        OptionKind::Choice(words) => parse_choice(text, words).map(drop),
        OptionKind::Text => Ok(()),
    };
    checked.map_err(|e| invalid_value(def.key, text, &e))
}

/// Names the key and the value that `cause` is about.
pub(super) fn invalid_value(key: &str, text: &str, cause: &Error) -> Error {
    Error::invalid(format!("option {key:?} cannot be {text:?}: {}", cause.message()))
        .with_hint(format!("set {key:?} to a valid value, or remove it"))
}
