//! Values as text for people: as Java prints the object that holds one.

use std::fmt;

use super::Datum;
use super::text;

/// Dates are days and times milliseconds, timestamps ISO without a zone, bytes hexadecimal, floats as Java prints them.
impl fmt::Display for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(v) => write!(f, "{v}"),
            Self::TinyInt(v) => write!(f, "{v}"),
            Self::SmallInt(v) => write!(f, "{v}"),
            Self::Int(v) | Self::Date(v) | Self::Time(v) => write!(f, "{v}"),
            Self::BigInt(v) => write!(f, "{v}"),
            Self::Float(v) => f.write_str(&text::float(*v)),
            Self::Double(v) => f.write_str(&text::double(*v)),
            Self::Timestamp { millis, nanos } => f.write_str(&text::iso_timestamp(*millis, *nanos)),
            Self::Decimal { unscaled, scale, .. } => f.write_str(&text::decimal(*unscaled, *scale)),
            Self::String(v) => f.write_str(v),
            Self::Bytes(v) => v.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}
