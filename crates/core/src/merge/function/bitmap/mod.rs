//! `rbm32`: the union of 32-bit Roaring bitmaps in Roaring's portable format; `rbm64` in [`wide`].

mod container;
mod cursor;
mod wide;

pub(super) use wide::unite as unite_wide;

use linn_format::{Error, Result};
use roaring::RoaringBitmap;

/// Unites two bitmaps.
///
/// # Errors
/// `Corrupt` when one is not a bitmap.
pub(super) fn unite(a: &[u8], b: &[u8]) -> Result<Vec<u8>> {
    let mut union = read(a)?;
    union |= read(b)?;
    union.optimize();
    let mut bytes = Vec::with_capacity(union.serialized_size());
    union.serialize_into(&mut bytes).map_err(corrupt)?;
    Ok(bytes)
}

fn read(bytes: &[u8]) -> Result<RoaringBitmap> {
    RoaringBitmap::deserialize_from(bytes).map_err(corrupt)
}

fn corrupt(e: std::io::Error) -> Error {
    Error::corrupt("not a serialised Roaring bitmap").with_source(e)
}
