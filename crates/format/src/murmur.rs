//! Murmur3 x86 32 with seed 42, over little-endian words of 4 bytes.

/// The seed of every hash in the format.
pub(crate) const SEED: u32 = 42;

/// The hash of the bytes of a binary row, whose length is a multiple of 4; further bytes are mixed as in [`hash_bytes`].
pub fn hash_words(bytes: &[u8]) -> i32 {
    let (words, tail) = bytes.as_chunks::<4>();
    let mut hash = words.iter().fold(SEED, |hash, word| mix(hash, u32::from_le_bytes(*word)));
    for byte in tail {
        hash = mix(hash, i32::from(byte.cast_signed()).cast_unsigned());
    }
    finish(hash, bytes.len() as u32)
}

/// The hash of bytes of any length (bloom filters of lookup files): each byte behind the last whole word is sign-extended
/// and mixed as a word, which differs from standard Murmur3.
pub fn hash_bytes(bytes: &[u8]) -> i32 {
    hash_words(bytes)
}

#[inline]
pub(crate) fn mix(hash: u32, word: u32) -> u32 {
    let word = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    (hash ^ word).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
}

/// Mixes 8 little-endian bytes.
#[inline]
pub(crate) fn mix_long(hash: u32, long: u64) -> u32 {
    mix(mix(hash, long as u32), (long >> 32) as u32)
}

#[inline]
pub(crate) fn finish(hash: u32, length: u32) -> i32 {
    let hash = hash ^ length;
    let hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    let hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    (hash ^ hash >> 16).cast_signed()
}
