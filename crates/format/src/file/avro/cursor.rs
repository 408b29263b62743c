//! Reading Avro's binary encoding from a slice; no length is believed beyond the bytes that are there.

use crate::{Error, Result};

/// A position in decoded block bytes.
pub(super) struct Cursor<'a> {
    data: &'a [u8],
}

#[cold]
fn short() -> Error {
    Error::corrupt("avro value reaches beyond its block")
}

impl<'a> Cursor<'a> {
    pub(super) fn new(data: &'a [u8]) -> Self {
        Self { data }
    }

    pub(super) fn remaining(&self) -> usize {
        self.data.len()
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        let (first, rest) = self.data.split_first().ok_or_else(short)?;
        self.data = rest;
        Ok(*first)
    }

    pub(super) fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let (head, rest) = self.data.split_at_checked(n).ok_or_else(short)?;
        self.data = rest;
        Ok(head)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, rest) = self.data.split_first_chunk::<N>().ok_or_else(short)?;
        self.data = rest;
        Ok(*head)
    }

    /// A zigzag varint of at most ten bytes.
    pub(super) fn long(&mut self) -> Result<i64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(zigzag(value));
            }
        }
        Err(Error::corrupt("avro number has more than ten bytes"))
    }

    /// The bytes of a `bytes` or `string` value.
    pub(super) fn bytes(&mut self) -> Result<&'a [u8]> {
        let length = usize::try_from(self.long()?).map_err(|_| short())?;
        self.take(length)
    }

    /// The item count of the next block of an array or a map, 0 at the end. Items take at least a byte each.
    pub(super) fn block(&mut self) -> Result<usize> {
        let count = self.long()?;
        if count < 0 {
            self.long()?;
        }
        let count = usize::try_from(count.unsigned_abs()).map_err(|_| short())?;
        if count > self.remaining() {
            return Err(short());
        }
        Ok(count)
    }
}

/// Zigzag to signed.
pub(super) fn zigzag(value: u64) -> i64 {
    // The casts reinterpret the bits, which is what zigzag means.
    ((value >> 1) as i64) ^ -((value & 1) as i64)
}

/// Appends a zigzag varint.
pub(super) fn put_long(out: &mut Vec<u8>, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Appends `bytes` with their length.
pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_long(out, bytes.len() as i64);
    out.extend_from_slice(bytes);
}
