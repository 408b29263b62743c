//! Block compression of Avro containers: null, deflate, snappy, zstandard.

use std::io::{Read, Write};

use flate2::Compression;
use zstd::zstd_safe;

use crate::{Error, Result, checksum};

/// Largest decompressed block that is believed; writers make blocks of 64 kB, or of one entry if that is larger.
const MAX_BLOCK: usize = 256 << 20;

/// How the blocks of a container are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// Not at all.
    Null,
    /// Raw deflate.
    Deflate,
    /// Snappy with a CRC.
    Snappy,
    /// zstd at a level.
    Zstd(i32),
}

impl Codec {
    /// The codec that `manifest.compression` names, with the level of `file.compression.zstd-level`.
    ///
    /// # Errors
    /// `Unsupported` for names other than zstd, zstandard, snappy, deflate, null, none.
    pub fn parse(name: &str, zstd_level: i32) -> Result<Self> {
        match name.to_ascii_lowercase().as_str() {
            "zstd" | "zstandard" => Ok(Self::Zstd(zstd_level)),
            "snappy" => Ok(Self::Snappy),
            "deflate" => Ok(Self::Deflate),
            "null" | "none" => Ok(Self::Null),
            _ => Err(Error::unsupported(format!("manifest compression {name:?}"))
                .with_hint("use zstd, snappy, deflate or null")),
        }
    }

    /// The name in the container's header.
    pub(super) fn avro_name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Deflate => "deflate",
            Self::Snappy => "snappy",
            Self::Zstd(_) => "zstandard",
        }
    }

    /// Compresses one block.
    pub(super) fn compress(self, block: &[u8]) -> Result<Vec<u8>> {
        let failed = |e: std::io::Error| Error::internal("block does not compress").with_source(e);
        match self {
            Self::Null => Ok(block.to_vec()),
            Self::Deflate => {
                let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(block).map_err(failed)?;
                encoder.finish().map_err(failed)
            }
            Self::Snappy => {
                let mut out = snap::raw::Encoder::new()
                    .compress_vec(block)
                    .map_err(|e| Error::internal("block does not compress").with_source(e))?;
                out.extend_from_slice(&crc32fast::hash(block).to_be_bytes());
                Ok(out)
            }
            Self::Zstd(level) => checksum::zstd_frame(block, level).map_err(failed),
        }
    }
}

/// Decompresses blocks one after the other into a buffer that is reused.
pub(super) struct Decoder {
    codec: Codec,
    zstd: Option<zstd_safe::DCtx<'static>>,
}

fn corrupt() -> Error {
    Error::corrupt("avro block does not decompress")
}

impl Decoder {
    pub(super) fn new(codec: Codec) -> Self {
        Self { codec, zstd: None }
    }

    /// Replaces what is in `out` by the decompressed block.
    pub(super) fn decode(&mut self, block: &[u8], out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        match self.codec {
            Codec::Null => out.extend_from_slice(block),
            Codec::Deflate => {
                let limit = MAX_BLOCK as u64 + 1;
                flate2::read::DeflateDecoder::new(block)
                    .take(limit)
                    .read_to_end(out)
                    .map_err(|e| corrupt().with_source(e))?;
                if out.len() > MAX_BLOCK {
                    return Err(corrupt());
                }
            }
            Codec::Snappy => snappy(block, out)?,
            Codec::Zstd(_) => self.zstd(block, out)?,
        }
        Ok(())
    }

    /// Most writers leave the size out of the frame, so the buffer grows until the block fits.
    fn zstd(&mut self, block: &[u8], out: &mut Vec<u8>) -> Result<()> {
        const TOO_SMALL: usize = 0usize.wrapping_sub(70);
        let context = match &mut self.zstd {
            Some(context) => context,
            empty => empty.insert(zstd_safe::DCtx::try_create().ok_or_else(corrupt)?),
        };
        let mut room = out.capacity().max(256 << 10);
        loop {
            out.reserve_exact(room);
            match context.decompress(out, block) {
                Ok(_) => return Ok(()),
                Err(TOO_SMALL) if room < MAX_BLOCK => {
                    out.clear();
                    room = room.saturating_mul(4).min(MAX_BLOCK);
                }
                Err(code) => {
                    return Err(Error::corrupt(format!(
                        "avro block does not decompress: {}",
                        zstd_safe::get_error_name(code)
                    )));
                }
            }
        }
    }
}

fn snappy(block: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let (data, crc) = block.split_last_chunk::<4>().ok_or_else(corrupt)?;
    let size = snap::raw::decompress_len(data).map_err(|e| corrupt().with_source(e))?;
    // Snappy's densest form is a copy of 64 bytes in 3.
    if size > data.len().saturating_mul(64) || size > MAX_BLOCK {
        return Err(corrupt());
    }
    out.resize(size, 0);
    snap::raw::Decoder::new().decompress(data, out).map_err(|e| corrupt().with_source(e))?;
    if crc32fast::hash(out) != u32::from_be_bytes(*crc) {
        return Err(Error::corrupt("avro block fails its checksum"));
    }
    Ok(())
}
