//! Bits and bytes as runs: the format's run length encoding of bytes, in which nulls, BOOLEAN and TINYINT are written.

use arrow_buffer::{BooleanBuffer, NullBuffer};

/// Equal bytes that make a run, at the least and at the most.
const RUN: std::ops::RangeInclusive<usize> = 3..=130;
/// Bytes that are written as they are, at the most.
const PLAIN: usize = 128;

/// Bytes as runs: one that counts equal bytes beyond three, or, as a negative number, those that follow.
pub(super) fn runs(mut bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() / 8 + 2);
    while let Some(first) = bytes.first() {
        let equal = bytes.iter().take(*RUN.end()).take_while(|b| *b == first).count();
        if RUN.contains(&equal) {
            out.extend([(equal - RUN.start()) as u8, *first]);
            bytes = &bytes[equal..];
            continue;
        }
        let run = bytes.windows(*RUN.start()).position(|w| w.iter().all(|b| *b == w[0]));
        let (plain, rest) = bytes.split_at(run.unwrap_or(bytes.len()).min(PLAIN));
        out.push((plain.len() as u8).wrapping_neg());
        out.extend_from_slice(plain);
        bytes = rest;
    }
    out
}

/// Bits in a row, the first in the highest place of its byte.
#[derive(Default)]
pub(super) struct Bits {
    bytes: Vec<u8>,
    length: usize,
}

impl Bits {
    pub(super) fn extend(&mut self, bits: &BooleanBuffer) {
        for bit in bits {
            if self.length.is_multiple_of(8) {
                self.bytes.push(0);
            }
            if let Some(last) = self.bytes.last_mut() {
                *last |= u8::from(bit) << (7 - self.length % 8);
            }
            self.length += 1;
        }
    }

    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The bits as runs; none are left.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        runs(&std::mem::take(self).bytes)
    }
}

/// Which rows are not null; bits from the first null on, as a column without nulls has none.
#[derive(Default)]
pub(super) struct Present {
    rows: usize,
    bits: Option<Bits>,
}

impl Present {
    pub(super) fn extend(&mut self, rows: usize, nulls: Option<&NullBuffer>) {
        let before = self.rows;
        self.rows += rows;
        match (nulls, &mut self.bits) {
            (None, None) => {}
            (None, Some(bits)) => bits.extend(&BooleanBuffer::new_set(rows)),
            (Some(nulls), Some(bits)) => bits.extend(nulls.inner()),
            (Some(nulls), none) => {
                let bits = none.insert(Bits::default());
                bits.extend(&BooleanBuffer::new_set(before));
                bits.extend(nulls.inner());
            }
        }
    }

    pub(super) fn size(&self) -> usize {
        self.bits.as_ref().map_or(0, Bits::size)
    }

    /// The bits as runs if there was a null; nothing is left.
    pub(super) fn finish(&mut self) -> Option<Vec<u8>> {
        std::mem::take(self).bits.map(|mut bits| bits.finish())
    }
}
