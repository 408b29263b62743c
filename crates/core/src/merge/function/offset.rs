//! Where the values of an array begin and end, from what was noted while they were made.

use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use linn_format::{Error, Result};

/// The offsets of values that lie one after the other and end at `ends`.
///
/// # Errors
/// `Unsupported` when they do not fit in 32 bits.
pub(super) fn offsets(ends: impl Iterator<Item = usize>) -> Result<OffsetBuffer<i32>> {
    let mut offsets = Vec::with_capacity(ends.size_hint().0 + 1);
    offsets.push(0);
    for end in ends {
        let too_many = |_| Error::unsupported("more than 2^31 elements or bytes in one batch");
        offsets.push(i32::try_from(end).map_err(too_many)?);
    }
    Ok(OffsetBuffer::new(ScalarBuffer::from(offsets)))
}
