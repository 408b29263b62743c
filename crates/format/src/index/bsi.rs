//! `bsi`: numbers as bit slices of their magnitude, apart for those below zero and the others.
//!
//! The smallest of 64 bits has no magnitude of 63 and is in no index: a file with one has no `bsi` index of the column.

use roaring::RoaringBitmap;

use super::bytes::{Reader, VERSION, int, next_row, put_bitmap, version};
use super::key::Key;
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

#[derive(Debug, Default)]
struct Half {
    min: u64,
    max: u64,
    slices: Slices,
}

impl Bsi {
    pub(super) fn parse(body: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(body);
        version(&mut reader, "bsi index")?;
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
        version(reader, "bsi index")?;
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

/// An index being built.
#[derive(Debug, Default)]
pub(super) struct Builder {
    rows: u32,
    positive: Half,
    negative: Half,
    beyond: bool,
}

impl Builder {
    pub(super) fn add(&mut self, key: Option<Key<&[u8]>>) -> Result<()> {
        let row = next_row(&mut self.rows)?;
        match key {
            None => Ok(()),
            Some(Key::Number(i64::MIN)) => {
                self.beyond = true;
                Ok(())
            }
            Some(Key::Number(n)) if n < 0 => self.negative.push(row, n.unsigned_abs()),
            Some(Key::Number(n)) => self.positive.push(row, n.unsigned_abs()),
            Some(_) => Err(Error::internal("a key does not fit its index")),
        }
    }

    /// The body; none where a number cannot be held.
    pub(super) fn into_bytes(self) -> Result<Option<Vec<u8>>> {
        if self.beyond {
            return Ok(None);
        }
        let mut out = vec![VERSION];
        out.extend(int(self.rows as usize)?.to_be_bytes());
        for half in [self.positive, self.negative] {
            out.push(u8::from(!half.slices.rows.is_empty()));
            if !half.slices.rows.is_empty() {
                half.put(&mut out)?;
            }
        }
        Ok(Some(out))
    }
}

impl Half {
    /// The smallest stays 0, as it does in the reference, so that the slices hold the magnitudes themselves.
    fn push(&mut self, row: u32, magnitude: u64) -> Result<()> {
        self.max = self.max.max(magnitude);
        self.slices.push(row, magnitude)
    }

    fn put(mut self, out: &mut Vec<u8>) -> Result<()> {
        self.slices.optimize();
        out.push(VERSION);
        out.extend(self.min.to_be_bytes());
        out.extend(self.max.to_be_bytes());
        put_bitmap(out, &self.slices.rows)?;
        out.extend(int(self.slices.bits.len())?.to_be_bytes());
        self.slices.bits.iter().try_for_each(|slice| put_bitmap(out, slice))
    }
}

/// Whether bit-sliced indexes exist for a column.
pub(super) fn supports(kind: &Kind) -> bool {
    match kind {
        // Of more than 18 digits too: see [`visit`](super::visit) for those that 64 bits do not hold.
        Kind::Decimal { .. }
        | Kind::TinyInt
        | Kind::SmallInt
        | Kind::Int
        | Kind::BigInt
        | Kind::Date
        | Kind::Time(_) => true,
        Kind::Timestamp(_) | Kind::LocalZonedTimestamp(_) | Kind::WideTimestamp { .. } => true,
        _ => false,
    }
}
