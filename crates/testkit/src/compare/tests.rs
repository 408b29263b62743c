//! What counts as the same rows, and that differences are found.

use serde_json::json;

use super::*;

fn check(kind: Kind, left: Value, right: Value, same: bool) {
    let rules = Rules::of_fields(&[DataField::new(0, "c", DataType::nullable(kind))]);
    let found = difference(&[json!({ "c": left })], &[json!({ "c": right })], &rules);
    assert_eq!(found.is_none(), same, "{found:?}");
}

#[test]
fn numbers_are_compared_by_value() {
    check(Kind::Double, json!(1.1e10), json!(11_000_000_000.0), true);
    check(Kind::Float, json!(0.1), json!(0.100_000_001), true);
    check(Kind::Double, json!(0.1), json!(0.100_000_001), false);
    check(Kind::Double, json!("NaN"), json!("NaN"), true);
    check(Kind::Double, json!(0.0), json!(-0.0), false);
    check(Kind::BigInt, json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_992_i64), false);
}

#[test]
fn maps_have_no_order_and_arrays_have() {
    let map = Kind::Map(Box::new(DataType::string()), Box::new(DataType::nullable(Kind::Int)));
    check(map.clone(), json!([["a", 1], ["b", null]]), json!([["b", null], ["a", 1]]), true);
    check(map, json!([["a", 1]]), json!([["a", 2]]), false);
    let array = Kind::Array(Box::new(DataType::nullable(Kind::Int)));
    check(array, json!([1, 2]), json!([2, 1]), false);
}

#[test]
fn rows_are_a_multiset() {
    let (a, b) = (json!({ "c": 1 }), json!({ "c": 2 }));
    let rules = Rules::default();
    let rows = [a.clone(), b.clone(), a.clone()];
    assert!(difference(&rows, &[b.clone(), a.clone(), a.clone()], &rules).is_none());
    assert!(difference(&rows, &[b, a], &rules).is_some());
}

#[test]
fn a_message_names_the_column() {
    let left = json!({ "k": 1, "v": "x" });
    let right = json!({ "k": 1, "v": "y" });
    let text = difference(&[left], &[right], &Rules::default()).unwrap();
    assert!(text.contains("v: expected \"x\", found \"y\""), "{text}");
}
