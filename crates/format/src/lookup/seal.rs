//! Blocks as they lie in the file: compressed where that pays, then codec and checksum.

use std::io::Read;

use bytes::Bytes;

use super::TRAILER_LEN;
use crate::row::{Front, put_var_int};
use crate::{Error, Result};

/// How blocks are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockCodec {
    /// Not at all.
    None,
    /// A zstd frame of this level.
    Zstd(i32),
    /// An lz4 block behind its two lengths.
    Lz4,
    /// An LZO1X block behind its two lengths.
    Lzo,
}

const ZSTD: u8 = 1;
const LZ4: u8 = 2;
const LZO: u8 = 3;

impl BlockCodec {
    /// The codec of `lookup.cache-spill-compression`, with the level for zstd.
    ///
    /// # Errors
    /// `Invalid` for another word.
    pub fn parse(word: &str, zstd_level: i32) -> Result<Self> {
        match word.trim().to_ascii_lowercase().as_str() {
            "none" => Ok(Self::None),
            "zstd" => Ok(Self::Zstd(zstd_level)),
            "lz4" => Ok(Self::Lz4),
            "lzo" => Ok(Self::Lzo),
            other => Err(Error::invalid(format!("compression {other} is not zstd, lz4, lzo or none"))),
        }
    }

    fn number(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Zstd(_) => ZSTD,
            Self::Lz4 => LZ4,
            Self::Lzo => LZO,
        }
    }

    fn compress(self, block: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut out = Vec::new();
        put_var_int(&mut out, block.len() as u64);
        match self {
            Self::None => return Ok(None),
            Self::Zstd(level) => {
                let packed = zstd::bulk::compress(block, level);
                out.extend(packed.map_err(|e| Error::internal("zstd cannot compress a block").with_source(e))?);
            }
            Self::Lz4 => put_sized(&mut out, block.len(), &lz4_flex::block::compress(block)),
            Self::Lzo => {
                let packed = lzokay_native::compress(block);
                let packed = packed.map_err(|e| Error::internal("lzo cannot compress a block").with_source(e))?;
                put_sized(&mut out, block.len(), &packed);
            }
        }
        Ok((out.len() < block.len() - block.len() / 8).then_some(out))
    }
}

/// Bytes behind their length and that of the block.
fn put_sized(out: &mut Vec<u8>, block: usize, packed: &[u8]) {
    out.extend((packed.len() as u32).to_le_bytes());
    out.extend((block as u32).to_le_bytes());
    out.extend(packed);
}

/// A block and its trailer. Compression must save an eighth, else the block stays as it is.
pub(super) fn seal(block: Vec<u8>, codec: BlockCodec) -> Result<Vec<u8>> {
    let (mut bytes, number) = match codec.compress(&block)? {
        Some(packed) => (packed, codec.number()),
        None => (block, 0),
    };
    let checksum = checksum(&bytes, number);
    bytes.push(number);
    bytes.extend(checksum.to_le_bytes());
    Ok(bytes)
}

/// The block in sealed bytes.
///
/// # Errors
/// `Corrupt` when the checksum is another, or the block none of its codec.
pub(super) fn unseal(mut sealed: Bytes) -> Result<Bytes> {
    let len = sealed.len().checked_sub(TRAILER_LEN).ok_or_else(|| Error::corrupt("a block without its trailer"))?;
    let trailer = sealed.split_off(len);
    let (number, expected) = match trailer.as_ref() {
        [number, a, b, c, d] => (*number, u32::from_le_bytes([*a, *b, *c, *d])),
        _ => return Err(Error::corrupt("a block without its trailer")),
    };
    let found = checksum(&sealed, number);
    if found != expected {
        return Err(Error::corrupt(format!("a block has checksum {found:08x} instead of {expected:08x}")));
    }
    if number == 0 {
        return Ok(sealed);
    }
    let mut front = Front(&sealed);
    let size = usize::try_from(front.var::<32>()?).unwrap_or(usize::MAX);
    let block = match number {
        ZSTD => unzstd(front.0, size)?,
        LZ4 => {
            front.fixed::<8>()?;
            let block = lz4_flex::block::decompress(front.0, size.min(MAX_BLOCK));
            block.map_err(|e| Error::corrupt("a block is not lz4").with_source(e))?
        }
        LZO => {
            front.fixed::<8>()?;
            let block = lzo::decompress(front.0, size.min(front.0.len().saturating_mul(LZO_MOST)));
            block.map_err(|e| Error::corrupt("a block is not lzo").with_source(e))?
        }
        other => return Err(Error::corrupt(format!("a block has codec {other}"))),
    };
    if block.len() != size {
        return Err(Error::corrupt(format!("a block has {} bytes instead of {size}", block.len())));
    }
    Ok(block.into())
}

/// Bytes that one byte of lzo stands for at the most.
const LZO_MOST: usize = 256;

/// A size that no block has, against lengths that are not what they seem.
const MAX_BLOCK: usize = 1 << 31;

fn unzstd(packed: &[u8], size: usize) -> Result<Vec<u8>> {
    let corrupt = |e| Error::corrupt("a block is not zstd").with_source(e);
    let mut block = Vec::with_capacity(size.min(packed.len().saturating_mul(64)));
    let decoder = zstd::stream::read::Decoder::with_buffer(packed).map_err(corrupt)?;
    decoder.take(size as u64 + 1).read_to_end(&mut block).map_err(corrupt)?;
    Ok(block)
}

fn checksum(block: &[u8], number: u8) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(block);
    hasher.update(&[number]);
    hasher.finalize()
}
