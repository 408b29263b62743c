//! Sections of a file in compressed chunks, each with a header of three bytes.

use std::io::Write;

use crate::file::FileWrite;
use crate::{Error, Result};

const LEVEL: &str = "orc.compression.zstd.level";
/// Bytes of a chunk before compression, at the most.
pub(super) const CHUNK: usize = 256 << 10;

/// How the sections of a file are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    None,
    Zlib,
    Snappy,
    Lz4,
    Zstd { level: i32 },
}

impl Codec {
    /// The codec that `orc.compress` or `file.compression` names.
    ///
    /// # Errors
    /// `Unsupported` naming the codec, `Invalid` for a level that is no number.
    pub(super) fn of(write: &FileWrite) -> Result<Self> {
        let name = write.options.raw("orc.compress").unwrap_or(&write.compression);
        match name.to_ascii_lowercase().as_str() {
            "none" | "uncompressed" | "" => Ok(Self::None),
            "zstd" => Ok(Self::Zstd { level: level(write)? }),
            "snappy" => Ok(Self::Snappy),
            "lz4" => Ok(Self::Lz4),
            "zlib" => Ok(Self::Zlib),
            other => Err(Error::unsupported(format!("orc codec {other}"))),
        }
    }

    /// The codec's number in the end of a file.
    pub(super) fn number(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Zlib => 1,
            Self::Snappy => 2,
            Self::Lz4 => 4,
            Self::Zstd { .. } => 5,
        }
    }

    /// A section as it is in the file.
    pub(super) fn section(self, bytes: Vec<u8>) -> Result<Vec<u8>> {
        if self == Self::None {
            return Ok(bytes);
        }
        let mut out = Vec::with_capacity(bytes.len() / 2 + 16);
        for chunk in bytes.chunks(CHUNK) {
            let failed = |e| Error::internal("orc chunk does not compress").with_source(e);
            let small = self.compress(chunk).map_err(failed)?;
            let (body, plain) = if small.len() < chunk.len() { (small.as_slice(), 0) } else { (chunk, 1) };
            out.extend_from_slice(&((body.len() as u32) << 1 | plain).to_le_bytes()[..3]);
            out.extend_from_slice(body);
        }
        Ok(out)
    }

    fn compress(self, chunk: &[u8]) -> std::io::Result<Vec<u8>> {
        match self {
            Self::None => Ok(chunk.to_vec()),
            Self::Zlib => {
                let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
                encoder.write_all(chunk)?;
                encoder.finish()
            }
            Self::Snappy => Ok(snap::raw::Encoder::new().compress_vec(chunk)?),
            Self::Lz4 => Ok(lz4_flex::block::compress(chunk)),
            Self::Zstd { level } => zstd::bulk::compress(chunk, level),
        }
    }
}

fn level(write: &FileWrite) -> Result<i32> {
    let Some(text) = write.options.raw(LEVEL) else { return Ok(write.zstd_level) };
    text.trim().parse().map_err(|_| Error::invalid(format!("{text} is not a level of zstd")).with("option", LEVEL))
}
