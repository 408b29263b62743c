//! The bloom filter of a lookup file: bits alone, the number of hashes follows from their size.

use bytes::Bytes;

use crate::{Error, Result};

/// Bits that are set or asked.
#[derive(Debug, Clone)]
pub(super) struct Bloom<B> {
    bits: B,
    hashes: i32,
}

fn hashes(bits: usize, entries: u64) -> i32 {
    let hashes = bits as f64 / entries as f64 * std::f64::consts::LN_2;
    (hashes.round() as i32).max(1)
}

/// The bits of a key's hash, as byte and mask, in a filter of so many bytes.
fn places(hash: i32, hashes: i32, bytes: usize) -> impl Iterator<Item = (usize, u8)> {
    let step = hash.cast_unsigned() >> 16;
    let bits = (bytes * 8) as u32;
    (1..=hashes).map(move |i| {
        let sum = hash.wrapping_add(i.wrapping_mul(step.cast_signed()));
        let at = (if sum < 0 { !sum } else { sum }).cast_unsigned() % bits;
        (at as usize / 8, 1 << (at % 8))
    })
}

impl Bloom<Vec<u8>> {
    /// An empty filter for so many keys and so high a rate of false positives; `None` when that takes no bits.
    pub(super) fn new(entries: u64, fpp: f64) -> Option<Self> {
        let ln2 = std::f64::consts::LN_2;
        let bits = (-(entries as f64) * fpp.ln() / (ln2 * ln2)).min(f64::from(i32::MAX)) as i32;
        let bytes = usize::try_from(bits).ok()?.div_ceil(8);
        (bytes > 0 && entries > 0).then(|| Self { hashes: hashes(bytes * 8, entries), bits: vec![0; bytes] })
    }

    pub(super) fn add(&mut self, hash: i32) {
        for (byte, mask) in places(hash, self.hashes, self.bits.len()) {
            if let Some(byte) = self.bits.get_mut(byte) {
                *byte |= mask;
            }
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bits
    }
}

impl Bloom<Bytes> {
    pub(super) fn parse(bits: Bytes, entries: u64) -> Result<Self> {
        if bits.is_empty() || entries == 0 || u32::try_from(bits.len() * 8).is_err() {
            return Err(Error::corrupt(format!("bloom filter of {} bytes for {entries} keys", bits.len())));
        }
        Ok(Self { hashes: hashes(bits.len() * 8, entries), bits })
    }

    /// Whether a key with this hash may be there.
    pub(super) fn may_have(&self, hash: i32) -> bool {
        places(hash, self.hashes, self.bits.len()).all(|(byte, mask)| self.bits.get(byte).is_none_or(|b| b & mask != 0))
    }

    pub(super) fn len(&self) -> usize {
        self.bits.len()
    }
}
