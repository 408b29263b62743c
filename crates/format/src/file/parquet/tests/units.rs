//! Columns whose file holds other values than their type: finer timestamps, decimals, dates. A filter compares what is read, in row
//! groups and pages as well.

use arrow_array::RecordBatch;
use proptest::prelude::*;

use super::{Memory, file_read, read, write};
use crate::datum::{Datum, array_from_datums};
use crate::predicate::{CompareOp, Predicate};
use crate::types::{DataField, DataType, Kind, arrow_schema};

const OPS: [CompareOp; 6] =
    [CompareOp::Eq, CompareOp::NotEq, CompareOp::Lt, CompareOp::LtEq, CompareOp::Gt, CompareOp::GtEq];

/// The type that the file is written with, and the one it is read with.
fn types() -> Vec<(Kind, Kind)> {
    let decimal = |precision, scale| Kind::Decimal { precision, scale };
    let mut all = vec![
        (decimal(9, 2), Kind::Int),
        (decimal(9, 2), Kind::SmallInt),
        (decimal(18, 1), Kind::BigInt),
        (decimal(9, 2), decimal(9, 1)),
        (decimal(9, 2), decimal(18, 2)),
        (Kind::Int, Kind::BigInt),
        (Kind::BigInt, Kind::Int),
        (Kind::Int, decimal(9, 0)),
        (Kind::Int, Kind::Date),
        (Kind::Float, Kind::Double),
        (Kind::Double, Kind::Float),
    ];
    for (p, q) in [(6, 0), (6, 2), (6, 3), (5, 1), (3, 0), (3, 6), (0, 4), (9, 6), (9, 3)] {
        all.push((Kind::Timestamp(p), Kind::Timestamp(q)));
        all.push((Kind::LocalZonedTimestamp(p), Kind::LocalZonedTimestamp(q)));
    }
    all
}

/// A small value of a kind, around zero.
fn value(kind: &Kind, seed: i32) -> Datum {
    match kind {
        Kind::SmallInt => Datum::SmallInt(seed as i16),
        Kind::Int => Datum::Int(seed),
        Kind::BigInt => Datum::BigInt(seed.into()),
        Kind::Date => Datum::Date(seed),
        Kind::Float => Datum::Float(seed as f32 / 4.0),
        Kind::Double => Datum::Double(f64::from(seed) / 4.0),
        Kind::Decimal { precision, scale } => {
            Datum::Decimal { unscaled: seed.into(), precision: *precision, scale: *scale }
        }
        _ => {
            // Tenths of milliseconds, and some nanoseconds.
            let nanos = i64::from(seed) * 100_000 + i64::from(seed % 3) * 1_001;
            Datum::Timestamp { millis: nanos.div_euclid(1_000_000), nanos: nanos.rem_euclid(1_000_000) as i32 }
        }
    }
}

fn field(kind: Kind) -> Vec<DataField> {
    vec![DataField::new(0, "c", DataType::nullable(kind))]
}

fn matching(batches: &[RecordBatch], filter: &Predicate, fields: &[DataField]) -> Vec<Option<Datum>> {
    let mut found = Vec::new();
    for batch in batches {
        let keep = filter.evaluate(batch, fields).unwrap();
        let kept = arrow_select::filter::filter_record_batch(batch, &keep).unwrap();
        found.extend((0..kept.num_rows()).map(|i| Datum::from_array(kept.column(0), i, &fields[0].data_type).unwrap()));
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_compared_is_the_value_that_is_read(
        mut seeds in prop::collection::vec(prop::option::weighted(0.9, -300..300i32), 1..60),
        sorted: bool,
        literals in prop::collection::vec(-310..310i32, 1..4),
        op in 0..6_usize,
    ) {
        if sorted {
            seeds.sort_unstable();
        }
        for (written, kind) in types() {
            let (stored, fields) = (field(written.clone()), field(kind.clone()));
            let values: Vec<Option<Datum>> = seeds.iter().map(|seed| seed.map(|seed| value(&written, seed))).collect();
            let column = array_from_datums(&values, &stored[0].data_type).unwrap();
            let batch = RecordBatch::try_new(arrow_schema(&stored).unwrap(), vec![column]).unwrap();
            let options = [("parquet.block.row.count.limit", "12"), ("parquet.page.row.count.limit", "4")];
            let file = Memory::new(write(&stored, &[batch], &options).unwrap());
            let all = read(&file, file_read(&fields)).unwrap();
            let literal = |at: usize| value(&kind, literals[at % literals.len()]);
            let compare = Predicate::Compare { field_id: 0, op: OPS[op], literal: literal(0) };
            let among = (0..literals.len()).map(literal).collect();
            let negated = op % 2 == 0;
            for filter in [
                compare.clone(),
                Predicate::Not(Box::new(compare)),
                Predicate::In { field_id: 0, literals: among, negated },
                Predicate::IsNull { field_id: 0, negated },
            ] {
                let expected = matching(&all, &filter, &fields);
                let mut asked = file_read(&fields);
                asked.filter = Some(filter.clone());
                let loose = read(&file, asked.clone()).unwrap();
                prop_assert_eq!(matching(&loose, &filter, &fields), expected.clone(), "{:?} as {:?}: {:?}", written, kind, filter);
                asked.exact_filter = true;
                let exact = read(&file, asked).unwrap();
                prop_assert_eq!(matching(&exact, &Predicate::Constant(true), &fields), expected);
            }
        }
    }
}

/// Before 1970 as well the digits that a column lacks are dropped, not rounded towards zero.
#[test]
fn finer_digits_are_dropped_before_1970_too() {
    let (stored, fields) = (field(Kind::Timestamp(6)), field(Kind::Timestamp(3)));
    let value = Some(Datum::Timestamp { millis: -2, nanos: 999_000 });
    let column = array_from_datums(&[value], &stored[0].data_type).unwrap();
    let batch = RecordBatch::try_new(arrow_schema(&stored).unwrap(), vec![column]).unwrap();
    let file = Memory::new(write(&stored, &[batch], &[]).unwrap());
    let all = matching(&read(&file, file_read(&fields)).unwrap(), &Predicate::Constant(true), &fields);
    assert_eq!(all, [Some(Datum::Timestamp { millis: -2, nanos: 0 })]);
}
