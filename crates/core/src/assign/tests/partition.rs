//! The assignment in one partition (cases: B1, B3, B8).

use std::collections::{BTreeMap, BTreeSet};

use linn_format::ErrorKind;
use linn_format::options::Options;
use proptest::prelude::*;

use crate::assign::partition::{Limits, PartitionIndex};

fn limits(options: &[(&str, &str)]) -> Limits {
    Limits::of(&options.iter().copied().collect::<Options>()).unwrap()
}

fn index(options: &[(&str, &str)]) -> PartitionIndex {
    PartitionIndex::new(limits(options), 0, 0)
}

fn counts(index: &mut PartitionIndex, hashes: impl IntoIterator<Item = i32>) -> BTreeMap<u16, usize> {
    let mut counts = BTreeMap::new();
    for hash in hashes {
        *counts.entry(index.assign(hash).unwrap()).or_default() += 1;
    }
    counts
}

#[test]
fn buckets_fill_one_after_the_other() {
    let mut index = index(&[("dynamic-bucket.target-row-num", "100")]);
    let expected: BTreeMap<u16, usize> = [(0, 100), (1, 100), (2, 50)].into();
    assert_eq!(counts(&mut index, 0..250), expected);
    assert_eq!(index.assign(3).unwrap(), 0, "a known key stays");
}

#[test]
fn rows_beyond_the_last_bucket_spread() {
    let mut index = index(&[("dynamic-bucket.target-row-num", "100"), ("dynamic-bucket.max-buckets", "4")]);
    let counts = counts(&mut index, (0..1000).map(|i: i32| i.wrapping_mul(0x27d4_eb2d)));
    assert_eq!(counts.len(), 4);
    assert!(counts.values().all(|count| *count > 100), "{counts:?}");
}

/// An index holds bucket numbers in 16 bits with a sign.
#[test]
fn regress_no_bucket_is_beyond_32767() {
    let options = [("dynamic-bucket.target-row-num", "1"), ("dynamic-bucket.max-buckets", "40000")];
    let mut index = index(&options);
    for hash in 0..32_768 {
        assert_eq!(i32::from(index.assign(hash).unwrap()), hash);
    }
    let more = index.assign(50_000).unwrap();
    assert!(more < 32_768);
    assert_eq!(index.assign(50_000).unwrap(), more);
    let mut unlimited = PartitionIndex::new(limits(&options[..1]), 0, 0);
    for hash in 0..32_768 {
        unlimited.assign(hash).unwrap();
    }
    assert_eq!(unlimited.assign(50_000).unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn initial_buckets_fill_side_by_side() {
    let mut index = index(&[("dynamic-bucket.target-row-num", "10"), ("dynamic-bucket.initial-buckets", "4")]);
    let expected: BTreeMap<u16, usize> = (0..4).map(|bucket| (bucket, 10)).collect();
    assert_eq!(counts(&mut index, 0..40), expected);
    assert_eq!(index.assign(41).unwrap(), 5, "the next bucket of the same remainder");
}

/// The partition's hash turns the assigners, the key's hash chooses among them: (1 + 2) % 4 % 4.
#[test]
fn a_partition_begins_at_its_own_assigner() {
    let limits = limits(&[("dynamic-bucket.initial-buckets", "4")]);
    let mut index = PartitionIndex::new(limits, -5, 0);
    assert_eq!(index.assign(-2).unwrap(), 3);
    assert_eq!(index.assign(3).unwrap(), 0);
}

#[test]
fn a_key_in_two_buckets_is_damage() {
    let mut index = index(&[]);
    index.restore(0, &[1, 2]).unwrap();
    assert_eq!(index.restore(1, &[2]).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(index.restore(32_768, &[7]).unwrap_err().kind(), ErrorKind::Corrupt);
}

proptest! {
    /// Whatever is saved and read again in between, a key keeps its bucket, no bucket grows beyond the target while
    /// another one is possible, and what is saved is what was assigned.
    #[test]
    fn restarts_change_nothing(
        keys in prop::collection::vec((0..400i32, prop::bool::weighted(0.02)), 1..400),
        target in 1..40u64,
        initial in 1..5i32,
        max in prop_oneof![Just(-1), 1..12i32],
        partition_hash in any::<i32>(),
    ) {
        let (target_text, initial, max_text) = (target.to_string(), initial.to_string(), max.to_string());
        let limits = limits(&[
            ("dynamic-bucket.target-row-num", &target_text),
            ("dynamic-bucket.initial-buckets", &initial),
            ("dynamic-bucket.max-buckets", &max_text),
        ]);
        let mut index = PartitionIndex::new(limits, partition_hash, 0);
        let mut model: BTreeMap<i32, u16> = BTreeMap::new();
        let mut files: BTreeMap<u16, Vec<i32>> = BTreeMap::new();
        for (key, restart) in keys {
            let hash = key.wrapping_mul(0x2545_f491);
            let bucket = index.assign(hash).unwrap();
            prop_assert_eq!(*model.entry(hash).or_insert(bucket), bucket);
            if restart {
                let changed: Vec<u16> = index.changed().iter().copied().collect();
                let mut rest = changed.as_slice();
                while !rest.is_empty() {
                    let part = index.hashes(rest, 50);
                    rest = &rest[part.len()..];
                    files.extend(part);
                }
                index = PartitionIndex::new(limits, partition_hash, model.len());
                for (bucket, hashes) in &files {
                    index.restore(i32::from(*bucket), hashes).unwrap();
                }
                let saved: BTreeSet<(i32, u16)> =
                    files.iter().flat_map(|(bucket, hashes)| hashes.iter().map(|hash| (*hash, *bucket))).collect();
                prop_assert_eq!(saved, model.iter().map(|(hash, bucket)| (*hash, *bucket)).collect());
            }
        }
        if max == -1 {
            let mut counts: BTreeMap<u16, u64> = BTreeMap::new();
            model.values().for_each(|bucket| *counts.entry(*bucket).or_default() += 1);
            prop_assert!(counts.values().all(|count| *count <= target));
        }
    }
}
