//! Tags: a snapshot with a creation time and a retention (spec: format.md C.2).

use std::time::Duration;

use chrono::{Datelike, NaiveDate, NaiveDateTime, Timelike};
use serde::Deserialize;
use serde_json::Value;

use super::Snapshot;
use crate::{Error, Result, json};

/// A named snapshot that outlives expiry.
#[derive(Debug, Clone, PartialEq)]
pub struct Tag {
    /// The snapshot, in full.
    pub snapshot: Snapshot,
    /// Local wall-clock time of its creation.
    pub create_time: Option<NaiveDateTime>,
    /// How long it is kept; without it, until deleted.
    pub time_retained: Option<Duration>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Extra {
    tag_create_time: Option<Value>,
    tag_time_retained: Option<Value>,
}

impl Tag {
    /// Parses a tag file.
    ///
    /// # Errors
    /// `Corrupt` as for [`Snapshot::from_json`], or when a time is not one.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        let snapshot = Snapshot::from_json(bytes)?;
        let extra: Extra = serde_json::from_slice(bytes).map_err(|e| Error::corrupt("not a tag").with_source(e))?;
        let bad = |what: &str, v: &Value| Error::corrupt(format!("{what} {v} is not one"));
        let create_time = match &extra.tag_create_time {
            None => None,
            Some(v) => Some(local_time(v).ok_or_else(|| bad("tagCreateTime", v))?),
        };
        let time_retained = match &extra.tag_time_retained {
            None => None,
            Some(v) => Some(retention(v).ok_or_else(|| bad("tagTimeRetained", v))?),
        };
        Ok(Self { snapshot, create_time, time_retained })
    }

    /// The bytes of a tag file.
    ///
    /// # Errors
    /// None in practice; `Internal` if a value did not serialise.
    pub fn to_json(&self) -> Result<Vec<u8>> {
        let mut out = json::to_vec(&self.snapshot)?;
        // The duration is a decimal number with nine digits behind the point, which no JSON number type here can print.
        out.truncate(out.len().saturating_sub(2));
        if let Some(time) = &self.create_time {
            out.extend_from_slice(b",\n  \"tagCreateTime\" : ");
            out.extend_from_slice(&json::to_vec(&time_parts(time))?);
        }
        if let Some(d) = &self.time_retained {
            let text = format!(",\n  \"tagTimeRetained\" : {}.{:09}", d.as_secs(), d.subsec_nanos());
            out.extend_from_slice(text.as_bytes());
        }
        out.extend_from_slice(b"\n}");
        Ok(out)
    }
}

/// `[year, month, day, hour, minute, second?, nanosecond?]`; trailing zeros after the minute are left out.
fn time_parts(time: &NaiveDateTime) -> Vec<i64> {
    let mut parts = vec![
        i64::from(time.year()),
        i64::from(time.month()),
        i64::from(time.day()),
        i64::from(time.hour()),
        i64::from(time.minute()),
    ];
    if time.second() > 0 || time.nanosecond() > 0 {
        parts.push(i64::from(time.second()));
    }
    if time.nanosecond() > 0 {
        parts.push(i64::from(time.nanosecond()));
    }
    parts
}

fn local_time(value: &Value) -> Option<NaiveDateTime> {
    match value {
        Value::Array(parts) if (3..=7).contains(&parts.len()) => {
            let part = |i: usize| match parts.get(i) {
                None => Some(0),
                Some(v) => v.as_u64().and_then(|v| u32::try_from(v).ok()),
            };
            let year = i32::try_from(parts.first()?.as_i64()?).ok()?;
            NaiveDate::from_ymd_opt(year, part(1)?, part(2)?)?.and_hms_nano_opt(part(3)?, part(4)?, part(5)?, part(6)?)
        }
        Value::String(text) => ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S%.f"]
            .iter()
            .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok()),
        _ => None,
    }
}

/// Seconds with a fraction; kept to the microsecond, which a double holds for three centuries.
fn retention(value: &Value) -> Option<Duration> {
    match value {
        Value::Number(n) => match n.as_u64() {
            Some(seconds) => Some(Duration::from_secs(seconds)),
            None => {
                let d = Duration::try_from_secs_f64(n.as_f64()?).ok()?;
                let nanos = (d.subsec_nanos() + 500) / 1_000 * 1_000;
                d.checked_sub(Duration::from_nanos(u64::from(d.subsec_nanos())))?
                    .checked_add(Duration::from_nanos(u64::from(nanos)))
            }
        },
        Value::String(text) => iso_duration(text),
        _ => None,
    }
}

/// `PnDTnHnMn.nS`, as some writers spell it.
fn iso_duration(text: &str) -> Option<Duration> {
    let rest = text.strip_prefix('P')?;
    let (days, time) = rest.split_once('T').unwrap_or((rest, ""));
    let mut seconds = 0.0;
    for (part, units) in [(days, &[('D', 86_400.0)][..]), (time, &[('H', 3_600.0), ('M', 60.0), ('S', 1.0)][..])] {
        let mut rest = part;
        for (unit, factor) in units {
            if let Some((number, tail)) = rest.split_once(*unit) {
                seconds += number.parse::<f64>().ok()? * factor;
                rest = tail;
            }
        }
        if !rest.is_empty() {
            return None;
        }
    }
    Duration::try_from_secs_f64(seconds).ok()
}
