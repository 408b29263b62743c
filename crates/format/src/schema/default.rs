//! Default values of columns (spec: features.md B10; case G7).

use crate::types::{DataType, Kind};
use crate::{Error, Result};

/// Checks that SQL text is a value of a type; quotes around a text may be there or not.
///
/// # Errors
/// `Invalid` naming the text and the type.
pub(super) fn check_default(data_type: &DataType, text: &str) -> Result<()> {
    let bare = |text| str::strip_prefix(text, '\'').and_then(|v| v.strip_suffix('\'')).unwrap_or(text);
    let value = bare(text.trim());
    let long = match &data_type.kind {
        Kind::Char(n) | Kind::Varchar(n) => Some((bare(text).chars().count(), *n)),
        Kind::Binary(n) | Kind::Varbinary(n) => Some((bare(text).len(), *n)),
        _ => None,
    };
    if let Some((length, _)) = long.filter(|(length, most)| u32::try_from(*length).is_ok_and(|length| length > *most)) {
        let what = format!("default value {text:?} of length {length} is too long for {data_type}");
        return Err(Error::invalid(what).with_hint("shorten it, or give the column a longer type"));
    }
    let fits = match &data_type.kind {
        Kind::Char(_) | Kind::Varchar(_) | Kind::Binary(_) | Kind::Varbinary(_) => true,
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
        Kind::Float => value.parse::<f32>().is_ok_and(|v| v.is_finite() || !has_digit(value)),
        Kind::Double => value.parse::<f64>().is_ok_and(|v| v.is_finite() || !has_digit(value)),
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

/// The words for infinity and for what is no number have none.
fn has_digit(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
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
