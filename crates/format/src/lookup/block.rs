//! One block: entries, and how to find the n-th of them.
//!
//! Where all entries have one size that size stands behind them, else the offset of each.

use bytes::Bytes;

use crate::row::{Front, put_var_int};
use crate::{Error, Result};

const ALIGNED: u8 = 0;
const UNALIGNED: u8 = 1;

/// A block being written.
#[derive(Debug, Default)]
pub(super) struct BlockWriter {
    bytes: Vec<u8>,
    starts: Vec<u32>,
    /// Size of all entries so far, while they agree.
    size: Option<usize>,
    ragged: bool,
}

impl BlockWriter {
    pub(super) fn add(&mut self, key: &[u8], value: &[u8]) {
        let start = self.bytes.len();
        put_var_int(&mut self.bytes, key.len() as u64);
        self.bytes.extend_from_slice(key);
        put_var_int(&mut self.bytes, value.len() as u64);
        self.bytes.extend_from_slice(value);
        self.starts.push(start as u32);
        let size = self.bytes.len() - start;
        self.ragged |= *self.size.get_or_insert(size) != size;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Bytes of the block if it ended here.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() + 5 + if self.ragged { self.starts.len() * 4 } else { 0 }
    }

    /// The block; the next one begins.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.bytes);
        match self.size.filter(|_| !self.ragged) {
            Some(size) => {
                bytes.extend((size as u32).to_le_bytes());
                bytes.push(ALIGNED);
            }
            None => {
                self.starts.iter().for_each(|start| bytes.extend(start.to_le_bytes()));
                bytes.extend((self.starts.len() as u32).to_le_bytes());
                bytes.push(UNALIGNED);
            }
        }
        *self = Self::default();
        bytes
    }
}

/// A block that is read.
#[derive(Debug, Clone)]
pub(super) struct Block {
    bytes: Bytes,
    /// Bytes of the entries.
    data: usize,
    /// Bytes of each entry, if all have so many.
    size: Option<usize>,
    count: usize,
}

impl Block {
    pub(super) fn parse(bytes: Bytes) -> Result<Self> {
        let damaged = || Error::corrupt(format!("a block of {} bytes contradicts itself", bytes.len()));
        let end = bytes.len().checked_sub(5).ok_or_else(damaged)?;
        let (number, kind) = bytes.get(end..).and_then(|t| t.split_last_chunk::<1>()).ok_or_else(damaged)?;
        let number = u32::from_le_bytes(number.try_into().map_err(|_| damaged())?) as usize;
        let (data, size, count) = match kind {
            [ALIGNED] if number > 0 && end % number == 0 => (end, Some(number), end / number),
            [UNALIGNED] => {
                let index = number.checked_mul(4).ok_or_else(damaged)?;
                (end.checked_sub(index).ok_or_else(damaged)?, None, number)
            }
            _ => return Err(damaged()),
        };
        Ok(Self { bytes, data, size, count })
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Key and value of an entry.
    pub(super) fn entry(&self, at: usize) -> Result<(&[u8], &[u8])> {
        let mut front = Front(self.from(at)?);
        Ok((front.counted()?, front.counted()?))
    }

    pub(super) fn key(&self, at: usize) -> Result<&[u8]> {
        Front(self.from(at)?).counted()
    }

    fn from(&self, at: usize) -> Result<&[u8]> {
        let start = match self.size {
            Some(size) => Some(at * size),
            None => {
                let place = self.data + at * 4;
                let offset = self.bytes.get(place..place + 4).and_then(|b| b.try_into().ok());
                offset.map(|b| u32::from_le_bytes(b) as usize)
            }
        };
        let data = self.bytes.get(..self.data).filter(|_| at < self.count);
        start
            .and_then(|start| data?.get(start..))
            .ok_or_else(|| Error::corrupt(format!("entry {at} of a block lies beyond its end")))
    }
}
