//! Buckets of the partitions of a table whose keys may move between them: the first bucket that is not full takes the next
//! key, then a new one. Buckets lose keys that move away, and take others for them.

use std::collections::{BTreeMap, BTreeSet};

/// The buckets of one partition.
#[derive(Debug, Default)]
pub(super) struct Fill {
    counts: BTreeMap<i32, u64>,
    /// Buckets that are not full.
    open: BTreeSet<i32>,
    /// Every number below has a bucket.
    next: i32,
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

    /// The bucket of the next key.
    pub(super) fn choose(&mut self, target: u64) -> i32 {
        let bucket = match self.open.first() {
            Some(bucket) => *bucket,
            None => {
                while self.counts.contains_key(&self.next) {
                    self.next = self.next.saturating_add(1);
                }
                self.next
            }
        };
        self.count(bucket, target);
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
        assert_eq!((0..5).map(|_| fill.choose(2)).collect::<Vec<_>>(), [2, 0, 0, 1, 1]);
        assert_eq!(fill.choose(2), 3);
        fill.leave(0, 2);
        assert_eq!((fill.choose(2), fill.choose(2)), (0, 3));
    }
}
