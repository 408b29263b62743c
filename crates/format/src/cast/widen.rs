//! Casts that keep all values apart and in order, so that bounds and filters can be carried through them.
//!
//! A file may hold values that its type lacks: finer timestamps and longer texts. A cast counts only as what it does to these too.

use crate::datum::Datum;
use crate::types::Kind;

/// Whether the cast keeps every value, its order and its nullness.
pub(crate) fn is_widening(from: &Kind, to: &Kind) -> bool {
    let rank = |kind: &Kind| match kind {
        Kind::TinyInt => Some(1),
        Kind::SmallInt => Some(2),
        Kind::Int => Some(3),
        Kind::BigInt => Some(4),
        _ => None,
    };
    match (from, to) {
        _ if from == to => true,
        (Kind::Char(n) | Kind::Varchar(n), Kind::Varchar(m)) => m >= n,
        (Kind::Binary(n) | Kind::Varbinary(n), Kind::Varbinary(m)) => m >= n,
        (Kind::Decimal { precision: p, scale: s }, Kind::Decimal { precision: q, scale: t }) => {
            t >= s && q - t >= p - s
        }
        (Kind::Float, Kind::Double) => true,
        // All digits that the file's column can hold are kept, those beyond its precision as well.
        (Kind::Timestamp(p), Kind::Timestamp(q)) | (Kind::LocalZonedTimestamp(p), Kind::LocalZonedTimestamp(q)) => {
            q >= p && *q >= held_digits(*p)
        }
        _ => matches!((rank(from), rank(to)), (Some(from), Some(to)) if from <= to),
    }
}

/// Digits of a second that a column of a precision holds.
fn held_digits(precision: u8) -> u8 {
    match precision {
        0..=3 => 3,
        4..=6 => 6,
        _ => 9,
    }
}

/// The value in a type that its type widens to; `None` when it is no such value. A text that is too long is cut, as the cast does.
pub(crate) fn widen(value: &Datum, to: &Kind) -> Option<Datum> {
    Some(match (value, to) {
        (Datum::String(text), Kind::Varchar(length)) => {
            let end = text.char_indices().nth(*length as usize).map_or(text.len(), |(end, _)| end);
            Datum::String(text.get(..end)?.to_owned())
        }
        (Datum::Bytes(bytes), Kind::Varbinary(length)) => {
            Datum::Bytes(bytes.slice(..bytes.len().min(*length as usize)))
        }
        (Datum::Float(v), Kind::Double) => Datum::Double(f64::from(*v)),
        (Datum::Decimal { unscaled, scale: s, .. }, Kind::Decimal { precision, scale }) => {
            let unscaled = unscaled.checked_mul(10i128.checked_pow(u32::from(scale.checked_sub(*s)?))?)?;
            if unscaled.unsigned_abs() >= 10u128.checked_pow((*precision).into())? {
                return None;
            }
            Datum::Decimal { unscaled, precision: *precision, scale: *scale }
        }
        _ => return same(value, to),
    })
}

/// The value in a type that widens to its type; `None` when that type lacks it.
pub(crate) fn narrow(value: &Datum, to: &Kind) -> Option<Datum> {
    Some(match (value, to) {
        (Datum::Double(v), Kind::Float) => {
            let narrow = *v as f32;
            if f64::from(narrow) != *v {
                return None;
            }
            Datum::Float(narrow)
        }
        (Datum::Decimal { unscaled, scale: s, .. }, Kind::Decimal { precision, scale }) => {
            let power = 10i128.checked_pow(u32::from(s.checked_sub(*scale)?))?;
            let fits =
                unscaled % power == 0 && (unscaled / power).unsigned_abs() < 10u128.checked_pow((*precision).into())?;
            if !fits {
                return None;
            }
            Datum::Decimal { unscaled: unscaled / power, precision: *precision, scale: *scale }
        }
        (Datum::Timestamp { nanos, .. }, Kind::Timestamp(p) | Kind::LocalZonedTimestamp(p)) => {
            // What the Arrow type of this precision can hold.
            let unit = match p {
                0..=3 => 1_000_000,
                4..=6 => 1_000,
                _ => 1,
            };
            if nanos % unit != 0 {
                return None;
            }
            value.clone()
        }
        _ => return same(value, to),
    })
}

/// The value when both types have it in the same form, or as another integer.
fn same(value: &Datum, to: &Kind) -> Option<Datum> {
    let integer = match (value, to) {
        (Datum::TinyInt(v), _) => i64::from(*v),
        (Datum::SmallInt(v), _) => i64::from(*v),
        (Datum::Int(v), _) => i64::from(*v),
        (Datum::BigInt(v), _) => *v,
        (Datum::Boolean(_), Kind::Boolean)
        | (Datum::Float(_), Kind::Float)
        | (Datum::Double(_), Kind::Double)
        | (Datum::Date(_), Kind::Date)
        | (Datum::Time(_), Kind::Time(_))
        | (Datum::Timestamp { .. }, Kind::Timestamp(_) | Kind::LocalZonedTimestamp(_))
        | (Datum::String(_), Kind::Char(_) | Kind::Varchar(_))
        | (Datum::Bytes(_), Kind::Binary(_) | Kind::Varbinary(_) | Kind::Blob) => return Some(value.clone()),
        _ => return None,
    };
    match to {
        Kind::TinyInt => i8::try_from(integer).ok().map(Datum::TinyInt),
        Kind::SmallInt => i16::try_from(integer).ok().map(Datum::SmallInt),
        Kind::Int => i32::try_from(integer).ok().map(Datum::Int),
        Kind::BigInt => Some(Datum::BigInt(integer)),
        _ => None,
    }
}
