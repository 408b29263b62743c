//! Bitmaps and sketches equal those of the libraries that the reference uses, byte for byte but for a rounded estimate.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BinaryArray};
use linn_format::types::{DataField, DataType};
use linn_format::{ErrorKind, Result};
use proptest::prelude::*;

use crate::merge::function::{Fold, FunctionOptions, FunctionPlan, bitmap, sketch};
use crate::merge::source::{Cell, Pick};

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
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
        let unite = match kind {
            "hll" => sketch::unite_hll,
            "theta" => sketch::unite_theta,
            _ => bitmap::unite_wide,
        };
        let mut united = unite(&bytes(first), &bytes(second)).unwrap();
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
    Ok(match built.fold(folds)? {
        Cell::Null => None,
        Cell::Pick(p) => Some(column.as_binary::<i32>().value(p.row as usize).to_vec()),
        Cell::Computed(i) => Some(built.computed()?.unwrap().as_binary::<i32>().value(i as usize).to_vec()),
    })
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
            let unite = match parts[0] {
                "hll" => sketch::unite_hll,
                "theta" => sketch::unite_theta,
                _ => bitmap::unite_wide,
            };
            unite(damaged, &second).ok();
        }
    }
}
