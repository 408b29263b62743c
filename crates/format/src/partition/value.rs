//! A partition value as text in both spellings, and back.

use bytes::Bytes;

use crate::cast::{parse, text};
use crate::datum::Datum;
use crate::types::{DataType, Kind};
use crate::{Error, Result};

/// How a value is spelled in a partition directory, before escaping.
///
/// Timestamps with local time zone are spelled in UTC.
///
/// # Errors
/// `Unsupported` for binaries in the legacy spelling (Java's is the address of the object).
pub fn partition_value(value: &Datum, data_type: &DataType, legacy_name: bool) -> Result<String> {
    Ok(match value {
        Datum::Boolean(v) => v.to_string(),
        Datum::TinyInt(v) => v.to_string(),
        Datum::SmallInt(v) => v.to_string(),
        Datum::Int(v) => v.to_string(),
        Datum::BigInt(v) => v.to_string(),
        Datum::Float(v) => text::float(*v),
        Datum::Double(v) => text::double(*v),
        Datum::Decimal { unscaled, scale, .. } => text::decimal(*unscaled, *scale),
        Datum::String(v) => v.clone(),
        Datum::Date(v) | Datum::Time(v) if legacy_name => v.to_string(),
        Datum::Date(v) => text::date(i64::from(*v)),
        Datum::Time(v) => text::time(*v, precision(data_type)),
        Datum::Timestamp { millis, nanos } if legacy_name => text::iso_timestamp(*millis, *nanos),
        Datum::Timestamp { millis, nanos } => text::timestamp(*millis, *nanos, precision(data_type)),
        Datum::Bytes(_) if legacy_name => {
            return Err(Error::unsupported("a BINARY partition key with partition.legacy-name = true"));
        }
        Datum::Bytes(v) => String::from_utf8_lossy(v).into_owned(),
    })
}

fn precision(data_type: &DataType) -> u8 {
    match data_type.kind {
        Kind::Time(p)
        | Kind::Timestamp(p)
        | Kind::LocalZonedTimestamp(p)
        | Kind::WideTimestamp { precision: p, .. } => p,
        _ => 0,
    }
}

/// The value that a partition directory spells, in either spelling.
///
/// # Errors
/// `Invalid` when the text is no value of the type, `Unsupported` for types that cannot be partition keys.
pub fn parse_partition_value(value: &str, data_type: &DataType) -> Result<Datum> {
    let parsed = match &data_type.kind {
        Kind::Boolean => parse::boolean(value).map(Datum::Boolean),
        Kind::TinyInt => value.parse().ok().map(Datum::TinyInt),
        Kind::SmallInt => value.parse().ok().map(Datum::SmallInt),
        Kind::Int => value.parse().ok().map(Datum::Int),
        Kind::BigInt => value.parse().ok().map(Datum::BigInt),
        Kind::Float => parse::float(value).map(Datum::Float),
        Kind::Double => parse::double(value).map(Datum::Double),
        Kind::Decimal { precision, scale } => parse::decimal(value, *precision, *scale)
            .map(|unscaled| Datum::Decimal { unscaled, precision: *precision, scale: *scale }),
        Kind::Char(n) | Kind::Varchar(n) => {
            (value.chars().count() <= *n as usize).then(|| Datum::String(value.to_owned()))
        }
        Kind::Binary(_) | Kind::Varbinary(_) => Some(Datum::Bytes(Bytes::copy_from_slice(value.as_bytes()))),
        Kind::Date => parse::date(value).map(Datum::Date),
        Kind::Time(_) => parse::time(value).map(Datum::Time),
        Kind::Timestamp(p) | Kind::LocalZonedTimestamp(p) | Kind::WideTimestamp { precision: p, .. } => {
            parse::timestamp(value, *p).map(|(millis, nanos)| Datum::Timestamp { millis, nanos })
        }
        other => return Err(Error::unsupported(format!("a partition key of kind {other:?}"))),
    };
    parsed.ok_or_else(|| Error::invalid(format!("{value:?} is not a value of type {data_type}")))
}
