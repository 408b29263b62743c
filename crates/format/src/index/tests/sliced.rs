//! Our bit-sliced indexes and range bitmaps, of every type, against the predicate itself: they answer exactly.

use proptest::prelude::*;

use super::property::{number, predicate};
use super::{batch, check};
use crate::datum::{Datum, array_from_datums};
use crate::index::{BSI, IndexFile, IndexKind, IndexSpec, IndexWriter, RANGE_BITMAP};
use crate::predicate::Predicate;
use crate::types::{DataField, DataType, Kind};

/// Types, and which of the two indexes they have.
const TYPES: &[(&str, &[&str])] = &[
    ("BOOLEAN", &[RANGE_BITMAP]),
    ("TINYINT", &[BSI, RANGE_BITMAP]),
    ("SMALLINT", &[BSI, RANGE_BITMAP]),
    ("INT", &[BSI, RANGE_BITMAP]),
    ("BIGINT", &[BSI, RANGE_BITMAP]),
    ("FLOAT", &[RANGE_BITMAP]),
    ("DOUBLE", &[RANGE_BITMAP]),
    ("DECIMAL(12, 3)", &[BSI, RANGE_BITMAP]),
    ("DECIMAL(30, 2)", &[BSI]),
    ("DATE", &[BSI, RANGE_BITMAP]),
    ("TIME(3)", &[BSI, RANGE_BITMAP]),
    ("TIMESTAMP(3)", &[BSI, RANGE_BITMAP]),
    ("TIMESTAMP(6)", &[BSI, RANGE_BITMAP]),
    ("TIMESTAMP(9)", &[BSI]),
    ("TIMESTAMP(6) WITH LOCAL TIME ZONE", &[BSI, RANGE_BITMAP]),
    ("CHAR(30)", &[RANGE_BITMAP]),
    ("STRING", &[RANGE_BITMAP]),
    ("BYTES", &[]),
    ("ARRAY<INT>", &[]),
    ("MAP<STRING, INT>", &[]),
    ("ROW<a INT>", &[]),
];

fn field(sql: &str) -> DataField {
    DataField::new(7, "c", DataType::parse(sql).unwrap())
}

fn kind(name: &str, chunk_size: Option<usize>) -> IndexKind {
    if name == BSI { IndexKind::Bsi } else { IndexKind::RangeBitmap { chunk_size } }
}

fn writer(field: &DataField, kind: IndexKind) -> crate::Result<IndexWriter> {
    IndexWriter::new(std::slice::from_ref(field), &[IndexSpec { column: "c".into(), kind }])
}

/// The value of a type that a number stands for; halves of it where the type has its own ends.
fn datum(kind: &Kind, n: i64) -> Datum {
    let half = n / 2;
    match kind {
        Kind::Boolean => Datum::Boolean(n & 1 == 1),
        Kind::TinyInt => Datum::TinyInt(n as i8),
        Kind::SmallInt => Datum::SmallInt(n as i16),
        Kind::Int => Datum::Int(n as i32),
        Kind::BigInt => Datum::BigInt(n),
        Kind::Float => Datum::Float(if n == 3 { f32::NAN } else { n as f32 / -2.0 }),
        Kind::Double => Datum::Double(if n == 3 { f64::NAN } else { n as f64 / -2.0 }),
        Kind::Decimal { precision, scale } => {
            let unscaled = i128::from(n) * 3 % 10i128.pow(u32::from(*precision));
            Datum::Decimal { unscaled, precision: *precision, scale: *scale }
        }
        Kind::Date => Datum::Date(n as i32),
        Kind::Time(_) => Datum::Time((n as i32).rem_euclid(86_400_000)),
        Kind::Timestamp(3) => Datum::Timestamp { millis: half, nanos: 0 },
        Kind::Timestamp(6) | Kind::LocalZonedTimestamp(_) => {
            Datum::Timestamp { millis: half.div_euclid(1000), nanos: half.rem_euclid(1000) as i32 * 1000 }
        }
        Kind::Timestamp(_) => {
            Datum::Timestamp { millis: half.div_euclid(1_000_000), nanos: half.rem_euclid(1_000_000) as i32 }
        }
        _ => Datum::String(format!("é{n}")),
    }
}

/// The predicate over numbers as one over values of the type.
fn of_type(predicate: &Predicate, kind: &Kind) -> Predicate {
    let all = |parts: &[Predicate]| parts.iter().map(|part| of_type(part, kind)).collect();
    let value = |literal: &Datum| match literal {
        Datum::BigInt(n) => datum(kind, *n),
        other => panic!("{other:?}"),
    };
    match predicate {
        Predicate::And(parts) => Predicate::And(all(parts)),
        Predicate::Or(parts) => Predicate::Or(all(parts)),
        Predicate::Not(part) => Predicate::Not(Box::new(of_type(part, kind))),
        Predicate::Compare { op, literal, .. } => Predicate::Compare { field_id: 7, op: *op, literal: value(literal) },
        Predicate::In { literals, negated, .. } => {
            Predicate::In { field_id: 7, literals: literals.iter().map(value).collect(), negated: *negated }
        }
        Predicate::IsNull { negated, .. } => Predicate::IsNull { field_id: 7, negated: *negated },
        other => other.clone(),
    }
}

fn says_min(predicate: &Predicate) -> bool {
    format!("{predicate:?}").contains(&i64::MIN.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn answers_are_exact(
        rows in prop::collection::vec(number(), 1..60),
        (sql, index) in prop::sample::select(TYPES).prop_filter_map("has none", |(sql, of)| (!of.is_empty()).then_some((sql, of)))
            .prop_flat_map(|(sql, of)| (Just(sql), prop::sample::select(of))),
        chunk_size in prop::option::of(0usize..64),
        cut in any::<prop::sample::Index>(),
        predicate in predicate(1, |_, n| Datum::BigInt(n)),
    ) {
        let field = field(sql);
        let kind = &field.data_type.kind;
        let values: Vec<Option<Datum>> = rows.iter().map(|n| n.map(|n| datum(kind, n))).collect();
        let fields = std::slice::from_ref(&field);
        let batch = batch(fields, vec![array_from_datums(&values, &field.data_type).unwrap()]);
        let mut writer = writer(&field, self::kind(index, chunk_size)).unwrap();
        let cut = cut.index(rows.len());
        writer.update(&batch.slice(0, cut)).unwrap();
        writer.update(&batch.slice(cut, rows.len() - cut)).unwrap();
        let asked = of_type(&predicate, kind);
        let truth = asked.mask(&batch, fields).unwrap().count_set_bits() as u64;
        let beyond = values.iter().flatten().any(|value| match value {
            Datum::BigInt(n) => *n == i64::MIN,
            Datum::Decimal { unscaled, .. } => i64::try_from(*unscaled).is_err(),
            _ => false,
        });
        match writer.finish().unwrap() {
            Some(bytes) => {
                prop_assert!(index == RANGE_BITMAP || !beyond);
                let kept = check(&bytes, &batch, fields, &asked).len();
                let loose = matches!(kind, Kind::Float | Kind::Double | Kind::Timestamp(9) | Kind::Decimal { precision: 30, .. });
                if !loose && !says_min(&predicate) {
                    prop_assert_eq!(kept, truth, "{:?}", asked);
                }
            }
            None => prop_assert!(index == BSI && beyond),
        }
    }
}

#[test]
fn many_rows_are_found_in_every_container() {
    // Rows that come in runs, in turns, and now and then, of more than a container of 65,536.
    for (sql, index) in [("BIGINT", BSI), ("BIGINT", RANGE_BITMAP), ("STRING", RANGE_BITMAP)] {
        let field = field(sql);
        let number = |row: i64| match row % 7 {
            0 => None,
            1 | 2 => Some(row / 9000),
            3 => Some(-(row % 500)),
            _ => Some(row % 3),
        };
        let values: Vec<_> = (0..150_000).map(|row| number(row).map(|n| datum(&field.data_type.kind, n))).collect();
        let fields = std::slice::from_ref(&field);
        let batch = batch(fields, vec![array_from_datums(&values, &field.data_type).unwrap()]);
        let mut writer = writer(&field, kind(index, None)).unwrap();
        writer.update(&batch).unwrap();
        let bytes = writer.finish().unwrap().unwrap();
        for n in [-499, -3, 0, 2, 16, 17] {
            for op in [crate::predicate::CompareOp::Eq, crate::predicate::CompareOp::Lt] {
                let literal = datum(&field.data_type.kind, n);
                let asked = Predicate::Compare { field_id: 7, op, literal };
                let truth = asked.mask(&batch, fields).unwrap().count_set_bits() as u64;
                assert_eq!(check(&bytes, &batch, fields, &asked).len(), truth, "{sql} {index} {op:?} {n}");
            }
        }
    }
}

#[test]
fn other_types_have_none() {
    for (sql, of) in TYPES.iter().chain(&[("TIMESTAMP(9) WITH LOCAL TIME ZONE", &[BSI][..]), ("VARBINARY(3)", &[][..])])
    {
        for index in [BSI, RANGE_BITMAP] {
            match writer(&field(sql), kind(index, None)) {
                Ok(_) => assert!(of.contains(&index), "{index} on {sql}"),
                Err(error) => {
                    assert!(!of.contains(&index), "{index} on {sql}: {error}");
                    let text = error.to_string();
                    assert!(text.contains("column: c") && text.contains(index), "{text}");
                }
            }
        }
    }
}

#[test]
fn an_index_that_cannot_hold_a_value_is_left_out_alone() {
    let fields = [field("BIGINT"), DataField::new(8, "d", DataType::parse("BIGINT").unwrap())];
    let specs: Vec<IndexSpec> =
        [("c", IndexKind::Bsi), ("c", IndexKind::RangeBitmap { chunk_size: None }), ("d", IndexKind::Bsi)]
            .into_iter()
            .map(|(column, kind)| IndexSpec { column: column.into(), kind })
            .collect();
    let column = |values: [Option<i64>; 3]| {
        let data: Vec<_> = values.map(|n| n.map(Datum::BigInt)).into();
        array_from_datums(&data, &fields[0].data_type).unwrap()
    };
    let batch =
        batch(&fields, vec![column([Some(1), Some(i64::MIN), None]), column([None, Some(-i64::MAX), Some(i64::MAX)])]);
    let mut writer = IndexWriter::new(&fields, &specs).unwrap();
    writer.update(&batch).unwrap();
    let bytes = writer.finish().unwrap().unwrap();
    let parts = IndexFile::parse(&bytes).unwrap().parts;
    let names: Vec<(&str, &str)> = parts.iter().map(|part| (&*part.column, &*part.index_type)).collect();
    assert_eq!(names, [("c", RANGE_BITMAP), ("d", BSI)]);
    for (field_id, n) in [(7, i64::MIN), (8, -i64::MAX), (8, i64::MAX)] {
        let op = crate::predicate::CompareOp::Eq;
        let asked = Predicate::Compare { field_id, op, literal: Datum::BigInt(n) };
        assert_eq!(check(&bytes, &batch, &fields, &asked).len(), 1);
    }
}
