//! Values as indexes know them: numbers, floats in their total order, and bytes.
//!
//! Timestamps are milliseconds up to precision 3 and microseconds above; a literal (or a column) with finer digits is
//! known only to the unit below, which [`Literal::loose`] says.

use super::bytes::Reader;
use crate::datum::{Datum, Float};
use crate::types::Kind;
use crate::{Error, Result};

/// A value; ordered as the reference orders it (NaN above all, -0.0 below 0.0).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key<B = Vec<u8>> {
    Number(i64),
    /// A FLOAT by its order.
    Float(i32),
    /// A DOUBLE by its order.
    Double(i64),
    Bytes(B),
}

impl Key<&[u8]> {
    /// The same value, to keep.
    pub(super) fn kept(self) -> Key {
        match self {
            Self::Number(n) => Key::Number(n),
            Self::Float(order) => Key::Float(order),
            Self::Double(order) => Key::Double(order),
            Self::Bytes(bytes) => Key::Bytes(bytes.to_vec()),
        }
    }
}

/// A literal of a predicate.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Literal {
    pub(super) key: Key,
    /// The key stands for a range of values of which the literal is one.
    pub(super) loose: bool,
}

/// How a column's values are laid out in dictionaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    Boolean,
    Byte,
    Short,
    Int,
    Long,
    Float,
    Double,
    Bytes,
}

impl Layout {
    /// The layout of a column's values; `None` for types that dictionaries do not hold.
    pub(super) fn of(kind: &Kind) -> Option<Self> {
        Some(match kind {
            Kind::Boolean => Self::Boolean,
            Kind::TinyInt => Self::Byte,
            Kind::SmallInt => Self::Short,
            Kind::Int | Kind::Date | Kind::Time(_) => Self::Int,
            Kind::BigInt | Kind::Timestamp(_) | Kind::LocalZonedTimestamp(_) | Kind::WideTimestamp { .. } => Self::Long,
            Kind::Float => Self::Float,
            Kind::Double => Self::Double,
            Kind::Char(_) | Kind::Varchar(_) => Self::Bytes,
            _ => return None,
        })
    }

    pub(super) fn read(self, reader: &mut Reader<'_>) -> Result<Key> {
        Ok(match self {
            Self::Boolean => Key::Number(i64::from(reader.bool()?)),
            Self::Byte => Key::Number(i8::from_be_bytes(reader.array()?).into()),
            Self::Short => Key::Number(i16::from_be_bytes(reader.array()?).into()),
            Self::Int => Key::Number(reader.int()?.into()),
            Self::Long => Key::Number(reader.long()?),
            Self::Float => Key::Float(f32::from_be_bytes(reader.array()?).one_nan().order()),
            Self::Double => Key::Double(f64::from_be_bytes(reader.array()?).one_nan().order()),
            Self::Bytes => {
                let length = reader.length()?;
                Key::Bytes(reader.take(length)?.to_vec())
            }
        })
    }

    pub(super) fn write<B: AsRef<[u8]>>(self, key: &Key<B>, out: &mut Vec<u8>) -> Result<()> {
        let misfit = || Error::internal("a key does not fit its index");
        match (self, key) {
            (Self::Boolean, Key::Number(n)) => out.push(u8::from(*n != 0)),
            (Self::Byte, Key::Number(n)) => out.extend(i8::try_from(*n).map_err(|_| misfit())?.to_be_bytes()),
            (Self::Short, Key::Number(n)) => out.extend(i16::try_from(*n).map_err(|_| misfit())?.to_be_bytes()),
            (Self::Int, Key::Number(n)) => out.extend(i32::try_from(*n).map_err(|_| misfit())?.to_be_bytes()),
            (Self::Long, Key::Number(n)) => out.extend(n.to_be_bytes()),
            (Self::Float, Key::Float(order)) => out.extend(f32::from_order(*order).to_be_bytes()),
            (Self::Double, Key::Double(order)) => out.extend(f64::from_order(*order).to_be_bytes()),
            (Self::Bytes, Key::Bytes(bytes)) => {
                let bytes = bytes.as_ref();
                out.extend(super::bytes::int(bytes.len())?.to_be_bytes());
                out.extend_from_slice(bytes);
            }
            _ => return Err(misfit()),
        }
        Ok(())
    }
}

/// A literal for a column of `kind`; `None` when its type is another, or it is NaN, which engines compare differently.
pub(super) fn literal(datum: &Datum, kind: &Kind) -> Option<Literal> {
    let key = match (datum, kind) {
        (Datum::Boolean(b), Kind::Boolean) => Key::Number(i64::from(*b)),
        (Datum::TinyInt(n), Kind::TinyInt) => Key::Number(i64::from(*n)),
        (Datum::SmallInt(n), Kind::SmallInt) => Key::Number(i64::from(*n)),
        (Datum::Int(n), Kind::Int) | (Datum::Date(n), Kind::Date) | (Datum::Time(n), Kind::Time(_)) => {
            Key::Number(i64::from(*n))
        }
        (Datum::BigInt(n), Kind::BigInt) => Key::Number(*n),
        (Datum::Float(f), Kind::Float) if !f.is_nan() => Key::Float(f.one_nan().order()),
        (Datum::Double(f), Kind::Double) if !f.is_nan() => Key::Double(f.one_nan().order()),
        (Datum::String(s), Kind::Char(_) | Kind::Varchar(_)) => Key::Bytes(s.as_bytes().to_vec()),
        (Datum::Bytes(b), Kind::Binary(_) | Kind::Varbinary(_)) => Key::Bytes(b.to_vec()),
        (Datum::Decimal { unscaled, scale, .. }, Kind::Decimal { scale: to, .. }) if scale == to => {
            Key::Number(i64::try_from(*unscaled).ok()?)
        }
        (
            Datum::Timestamp { millis, nanos },
            Kind::Timestamp(p) | Kind::LocalZonedTimestamp(p) | Kind::WideTimestamp { precision: p, .. },
        ) => {
            return timestamp(*millis, *nanos, *p);
        }
        _ => return None,
    };
    Some(Literal { key, loose: false })
}

fn timestamp(millis: i64, nanos: i32, precision: u8) -> Option<Literal> {
    let (key, finer) = if precision <= 3 {
        (millis, nanos != 0)
    } else {
        (millis.checked_mul(1000)?.checked_add(i64::from(nanos / 1000))?, nanos % 1000 != 0)
    };
    Some(Literal { key: Key::Number(key), loose: finer || precision > 6 })
}
