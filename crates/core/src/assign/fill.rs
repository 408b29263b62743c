//! Buckets of the partitions of a table whose keys may move between them: the first bucket that is not full takes the next
//! key, then a new one. Buckets lose keys that move away, and take others for them. Where there can be no more buckets
//! (`dynamic-bucket.max-buckets`) and all are full, they take keys in turn.

use std::collections::{BTreeMap, BTreeSet};

/// The buckets of one partition.
#[derive(Debug, Default)]
pub(super) struct Fill {
    counts: BTreeMap<i32, u64>,
    /// Buckets that are not full.
    open: BTreeSet<i32>,
    /// Every number below has a bucket.
    next: i32,
    /// The bucket whose turn it is, or the next one that there is, when all are full.
    turn: i32,
}

impl Fill {
    /// Counts a key that is in a bucket.
    pub(super) fn count(&mut self, bucket: i32, target: u64) {
        let count = self.counts.entry(bucket).or_default();
        *count += 1;
        if *count < target {
            self.open.insert(bucket)
        } else {
            self.open.remove(&bucket)
        };
    }

    /// The bucket of the next key; new ones have numbers below `most`.
    pub(super) fn choose(&mut self, target: u64, most: i32) -> i32 {
        let bucket = match self.open.first() {
            Some(bucket) => *bucket,
            None => self.new_bucket(most).unwrap_or_else(|| self.in_turn()),
        };
        self.count(bucket, target);
        bucket
    }

    fn new_bucket(&mut self, most: i32) -> Option<i32> {
        while self.counts.contains_key(&self.next) {
            self.next = self.next.saturating_add(1);
        }
        (self.next < most).then_some(self.next)
    }

    fn in_turn(&mut self) -> i32 {
        let mut from = self.counts.range(self.turn..).chain(&self.counts);
        let bucket = from.next().map_or(0, |(bucket, _)| *bucket);
        self.turn = bucket.saturating_add(1);
        bucket
    }

    /// Says that a key has left a bucket.
    pub(super) fn leave(&mut self, bucket: i32, target: u64) {
        let count = self.counts.entry(bucket).or_default();
        *count = count.saturating_sub(1);
        if *count < target {
            self.open.insert(bucket);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Fill;

    #[test]
    fn holes_are_filled_first() {
        let mut fill = Fill::default();
        fill.count(2, 2);
        let most = i32::MAX;
        assert_eq!((0..5).map(|_| fill.choose(2, most)).collect::<Vec<_>>(), [2, 0, 0, 1, 1]);
        assert_eq!(fill.choose(2, most), 3);
        fill.leave(0, 2);
        assert_eq!((fill.choose(2, most), fill.choose(2, most)), (0, 3));
    }

    #[test]
    fn full_buckets_take_keys_in_turn_when_there_can_be_no_more() {
        let mut fill = Fill::default();
        assert_eq!((0..9).map(|_| fill.choose(2, 3)).collect::<Vec<_>>(), [0, 0, 1, 1, 2, 2, 0, 1, 2]);
        fill.leave(1, 2);
        assert_eq!(fill.choose(2, 3), 0);
        // A table that had more buckets before keeps them.
        let mut fill = Fill::default();
        (0..3).for_each(|bucket| fill.count(bucket, 1));
        assert_eq!((0..4).map(|_| fill.choose(1, 1)).collect::<Vec<_>>(), [0, 1, 2, 0]);
    }
}
