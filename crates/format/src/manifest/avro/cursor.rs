//! A bounds-checked reader of Avro's binary encoding.

use crate::{Error, Result};

/// Reads forward through a slice; every read past its end is `Corrupt`.
pub(in crate::manifest) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

#[cold]
fn short() -> Error {
    Error::corrupt("avro data ends in the middle of a value")
}

#[cold]
fn overlong() -> Error {
    Error::corrupt("avro number is longer than 64 bits")
}

impl<'a> Cursor<'a> {
    pub(in crate::manifest) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(in crate::manifest) fn position(&self) -> usize {
        self.at
    }

    pub(in crate::manifest) fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// An `int` or `long`: zigzag, seven bits a byte, lowest first.
    #[inline]
    pub(in crate::manifest) fn long(&mut self) -> Result<i64> {
        let first = *self.bytes.get(self.at).ok_or_else(short)?;
        if first < 0x80 {
            self.at += 1;
            return Ok(unzigzag(u64::from(first)));
        }
        self.wide_long()
    }

    fn wide_long(&mut self) -> Result<i64> {
        let mut value = 0u64;
        let mut shift = 0;
        loop {
            let byte = *self.bytes.get(self.at).ok_or_else(short)?;
            self.at += 1;
            if shift == 63 && byte > 1 {
                return Err(overlong());
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(unzigzag(value));
            }
            shift += 7;
        }
    }

    /// The next `len` bytes.
    #[inline]
    pub(in crate::manifest) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(len).ok_or_else(short)?;
        let bytes = self.bytes.get(self.at..end).ok_or_else(short)?;
        self.at = end;
        Ok(bytes)
    }

    /// `bytes` or `string`: a length and so many bytes.
    #[inline]
    pub(in crate::manifest) fn bytes(&mut self) -> Result<&'a [u8]> {
        let len = usize::try_from(self.long()?).map_err(|_| short())?;
        self.take(len)
    }

    /// The items in the next block of an array or map; 0 ends it. `item_size` is the least that one item takes.
    #[inline]
    pub(in crate::manifest) fn block(&mut self) -> Result<usize> {
        let mut count = self.long()?;
        if count < 0 {
            self.long()?;
            count = count.checked_neg().ok_or_else(short)?;
        }
        let count = usize::try_from(count).map_err(|_| short())?;
        if count > self.remaining() {
            return Err(short());
        }
        Ok(count)
    }

    /// What was read since `start`.
    #[inline]
    pub(in crate::manifest) fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }
}

#[inline]
fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}
