//! Writing a lookup file from keys in order.

use std::io::Write;

use super::block::BlockWriter;
use super::bloom::Bloom;
use super::seal::{BlockCodec, seal};
use super::{FOOTER_LEN, Handle, MAGIC, TRAILER_LEN};
use crate::hash::hash_bytes;
use crate::row::put_var_int;
use crate::{Error, Result};

/// What a lookup file is made like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WriteOptions {
    /// Bytes after which a block ends (`cache-page-size`).
    pub block_size: usize,
    /// Compression of blocks.
    pub codec: BlockCodec,
    /// Rate of false positives of the bloom filter, if there is one.
    pub bloom_fpp: Option<f64>,
}

/// A lookup file being written.
pub struct LookupWriter<W> {
    out: W,
    position: u64,
    options: WriteOptions,
    block: BlockWriter,
    index: BlockWriter,
    bloom: Option<Bloom<Vec<u8>>>,
    entries: u64,
    last_key: Vec<u8>,
}

impl<W: Write> LookupWriter<W> {
    /// Starts a file of `entries` keys.
    pub fn new(out: W, entries: u64, options: WriteOptions) -> Self {
        let bloom = options.bloom_fpp.and_then(|fpp| Bloom::new(entries, fpp));
        Self {
            out,
            position: 0,
            options,
            block: BlockWriter::default(),
            index: BlockWriter::default(),
            bloom,
            entries,
            last_key: Vec::new(),
        }
    }

    /// Appends a key that is greater than the one before, and its value.
    ///
    /// # Errors
    /// `Unavailable` when `out` fails.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.block.add(key, value);
        if let Some(bloom) = &mut self.bloom {
            bloom.add(hash_bytes(key));
        }
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
        if self.block.len() > self.options.block_size {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let block = self.block.finish();
        let handle = self.write_block(block)?;
        let mut place = Vec::new();
        put_var_int(&mut place, handle.offset);
        put_var_int(&mut place, u64::from(handle.size));
        self.index.add(&self.last_key, &place);
        Ok(())
    }

    fn write_block(&mut self, block: Vec<u8>) -> Result<Handle> {
        let sealed = seal(block, self.options.codec)?;
        let size = u32::try_from(sealed.len() - TRAILER_LEN).map_err(|_| Error::invalid("a block beyond 4 GiB"))?;
        let handle = Handle { offset: self.position, size };
        self.write(&sealed)?;
        Ok(handle)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.position += bytes.len() as u64;
        self.out.write_all(bytes).map_err(|e| Error::unavailable("a lookup file cannot be written").with_source(e))
    }

    /// Writes the rest; the file's bytes are complete then.
    ///
    /// # Errors
    /// As [`LookupWriter::put`].
    pub fn finish(mut self) -> Result<W> {
        self.flush()?;
        let mut footer = Vec::with_capacity(FOOTER_LEN);
        match self.bloom.take() {
            Some(bloom) => {
                footer.extend(self.position.to_le_bytes());
                footer.extend((bloom.bytes().len() as u32).to_le_bytes());
                footer.extend(self.entries.to_le_bytes());
                self.write(bloom.bytes())?;
            }
            None => footer.resize(20, 0),
        }
        let index = self.index.finish();
        let handle = self.write_block(index)?;
        footer.extend(handle.offset.to_le_bytes());
        footer.extend(handle.size.to_le_bytes());
        footer.extend(MAGIC.to_le_bytes());
        self.write(&footer)?;
        self.out.flush().map_err(|e| Error::unavailable("a lookup file cannot be written").with_source(e))?;
        Ok(self.out)
    }
}
