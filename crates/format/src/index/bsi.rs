//! `bsi`: numbers as bit slices of their magnitude, apart for those below zero and the others.

use roaring::RoaringBitmap;

use super::bytes::Reader;
use super::slices::Slices;
use crate::predicate::CompareOp;
use crate::types::Kind;
use crate::{Error, Result};

/// An index that is read.
pub(super) struct Bsi {
    rows: u32,
    positive: Half,
    negative: Half,
}

#[derive(Default)]
struct Half {
    min: u64,
    max: u64,
    slices: Slices,
}

impl Bsi {
    pub(super) fn parse(body: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(body);
        version(&mut reader)?;
        let rows = u32::try_from(reader.int()?).map_err(|_| Error::corrupt("bsi index has negative rows"))?;
        let positive = if reader.bool()? { Half::parse(&mut reader)? } else { Half::default() };
        let negative = if reader.bool()? { Half::parse(&mut reader)? } else { Half::default() };
        Ok(Self { rows, positive, negative })
    }

    pub(super) fn not_null(&self) -> RoaringBitmap {
        &self.positive.slices.rows | &self.negative.slices.rows
    }

    pub(super) fn nulls(&self) -> RoaringBitmap {
        let mut rows = RoaringBitmap::new();
        rows.insert_range(0..self.rows);
        rows - self.not_null()
    }

    /// Rows whose number compares so with `value`; `None` for the smallest BIGINT, whose magnitude no writer stores.
    pub(super) fn compare(&self, op: CompareOp, value: i64) -> Option<RoaringBitmap> {
        if value == i64::MIN {
            return None;
        }
        let magnitude = value.unsigned_abs();
        let (own, others) = if value < 0 { (&self.negative, &self.positive) } else { (&self.positive, &self.negative) };
        // Among negatives, the larger magnitude is the smaller number.
        let mirrored = match op {
            _ if value >= 0 => op,
            CompareOp::Lt => CompareOp::Gt,
            CompareOp::LtEq => CompareOp::GtEq,
            CompareOp::Gt => CompareOp::Lt,
            CompareOp::GtEq => CompareOp::LtEq,
            same => same,
        };
        let with_others = match op {
            CompareOp::Eq => false,
            CompareOp::NotEq => true,
            CompareOp::Lt | CompareOp::LtEq => value >= 0,
            CompareOp::Gt | CompareOp::GtEq => value < 0,
        };
        let found = own.compare(mirrored, magnitude);
        Some(if with_others { found | &others.slices.rows } else { found })
    }
}

impl Half {
    fn parse(reader: &mut Reader<'_>) -> Result<Self> {
        version(reader)?;
        let mut bound = || u64::try_from(reader.long()?).map_err(|_| Error::corrupt("bsi index has a negative bound"));
        let (min, max) = (bound()?, bound()?);
        let rows = reader.bitmap()?;
        let width = reader.count()?;
        if width > 64 {
            return Err(Error::corrupt("bsi index has more than 64 bits"));
        }
        let bits = (0..width).map(|_| reader.bitmap()).collect::<Result<Vec<_>>>()?;
        Ok(Self { min, max, slices: Slices { rows, bits } })
    }

    /// Slices hold what a number is above the smallest.
    fn compare(&self, op: CompareOp, value: u64) -> RoaringBitmap {
        let all = || self.slices.rows.clone();
        if value < self.min {
            return match op {
                CompareOp::Gt | CompareOp::GtEq | CompareOp::NotEq => all(),
                _ => RoaringBitmap::new(),
            };
        }
        if value > self.max {
            return match op {
                CompareOp::Lt | CompareOp::LtEq | CompareOp::NotEq => all(),
                _ => RoaringBitmap::new(),
            };
        }
        self.slices.compare(op, value - self.min)
    }
}

fn version(reader: &mut Reader<'_>) -> Result<()> {
    let version = reader.byte()?;
    if version > 1 { Err(Error::unsupported(format!("bsi index version {version}"))) } else { Ok(()) }
}

/// Whether bit-sliced indexes exist for a column.
pub(super) fn supports(kind: &Kind) -> bool {
    match kind {
        Kind::Decimal { precision, .. } => *precision <= 18,
        Kind::TinyInt | Kind::SmallInt | Kind::Int | Kind::BigInt | Kind::Date | Kind::Time(_) => true,
        Kind::Timestamp(_) | Kind::LocalZonedTimestamp(_) | Kind::WideTimestamp { .. } => true,
        _ => false,
    }
}
