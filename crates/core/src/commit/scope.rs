//! What of the table a change has to be held against: files that it names, and files whose keys meet those of files that it adds to
//! the same level. All others may be as many as they are; nothing of them is kept.

use std::collections::{HashMap, HashSet};

use linn_format::Result;
use linn_format::datum::Datum;
use linn_format::manifest::{EntryBatch, FileIdentity, FileKind};
use linn_format::row::BinaryRow;
use linn_format::types::DataType;

use super::conflict::compare;

/// A key.
type Key = Vec<Option<Datum>>;
/// Serialised partition, bucket and level.
type Level<'a> = (&'a [u8], i32, i32);

/// The files that matter to a change.
#[derive(Debug)]
pub(super) enum Scope<'a> {
    /// All of its buckets.
    Buckets,
    /// Those that it names, and those whose keys meet what it adds.
    Files { named: HashSet<FileIdentity<'a>>, added: HashMap<Level<'a>, Ranges>, types: Vec<DataType> },
}

impl<'a> Scope<'a> {
    /// The scope of the entries of a change, with the types of the key where levels must be disjoint.
    ///
    /// # Errors
    /// `Corrupt` when a key is no row of these types.
    pub(super) fn of(delta: &'a EntryBatch, types: Option<Vec<DataType>>) -> Result<Self> {
        let named = (0..delta.len()).map(|i| delta.identity(i)).collect();
        let mut ranges: HashMap<Level<'a>, Vec<(Key, Key)>> = HashMap::new();
        let types = types.unwrap_or_default();
        let adds = |i: &usize| delta.kind(*i) == FileKind::Add && delta.level(*i) > 0 && !types.is_empty();
        for i in (0..delta.len()).filter(adds) {
            let level = (delta.partition(i), delta.bucket(i), delta.level(i));
            ranges.entry(level).or_default().push(range(delta, i, &types)?);
        }
        let added = ranges.into_iter().map(|(level, ranges)| (level, Ranges::new(ranges))).collect();
        Ok(Self::Files { named, added, types })
    }

    /// Whether an entry of the table is in it.
    ///
    /// # Errors
    /// `Corrupt` when its key is no row.
    pub(super) fn has(&self, batch: &EntryBatch, i: usize) -> Result<bool> {
        let Self::Files { named, added, types } = self else { return Ok(true) };
        // Who deletes takes away what was kept before; there are few of them.
        if batch.kind(i) == FileKind::Delete || named.contains(&batch.identity(i)) {
            return Ok(true);
        }
        match added.get(&(batch.partition(i), batch.bucket(i), batch.level(i))) {
            Some(ranges) => Ok(ranges.meet(&range(batch, i, types)?)),
            None => Ok(false),
        }
    }
}

/// Key ranges, by their smallest keys, each with the largest key of it and those before.
#[derive(Debug)]
pub(super) struct Ranges(Vec<(Key, Key)>);

impl Ranges {
    fn new(mut ranges: Vec<(Key, Key)>) -> Self {
        ranges.sort_by(|a, b| compare(&a.0, &b.0));
        let mut largest: Option<Key> = None;
        for (_, max) in &mut ranges {
            if let Some(before) = largest.take().filter(|before| compare(before, max).is_gt()) {
                *max = before;
            }
            largest = Some(max.clone());
        }
        Self(ranges)
    }

    /// Whether any of them has a key in common with this one.
    fn meet(&self, (min, max): &(Key, Key)) -> bool {
        let begun = self.0.partition_point(|(first, _)| compare(first, max).is_le());
        let last = begun.checked_sub(1).and_then(|last| self.0.get(last));
        last.is_some_and(|(_, largest)| compare(largest, min).is_ge())
    }
}

fn range(batch: &EntryBatch, i: usize, types: &[DataType]) -> Result<(Key, Key)> {
    let key = |bytes: &[u8]| BinaryRow::from_serialized(bytes.to_vec())?.datums(types.iter());
    Ok((key(batch.min_key(i))?, key(batch.max_key(i))?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(value: i32) -> Key {
        vec![Some(Datum::Int(value))]
    }

    proptest! {
        #[test]
        fn ranges_meet_what_any_of_them_meets(
            ranges in prop::collection::vec((0_i32..60, 0_i32..12), 0..8), asked in (0_i32..60, 0_i32..12)
        ) {
            let of = |(min, more): (i32, i32)| (min, min + more);
            let (min, max) = of(asked);
            let plain = ranges.iter().copied().map(of).any(|(low, high)| low <= max && high >= min);
            let keys = ranges.iter().copied().map(of).map(|(low, high)| (key(low), key(high))).collect();
            prop_assert_eq!(Ranges::new(keys).meet(&(key(min), key(max))), plain);
        }
    }
}
