//! The order of compacted keys: field by field, nulls first.

use std::cmp::Ordering;

use super::{Front, header_len};
use crate::datum::Float;
use crate::row::slot::MAX_COMPACT_TIMESTAMP;
use crate::types::{DataType, Kind, MAX_COMPACT_DECIMAL};
use crate::{Error, Result};

/// Compares compacted rows of some types.
#[derive(Debug, Clone)]
pub struct CompactOrder {
    kinds: Vec<Kind>,
}

impl CompactOrder {
    /// The order of rows of these types.
    ///
    /// # Errors
    /// `Unsupported` for a type without an order.
    pub fn new(types: &[DataType]) -> Result<Self> {
        for data_type in types {
            match &data_type.kind {
                Kind::Array(_)
                | Kind::Map(..)
                | Kind::Multiset(_)
                | Kind::Row(_)
                | Kind::Variant
                | Kind::Vector { .. } => {
                    return Err(Error::unsupported(format!("a lookup key of type {data_type}")));
                }
                _ => {}
            }
        }
        Ok(Self { kinds: types.iter().map(|t| t.kind.clone()).collect() })
    }

    /// Compares two keys.
    ///
    /// # Errors
    /// `Corrupt` when one of them is no row of the types.
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Result<Ordering> {
        let len = header_len(self.kinds.len());
        let (mut a, mut b) = (Front(a), Front(b));
        let (nulls_a, nulls_b) = (a.take(len)?, b.take(len)?);
        let is_null = |nulls: &[u8], i: usize| nulls.get((8 + i) / 8).is_some_and(|n| n >> ((8 + i) % 8) & 1 == 1);
        for (i, kind) in self.kinds.iter().enumerate() {
            let order = match (is_null(nulls_a, i), is_null(nulls_b, i)) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
                (false, false) => field(kind, &mut a, &mut b)?,
            };
            if order.is_ne() {
                return Ok(order);
            }
        }
        Ok(Ordering::Equal)
    }
}

fn float<F: Float>(a: F, b: F) -> Ordering {
    a.one_nan().order().cmp(&b.one_nan().order())
}

fn field(kind: &Kind, a: &mut Front<'_>, b: &mut Front<'_>) -> Result<Ordering> {
    Ok(match kind {
        Kind::Boolean => (a.fixed::<1>()? != [0]).cmp(&(b.fixed::<1>()? != [0])),
        Kind::TinyInt => i8::from_le_bytes(a.fixed()?).cmp(&i8::from_le_bytes(b.fixed()?)),
        Kind::SmallInt => i16::from_le_bytes(a.fixed()?).cmp(&i16::from_le_bytes(b.fixed()?)),
        Kind::Int | Kind::Date | Kind::Time(_) => i32::from_le_bytes(a.fixed()?).cmp(&i32::from_le_bytes(b.fixed()?)),
        Kind::Float => float(f32::from_le_bytes(a.fixed()?), f32::from_le_bytes(b.fixed()?)),
        Kind::Double => float(f64::from_le_bytes(a.fixed()?), f64::from_le_bytes(b.fixed()?)),
        Kind::Decimal { precision, .. } if *precision > MAX_COMPACT_DECIMAL => {
            decimal(a.counted()?)?.cmp(&decimal(b.counted()?)?)
        }
        Kind::BigInt | Kind::Decimal { .. } => i64::from_le_bytes(a.fixed()?).cmp(&i64::from_le_bytes(b.fixed()?)),
        Kind::Timestamp(p) | Kind::LocalZonedTimestamp(p) | Kind::WideTimestamp { precision: p, .. } => {
            let precise = *p > MAX_COMPACT_TIMESTAMP;
            timestamp(a, precise)?.cmp(&timestamp(b, precise)?)
        }
        _ => a.counted()?.cmp(b.counted()?),
    })
}

fn timestamp(front: &mut Front<'_>, precise: bool) -> Result<(i64, u64)> {
    let millis = i64::from_le_bytes(front.fixed()?);
    Ok((millis, if precise { front.var::<32>()? } else { 0 }))
}

fn decimal(bytes: &[u8]) -> Result<i128> {
    let negative = bytes.first().is_some_and(|b| b & 0x80 != 0);
    let mut wide = [if negative { 0xff } else { 0 }; 16];
    let start = 16usize.checked_sub(bytes.len()).filter(|_| !bytes.is_empty());
    match start.and_then(|start| wide.get_mut(start..)) {
        Some(place) => place.copy_from_slice(bytes),
        None => return Err(Error::corrupt(format!("decimal of {} bytes", bytes.len()))),
    }
    Ok(i128::from_be_bytes(wide))
}
