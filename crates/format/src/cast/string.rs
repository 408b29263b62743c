//! Casts to and from strings and binaries.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, StringArray};

use super::matrix::Family;
use super::{nested, parse, text, wrong};
use crate::datum::{Datum, array_from_datums};
use crate::types::{DataType, Kind};
use crate::{Error, Result};

/// Any kind as CHAR or VARCHAR.
pub(super) fn to_string(array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
    match Family::of(&from.kind) {
        Family::Nested => nested::to_string(array, from),
        Family::String => {
            let strings = array.as_string_opt::<i32>().ok_or_else(|| wrong(array, &from.kind))?;
            Ok(Arc::new(strings.iter().map(|v| v.map(|v| fit(v, &to.kind))).collect::<StringArray>()))
        }
        Family::Binary => {
            let bytes = array.as_binary_opt::<i32>().ok_or_else(|| wrong(array, &from.kind))?;
            Ok(Arc::new(bytes.iter().map(|v| v.map(String::from_utf8_lossy)).collect::<StringArray>()))
        }
        _ => {
            let mut out = StringBuilder::with_capacity(array.len(), array.len() * 8);
            for row in 0..array.len() {
                match Datum::from_array(array, row, from)? {
                    Some(value) => out.append_value(fit(&spell(&value, &from.kind), &to.kind)),
                    None => out.append_null(),
                }
            }
            Ok(Arc::new(out.finish()))
        }
    }
}

fn spell(value: &Datum, kind: &Kind) -> String {
    let precision = match kind {
        Kind::Time(p)
        | Kind::Timestamp(p)
        | Kind::LocalZonedTimestamp(p)
        | Kind::WideTimestamp { precision: p, .. } => *p,
        _ => 0,
    };
    match value {
        Datum::Boolean(v) => v.to_string(),
        Datum::TinyInt(v) => v.to_string(),
        Datum::SmallInt(v) => v.to_string(),
        Datum::Int(v) => v.to_string(),
        Datum::BigInt(v) => v.to_string(),
        Datum::Float(v) => text::float(*v),
        Datum::Double(v) => text::double(*v),
        Datum::Date(v) => text::date(i64::from(*v)),
        Datum::Time(v) => text::time(*v, precision),
        Datum::Timestamp { millis, nanos } if matches!(kind, Kind::WideTimestamp { .. }) => {
            text::wide_timestamp(*millis, *nanos, precision)
        }
        Datum::Timestamp { millis, nanos } => text::timestamp(*millis, *nanos, precision),
        Datum::Decimal { unscaled, scale, .. } => text::decimal(*unscaled, *scale),
        Datum::String(v) => v.clone(),
        Datum::Bytes(v) => String::from_utf8_lossy(v).into_owned(),
    }
}

/// Cut to the length of the kind, and for CHAR filled with blanks.
fn fit<'a>(value: &'a str, to: &Kind) -> Cow<'a, str> {
    let (Kind::Char(length) | Kind::Varchar(length)) = to else {
        return Cow::Borrowed(value);
    };
    let length = *length as usize;
    if let Some((end, _)) = value.char_indices().nth(length) {
        return Cow::Borrowed(&value[..end]);
    }
    match to {
        Kind::Char(_) => {
            let missing = length - value.chars().count();
            if missing == 0 { Cow::Borrowed(value) } else { Cow::Owned(format!("{value}{:missing$}", "")) }
        }
        _ => Cow::Borrowed(value),
    }
}

/// Strings and binaries as BINARY (cut or filled with zeros) or VARBINARY (cut).
pub(super) fn to_binary(array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
    let fit = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        match to.kind {
            Kind::Binary(length) => bytes.resize(length as usize, 0),
            Kind::Varbinary(length) => bytes.truncate(length as usize),
            _ => {}
        }
        bytes
    };
    let out: BinaryArray = if let Some(strings) = array.as_string_opt::<i32>() {
        strings.iter().map(|v| v.map(|v| fit(v.as_bytes()))).collect()
    } else {
        let bytes = array.as_binary_opt::<i32>().ok_or_else(|| wrong(array, &from.kind))?;
        bytes.iter().map(|v| v.map(fit)).collect()
    };
    Ok(Arc::new(out))
}

/// Strings as scalars.
pub(super) fn from_string(array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
    let strings = array.as_string_opt::<i32>().ok_or_else(|| wrong(array, &from.kind))?;
    let values = strings.iter().map(|v| v.map_or(Ok(None), |v| read(v, &to.kind)));
    array_from_datums(&values.collect::<Result<Vec<_>>>()?, to)
}

fn read(value: &str, to: &Kind) -> Result<Option<Datum>> {
    let integer = || parse::integer(value);
    let timestamp = |(millis, nanos)| Datum::Timestamp { millis, nanos };
    let datum = match to {
        Kind::Boolean => parse::boolean(value).map(Datum::Boolean),
        Kind::TinyInt => integer().and_then(|v| v.try_into().ok()).map(Datum::TinyInt),
        Kind::SmallInt => integer().and_then(|v| v.try_into().ok()).map(Datum::SmallInt),
        Kind::Int => integer().and_then(|v| v.try_into().ok()).map(Datum::Int),
        Kind::BigInt => integer().map(Datum::BigInt),
        Kind::Float => parse::float(value).map(Datum::Float),
        Kind::Double => parse::double(value).map(Datum::Double),
        Kind::Date => parse::date(value).map(Datum::Date),
        Kind::Time(_) => parse::time(value).map(Datum::Time),
        Kind::Timestamp(p) => parse::timestamp(value, *p).map(timestamp),
        Kind::LocalZonedTimestamp(p) => parse::date_time(value, *p).map(timestamp),
        Kind::WideTimestamp { precision, .. } => parse::wide_date_time(value, *precision).map(timestamp),
        Kind::Decimal { precision, scale } => match parse::exact_decimal(value) {
            Some(exact) => {
                let unscaled = exact.fit(*precision, *scale);
                let (precision, scale) = (*precision, *scale);
                return Ok(unscaled.map(|unscaled| Datum::Decimal { unscaled, precision, scale }));
            }
            None => None,
        },
        _ => None,
    };
    datum.map(Some).ok_or_else(|| Error::invalid(format!("{value:?} cannot be read as {to}")))
}
