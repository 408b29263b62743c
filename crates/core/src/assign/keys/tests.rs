//! The key index against a map, with as little memory as makes it spill.

use std::collections::BTreeMap;
use std::sync::Arc;

use linn_format::ErrorKind;
use proptest::prelude::*;

use super::{Entry, KeyIndex, Twice};
use crate::fixture::{NOW, clock, memory};
use crate::seam::{Env, LocalSpawn, ManualClock, SeededIds};

fn env(clock: &Arc<ManualClock>, dir: &std::path::Path) -> Env {
    Env::new(memory(), clock.clone(), Arc::new(SeededIds::new(7)), Arc::new(LocalSpawn), dir.to_owned())
}

fn spread(key: u16) -> u128 {
    u128::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
}

fn files(dir: &std::path::Path) -> usize {
    std::fs::read_dir(dir).map_or(0, Iterator::count)
}

proptest! {
    #[test]
    fn an_index_equals_a_map(
        puts in prop::collection::vec((0..600u16, 0..9u32), 0..900),
        budget in prop_oneof![Just(0), Just(3000u64), Just(1 << 20)],
    ) {
        let dir = tempfile::tempdir().unwrap();
        let clock = clock();
        let mut index = KeyIndex::new(&env(&clock, dir.path()), budget, None);
        let mut model = BTreeMap::new();
        for (key, place) in puts {
            let entry = Entry { place, since: index.now() };
            index.put(spread(key), entry);
            index.make_room().unwrap();
            model.insert(key, entry);
        }
        let mut keys: Vec<u128> = (0..600).map(spread).collect();
        keys.sort_unstable();
        let found = index.get(&keys).unwrap();
        for key in 0..600 {
            prop_assert_eq!(found.get(&spread(key)), model.get(&key));
        }
        prop_assert!(files(dir.path()) < 12);
        drop(index);
        prop_assert_eq!(files(dir.path()), 0);
    }
}

#[test]
fn a_key_is_loaded_once() {
    let dir = tempfile::tempdir().unwrap();
    for (budget, first) in [(1 << 20, true), (200, false)] {
        let mut index = KeyIndex::new(&env(&clock(), dir.path()), budget, None);
        let entry = Entry { place: 1, since: 0 };
        let load = |index: &mut KeyIndex| (0..40).try_for_each(|key| index.load(spread(key), entry, Twice::Refuse));
        load(&mut index).unwrap();
        let again = load(&mut index).and_then(|()| index.settle(Twice::Refuse));
        assert_eq!(again.unwrap_err().kind(), ErrorKind::Corrupt, "in memory: {first}");
    }
}

#[test]
fn keys_are_forgotten_after_their_time() {
    let dir = tempfile::tempdir().unwrap();
    for budget in [0, 1 << 20] {
        let clock = clock();
        let mut index = KeyIndex::new(&env(&clock, dir.path()), budget, Some(60));
        assert_eq!(i64::from(index.now()), NOW / 1000);
        let put = |index: &mut KeyIndex, key| {
            let since = index.now();
            index.put(spread(key), Entry { place: u32::from(key), since });
            index.make_room().unwrap();
        };
        put(&mut index, 1);
        clock.advance(40_000);
        put(&mut index, 2);
        assert_eq!(index.get(&[spread(1)]).unwrap().len(), 1);
        clock.advance(30_000);
        assert!(index.get(&[spread(1)]).unwrap().is_empty());
        assert_eq!(index.get(&[spread(2)]).unwrap().len(), 1);
    }
}
