//! Bitmaps and sketches equal those of the libraries that the reference uses, byte for byte but for a rounded estimate.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BinaryArray};
use datasketches::hll::{HllSketch, HllType};
use datasketches::theta::ThetaSketchBuilder;
use linn_format::types::{DataField, DataType};
use linn_format::{ErrorKind, Result};
use proptest::prelude::*;
use roaring::RoaringBitmap;

use super::fold_one;
use crate::merge::function::bitmap::Room;
use crate::merge::function::union::Unite;
use crate::merge::function::{Fold, FunctionOptions, FunctionPlan, bitmap, sketch};
use crate::merge::source::Pick;

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

type ByLibrary = fn(&[u8], &[u8], &mut Vec<u8>) -> Result<()>;

fn united(unite: Unite, a: &[u8], b: &[u8]) -> Result<Vec<u8>> {
    let (mut out, mut room) = (b"before".to_vec(), Room::default());
    // What an earlier union left behind makes no difference.
    unite(b, a, &mut room, &mut Vec::new()).ok();
    unite(a, b, &mut room, &mut out)?;
    assert!(out.starts_with(b"before"));
    Ok(out.split_off(b"before".len()))
}

fn by_library(unite: ByLibrary, a: &[u8], b: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    unite(a, b, &mut out)?;
    Ok(out)
}

/// First byte of an HLL sketch that has registers.
const REGISTERS: u8 = 10;

/// Takes the running estimate out of a sketch with registers: the libraries round it differently.
fn estimate(sketch: &mut [u8]) -> f64 {
    let estimate = f64::from_le_bytes(sketch[8..16].try_into().unwrap());
    sketch[8..16].fill(0);
    estimate
}

#[test]
fn unions_are_those_of_the_reference() {
    let golden = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/sketches/unions.txt"));
    let mut seen = BTreeSet::new();
    for line in golden.lines() {
        let [kind, first, second, union] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let unite: Unite = match kind {
            "hll" => sketch::unite_hll,
            "theta" => sketch::unite_theta,
            _ => bitmap::unite_wide,
        };
        let mut united = united(unite, &bytes(first), &bytes(second)).unwrap();
        let mut expected = bytes(union);
        if kind == "hll" && expected[0] == REGISTERS {
            let (ours, theirs) = (estimate(&mut united), estimate(&mut expected));
            assert!((ours - theirs).abs() <= 1e-3 * theirs, "{ours} {theirs}");
        }
        assert_eq!(hex(&united), hex(&expected), "{kind} {first} {second}");
        seen.insert(kind);
    }
    assert_eq!(seen.len(), 3);
}

fn fold(function: &str, options: FunctionOptions, values: &[Option<&[u8]>], folds: &[Fold]) -> Result<Option<Vec<u8>>> {
    let field = DataField::new(0, "f", DataType::parse("BYTES").unwrap());
    let plan = FunctionPlan { column: 0, field, function: function.to_owned(), options };
    let mut built = plan.build()?;
    let column: ArrayRef = Arc::new(BinaryArray::from(values.to_vec()));
    built.add_source(&column)?;
    let value = fold_one(&mut *built, &column, folds)?;
    Ok(value.map(|value| value.as_binary::<i32>().value(0).to_vec()))
}

fn pick(row: u32) -> Pick {
    Pick { source: 0, row }
}

#[test]
fn what_stands_alone_is_passed_on_and_what_is_damaged_is_named() {
    let values = [Some(&b"x"[..]), None, Some(&b"y"[..])];
    for function in ["rbm32", "rbm64", "hll_sketch", "theta_sketch"] {
        let run = |folds: &[Fold]| fold(function, FunctionOptions::default(), &values, folds);
        assert_eq!(run(&[Fold::Add(pick(1)), Fold::Add(pick(0)), Fold::Add(pick(1))]).unwrap(), Some(b"x".to_vec()));
        assert_eq!(run(&[Fold::Add(pick(1))]).unwrap(), None);
        let error = run(&[Fold::Add(pick(0)), Fold::Add(pick(2))]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains(function), "{error}");
        assert_eq!(run(&[Fold::Add(pick(0)), Fold::Retract(pick(2))]).unwrap_err().kind(), ErrorKind::Invalid);
        let ignoring = FunctionOptions { ignore_retract: true, ..FunctionOptions::default() };
        let kept = fold(function, ignoring, &values, &[Fold::Add(pick(0)), Fold::Retract(pick(2))]).unwrap();
        assert_eq!(kept, Some(b"x".to_vec()));
    }
}

/// A 64-bit bitmap of one container, as a list of values or of runs.
fn one_container(key: u8, values: &BTreeSet<u16>, as_runs: bool) -> Vec<u8> {
    let mut container: RoaringBitmap = values.iter().map(|v| u32::from(*v)).collect();
    if as_runs {
        container.optimize();
    }
    let mut portable = Vec::new();
    container.serialize_into(&mut portable).unwrap();
    let is_runs = portable[0] == 59;
    let mut bytes = vec![1];
    bytes.extend(1_u64.to_le_bytes());
    bytes.extend([4, 0, 0, 0, 0, 0, 0, 0, key / 2, key]);
    bytes.extend(0_u64.to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    bytes.push(0xfe);
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend([1, if is_runs { 0 } else { 2 }]);
    bytes.extend((values.len() as u32).to_le_bytes());
    bytes.extend(&portable[if is_runs { 9 } else { 16 }..]);
    bytes.extend(1_u64.to_le_bytes());
    bytes.extend(0_u64.to_le_bytes());
    bytes
}

/// Values alone and in runs.
fn clustered(most: u16) -> impl Strategy<Value = BTreeSet<u16>> {
    let run = (0..most, 1u16..12);
    prop::collection::vec(run, 1..12)
        .prop_map(|runs| runs.iter().flat_map(|(start, len)| *start..start.saturating_add(*len)).collect())
}

fn portable(values: &BTreeSet<u32>, as_runs: bool) -> Vec<u8> {
    let mut bitmap: RoaringBitmap = values.iter().collect();
    if as_runs {
        bitmap.optimize();
    }
    let mut bytes = Vec::new();
    bitmap.serialize_into(&mut bytes).unwrap();
    bytes
}

fn bitmaps() -> impl Strategy<Value = Vec<u8>> {
    let values = prop::collection::vec((0u32..7, clustered(300)), 0..6).prop_map(|parts| {
        parts.iter().flat_map(|(key, low)| low.iter().map(move |v| (key << 16) | u32::from(*v))).collect()
    });
    let dense = (1u32..9000).prop_map(|count| (0..count).map(|v| v * 7 % 65_536).collect());
    let values = prop_oneof![5 => values, 1 => dense];
    (values, any::<bool>()).prop_map(|(values, as_runs): (BTreeSet<u32>, bool)| portable(&values, as_runs))
}

fn wide_bitmaps() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec((0u8..6, clustered(300), any::<bool>()), 1..5).prop_map(|parts| {
        let parts = parts.iter().map(|(key, values, as_runs)| one_container(*key, values, *as_runs));
        parts.reduce(|a, b| by_library(bitmap::wide_by_library, &a, &b).unwrap()).unwrap()
    })
}

fn thetas() -> impl Strategy<Value = Vec<u8>> {
    let items = prop_oneof![5 => 0u64..6, 1 => 2000u64..6000];
    (items, 0u64..30, any::<bool>()).prop_map(|(count, from, ordered)| {
        let mut sketch = ThetaSketchBuilder::default().build().unwrap();
        (from..from + count).for_each(|item| sketch.update(item));
        sketch.compact(ordered).serialize()
    })
}

fn hlls() -> impl Strategy<Value = Vec<u8>> {
    let types = prop_oneof![Just(HllType::Hll4), Just(HllType::Hll6), Just(HllType::Hll8)];
    let items = prop_oneof![5 => 0u64..8, 1 => 8u64..400];
    (types, prop_oneof![3 => Just(12u8), 1 => Just(5u8)], items, 0u64..30).prop_map(|(of, lg_k, count, from)| {
        let mut sketch = HllSketch::new(lg_k, of).unwrap();
        (from..from + count).for_each(|item| sketch.update(item));
        sketch.serialize()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// What is united as it lies in bytes equals what the library makes of it, also where a byte of it is another.
    #[test]
    fn lists_are_united_as_the_library_does(
        thetas in [thetas(), thetas()],
        hlls in [hlls(), hlls()],
        narrow in [bitmaps(), bitmaps()],
        wide in [wide_bitmaps(), wide_bitmaps()],
        at in any::<prop::sample::Index>(),
        flip in prop_oneof![1 => Just(0u8), 1 => any::<u8>()],
    ) {
        // Of an HLL sketch only the head is damaged: a value that no register can have overflows in the library, in debug builds.
        let kinds: [(Unite, ByLibrary, [Vec<u8>; 2], usize); 4] = [
            (sketch::unite_theta, sketch::theta_by_library, thetas, usize::MAX),
            (sketch::unite_hll, sketch::hll_by_library, hlls, 8),
            (bitmap::unite, bitmap::unite_by_library, narrow, usize::MAX),
            (bitmap::unite_wide, bitmap::wide_by_library, wide, usize::MAX),
        ];
        for (unite, library, [mut first, second], damaged) in kinds {
            let at = at.index(first.len().min(damaged));
            first[at] ^= flip;
            let (ours, theirs) = (united(unite, &first, &second), by_library(library, &first, &second));
            prop_assert_eq!(ours.as_ref().ok().map(|b| hex(b)), theirs.as_ref().ok().map(|b| hex(b)));
            let (ours, theirs) = (united(unite, &second, &first), by_library(library, &second, &first));
            prop_assert_eq!(ours.ok().map(|b| hex(&b)), theirs.ok().map(|b| hex(&b)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Damaged bitmaps and sketches are refused or united, and never bring the process down.
    #[test]
    fn damage_never_panics(line in 0usize..30, at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()) {
        let golden = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/sketches/unions.txt"));
        let parts: Vec<&str> = golden.lines().nth(line).unwrap().split(' ').collect();
        let mut first = bytes(parts[1]);
        let second = bytes(parts[2]);
        let at = at.index(first.len());
        first[at] = byte;
        let cut = cut.index(first.len()) + 1;
        for damaged in [&first[..], &first[..cut]] {
            let unite: Unite = match parts[0] {
                "hll" => sketch::unite_hll,
                "theta" => sketch::unite_theta,
                _ => bitmap::unite_wide,
            };
            united(unite, damaged, &second).ok();
        }
    }
}
