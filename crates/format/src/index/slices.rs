//! Comparing bit-sliced numbers: a bitmap of the rows that have a number, and one for each bit.

use roaring::RoaringBitmap;

use crate::predicate::CompareOp;

/// Rows and the bits of their numbers, lowest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Slices {
    pub(super) rows: RoaringBitmap,
    pub(super) bits: Vec<RoaringBitmap>,
}

impl Slices {
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
