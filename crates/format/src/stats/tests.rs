//! Statistics by mode, cut and carried, dense and full, evolved.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, Float64Array, Int64Array, RecordBatch, StringArray};
use proptest::prelude::*;

use super::*;
use crate::types::{DataField, DataType, Kind};

fn collect(array: ArrayRef, kind: Kind, mode: StatsMode) -> ColumnStats {
    let field = DataField::new(0, "c", DataType::nullable(kind));
    let mut collector = StatsCollector::new(&[field], &[mode]).unwrap();
    let half = array.len() / 2;
    for part in [array.slice(0, half), array.slice(half, array.len() - half)] {
        collector.update(&RecordBatch::try_from_iter_with_nullable([("c", part, true)]).unwrap()).unwrap();
    }
    collector.finish().remove(0)
}

fn strings(values: &[&str], mode: StatsMode) -> (Option<String>, Option<String>) {
    let stats = collect(Arc::new(StringArray::from(values.to_vec())), Kind::Varchar(99), mode);
    let text = |d: Option<Datum>| match d {
        Some(Datum::String(text)) => Some(text),
        None => None,
        other => panic!("{other:?}"),
    };
    (text(stats.min), text(stats.max))
}

fn pair(min: &str, max: &str) -> (Option<String>, Option<String>) {
    (Some(min.to_owned()), Some(max.to_owned()))
}

#[test]
fn strings_are_cut_by_characters() {
    let mode = StatsMode::Truncate(2);
    assert_eq!(strings(&["ab", "cd"], mode), pair("ab", "cd"));
    assert_eq!(strings(&["abz", "cdz"], mode), pair("ab", "ce"));
    assert_eq!(strings(&["äöü"], mode), pair("äö", "ä÷"));
    assert_eq!(strings(&["a\u{10ffff}x"], mode), pair("a\u{10ffff}", "b"));
    assert_eq!(strings(&["a\u{d7ff}x"], mode), pair("a\u{d7ff}", "a\u{e000}"));
    assert_eq!(strings(&["\u{10ffff}\u{10ffff}x"], mode), (None, None));
    assert_eq!(strings(&["abc", "abd"], StatsMode::Full), pair("abc", "abd"));
    assert_eq!(strings(&["abc"], StatsMode::Counts), (None, None));
}

proptest! {
    #[test]
    fn cut_bounds_are_those_of_the_true_extremes(values in prop::collection::vec("[aä\u{10ffff}]{0,4}", 1..6), length in 1_usize..4) {
        let mode = StatsMode::Truncate(length);
        let texts: Vec<&str> = values.iter().map(String::as_str).collect();
        let datum = |value: Option<&&str>| value.map(|text| Datum::String((*text).to_owned()));
        let (min, max) = mode.bounds(datum(texts.iter().min()), datum(texts.iter().max()));
        let stats = collect(Arc::new(StringArray::from(texts.clone())), Kind::Varchar(99), mode);
        prop_assert_eq!((stats.min, stats.max), (min, max));

        let datum = |value: Option<&&str>| value.map(|text| Datum::Bytes(text.as_bytes().to_vec().into()));
        let (min, max) = mode.bounds(datum(texts.iter().min()), datum(texts.iter().max()));
        let binaries = BinaryArray::from_iter_values(&texts);
        let stats = collect(Arc::new(binaries), Kind::Varbinary(99), mode);
        prop_assert_eq!((stats.min, stats.max), (min, max));
    }
}

#[test]
fn binaries_are_cut_by_bytes() {
    let bytes = |value: &[u8]| {
        let array = Arc::new(BinaryArray::from(vec![value]));
        collect(array, Kind::Varbinary(99), StatsMode::Truncate(2))
    };
    assert_eq!(bytes(&[1, 2, 3]).max, Some(Datum::Bytes(vec![1, 3].into())));
    assert_eq!(bytes(&[1, 255, 3]).max, Some(Datum::Bytes(vec![2].into())));
    assert_eq!(bytes(&[255, 255, 3]), ColumnStats { min: None, max: None, null_count: Some(0) });
}

#[test]
fn floats_have_bounds_that_every_reader_agrees_on() {
    let floats = |values: Vec<f64>| collect(Arc::new(Float64Array::from(values)), Kind::Double, StatsMode::Full);
    let stats = floats(vec![0.0, 0.0]);
    assert!(matches!(stats.min, Some(Datum::Double(v)) if v == 0.0 && v.is_sign_negative()));
    assert!(matches!(stats.max, Some(Datum::Double(v)) if v == 0.0 && v.is_sign_positive()));
    for values in [vec![1.0, f64::NAN, 2.0, 3.0], vec![f64::NAN, 1.0, 2.0, 3.0], vec![1.0, 2.0, 3.0, f64::NAN]] {
        assert_eq!(floats(values), ColumnStats { min: None, max: None, null_count: Some(0) });
    }
    assert_eq!(floats(vec![-1.0, 5.0]).max, Some(Datum::Double(5.0)));
}

#[test]
fn nulls_are_counted_and_modes_parsed() {
    let array = || Arc::new(Int64Array::from(vec![None, Some(3), Some(-7), None, None]));
    let full = ColumnStats { min: Some(Datum::BigInt(-7)), max: Some(Datum::BigInt(3)), null_count: Some(3) };
    assert_eq!(collect(array(), Kind::BigInt, StatsMode::Truncate(16)), full);
    assert!(collect(array(), Kind::BigInt, StatsMode::None).is_none());
    assert_eq!(collect(array(), Kind::BigInt, StatsMode::Counts).null_count, Some(3));
    assert_eq!(StatsMode::parse("TRUNCATE(16)").unwrap(), StatsMode::Truncate(16));
    assert_eq!(StatsMode::parse("none").unwrap(), StatsMode::None);
    assert!(StatsMode::parse("truncate(0)").is_err());
    assert!(StatsMode::parse("some").is_err());
}

fn known(min: i32, max: i32) -> ColumnStats {
    ColumnStats { min: Some(Datum::Int(min)), max: Some(Datum::Int(max)), null_count: Some(0) }
}

fn int(id: i32, name: &str, kind: Kind) -> DataField {
    DataField::new(id, name, DataType::nullable(kind))
}

#[test]
fn dense_statistics_name_their_columns() {
    let fields = [int(0, "a", Kind::Int), int(1, "b", Kind::Int)];
    let (stats, names) = SimpleStats::dense(&[known(1, 2), known(3, 4)], &fields).unwrap();
    assert_eq!((stats.min.arity(), names), (2, None));
    let (stats, names) = SimpleStats::dense(&[ColumnStats::NONE, known(3, 4)], &fields).unwrap();
    assert_eq!((stats.min.arity(), names.unwrap()), (1, vec!["b".to_owned()]));
    let (stats, names) = SimpleStats::dense(&[ColumnStats::NONE, ColumnStats::NONE], &fields).unwrap();
    assert_eq!((stats, names), (SimpleStats::empty(), Some(Vec::new())));
    let stats = SimpleStats::full(&[ColumnStats::NONE, known(3, 4)], fields.iter().map(|f| &f.data_type)).unwrap();
    assert_eq!(stats.null_counts, [None, Some(0)]);
    assert!(stats.min.is_null(0) && !stats.min.is_null(1));
}

#[test]
fn statistics_evolve_by_field_id() {
    let fields = [int(0, "a", Kind::Int), int(1, "b", Kind::Int)];
    let (stats, columns) = SimpleStats::dense(&[ColumnStats::NONE, known(3, 4)], &fields).unwrap();
    let file = FileStats { stats: &stats, fields: &fields, columns: columns.as_deref(), row_count: 10 };
    let range = |id, kind| evolve(file, &int(id, "renamed", kind)).unwrap();
    let expected =
        ColumnRange { min: Some(Datum::BigInt(3)), max: Some(Datum::BigInt(4)), null_count: Some(0), row_count: 10 };
    assert_eq!(range(1, Kind::BigInt), expected);
    let unknown = ColumnRange { min: None, max: None, null_count: None, row_count: 10 };
    assert_eq!(range(1, Kind::TinyInt), unknown);
    assert_eq!(range(1, Kind::Varchar(9)), unknown);
    assert_eq!(range(0, Kind::Int), unknown);
    assert_eq!(range(7, Kind::Int), ColumnRange::all_null(10));
    let none = FileStats { columns: Some(&[]), ..file };
    assert_eq!(evolve(none, &fields[1]).unwrap(), unknown);
}

proptest! {
    #[test]
    fn bounds_hold(values in prop::collection::vec("\\PC{0,6}", 1..12), length in 1usize..4) {
        let array = Arc::new(StringArray::from_iter_values(&values));
        let stats = collect(array, Kind::Varchar(99), StatsMode::Truncate(length));
        for value in values {
            let value = Datum::String(value);
            if let (Some(min), Some(max)) = (&stats.min, &stats.max) {
                prop_assert!(min.compare(&value).unwrap().is_le());
                prop_assert!(max.compare(&value).unwrap().is_ge());
            }
        }
    }
}
