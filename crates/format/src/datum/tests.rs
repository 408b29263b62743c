//! Order and spelling of single values.

use std::cmp::Ordering::{Equal, Greater, Less};

use proptest::prelude::*;

use super::*;
use crate::row::tests::any_scalar;
use crate::types::DataType;

#[test]
fn floats_compare_like_java() {
    let compare = |a: f64, b: f64| {
        assert_eq!(
            Datum::Float(a as f32).compare(&Datum::Float(b as f32)),
            Datum::Double(a).compare(&Datum::Double(b))
        );
        Datum::Double(a).compare(&Datum::Double(b)).unwrap()
    };
    assert_eq!(compare(-0.0, 0.0), Less);
    assert_eq!(compare(f64::NAN, -f64::NAN), Equal);
    assert_eq!(compare(-f64::NAN, f64::INFINITY), Greater);
    assert_eq!(compare(1.0, 1.0), Equal);
}

#[test]
fn decimals_compare_by_value() {
    let decimal = |unscaled, scale| Datum::Decimal { unscaled, precision: 38, scale };
    assert_eq!(decimal(15, 1).compare(&decimal(150, 2)), Some(Equal));
    assert_eq!(decimal(i128::MAX / 2, 0).compare(&decimal(1, 38)), Some(Greater));
    assert_eq!(decimal(1, 38).compare(&decimal(i128::MIN / 2, 0)), Some(Greater));
    assert_eq!(decimal(i128::MIN / 2, 0).compare(&decimal(1, 38)), Some(Less));
    assert_eq!(Datum::Int(1).compare(&Datum::BigInt(1)), None);
}

proptest! {
    #[test]
    fn arrays_give_the_values_back((value, kind) in any_scalar()) {
        let data_type = DataType::nullable(kind);
        let values = [Some(value.clone()), None];
        match array_from_datums(&values, &data_type) {
            Ok(array) => prop_assert_eq!(datums_from_array(&array, &data_type).unwrap(), values),
            Err(_) => { let timestamp = matches!(value, Datum::Timestamp { .. }); prop_assert!(timestamp); }
        }
    }
}

#[test]
fn rows_of_values_compare_column_after_column_nulls_first() {
    let row = |values: [Option<i32>; 2]| values.map(|value| value.map(Datum::Int));
    let mut rows = [row([Some(10), None]), row([Some(2), Some(1)]), row([None, Some(9)]), row([Some(2), None])];
    rows.sort_by(|a, b| compare_rows(a, b));
    assert_eq!(rows, [row([None, Some(9)]), row([Some(2), None]), row([Some(2), Some(1)]), row([Some(10), None])]);
}
