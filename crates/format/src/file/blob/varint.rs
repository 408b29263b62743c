//! The index of a blob file: numbers as zigzag varints, each but the first as the difference to the one before.

use crate::{Error, Result};

/// Decodes all numbers of the index.
pub(super) fn deltas(bytes: &[u8]) -> Result<Vec<i64>> {
    let mut numbers = Vec::new();
    let (mut at, mut last) = (0, 0i64);
    while at < bytes.len() {
        let (zigzag, used) = varint(bytes.get(at..).unwrap_or_default())?;
        at += used;
        let delta = (zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed();
        last = last.wrapping_add(delta);
        numbers.push(last);
    }
    Ok(numbers)
}

/// A number in groups of 7 bits, lowest first, and how many bytes it took.
fn varint(bytes: &[u8]) -> Result<(u64, usize)> {
    let mut value = 0u64;
    for (i, byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return Ok((value, i + 1));
        }
    }
    Err(Error::corrupt("blob file has an index that ends within a number"))
}
