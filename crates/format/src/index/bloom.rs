//! `bloom-filter`: an int with the number of hash functions, then the bits.

use super::bytes::Reader;
use super::hash::hash;
use super::key::Key;
use crate::types::Kind;
use crate::{Error, Result};

/// A filter that is read or built.
#[derive(Debug, Clone)]
pub(super) struct Bloom<B> {
    functions: u32,
    bits: B,
}

impl<'a> Bloom<&'a [u8]> {
    pub(super) fn parse(body: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(body);
        let functions = u32::try_from(reader.int()?).ok().filter(|k| (1..=1024).contains(k));
        let functions = functions.ok_or_else(|| Error::corrupt("bloom filter has an implausible number of hashes"))?;
        if reader.rest().is_empty() {
            return Err(Error::corrupt("bloom filter has no bits"));
        }
        Ok(Self { functions, bits: reader.rest() })
    }

    /// Whether the value may have been written.
    pub(super) fn may_contain(&self, key: &Key) -> bool {
        self.positions(key).all(|(byte, bit)| self.bits.get(byte).is_none_or(|b| b & bit != 0))
    }
}

impl Bloom<Vec<u8>> {
    /// A filter for so many distinct values and so high a rate of false positives.
    pub(super) fn new(items: u64, fpp: f64) -> Result<Self> {
        let ln2 = std::f64::consts::LN_2;
        let bits = -(items as f64) * fpp.ln() / (ln2 * ln2);
        if items == 0 || !(0.0..1.0).contains(&fpp) || fpp == 0.0 || bits >= f64::from(i32::MAX - 8) {
            return Err(Error::invalid(format!("bloom filter of {items} items with fpp {fpp}")));
        }
        // Truncation is what the reference does; always to a byte more than needed.
        let bits = bits as usize;
        let bits = bits + (8 - bits % 8);
        let functions = ((bits as f64 / items as f64 * ln2).round() as u32).max(1);
        Ok(Self { functions, bits: vec![0; bits / 8] })
    }

    pub(super) fn add<K: AsRef<[u8]>>(&mut self, key: &Key<K>) {
        for (byte, bit) in self.positions(key) {
            if let Some(slot) = self.bits.get_mut(byte) {
                *slot |= bit;
            }
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        [&self.functions.to_be_bytes()[..], &self.bits].concat()
    }
}

impl<B: AsRef<[u8]>> Bloom<B> {
    /// Byte and bit of every hash function; the halves of the hash are combined in 32 bits, as the reference does.
    fn positions<K: AsRef<[u8]>>(&self, key: &Key<K>) -> impl Iterator<Item = (usize, u8)> + use<B, K> {
        let hash = hash(key);
        let (low, high) = (hash as i32, (hash >> 32) as i32);
        // The reference counts bits in an int; readers of larger filters would not agree on positions.
        let bits = (self.bits.as_ref().len() * 8).min(i32::MAX as usize) as i32;
        (1..=self.functions as i32).map(move |i| {
            let combined = low.wrapping_add(i.wrapping_mul(high));
            let position = if combined < 0 { !combined } else { combined } % bits;
            ((position >> 3) as usize, 1u8 << (position & 7))
        })
    }
}

/// Whether bloom filters exist for a column.
pub(super) fn supports(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Char(_)
            | Kind::Varchar(_)
            | Kind::Binary(_)
            | Kind::Varbinary(_)
            | Kind::TinyInt
            | Kind::SmallInt
            | Kind::Int
            | Kind::BigInt
            | Kind::Float
            | Kind::Double
            | Kind::Date
            | Kind::Time(_)
            | Kind::Timestamp(_)
            | Kind::LocalZonedTimestamp(_)
            | Kind::WideTimestamp { .. }
    )
}
