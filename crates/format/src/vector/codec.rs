//! One vector's bytes.
//!
//! 32-bit: size (BE), magic (BE), roaring bitmap, CRC-32 (BE); 64-bit: size (BE), magic (LE), count (LE), per high half
//! its key (LE) and a roaring bitmap, CRC-32 (BE). The size and the checksum cover magic and bitmaps.

use std::ops::Range;

use roaring::{RoaringBitmap, RoaringTreemap};

use super::write::VectorKind;
use crate::manifest::DeletionVectorMeta;
use crate::{Error, Result};

pub(super) const MAGIC_32: [u8; 4] = 1_581_511_376i32.to_be_bytes();
pub(super) const MAGIC_64: [u8; 4] = 1_681_511_377i32.to_le_bytes();
/// Version of index files.
pub(super) const FILE_VERSION: u8 = 1;

/// The bytes of an index file in which a vector lies, whatever its encoding. For a 32-bit vector the stored length
/// leaves out its size and checksum, so the range can reach eight bytes into what follows; it ends with the file.
///
/// # Errors
/// `Corrupt` for a negative offset or length.
pub fn range(meta: &DeletionVectorMeta, file_size: u64) -> Result<Range<u64>> {
    let start = u64::try_from(meta.offset).map_err(|_| Error::corrupt("deletion vector has a negative offset"))?;
    let length = u64::try_from(meta.length).map_err(|_| Error::corrupt("deletion vector has a negative length"))?;
    if start >= file_size {
        return Err(Error::corrupt("deletion vector lies beyond its file"));
    }
    Ok(start..(start + length + 8).min(file_size))
}

/// The deleted positions of a data file, from the bytes of the whole index file.
///
/// # Errors
/// `Corrupt` when the bytes are not the vector that `meta` describes.
pub fn read(file: &[u8], meta: &DeletionVectorMeta) -> Result<RoaringTreemap> {
    let result = (|| {
        if file.first() != Some(&FILE_VERSION) {
            return Err(Error::corrupt("deletion vector file has an unknown version"));
        }
        let start = usize::try_from(meta.offset).ok().and_then(|start| file.get(start..));
        parse(start.ok_or_else(|| Error::corrupt("deletion vector lies beyond its file"))?, meta)
    })();
    result.map_err(|e| e.with("data file", &meta.data_file))
}

/// The deleted positions of a data file, from bytes that start at `meta.offset`; more may follow.
///
/// # Errors
/// `Corrupt` when the bytes are not the vector that `meta` describes.
pub fn parse(bytes: &[u8], meta: &DeletionVectorMeta) -> Result<RoaringTreemap> {
    let cut = || Error::corrupt("deletion vector is truncated");
    let (size, rest) = bytes.split_first_chunk::<4>().ok_or_else(cut)?;
    let size = i32::from_be_bytes(*size);
    let (data, rest) = usize::try_from(size).ok().and_then(|size| rest.split_at_checked(size)).ok_or_else(cut)?;
    let (magic, body) = data.split_first_chunk::<4>().ok_or_else(cut)?;
    let (kind, stored) = match *magic {
        MAGIC_32 => (VectorKind::Bitmap32, size),
        MAGIC_64 => (VectorKind::Bitmap64, size.saturating_add(8)),
        _ => return Err(Error::corrupt("deletion vector has an unknown magic")),
    };
    if stored != meta.length {
        return Err(Error::corrupt(format!("deletion vector has length {stored}, not {}", meta.length)));
    }
    let (crc, _) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
    if crc32fast::hash(data) != u32::from_be_bytes(*crc) {
        return Err(Error::corrupt("deletion vector has a wrong checksum"));
    }
    let positions = decode(kind, body)?;
    match meta.cardinality {
        Some(cardinality) if u64::try_from(cardinality) != Ok(positions.len()) => {
            Err(Error::corrupt(format!("deletion vector has {} rows, not {cardinality}", positions.len())))
        }
        _ => Ok(positions),
    }
}

fn decode(kind: VectorKind, mut body: &[u8]) -> Result<RoaringTreemap> {
    let malformed = |e: std::io::Error| Error::corrupt("deletion vector has a malformed bitmap").with_source(e);
    Ok(match kind {
        VectorKind::Bitmap32 => {
            RoaringTreemap::from_bitmaps([(0, RoaringBitmap::deserialize_from(body).map_err(malformed)?)])
        }
        VectorKind::Bitmap64 => {
            let mut maps = Vec::new();
            let cut = || Error::corrupt("deletion vector is truncated");
            let (count, rest) = body.split_first_chunk::<8>().ok_or_else(cut)?;
            body = rest;
            for _ in 0..u64::from_le_bytes(*count) {
                let (key, rest) = body.split_first_chunk::<4>().ok_or_else(cut)?;
                body = rest;
                maps.push((u32::from_le_bytes(*key), RoaringBitmap::deserialize_from(&mut body).map_err(malformed)?));
            }
            RoaringTreemap::from_bitmaps(maps)
        }
    })
}

/// Appends a vector.
///
/// # Errors
/// `Invalid` for a position that the encoding cannot hold.
pub(super) fn encode(kind: VectorKind, positions: &RoaringTreemap, out: &mut Vec<u8>) -> Result<()> {
    let failed = |e: std::io::Error| Error::internal("deletion vector cannot be serialized").with_source(e);
    let mut data = Vec::new();
    match kind {
        VectorKind::Bitmap32 => {
            data.extend(MAGIC_32);
            // Readers count rows in an int.
            if positions.max().is_some_and(|max| max > i32::MAX as u64) {
                let hint = "set deletion-vectors.bitmap64";
                return Err(Error::invalid("a 32-bit deletion vector ends at row 2147483647").with_hint(hint));
            }
            let low = positions.bitmaps().next().map(|(_, bitmap)| bitmap.clone());
            optimized(low.unwrap_or_default()).serialize_into(&mut data).map_err(failed)?;
        }
        VectorKind::Bitmap64 => {
            data.extend(MAGIC_64);
            data.extend((positions.bitmaps().count() as u64).to_le_bytes());
            for (key, bitmap) in positions.bitmaps() {
                data.extend(key.to_le_bytes());
                optimized(bitmap.clone()).serialize_into(&mut data).map_err(failed)?;
            }
        }
    }
    let size = i32::try_from(data.len()).map_err(|_| Error::unsupported("a deletion vector of 2 GiB or more"))?;
    out.extend(size.to_be_bytes());
    out.extend(&data);
    out.extend(crc32fast::hash(&data).to_be_bytes());
    Ok(())
}

fn optimized(mut bitmap: RoaringBitmap) -> RoaringBitmap {
    bitmap.optimize();
    bitmap
}
