//! Default values of columns (spec: features.md B10; case G7).

use crate::types::{DataType, Kind};
use crate::{Error, Result};

/// Checks that SQL text is a value of a type; quotes around a text may be there or not.
///
/// # Errors
/// `Invalid` naming the text and the type.
pub(super) fn check_default(data_type: &DataType, text: &str) -> Result<()> {
    let value = text.trim();
    let value = value.strip_prefix('\'').and_then(|v| v.strip_suffix('\'')).unwrap_or(value);
    let fits = match &data_type.kind {
        Kind::Char(n) | Kind::Varchar(n) => u32::try_from(value.chars().count()).is_ok_and(|len| len <= *n),
        Kind::Binary(n) | Kind::Varbinary(n) => u32::try_from(value.len()).is_ok_and(|len| len <= *n),
        Kind::Boolean => {
            matches!(
                value.to_ascii_lowercase().as_str(),
                "true" | "t" | "yes" | "y" | "1" | "false" | "f" | "no" | "n" | "0"
            )
        }
        Kind::TinyInt => value.parse::<i8>().is_ok(),
        Kind::SmallInt => value.parse::<i16>().is_ok(),
        Kind::Int => value.parse::<i32>().is_ok(),
        Kind::BigInt => value.parse::<i64>().is_ok(),
        Kind::Float => value.parse::<f32>().is_ok(),
        Kind::Double => value.parse::<f64>().is_ok(),
        Kind::Decimal { precision, scale } => fits_decimal(value, *precision, *scale),
        Kind::Date => chrono::NaiveDate::parse_from_str(value, "%Y-%m-%d").is_ok(),
        Kind::Time(_) => chrono::NaiveTime::parse_from_str(value, "%H:%M:%S%.f").is_ok(),
        Kind::Timestamp(_) | Kind::LocalZonedTimestamp(_) => is_timestamp(value),
        _ => {
            return Err(Error::invalid(format!("a column of type {data_type} cannot have a default value"))
                .with_hint("leave the default value out"));
        }
    };
    if fits {
        return Ok(());
    }
    Err(Error::invalid(format!("default value {text:?} is not a value of type {data_type}"))
        .with_hint("write a value of that type"))
}

fn is_timestamp(value: &str) -> bool {
    let value = value.replacen('T', " ", 1);
    ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M"]
        .iter()
        .any(|format| chrono::NaiveDateTime::parse_from_str(&value, format).is_ok())
        || chrono::NaiveDate::parse_from_str(&value, "%Y-%m-%d").is_ok()
}

/// Whether the whole digits fit; digits behind the point beyond the scale are rounded away.
fn fits_decimal(value: &str, precision: u8, scale: u8) -> bool {
    let unsigned = value.strip_prefix(['-', '+']).unwrap_or(value);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let room = usize::from(precision.saturating_sub(scale));
    !(whole.is_empty() && fraction.is_empty())
        && digits(whole)
        && digits(fraction)
        && whole.trim_start_matches('0').len() <= room
}
