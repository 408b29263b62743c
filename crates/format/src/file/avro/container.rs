//! The object container: header, blocks, codecs, and sync markers.
//!
//! Every length is checked against the bytes of the file, and decompression grows with what it yields, so that a
//! corrupt length cannot ask for memory.

use std::io::{Read, Write};
use std::sync::Arc;

use bytes::Bytes;

use super::cursor::zigzag;
use super::schema::Schema;
use crate::file::RangeReader;
use crate::{Error, Result, checksum};

/// First bytes of a container.
pub(super) const MAGIC: &[u8; 4] = b"Obj\x01";
/// Bytes fetched at a time, at the least.
const CHUNK: u64 = 4 << 20;
/// Bytes of a decompressed block, at the most.
const MAX_BLOCK: u64 = 1 << 30;

/// How blocks are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    Null,
    Deflate,
    Snappy,
    Zstandard { level: i32 },
}

impl Codec {
    /// The codec of a header's `avro.codec` or of an option.
    ///
    /// # Errors
    /// `Unsupported` naming the codec.
    pub(super) fn parse(name: &str, level: i32) -> Result<Self> {
        match name.to_ascii_lowercase().as_str() {
            "null" | "none" | "uncompressed" | "" => Ok(Self::Null),
            "deflate" => Ok(Self::Deflate),
            "snappy" => Ok(Self::Snappy),
            "zstandard" | "zstd" => Ok(Self::Zstandard { level }),
            other => Err(Error::unsupported(format!("avro codec {other:?}"))),
        }
    }

    /// The name in a header.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Deflate => "deflate",
            Self::Snappy => "snappy",
            Self::Zstandard { .. } => "zstandard",
        }
    }

    pub(super) fn decompress(self, data: Bytes) -> Result<Bytes> {
        let failed = |e: std::io::Error| Error::corrupt("avro block does not decompress").with_source(e);
        match self {
            Self::Null => Ok(data),
            Self::Deflate => drain(flate2::read::DeflateDecoder::new(&data[..])),
            Self::Zstandard { .. } => drain(zstd::stream::read::Decoder::new(&data[..]).map_err(failed)?),
            Self::Snappy => unsnap(&data),
        }
    }

    pub(super) fn compress(self, data: &[u8]) -> Result<Vec<u8>> {
        let failed = |e: std::io::Error| Error::internal("avro block does not compress").with_source(e);
        match self {
            Self::Null => Ok(data.to_vec()),
            Self::Deflate => {
                let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
                encoder.write_all(data).and_then(|()| encoder.finish()).map_err(failed)
            }
            Self::Zstandard { level } => checksum::zstd_frame(data, level).map_err(failed),
            Self::Snappy => {
                let mut out = snap::raw::Encoder::new()
                    .compress_vec(data)
                    .map_err(|e| Error::internal("avro block does not compress").with_source(e))?;
                out.extend_from_slice(&crc32fast::hash(data).to_be_bytes());
                Ok(out)
            }
        }
    }
}

fn drain(reader: impl Read) -> Result<Bytes> {
    let mut out = Vec::new();
    let mut reader = reader.take(MAX_BLOCK + 1);
    reader.read_to_end(&mut out).map_err(|e| Error::corrupt("avro block does not decompress").with_source(e))?;
    if out.len() as u64 > MAX_BLOCK {
        return Err(Error::corrupt("avro block is larger than 1 GiB"));
    }
    Ok(out.into())
}

fn unsnap(data: &[u8]) -> Result<Bytes> {
    let bad = || Error::corrupt("avro block does not decompress");
    let (body, crc) = data.split_last_chunk::<4>().ok_or_else(bad)?;
    let length = snap::raw::decompress_len(body).map_err(|e| bad().with_source(e))?;
    // A snappy copy yields at most 64 bytes out of 2, so a larger promise is a lie.
    if length as u64 > MAX_BLOCK || length / 32 > body.len() {
        return Err(bad());
    }
    let out = snap::raw::Decoder::new().decompress_vec(body).map_err(|e| bad().with_source(e))?;
    if crc32fast::hash(&out) != u32::from_be_bytes(*crc) {
        return Err(Error::corrupt("avro block has a wrong checksum"));
    }
    Ok(out.into())
}

/// One block, decompressed.
pub(super) struct Block {
    pub(super) rows: usize,
    pub(super) data: Bytes,
}

/// A container being read from front to back.
pub(super) struct Container {
    source: Arc<dyn RangeReader>,
    /// Bytes fetched and not consumed.
    buffer: Bytes,
    /// File offset behind the buffer.
    end: u64,
    codec: Codec,
    sync: Bytes,
}

impl Container {
    /// Reads the header.
    ///
    /// # Errors
    /// `Corrupt` when it is not an Avro file, `Unsupported` for an unknown codec.
    pub(super) async fn open(source: Arc<dyn RangeReader>) -> Result<(Self, Schema)> {
        let mut this = Self { source, buffer: Bytes::new(), end: 0, codec: Codec::Null, sync: Bytes::new() };
        if this.take(4).await? != MAGIC[..] {
            return Err(Error::corrupt("not an avro file"));
        }
        let (mut schema, mut sum) = (None, None);
        loop {
            let count = this.long().await?;
            if count == 0 {
                break;
            }
            if count < 0 {
                this.long().await?;
            }
            for _ in 0..count.unsigned_abs() {
                let key = this.bytes().await?;
                let value = this.bytes().await?;
                match &key[..] {
                    b"avro.schema" => schema = Some(value),
                    checksum::HEADER_KEY => sum = Some(value),
                    b"avro.codec" => this.codec = Codec::parse(&String::from_utf8_lossy(&value), 1)?,
                    _ => {}
                }
            }
        }
        this.sync = this.take(16).await?;
        let schema = schema.ok_or_else(|| Error::corrupt("avro header has no schema"))?;
        checksum::check_schema(&schema, sum.as_deref())?;
        Ok((this, Schema::parse(&schema)?))
    }

    /// The next block, or none at the end of the file.
    pub(super) async fn next(&mut self) -> Result<Option<Block>> {
        if self.buffer.is_empty() && self.end >= self.source.size() {
            return Ok(None);
        }
        let rows = self.long().await?;
        let data = self.bytes().await?;
        if self.take(16).await? != self.sync {
            return Err(Error::corrupt("avro block does not end with the sync marker"));
        }
        let data = self.codec.decompress(data)?;
        let rows = usize::try_from(rows).map_err(|_| Error::corrupt("avro block has a negative row count"))?;
        if rows > data.len() {
            return Err(Error::corrupt("avro block has more rows than bytes"));
        }
        Ok(Some(Block { rows, data }))
    }

    async fn take(&mut self, n: usize) -> Result<Bytes> {
        if self.buffer.len() < n {
            self.fetch(n).await?;
        }
        Ok(self.buffer.split_to(n))
    }

    async fn fetch(&mut self, n: usize) -> Result<()> {
        let missing = (n - self.buffer.len()) as u64;
        let left = self.source.size().saturating_sub(self.end);
        if missing > left {
            return Err(Error::corrupt("avro file is truncated"));
        }
        let end = self.end + missing.max(CHUNK).min(left);
        let more = self.source.read(self.end..end).await?;
        if more.len() as u64 != end - self.end {
            return Err(Error::corrupt("avro file is shorter than its size"));
        }
        self.buffer = if self.buffer.is_empty() { more } else { [&self.buffer[..], &more[..]].concat().into() };
        self.end = end;
        Ok(())
    }

    async fn long(&mut self) -> Result<i64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1).await?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(zigzag(value));
            }
        }
        Err(Error::corrupt("avro number has more than ten bytes"))
    }

    async fn bytes(&mut self) -> Result<Bytes> {
        let length = usize::try_from(self.long().await?).map_err(|_| Error::corrupt("avro length is negative"))?;
        self.take(length).await
    }
}
