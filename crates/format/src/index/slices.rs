//! Bit-sliced numbers: a bitmap of the rows that have a number, and one for each bit.

use roaring::RoaringBitmap;

use crate::predicate::CompareOp;
use crate::{Error, Result};

/// Rows and the bits of their numbers, lowest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Slices {
    pub(super) rows: RoaringBitmap,
    pub(super) bits: Vec<RoaringBitmap>,
}

impl Slices {
    /// Adds the number of a row that follows all those that are there.
    pub(super) fn push(&mut self, row: u32, number: u64) -> Result<()> {
        let misplaced = |_| Error::internal("rows of a file index are out of order");
        self.rows.try_push(row).map_err(misplaced)?;
        let mut left = number;
        while left != 0 {
            let bit = left.trailing_zeros() as usize;
            if self.bits.len() <= bit {
                self.bits.resize(bit + 1, RoaringBitmap::new());
            }
            if let Some(slice) = self.bits.get_mut(bit) {
                slice.try_push(row).map_err(misplaced)?;
            }
            left &= left - 1;
        }
        Ok(())
    }

    /// Compresses runs of rows, as the reference does before it writes.
    pub(super) fn optimize(&mut self) {
        self.rows.optimize();
        for slice in &mut self.bits {
            slice.optimize();
        }
    }

    /// Rows whose number compares so with `value` (O'Neil's algorithm).
    pub(super) fn compare(&self, op: CompareOp, value: u64) -> RoaringBitmap {
        let width = self.bits.len();
        if width < 64 && value >> width != 0 {
            // Larger than any number there is.
            return match op {
                CompareOp::Lt | CompareOp::LtEq | CompareOp::NotEq => self.rows.clone(),
                CompareOp::Eq | CompareOp::Gt | CompareOp::GtEq => RoaringBitmap::new(),
            };
        }
        let (mut less, mut equal, mut greater) = (RoaringBitmap::new(), self.rows.clone(), RoaringBitmap::new());
        for (i, slice) in self.bits.iter().enumerate().rev() {
            if value >> i & 1 == 1 {
                less |= &equal - slice;
                equal &= slice;
            } else {
                greater |= &equal & slice;
                equal -= slice;
            }
        }
        match op {
            CompareOp::Eq => equal,
            CompareOp::NotEq => &self.rows - &equal,
            CompareOp::Lt => less,
            CompareOp::LtEq => less | equal,
            CompareOp::Gt => greater,
            CompareOp::GtEq => greater | equal,
        }
    }
}
