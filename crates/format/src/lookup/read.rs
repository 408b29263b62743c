//! Finding keys in a lookup file.

use std::cmp::Ordering;

use bytes::Bytes;

use super::block::Block;
use super::bloom::Bloom;
use super::seal::unseal;
use super::{FOOTER_LEN, Handle, MAGIC, TRAILER_LEN};
use crate::hash::hash_bytes;
use crate::row::{CompactOrder, Front};
use crate::{Error, Result};

/// Where the bytes of a lookup file come from.
pub trait BlockSource {
    /// `len` bytes from `offset` on.
    ///
    /// # Errors
    /// `Corrupt` when the file is shorter, `Unavailable` when it cannot be read.
    fn read(&self, offset: u64, len: usize) -> Result<Bytes>;
}

/// A lookup file: its index and bloom filter are in memory, its blocks are read when a key asks for them.
pub struct LookupReader<S> {
    source: S,
    order: CompactOrder,
    index: Block,
    bloom: Option<Bloom<Bytes>>,
    len: u64,
}

impl<S: BlockSource> LookupReader<S> {
    /// Opens a file of `len` bytes whose keys are in this order.
    ///
    /// # Errors
    /// `Corrupt` when it is no lookup file or is damaged, and whatever the source yields.
    pub fn open(source: S, len: u64, order: CompactOrder) -> Result<Self> {
        let start =
            len.checked_sub(FOOTER_LEN as u64).ok_or_else(|| Error::corrupt(format!("lookup file of {len} bytes")))?;
        let footer = source.read(start, FOOTER_LEN)?;
        let mut front = Front(&footer);
        let (offset, size, entries) = (long(&mut front)?, int(&mut front)?, long(&mut front)?);
        let index = Handle { offset: long(&mut front)?, size: int(&mut front)? };
        if int(&mut front)?.cast_signed() != MAGIC {
            return Err(Error::corrupt("a lookup file does not end with its magic number"));
        }
        let bloom = match (offset, size, entries) {
            (0, 0, 0) => None,
            _ => Some(Bloom::parse(read(&source, len, offset, size as usize)?, entries)?),
        };
        let index = Block::parse(unseal(read_sealed(&source, len, index)?)?)?;
        Ok(Self { source, order, index, bloom, len })
    }

    /// Bytes of the parts that are in memory.
    pub fn memory(&self) -> usize {
        self.index.bytes() + self.bloom.as_ref().map_or(0, Bloom::len)
    }

    /// Whether the key may be in the file, as far as its bloom filter tells.
    pub fn may_have(&self, key: &[u8]) -> bool {
        self.bloom.as_ref().is_none_or(|bloom| bloom.may_have(hash_bytes(key)))
    }

    /// The value of a key.
    ///
    /// # Errors
    /// `Corrupt` when a block is damaged, and whatever the source yields.
    pub fn find(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut value = None;
        self.find_sorted([key].into_iter(), |_, found| {
            value = Some(found.to_vec());
            Ok(())
        })?;
        Ok(value)
    }

    /// The values of keys in ascending order: `found` takes the number of a key and its value. Each block that is needed
    /// is read once.
    ///
    /// # Errors
    /// As [`LookupReader::find`], and whatever `found` yields.
    pub fn find_sorted<'k>(
        &self,
        keys: impl Iterator<Item = &'k [u8]>,
        mut found: impl FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut open: Option<(usize, Block)> = None;
        let (mut in_index, mut in_block) = (0, 0);
        for (number, key) in keys.enumerate() {
            if !self.may_have(key) {
                continue;
            }
            in_index = self.seek(&self.index, in_index, key)?.0;
            if in_index == self.index.len() {
                return Ok(());
            }
            if open.as_ref().is_none_or(|(at, _)| *at != in_index) {
                open = Some((in_index, self.block(in_index)?));
                in_block = 0;
            }
            let Some((_, block)) = &open else { continue };
            let (at, is_it) = self.seek(block, in_block, key)?;
            in_block = at;
            if is_it {
                found(number, block.entry(at)?.1)?;
            }
        }
        Ok(())
    }

    /// All entries in order.
    ///
    /// # Errors
    /// As [`LookupReader::find`], and whatever `each` yields.
    pub fn scan(&self, mut each: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        for at in 0..self.index.len() {
            let block = self.block(at)?;
            for entry in 0..block.len() {
                let (key, value) = block.entry(entry)?;
                each(key, value)?;
            }
        }
        Ok(())
    }

    /// Reads all of the file, for one that others wrote: its blocks have checksums and its bloom filter has none, so every key is
    /// asked of it. A filter that passes all keys hides none.
    ///
    /// # Errors
    /// `Corrupt` when a block is damaged or the filter hides a key, and whatever the source yields.
    pub fn check(&self) -> Result<()> {
        self.scan(|key, _| match self.may_have(key) {
            true => Ok(()),
            false => Err(Error::corrupt("the bloom filter of a lookup file hides a key")),
        })
    }

    fn block(&self, at: usize) -> Result<Block> {
        let mut place = Front(self.index.entry(at)?.1);
        let offset = place.var::<64>()?;
        let size = u32::try_from(place.var::<32>()?).map_err(|_| Error::corrupt("a block beyond 4 GiB"))?;
        Block::parse(unseal(read_sealed(&self.source, self.len, Handle { offset, size })?)?)
    }

    /// The first entry of a block from `from` on whose key is not less, and whether its key is the one.
    fn seek(&self, block: &Block, from: usize, key: &[u8]) -> Result<(usize, bool)> {
        let (mut low, mut high) = (from, block.len());
        // Keys of a batch lie close together: the search widens from where the last one ended.
        let mut step = 1;
        while low + step < high && self.order.compare(block.key(low + step)?, key)?.is_lt() {
            low += step;
            step *= 2;
        }
        high = high.min(low + step + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.order.compare(block.key(middle)?, key)? {
                Ordering::Equal => return Ok((middle, true)),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        Ok((low, false))
    }
}

fn long(front: &mut Front<'_>) -> Result<u64> {
    front.fixed().map(u64::from_le_bytes)
}

fn int(front: &mut Front<'_>) -> Result<u32> {
    front.fixed().map(u32::from_le_bytes)
}

fn read_sealed<S: BlockSource>(source: &S, len: u64, handle: Handle) -> Result<Bytes> {
    read(source, len, handle.offset, handle.size as usize + TRAILER_LEN)
}

fn read<S: BlockSource>(source: &S, file: u64, offset: u64, len: usize) -> Result<Bytes> {
    if offset.checked_add(len as u64).is_none_or(|end| end > file) {
        return Err(Error::corrupt(format!("a lookup file of {file} bytes names {len} bytes at {offset}")));
    }
    source.read(offset, len)
}
