//! The dynamic buckets of one partition: a known key stays where it is, a new one goes to a bucket that is not full, then
//! to a new bucket, then, when there may be no more, to any (spec: format.md C.8; cases B1, B3, B8).
//!
//! The reference spreads the keys of a partition over *assigners* by their hash, each with buckets of its own; here one
//! writer stands for all of them. Which bucket a new key gets depends on the keys before it and on nothing else.

use std::collections::{BTreeMap, BTreeSet};

use linn_format::options::Options;
use linn_format::{Error, Result};

use super::map::HashMap;

/// Buckets whose numbers an index can hold: 0 to 32767.
const MAX_BUCKETS: i32 = 1 << 15;

/// What the options say of dynamic buckets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    target_rows: u64,
    /// Below this are the numbers of buckets.
    max_buckets: i32,
    /// Whether the table says how many buckets there may be, so that they are filled further when there are no more.
    overflows: bool,
    channels: i32,
    assigners: i32,
}

impl Limits {
    /// The limits of a table.
    ///
    /// # Errors
    /// `Invalid` for a bad option value.
    pub(crate) fn of(options: &Options) -> Result<Self> {
        let max = options.dynamic_bucket_max_buckets()?;
        let initial = options.dynamic_bucket_initial_buckets()?;
        let channels = options.dynamic_bucket_assigner_parallelism()?.or(initial).unwrap_or(1);
        let assigners = initial.unwrap_or(channels).min(channels);
        let max_buckets = max.map_or(MAX_BUCKETS, |max| max.min(MAX_BUCKETS));
        Ok(Self {
            target_rows: options.dynamic_bucket_target_row_num()?,
            max_buckets,
            overflows: max.is_some(),
            channels,
            // An assigner that may have no bucket could take no row.
            assigners: assigners.min(max_buckets),
        })
    }
}

/// The buckets of one assigner.
#[derive(Debug, Default)]
struct Assigner {
    /// Buckets that may not be full, with their keys.
    open: BTreeMap<u16, u64>,
    taken: BTreeSet<u16>,
    /// Taken buckets in the order of their coming.
    all: Vec<u16>,
    /// The lowest number that may be free, counted in steps from one of the assigner's buckets to the next.
    next: i32,
}

/// The keys of one partition and their buckets.
#[derive(Debug)]
pub(super) struct PartitionIndex {
    limits: Limits,
    buckets: HashMap,
    /// Keys of each bucket.
    counts: BTreeMap<u16, u64>,
    assigners: Vec<Assigner>,
    /// Where the assigners of this partition begin among all channels.
    start: i32,
    /// Buckets with keys that no index file has.
    changed: BTreeSet<u16>,
}

impl PartitionIndex {
    /// An index without keys, of the partition with this hash.
    pub(super) fn new(limits: Limits, partition_hash: i32, keys: usize) -> Self {
        let assigners = (0..limits.assigners).map(|_| Assigner::default()).collect();
        Self {
            limits,
            buckets: HashMap::with_capacity(keys),
            counts: BTreeMap::new(),
            assigners,
            start: (partition_hash % limits.channels).abs(),
            changed: BTreeSet::new(),
        }
    }

    /// Takes the keys of a bucket's index file in.
    ///
    /// # Errors
    /// `Corrupt` when another bucket has one of the keys, or there can be no such bucket.
    pub(super) fn restore(&mut self, bucket: i32, hashes: &[i32]) -> Result<()> {
        let bucket = u16::try_from(bucket)
            .ok()
            .filter(|b| i32::from(*b) < MAX_BUCKETS)
            .ok_or_else(|| Error::corrupt(format!("dynamic bucket {bucket} is out of range")))?;
        for hash in hashes {
            if let Some(other) = self.buckets.insert(*hash, bucket)
                && other != bucket
            {
                return Err(Error::corrupt(format!(
                    "keys of hash {hash} are in bucket {other} and in bucket {bucket}"
                ))
                .with_hint("two jobs may have written the partition concurrently; rewrite it with INSERT OVERWRITE"));
            }
        }
        let count = self.counts.entry(bucket).or_default();
        *count += hashes.len() as u64;
        let count = *count;
        for id in 0..self.limits.assigners {
            if self.owns(id, i32::from(bucket)) {
                let assigner = &mut self.assigners[id as usize];
                assigner.open.insert(bucket, count);
                if assigner.taken.insert(bucket) {
                    assigner.all.push(bucket);
                }
            }
        }
        Ok(())
    }

    /// Whether the bucket is one of an assigner's.
    fn owns(&self, id: i32, bucket: i32) -> bool {
        bucket % self.limits.assigners == self.residue(id)
    }

    fn residue(&self, id: i32) -> i32 {
        (self.start + id) % self.limits.channels % self.limits.assigners
    }

    /// The bucket of a key.
    ///
    /// # Errors
    /// `Invalid` when there can be no more buckets.
    pub(super) fn assign(&mut self, hash: i32) -> Result<u16> {
        if let Some(bucket) = self.buckets.get(hash) {
            return Ok(bucket);
        }
        let id = (hash % self.limits.assigners).abs();
        let residue = self.residue(id);
        let bucket = self.assigners[id as usize].choose(hash, residue, self.limits)?;
        self.buckets.insert(hash, bucket);
        *self.counts.entry(bucket).or_default() += 1;
        self.changed.insert(bucket);
        Ok(bucket)
    }

    /// Buckets with keys that no index file has.
    pub(super) fn changed(&self) -> &BTreeSet<u16> {
        &self.changed
    }

    /// Says that the bucket's keys are in a file now.
    pub(super) fn saved(&mut self, bucket: u16) {
        self.changed.remove(&bucket);
    }

    /// The hashes of some buckets, in the order of the buckets. One pass serves as many buckets as `max_keys` allows,
    /// so that memory is bounded; the rest is left for the next call.
    pub(super) fn hashes(&self, buckets: &[u16], max_keys: u64) -> Vec<(u16, Vec<i32>)> {
        let mut wanted: Vec<(u16, Vec<i32>)> = Vec::new();
        let mut keys = 0;
        for bucket in buckets {
            let count = self.counts.get(bucket).copied().unwrap_or(0);
            if keys > 0 && keys + count > max_keys {
                break;
            }
            keys += count;
            wanted.push((*bucket, Vec::with_capacity(usize::try_from(count).unwrap_or(0))));
        }
        let places: std::collections::HashMap<u16, usize> =
            wanted.iter().enumerate().map(|(at, (bucket, _))| (*bucket, at)).collect();
        for (hash, bucket) in self.buckets.iter() {
            if let Some(at) = places.get(&bucket) {
                wanted[*at].1.push(hash);
            }
        }
        wanted
    }
}

impl Assigner {
    fn choose(&mut self, hash: i32, residue: i32, limits: Limits) -> Result<u16> {
        while let Some(mut entry) = self.open.first_entry() {
            if *entry.get() < limits.target_rows {
                *entry.get_mut() += 1;
                return Ok(*entry.key());
            }
            entry.remove();
        }
        loop {
            let number = residue + self.next * limits.assigners;
            let Some(bucket) = u16::try_from(number).ok().filter(|_| number < limits.max_buckets) else { break };
            self.next += 1;
            if self.taken.insert(bucket) {
                self.open.insert(bucket, 1);
                self.all.push(bucket);
                return Ok(bucket);
            }
        }
        if !limits.overflows {
            return Err(Error::invalid(format!("a partition has {MAX_BUCKETS} full buckets, the maximum"))
                .with_hint("raise dynamic-bucket.target-row-num"));
        }
        // Any bucket will do, as long as rows spread and the choice can be made again.
        let spread = u64::from(hash.cast_unsigned().wrapping_mul(0x9e37_79b9));
        let at = (spread * self.all.len() as u64) >> 32;
        self.all
            .get(at as usize)
            .copied()
            .ok_or_else(|| Error::internal("an assigner of dynamic buckets has no bucket"))
    }
}
