//! Filters carried to the older types of a file, and statistics carried from them: whatever the file holds, its type's values or
//! others, no row is lost whose value as it is read matches.

use bytes::Bytes;
use proptest::prelude::*;

use super::{CompareOp, Predicate};
use crate::cast::{can_cast, cast};
use crate::datum::{Datum, array_from_datums};
use crate::row::BinaryRow;
use crate::stats::{ColumnRange, FileStats, SimpleStats, evolve};
use crate::types::{DataField, DataType, Kind};

const OPS: [CompareOp; 6] =
    [CompareOp::Eq, CompareOp::NotEq, CompareOp::Lt, CompareOp::LtEq, CompareOp::Gt, CompareOp::GtEq];

fn kinds() -> Vec<Kind> {
    let decimal = |precision, scale| Kind::Decimal { precision, scale };
    let mut all = vec![
        Kind::TinyInt,
        Kind::SmallInt,
        Kind::Int,
        Kind::BigInt,
        Kind::Float,
        Kind::Double,
        Kind::Date,
        Kind::Time(0),
        Kind::Time(3),
        Kind::Char(3),
        Kind::Varchar(2),
        Kind::Varchar(4),
        Kind::Varchar(9),
        Kind::Binary(2),
        Kind::Varbinary(3),
        Kind::Varbinary(9),
        decimal(2, 1),
        decimal(3, 1),
        decimal(4, 2),
        decimal(9, 2),
    ];
    all.extend((0..10).map(Kind::Timestamp));
    all.extend([0, 3, 6].map(Kind::LocalZonedTimestamp));
    all
}

/// A value that a file with a column of this kind may hold, beyond what the kind says as well.
fn value(kind: &Kind, seed: i32) -> Datum {
    let text = || "ab ".chars().cycle().skip(seed.rem_euclid(3) as usize).take(seed.rem_euclid(7) as usize);
    match kind {
        Kind::TinyInt => Datum::TinyInt(seed as i8),
        Kind::SmallInt => Datum::SmallInt(seed as i16),
        Kind::Int => Datum::Int(seed),
        Kind::BigInt => Datum::BigInt(seed.into()),
        Kind::Float => Datum::Float(seed as f32 / 3.0),
        Kind::Double => Datum::Double(f64::from(seed) / 3.0),
        Kind::Date => Datum::Date(seed),
        Kind::Time(_) => Datum::Time(seed.rem_euclid(86_400_000)),
        Kind::Char(_) | Kind::Varchar(_) => Datum::String(text().collect()),
        Kind::Binary(_) | Kind::Varbinary(_) => Datum::Bytes(text().map(|c| c as u8).collect::<Bytes>()),
        Kind::Decimal { precision, scale } => {
            Datum::Decimal { unscaled: i128::from(seed) * 7, precision: *precision, scale: *scale }
        }
        Kind::Timestamp(p) | Kind::LocalZonedTimestamp(p) => {
            // As fine as what the column is held in.
            let unit: i64 = match p {
                0..=3 => 1_000_000,
                4..=6 => 1_000,
                _ => 1,
            };
            let nanos = (i64::from(seed) * 37 * 100_000_003 / unit * unit, 1_000_000);
            Datum::Timestamp { millis: nanos.0.div_euclid(nanos.1), nanos: nanos.0.rem_euclid(nanos.1) as i32 }
        }
        other => panic!("{other:?}"),
    }
}

fn field(kind: &Kind) -> DataField {
    DataField::new(0, "c", DataType::nullable(kind.clone()))
}

/// What the statistics of a file of these values say of the column as it is read.
fn range(values: &[Option<Datum>], from: &DataField, to: &DataField) -> ColumnRange {
    let there: Vec<&Datum> = values.iter().flatten().collect();
    let least = there.iter().copied().reduce(|a, b| if b.compare(a) == Some(std::cmp::Ordering::Less) { b } else { a });
    let most =
        there.iter().copied().reduce(|a, b| if b.compare(a) == Some(std::cmp::Ordering::Greater) { b } else { a });
    let row = |bound: Option<&Datum>| BinaryRow::from_datums(&[(bound.cloned(), &from.data_type)]).unwrap();
    let nulls = values.len() - there.len();
    let stats = SimpleStats { min: row(least), max: row(most), null_counts: vec![Some(nulls as i64)] };
    let fields = std::slice::from_ref(from);
    let file = FileStats { stats: &stats, fields, columns: None, row_count: values.len() as i64 };
    // Bounds that cannot be read say nothing.
    evolve(file, to).unwrap_or_else(|_| ColumnRange::unknown())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_row_is_lost(
        seeds in prop::collection::vec(prop::option::weighted(0.9, -90..90i32), 1..6),
        literals in prop::collection::vec(-90..90i32, 2),
        op in 0..6_usize,
    ) {
        for (from, to) in kinds().into_iter().flat_map(|from| kinds().into_iter().map(move |to| (from.clone(), to))) {
            let (file, table) = (field(&from), field(&to));
            if !can_cast(&file.data_type, &table.data_type, true) {
                continue;
            }
            let values: Vec<Option<Datum>> = seeds.iter().map(|seed| seed.map(|seed| value(&from, seed))).collect();
            let stored = array_from_datums(&values, &file.data_type).unwrap();
            let Ok(read) = cast(&stored, &file.data_type, &table.data_type) else { continue };
            // Literals are values that are read, and others.
            let mut known = vec![value(&to, literals[0]), value(&to, literals[1])];
            known.extend((0..read.len()).filter_map(|row| Datum::from_array(&read, row, &table.data_type).unwrap()));
            let range = range(&values, &file, &table);
            for literal in &known {
                let compare = Predicate::Compare { field_id: 0, op: OPS[op], literal: literal.clone() };
                for filter in [
                    compare.clone(),
                    Predicate::Not(Box::new(compare)),
                    Predicate::In { field_id: 0, literals: vec![literal.clone(), known[1].clone()], negated: op % 2 == 0 },
                    Predicate::IsNull { field_id: 0, negated: op % 2 == 0 },
                ] {
                    let mask = |array: &arrow_array::ArrayRef, filter: &Predicate, field: &DataField| {
                        let columns = [("c", array.clone(), true)];
                        let batch = arrow_array::RecordBatch::try_from_iter_with_nullable(columns).unwrap();
                        filter.evaluate(&batch, std::slice::from_ref(field)).unwrap()
                    };
                    let wanted = mask(&read, &filter, &table);
                    let carried = filter.for_file(std::slice::from_ref(&table), std::slice::from_ref(&file));
                    let kept = mask(&stored, &carried, &file);
                    for row in (0..read.len()).filter(|row| wanted.value(*row)) {
                        prop_assert!(kept.value(row), "{from:?} to {to:?}: {filter:?} became {carried:?} of {values:?}");
                    }
                    if wanted.true_count() > 0 {
                        prop_assert!(filter.may_match(|_| range.clone()), "{from:?} to {to:?}: {filter:?} of {values:?}, {range:?}");
                    }
                }
            }
        }
    }
}
