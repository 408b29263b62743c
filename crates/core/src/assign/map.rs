//! From the hash of a key to its bucket, for all keys of a partition.
//!
//! Two parallel arrays, probed linearly: 6 bytes a slot, and between 4 and 7 of 8 slots are taken, so 7 to 11 bytes a
//! key.

/// What the bucket of an empty slot says; no bucket has this number.
const EMPTY: u16 = u16::MAX;

/// Spreads hashes that are close to each other.
const SPREAD: u32 = 0x9e37_79b9;

/// Hashes and buckets.
#[derive(Debug, Default)]
pub(super) struct HashMap {
    hashes: Vec<i32>,
    buckets: Vec<u16>,
    len: usize,
}

impl HashMap {
    /// A map with room for `keys`.
    pub(super) fn with_capacity(keys: usize) -> Self {
        let mut map = Self::default();
        if keys > 0 {
            map.resize(keys + keys / 6 + 8);
        }
        map
    }

    /// How many there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The bucket of a hash.
    pub(super) fn get(&self, hash: i32) -> Option<u16> {
        if self.buckets.is_empty() {
            return None;
        }
        let bucket = self.buckets[self.slot(hash)];
        (bucket != EMPTY).then_some(bucket)
    }

    /// Puts a hash into a bucket; the bucket that it was in.
    pub(super) fn insert(&mut self, hash: i32, bucket: u16) -> Option<u16> {
        if self.len + 1 > self.buckets.len() / 8 * 7 {
            self.resize((self.buckets.len() / 2 * 3).max(16));
        }
        let slot = self.slot(hash);
        self.hashes[slot] = hash;
        let before = std::mem::replace(&mut self.buckets[slot], bucket);
        if before == EMPTY {
            self.len += 1;
            return None;
        }
        Some(before)
    }

    /// All hashes with their buckets.
    pub(super) fn iter(&self) -> impl Iterator<Item = (i32, u16)> + '_ {
        self.hashes.iter().copied().zip(self.buckets.iter().copied()).filter(|(_, bucket)| *bucket != EMPTY)
    }

    /// The slot of a hash, or the empty one where it belongs. Some slot is always empty.
    fn slot(&self, hash: i32) -> usize {
        let slots = self.buckets.len();
        let spread = u64::from(hash.cast_unsigned().wrapping_mul(SPREAD));
        let mut slot = ((spread * slots as u64) >> 32) as usize;
        while self.buckets[slot] != EMPTY && self.hashes[slot] != hash {
            slot += 1;
            if slot == slots {
                slot = 0;
            }
        }
        slot
    }

    fn resize(&mut self, slots: usize) {
        let hashes = std::mem::replace(&mut self.hashes, vec![0; slots]);
        let buckets = std::mem::replace(&mut self.buckets, vec![EMPTY; slots]);
        for (hash, bucket) in hashes.into_iter().zip(buckets).filter(|(_, bucket)| *bucket != EMPTY) {
            let slot = self.slot(hash);
            self.hashes[slot] = hash;
            self.buckets[slot] = bucket;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::HashMap;

    proptest! {
        #[test]
        fn a_map_equals_the_standard_one(
            entries in prop::collection::vec((prop_oneof![any::<i32>(), -3..3i32, Just(i32::MAX)], 0..32768u16), 0..300),
            room in 0..200usize,
        ) {
            let mut map = HashMap::with_capacity(room);
            let mut model = std::collections::BTreeMap::new();
            for (hash, bucket) in entries {
                prop_assert_eq!(map.insert(hash, bucket), model.insert(hash, bucket));
                prop_assert_eq!(map.len(), model.len());
            }
            for hash in (-4..4).chain(model.keys().copied()) {
                prop_assert_eq!(map.get(hash), model.get(&hash).copied());
            }
            prop_assert_eq!(map.iter().collect::<std::collections::BTreeMap<_, _>>(), model);
        }
    }
}
