//! Compacted rows: a header of row kind and null bits, then the fields that are not null without padding (spec:
//! format.md C.12). Keys and values of lookup files are such rows.
//!
//! Arrays, maps and vectors inside lie as in binary rows, rows inside as compacted rows.

mod decode;
mod encode;
mod order;
#[cfg(test)]
mod tests;

pub use decode::columns_from_compact;
pub use encode::compact_rows;
pub use order::CompactOrder;

use crate::{Error, Result};

/// Bytes of the header: the row kind and a bit for each field.
fn header_len(arity: usize) -> usize {
    (arity + 7 + 8) / 8
}

/// Appends a length as groups of 7 bits, the least first.
pub(crate) fn put_var_int(out: &mut Vec<u8>, value: u64) {
    let mut rest = value;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Bytes that are read from the front.
#[derive(Clone, Copy)]
pub(crate) struct Front<'a>(pub(crate) &'a [u8]);

impl<'a> Front<'a> {
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or_else(|| Error::corrupt("compacted bytes end early"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn fixed<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) =
            self.0.split_first_chunk::<N>().ok_or_else(|| Error::corrupt("compacted bytes end early"))?;
        self.0 = rest;
        Ok(*taken)
    }

    /// A number in groups of 7 bits of at most `BITS` bits.
    pub(crate) fn var<const BITS: u32>(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..BITS).step_by(7) {
            let [byte] = self.fixed()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Error::corrupt("a number of variable length does not end"))
    }

    /// Bytes behind their length.
    pub(crate) fn counted(&mut self) -> Result<&'a [u8]> {
        let len = self.var::<32>()?;
        self.take(usize::try_from(len).unwrap_or(usize::MAX))
    }
}
