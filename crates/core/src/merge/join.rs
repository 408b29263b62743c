//! Which keys two sorted batches share.

use std::cmp::Ordering;

use super::key::Keys;
use super::run::gallop;

/// Walks both from where they stand, `at` and `other_at`, until one is at its end; calls `hit` with every row of `other`
/// whose key `keys` has. Keys of each side ascend strictly.
pub(crate) fn intersect(keys: &Keys, at: &mut usize, other: &Keys, other_at: &mut usize, hit: impl FnMut(usize)) {
    match (keys, other) {
        (Keys::U64(a), Keys::U64(b)) => walk((a.len(), |i| a[i]), at, (b.len(), |i| b[i]), other_at, hit),
        (Keys::U128(a), Keys::U128(b)) => walk((a.len(), |i| a[i]), at, (b.len(), |i| b[i]), other_at, hit),
        (Keys::Rows(a), Keys::Rows(b)) => {
            walk((a.num_rows(), |i| a.row(i)), at, (b.num_rows(), |i| b.row(i)), other_at, hit);
        }
        // Keys of one encoder are all alike; without a match nothing is found and both are at their end.
        _ => (*at, *other_at) = (keys.len(), other.len()),
    }
}

fn walk<K: Ord>(
    (len, key): (usize, impl Fn(usize) -> K),
    at: &mut usize,
    (other_len, other_key): (usize, impl Fn(usize) -> K),
    other_at: &mut usize,
    mut hit: impl FnMut(usize),
) {
    while *at < len && *other_at < other_len {
        let (a, b) = (key(*at), other_key(*other_at));
        match a.cmp(&b) {
            Ordering::Less => *at = gallop(*at, len, |i| key(i) < b),
            Ordering::Greater => *other_at = gallop(*other_at, other_len, |i| other_key(i) < a),
            Ordering::Equal => {
                hit(*other_at);
                *at += 1;
                *other_at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn shared_keys_are_found(
            a in prop::collection::btree_set(0u64..60, 0..40),
            b in prop::collection::btree_set(0u64..60, 0..40),
            cut in 1usize..7,
        ) {
            let sorted: Vec<u64> = b.iter().copied().collect();
            let keys = Keys::U64(a.iter().copied().collect());
            let (mut at, mut found) = (0, BTreeSet::new());
            // The other side comes in several batches.
            for batch in sorted.chunks(cut) {
                let mut other_at = 0;
                intersect(&keys, &mut at, &Keys::U64(batch.to_vec()), &mut other_at, |row| {
                    found.insert(batch[row]);
                });
            }
            prop_assert_eq!(found, a.intersection(&b).copied().collect());
        }
    }
}
