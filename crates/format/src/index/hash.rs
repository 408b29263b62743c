//! The 64-bit hash of bloom filters: xxHash64 (seed 0) of bytes, Thomas Wang's mix of numbers.

use super::key::Key;
use crate::datum::Float;

/// The hash of a value; numbers are hashed as the long they widen to, floats by their bits.
pub(super) fn hash<B: AsRef<[u8]>>(key: &Key<B>) -> u64 {
    match key {
        Key::Bytes(bytes) => xxhash_rust::xxh64::xxh64(bytes.as_ref(), 0),
        Key::Number(n) => mix(*n),
        Key::Float(order) => mix(i64::from(f32::from_order(*order).to_bits().cast_signed())),
        Key::Double(order) => mix(f64::from_order(*order).to_bits().cast_signed()),
    }
}

/// Thomas Wang's hash of 64 bits, with the reference's arithmetic right shifts.
fn mix(key: i64) -> u64 {
    let mut key = (!key).wrapping_add(key << 21);
    key ^= key >> 24;
    key = key.wrapping_add(key << 3).wrapping_add(key << 8);
    key ^= key >> 14;
    key = key.wrapping_add(key << 2).wrapping_add(key << 4);
    key ^= key >> 28;
    // The cast keeps the bits.
    key.wrapping_add(key << 31) as u64
}
