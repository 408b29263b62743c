//! Predicates against an SQL model; pruning never loses a row.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int8Array, Int32Array, RecordBatch, StringArray};
use proptest::prelude::*;

use super::*;
use crate::stats::{ColumnRange, ColumnStats, StatsCollector, StatsMode};
use crate::types::{DataField, DataType, Kind};

const INT: i32 = 0;
const TEXT: i32 = 1;
const FLOAT: i32 = 2;

fn fields() -> Vec<DataField> {
    vec![
        DataField::new(INT, "i", DataType::nullable(Kind::Int)),
        DataField::new(TEXT, "s", DataType::string()),
        DataField::new(FLOAT, "f", DataType::nullable(Kind::Double)),
    ]
}

fn batch(ints: Vec<Option<i32>>, texts: Vec<Option<&str>>, floats: Vec<Option<f64>>) -> RecordBatch {
    let columns: [(&str, ArrayRef, bool); 3] = [
        ("i", Arc::new(Int32Array::from(ints)), true),
        ("s", Arc::new(StringArray::from(texts)), true),
        ("f", Arc::new(Float64Array::from(floats)), true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn compare(field_id: i32, op: CompareOp, literal: Datum) -> Predicate {
    Predicate::Compare { field_id, op, literal }
}

fn int(op: CompareOp, literal: i32) -> Predicate {
    compare(INT, op, Datum::Int(literal))
}

fn ints_in(literals: &[i32], negated: bool) -> Predicate {
    Predicate::In { field_id: INT, literals: literals.iter().map(|v| Datum::Int(*v)).collect(), negated }
}

fn not(inner: Predicate) -> Predicate {
    Predicate::Not(Box::new(inner))
}

#[track_caller]
fn check(predicate: &Predicate, expected: &[Option<bool>]) {
    let batch = batch(
        vec![Some(1), Some(2), None, Some(-5)],
        vec![Some("a"), None, Some("ab"), Some("b")],
        vec![Some(f64::NAN), Some(-f64::NAN), Some(0.0), None],
    );
    assert_eq!(predicate.evaluate(&batch, &fields()).unwrap(), BooleanArray::from(expected.to_vec()));
}

#[test]
fn comparisons_have_three_answers() {
    check(&int(CompareOp::Eq, 1), &[Some(true), Some(false), None, Some(false)]);
    check(&int(CompareOp::NotEq, 1), &[Some(false), Some(true), None, Some(true)]);
    check(&int(CompareOp::Lt, 1), &[Some(false), Some(false), None, Some(true)]);
    check(&not(int(CompareOp::GtEq, 1)), &[Some(false), Some(false), None, Some(true)]);
    check(&ints_in(&[1, 2], false), &[Some(true), Some(true), None, Some(false)]);
    check(&ints_in(&[1, 2], true), &[Some(false), Some(false), None, Some(true)]);
    let null = Predicate::IsNull { field_id: INT, negated: false };
    check(&null, &[Some(false), Some(false), Some(true), Some(false)]);
    let prefix = Predicate::StartsWith { field_id: TEXT, prefix: "a".to_owned() };
    check(&prefix, &[Some(true), None, Some(true), Some(false)]);
    check(&Predicate::And(vec![]), &[Some(true); 4]);
    check(&Predicate::Or(vec![]), &[Some(false); 4]);
}

#[test]
fn connectives_are_kleene() {
    let unknown = int(CompareOp::Eq, 1);
    check(&Predicate::And(vec![unknown.clone(), Predicate::Constant(false)]), &[Some(false); 4]);
    check(&Predicate::Or(vec![unknown.clone(), Predicate::Constant(true)]), &[Some(true); 4]);
    let both = Predicate::And(vec![unknown, compare(TEXT, CompareOp::GtEq, Datum::String("a".to_owned()))]);
    check(&both, &[Some(true), Some(false), None, Some(false)]);
}

#[test]
fn nan_equals_nan_and_is_the_greatest() {
    let nan = Datum::Double(f64::NAN);
    check(&compare(FLOAT, CompareOp::Eq, nan.clone()), &[Some(true), Some(true), Some(false), None]);
    check(&compare(FLOAT, CompareOp::Gt, Datum::Double(1e300)), &[Some(true), Some(true), Some(false), None]);
    let among = Predicate::In { field_id: FLOAT, literals: vec![nan, Datum::Double(7.0)], negated: false };
    check(&among, &[Some(true), Some(true), Some(false), None]);
}

#[test]
fn small_integers_compare_in_their_own_type() {
    let field = DataField::new(0, "t", DataType::nullable(Kind::TinyInt));
    let column: ArrayRef = Arc::new(Int8Array::from(vec![i8::MIN, 0, i8::MAX]));
    let batch = RecordBatch::try_from_iter([("t", column)]).unwrap();
    let predicate = compare(0, CompareOp::LtEq, Datum::TinyInt(i8::MIN));
    assert_eq!(predicate.mask(&batch, std::slice::from_ref(&field)).unwrap().count_set_bits(), 1);
    let wrong = compare(0, CompareOp::Eq, Datum::Int(1));
    assert!(wrong.evaluate(&batch, &[field]).is_err());
    assert!(compare(9, CompareOp::Eq, Datum::Int(1)).evaluate(&batch, &[]).is_err());
}

/// Case P7.
#[test]
fn very_long_and_very_deep_filters_do_not_overflow_the_stack() {
    let batch = batch(vec![Some(199_999)], vec![None], vec![None]);
    let long = Predicate::or((0..200_000).map(|i| int(CompareOp::Eq, i)));
    assert_eq!(long.mask(&batch, &fields()).unwrap().count_set_bits(), 1);
    let list = ints_in(&(0..1_000_000).collect::<Vec<_>>(), false);
    assert_eq!(list.mask(&batch, &fields()).unwrap().count_set_bits(), 1);
    assert!(list.may_match(|_| ColumnRange::constant(Some(Datum::Int(5)))));
    let chained = (0..3_000).fold(Predicate::Constant(false), |chain, i| Predicate::or([chain, int(CompareOp::Eq, i)]));
    assert!(matches!(&chained, Predicate::Or(parts) if parts.len() == 3_000));
    let deep = (0..5_000).fold(int(CompareOp::Eq, 199_999), |inner, _| not(inner));
    assert_eq!(deep.mask(&batch, &fields()).unwrap().count_set_bits(), 1);
    assert_eq!(deep.field_ids().into_iter().collect::<Vec<_>>(), [INT]);
}

#[test]
fn ranges_prune() {
    let range =
        |_| ColumnRange { min: Some(Datum::Int(3)), max: Some(Datum::Int(5)), null_count: Some(0), row_count: 9 };
    let check =
        |predicate: Predicate, expected: bool| assert_eq!(predicate.may_match(range), expected, "{predicate:?}");
    check(int(CompareOp::Eq, 2), false);
    check(int(CompareOp::Eq, 3), true);
    check(int(CompareOp::Lt, 3), false);
    check(int(CompareOp::LtEq, 3), true);
    check(int(CompareOp::Gt, 5), false);
    check(int(CompareOp::GtEq, 5), true);
    check(int(CompareOp::NotEq, 3), true);
    check(not(int(CompareOp::Gt, 2)), false);
    check(ints_in(&[1, 9], false), false);
    check(Predicate::IsNull { field_id: INT, negated: false }, false);
    check(Predicate::Or(vec![int(CompareOp::Eq, 2), int(CompareOp::Eq, 4)]), true);
    check(Predicate::And(vec![int(CompareOp::Eq, 2), int(CompareOp::Eq, 4)]), false);
    assert!(!int(CompareOp::NotEq, 3).may_match(|_| ColumnRange::constant(Some(Datum::Int(3)))));
    assert!(!int(CompareOp::Eq, 3).may_match(|_| ColumnRange::all_null(4)));
    assert!(!not(int(CompareOp::Eq, 3)).may_match(|_| ColumnRange::all_null(4)));
    assert!(int(CompareOp::Eq, 3).may_match(|_| ColumnRange::unknown()));
}

#[test]
fn conjunctions_split_and_project() {
    let text = compare(TEXT, CompareOp::Eq, Datum::String("x".to_owned()));
    let mixed = Predicate::or([int(CompareOp::Eq, 1), text.clone()]);
    let all = Predicate::and([int(CompareOp::Gt, 0), mixed.clone(), text.clone()]);
    let (inside, rest) = all.clone().split(|id| id == INT);
    assert_eq!(inside, int(CompareOp::Gt, 0));
    assert_eq!(rest, Predicate::And(vec![mixed, text.clone()]));
    assert_eq!(all.project(|id| id == INT), int(CompareOp::Gt, 0));
    let ors = Predicate::or([
        Predicate::and([int(CompareOp::Eq, 1), text.clone()]),
        Predicate::and([int(CompareOp::Eq, 2), text.clone()]),
    ]);
    let projected = ors.project(|id| id == INT);
    assert_eq!(projected, Predicate::Or(vec![int(CompareOp::Eq, 1), int(CompareOp::Eq, 2)]));
    let negated = not(Predicate::and([int(CompareOp::Eq, 1), text]));
    assert_eq!(negated.project(|id| id == INT), Predicate::Constant(true));
}

/// Case F8.
#[test]
fn filters_follow_a_file_to_its_older_types_or_are_dropped() {
    let field = |kind| vec![DataField::new(INT, "i", DataType::nullable(kind))];
    let rewrite = |predicate: Predicate, table, file| predicate.for_file(&field(table), &field(file));
    let long = |v| compare(INT, CompareOp::Eq, Datum::BigInt(v));
    assert_eq!(rewrite(long(5), Kind::BigInt, Kind::Int), int(CompareOp::Eq, 5));
    assert_eq!(rewrite(long(1 << 40), Kind::BigInt, Kind::Int), Predicate::Constant(true));
    assert_eq!(rewrite(not(long(1 << 40)), Kind::BigInt, Kind::Int), Predicate::Constant(true));
    assert_eq!(rewrite(int(CompareOp::Gt, 9), Kind::Int, Kind::Varchar(9)), Predicate::Constant(true));
    let narrowed = compare(INT, CompareOp::Eq, Datum::TinyInt(127));
    assert_eq!(rewrite(narrowed, Kind::TinyInt, Kind::Int), Predicate::Constant(true));
    let either = Predicate::or([long(5), long(1 << 40)]);
    assert_eq!(rewrite(either, Kind::BigInt, Kind::Int), Predicate::Constant(true));
    let both = Predicate::and([long(5), long(1 << 40)]);
    assert_eq!(rewrite(both, Kind::BigInt, Kind::Int), int(CompareOp::Eq, 5));
    assert_eq!(long(5).for_file(&field(Kind::BigInt), &[]), Predicate::Constant(true));
}

fn any_predicate() -> impl Strategy<Value = Predicate> {
    let op = prop_oneof![
        Just(CompareOp::Eq),
        Just(CompareOp::NotEq),
        Just(CompareOp::Lt),
        Just(CompareOp::LtEq),
        Just(CompareOp::Gt),
        Just(CompareOp::GtEq)
    ];
    let text = "[ab]{0,3}";
    let leaf = prop_oneof![
        (op.clone(), -3..4i32).prop_map(|(o, v)| int(o, v)),
        (op.clone(), text).prop_map(|(o, v)| compare(TEXT, o, Datum::String(v))),
        (op, prop_oneof![Just(f64::NAN), Just(-0.0), Just(0.0), Just(1.5)]).prop_map(|(o, v)| compare(
            FLOAT,
            o,
            Datum::Double(v)
        )),
        (prop::collection::vec(-3..4i32, 0..4), any::<bool>()).prop_map(|(v, n)| ints_in(&v, n)),
        (0..3i32, any::<bool>()).prop_map(|(field_id, negated)| Predicate::IsNull { field_id, negated }),
        text.prop_map(|prefix| Predicate::StartsWith { field_id: TEXT, prefix }),
        any::<bool>().prop_map(Predicate::Constant),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Predicate::And),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Predicate::Or),
            inner.prop_map(not),
        ]
    })
}

type Row = (Option<i32>, Option<String>, Option<f64>);

fn any_rows() -> impl Strategy<Value = Vec<Row>> {
    let float = prop_oneof![Just(f64::NAN), Just(-0.0), Just(0.0), Just(2.5), Just(-1.0)];
    let row = (prop::option::of(-3..4i32), prop::option::of("[ab]{0,4}"), prop::option::of(float));
    prop::collection::vec(row, 1..8)
}

/// One row by the book: SQL's truth tables over Java's order of values.
fn model(predicate: &Predicate, row: &Row) -> Option<bool> {
    let value = |id| match id {
        INT => row.0.map(Datum::Int),
        TEXT => row.1.clone().map(Datum::String),
        _ => row.2.map(Datum::Double),
    };
    let join = |parts: &[Predicate], short: bool| {
        let answers: Vec<_> = parts.iter().map(|p| model(p, row)).collect();
        if answers.contains(&Some(short)) {
            Some(short)
        } else if answers.contains(&None) {
            None
        } else {
            Some(!short)
        }
    };
    match predicate {
        Predicate::Constant(v) => Some(*v),
        Predicate::Compare { field_id, op, literal } => {
            let order = value(*field_id)?.compare(literal)?;
            Some(match op {
                CompareOp::Eq => order.is_eq(),
                CompareOp::NotEq => order.is_ne(),
                CompareOp::Lt => order.is_lt(),
                CompareOp::LtEq => order.is_le(),
                CompareOp::Gt => order.is_gt(),
                CompareOp::GtEq => order.is_ge(),
            })
        }
        Predicate::In { field_id, literals, negated } => {
            let value = value(*field_id)?;
            Some(literals.iter().any(|l| value.compare(l).is_some_and(|o| o.is_eq())) != *negated)
        }
        Predicate::IsNull { field_id, negated } => Some(value(*field_id).is_none() != *negated),
        Predicate::StartsWith { prefix, .. } => row.1.as_ref().map(|t| t.starts_with(prefix)),
        Predicate::And(parts) => join(parts, false),
        Predicate::Or(parts) => join(parts, true),
        Predicate::Not(inner) => model(inner, row).map(|v| !v),
        Predicate::Computed(_) => unreachable!("no computed condition is made here"),
    }
}

fn batch_of(rows: &[Row]) -> RecordBatch {
    batch(
        rows.iter().map(|r| r.0).collect(),
        rows.iter().map(|r| r.1.as_deref()).collect(),
        rows.iter().map(|r| r.2).collect(),
    )
}

proptest! {
    #[test]
    fn evaluation_equals_the_model(predicate in any_predicate(), rows in any_rows()) {
        let expected: BooleanArray = rows.iter().map(|row| model(&predicate, row)).collect();
        let answers = predicate.evaluate(&batch_of(&rows), &fields()).unwrap();
        prop_assert_eq!(answers, expected);
    }

    #[test]
    fn pruning_never_loses_a_row(predicate in any_predicate(), rows in any_rows(), length in 1usize..3) {
        let mut collector = StatsCollector::new(&fields(), &[StatsMode::Truncate(length); 3]).unwrap();
        collector.update(&batch_of(&rows)).unwrap();
        let stats = collector.finish();
        let range = |id: i32| {
            let ColumnStats { min, max, null_count } = stats[id as usize].clone();
            ColumnRange { min, max, null_count, row_count: rows.len() as i64 }
        };
        if rows.iter().any(|row| model(&predicate, row) == Some(true)) {
            prop_assert!(predicate.may_match(range));
        }
    }

    #[test]
    fn projection_only_weakens(predicate in any_predicate(), rows in any_rows(), kept in 0..3i32) {
        let weak = predicate.project(|id| id == kept);
        prop_assert!(weak.field_ids().into_iter().all(|id| id == kept));
        let (inside, rest) = predicate.clone().split(|id| id == kept);
        for row in &rows {
            if model(&predicate, row) == Some(true) {
                prop_assert_eq!(model(&weak, row), Some(true));
            }
            let both = model(&inside, row) == Some(true) && model(&rest, row) == Some(true);
            prop_assert_eq!(both, model(&predicate, row) == Some(true));
        }
    }
}
