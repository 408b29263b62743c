//! The order of values, as the reference compares literals and statistics.

use std::cmp::Ordering;

use super::{Datum, Float};

impl Datum {
    /// The order of two values of one type; `None` when they are of different types.
    ///
    /// Strings and bytes compare by unsigned bytes, `-0.0` is less than `0.0`, and NaN equals itself and is greater than all.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        Some(match (self, other) {
            (Self::Boolean(a), Self::Boolean(b)) => a.cmp(b),
            (Self::TinyInt(a), Self::TinyInt(b)) => a.cmp(b),
            (Self::SmallInt(a), Self::SmallInt(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) | (Self::Date(a), Self::Date(b)) | (Self::Time(a), Self::Time(b)) => a.cmp(b),
            (Self::BigInt(a), Self::BigInt(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => a.one_nan().order().cmp(&b.one_nan().order()),
            (Self::Double(a), Self::Double(b)) => a.one_nan().order().cmp(&b.one_nan().order()),
            (Self::Timestamp { millis: a, nanos: c }, Self::Timestamp { millis: b, nanos: d }) => (a, c).cmp(&(b, d)),
            (Self::Decimal { unscaled: a, scale: c, .. }, Self::Decimal { unscaled: b, scale: d, .. }) => {
                decimals((*a, *c), (*b, *d))
            }
            (Self::String(a), Self::String(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            _ => return None,
        })
    }
}

/// The order of rows of values, column after column, nulls first: partitions as people want to see them.
pub fn compare_rows(a: &[Option<Datum>], b: &[Option<Datum>]) -> Ordering {
    let values = a.iter().zip(b).map(|pair| match pair {
        (Some(a), Some(b)) => a.compare(b).unwrap_or(Ordering::Equal),
        (a, b) => a.is_some().cmp(&b.is_some()),
    });
    values.fold(Ordering::Equal, Ordering::then).then(a.len().cmp(&b.len()))
}

/// Unscaled values with their scales.
fn decimals(a: (i128, u8), b: (i128, u8)) -> Ordering {
    let scale = a.1.max(b.1);
    let widen = |(unscaled, of): (i128, u8)| unscaled.checked_mul(10i128.pow(u32::from(scale - of)));
    match (widen(a), widen(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        // Only the one with the smaller scale can overflow, and then it is the larger in magnitude.
        (None, _) => 0.cmp(&-a.0.signum()),
        (_, None) => 0.cmp(&b.0.signum()),
    }
}
