//! Answers that users of this kind of table rely on (cases: M1–M16).

use std::sync::Arc;

use linn_format::ErrorKind;

use super::{Row, Value, flush_rows, int, merge_rows, table, text};
use crate::merge::MergeSpec;

const I: i8 = 0;
const UB: i8 = 1;
const UA: i8 = 2;
const D: i8 = 3;

fn spec(columns: &[(&str, &str)], options: &[(&str, &str)], wanted: &[&str]) -> Arc<MergeSpec> {
    let schema = table(columns, options);
    let fields: Vec<_> = match wanted {
        [] => schema.fields.clone(),
        names => names.iter().map(|n| schema.field(n).unwrap().clone()).collect(),
    };
    Arc::new(MergeSpec::of(&schema, &fields).unwrap())
}

/// Records in order of arrival.
fn records(spec: &MergeSpec, all: &[(i8, Vec<Option<Value>>)], columns: &[(&str, &str)]) -> Vec<Row> {
    all.iter()
        .enumerate()
        .map(|(i, (kind, values))| {
            let of = |name: &str| columns.iter().position(|(n, _)| *n == name).unwrap();
            let values = spec.read_fields().iter().map(|f| values[of(&f.name)].clone()).collect();
            Row { values, sequence: i as i64, kind: *kind }
        })
        .collect()
}

/// Merges records of which each is a file of its own; returns kind and values per key.
fn merged(
    columns: &[(&str, &str)],
    options: &[(&str, &str)],
    wanted: &[&str],
    all: &[(i8, Vec<Option<Value>>)],
    keep: bool,
) -> Vec<(i8, Vec<Option<Value>>)> {
    let spec = spec(columns, options, wanted);
    let runs: Vec<Vec<Row>> = records(&spec, all, columns).into_iter().rev().map(|r| vec![r]).collect();
    merge_rows(&spec, &runs, keep, 10).unwrap().into_iter().map(|r| (r.kind, r.values)).collect()
}

#[test]
fn m1_a_removed_record_starts_anew() {
    let columns = [("k", "INT NOT NULL"), ("v", "INT")];
    let options = [
        ("merge-engine", "aggregation"),
        ("fields.v.aggregate-function", "sum"),
        ("aggregation.remove-record-on-delete", "true"),
    ];
    let all = [(I, vec![int(1), int(10)]), (D, vec![int(1), int(10)]), (I, vec![int(1), int(5)])];
    assert_eq!(merged(&columns, &options, &[], &all, false), [(I, vec![int(1), int(5)])]);
    assert_eq!(merged(&columns, &options, &[], &all[1..], false), [(I, vec![int(1), int(5)])]);
    assert_eq!(merged(&columns, &options, &[], &all[..2], false), []);
    assert_eq!(merged(&columns, &options, &[], &all[..2], true), [(D, vec![int(1), int(10)])]);
}

#[test]
fn m4_a_projection_does_not_bring_removed_rows_back() {
    let columns = [("id", "INT NOT NULL"), ("a", "INT"), ("sa", "INT"), ("b", "INT"), ("sb", "INT")];
    let options = [
        ("merge-engine", "partial-update"),
        ("fields.sa.sequence-group", "a"),
        ("fields.sb.sequence-group", "b"),
        ("partial-update.remove-record-on-sequence-group", "sb"),
    ];
    let all = [
        (I, vec![int(1), int(10), int(1), None, None]),
        (I, vec![int(1), None, None, int(100), int(1)]),
        (D, vec![int(1), None, None, int(100), int(2)]),
    ];
    assert_eq!(merged(&columns, &options, &[], &all, false), []);
    assert_eq!(merged(&columns, &options, &["id", "a"], &all, false), []);
    assert_eq!(merged(&columns, &options, &["id", "a"], &all[..2], false), [(I, vec![int(1), int(10)])]);
    // A late removal is none.
    let late = [all[1].clone(), (D, vec![int(1), None, None, int(100), int(0)])];
    assert_eq!(merged(&columns, &options, &["id", "b"], &late, false), [(I, vec![int(1), int(100)])]);
    // An equal sequence removes (M6).
    let equal = [all[1].clone(), (D, vec![int(1), None, None, int(100), int(1)])];
    assert_eq!(merged(&columns, &options, &["id", "b"], &equal, false), []);
}

#[test]
fn m7_the_ordering_column_is_not_aggregated() {
    let columns = [("k", "INT NOT NULL"), ("s", "INT"), ("v", "INT")];
    let all = [(I, vec![int(0), int(1), int(1)]), (I, vec![int(0), int(2), int(2)])];
    let aggregation =
        [("merge-engine", "aggregation"), ("sequence.field", "s"), ("fields.default-aggregate-function", "sum")];
    assert_eq!(merged(&columns, &aggregation, &[], &all, false), [(I, vec![int(0), int(2), int(3)])]);
    let partial = [
        ("merge-engine", "partial-update"),
        ("fields.s.sequence-group", "v"),
        ("fields.default-aggregate-function", "sum"),
    ];
    assert_eq!(merged(&columns, &partial, &[], &all, false), [(I, vec![int(0), int(2), int(3)])]);
    // Late rows aggregate too, the sequence only moves forward (M9).
    let late = [all[1].clone(), all[0].clone()];
    assert_eq!(merged(&columns, &partial, &[], &late, false), [(I, vec![int(0), int(2), int(3)])]);
}

#[test]
fn m9_ties_and_nulls_of_a_sequence_group() {
    let columns = [("k", "INT NOT NULL"), ("v", "INT"), ("s", "INT")];
    let options = [("merge-engine", "partial-update"), ("fields.s.sequence-group", "v")];
    let check = |all: &[(i8, Vec<Option<Value>>)], expected: (i8, Vec<Option<Value>>)| {
        assert_eq!(merged(&columns, &options, &[], all, true), [expected]);
    };
    check(&[(I, vec![int(1), int(100), int(1)]), (I, vec![int(1), None, int(1)])], (I, vec![int(1), None, int(1)]));
    check(
        &[(I, vec![int(1), int(100), int(1)]), (I, vec![int(1), int(200), None])],
        (I, vec![int(1), int(100), int(1)]),
    );
    check(
        &[(I, vec![int(1), int(100), int(5)]), (D, vec![int(1), int(1), int(3)])],
        (I, vec![int(1), int(100), int(5)]),
    );
    check(&[(I, vec![int(1), int(100), int(5)]), (D, vec![int(1), int(1), int(7)])], (I, vec![int(1), None, int(7)]));
    // Nothing was ever inserted.
    check(&[(D, vec![int(1), int(1), int(3)]), (D, vec![int(1), int(2), int(4)])], (D, vec![int(1), int(2), int(4)]));
}

#[test]
fn m10_an_overflow_is_an_error() {
    let columns = [("k", "INT NOT NULL"), ("v", "INT")];
    let options = [("merge-engine", "aggregation"), ("fields.v.aggregate-function", "sum")];
    let spec = spec(&columns, &options, &[]);
    let fails = |all: &[(i8, Vec<Option<Value>>)]| {
        let error = flush_rows(&spec, &records(&spec, all, &columns), 10).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let named = [("column", "v".to_owned()), ("function", "sum".to_owned()), ("key", "1".to_owned())];
        assert_eq!(error.context(), named);
    };
    fails(&[(I, vec![int(1), int(i64::from(i32::MAX))]), (I, vec![int(1), int(1)])]);
    fails(&[(I, vec![int(1), int(i64::from(i32::MIN))]), (UB, vec![int(1), int(1)])]);
    fails(&[(UB, vec![int(1), int(i64::from(i32::MIN))]), (I, vec![int(1), int(1)])]);
}

#[test]
fn m11_listagg_compares_whole_tokens() {
    let columns = [("k", "INT NOT NULL"), ("v", "STRING")];
    let options =
        [("merge-engine", "aggregation"), ("fields.v.aggregate-function", "listagg"), ("fields.v.distinct", "true")];
    let check = |values: &[Option<Value>], expected: Option<Value>| {
        let all: Vec<_> = values.iter().map(|v| (I, vec![int(1), v.clone()])).collect();
        assert_eq!(merged(&columns, &options, &[], &all, false), [(I, vec![int(1), expected])]);
    };
    check(&[text("north,south"), text("nor,east")], text("north,south,nor,east"));
    check(&[None, text("a,a")], text("a,a"));
    check(&[text("a"), text("")], text("a"));
    check(&[text("a,b"), text("b,c,c")], text("a,b,c"));
}

#[test]
fn m13_retractions() {
    let columns = [("k", "INT NOT NULL"), ("v", "INT")];
    let check = |function: &str, all: &[(i8, Option<Value>)], expected: (i8, Option<Value>)| {
        let options = [("merge-engine", "aggregation"), ("fields.v.aggregate-function", function)];
        let all: Vec<_> = all.iter().map(|(kind, v)| (*kind, vec![int(1), v.clone()])).collect();
        assert_eq!(merged(&columns, &options, &[], &all, true), [(expected.0, vec![int(1), expected.1])], "{function}");
    };
    check("sum", &[(UB, int(10))], (UB, int(10)));
    check("sum", &[(UB, int(10)), (UA, int(4))], (I, int(-6)));
    // Retractions alone are no row.
    check("sum", &[(UB, int(5)), (UB, None)], (UB, int(5)));
    check("sum", &[(D, int(7)), (D, int(2)), (I, int(20))], (I, int(11)));
    check("product", &[(UB, int(5)), (UB, int(2))], (UB, int(2)));
    check("product", &[(I, int(6)), (UB, int(2))], (I, int(3)));
    check("last_value", &[(I, int(7)), (UB, int(3))], (I, None));
    check("last_non_null_value", &[(I, int(7)), (UB, int(3))], (I, None));
    check("last_non_null_value", &[(I, int(7)), (UB, None)], (I, int(7)));
    let max = [("merge-engine", "aggregation"), ("fields.v.aggregate-function", "max")];
    let all = [(I, vec![int(1), int(7)]), (UB, vec![int(1), int(7)])];
    let refuses = spec(&columns, &max, &[]);
    let error = flush_rows(&refuses, &records(&refuses, &all, &columns), 4).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.hint().unwrap().contains("fields.v.ignore-retract"));
    let ignoring = [max[0], max[1], ("fields.v.ignore-retract", "true")];
    assert_eq!(merged(&columns, &ignoring, &[], &all, true), [(I, vec![int(1), int(7)])]);
}

#[test]
fn m14_functions_outside_of_groups_are_refused() {
    let schema = table(
        &[("k", "INT NOT NULL"), ("v", "INT")],
        &[("merge-engine", "partial-update"), ("fields.v.aggregate-function", "sum")],
    );
    assert_eq!(MergeSpec::of(&schema, &schema.fields).unwrap_err().kind(), ErrorKind::Invalid);
    let schema = table(
        &[("k", "INT NOT NULL"), ("v", "ARRAY<INT>")],
        &[("merge-engine", "aggregation"), ("fields.v.aggregate-function", "sum")],
    );
    let error = MergeSpec::of(&schema, &schema.fields).unwrap_err();
    assert!(error.to_string().contains('v') && error.to_string().contains("sum"), "{error}");
}

#[test]
fn m16_first_row_keeps_the_first_and_refuses_retractions() {
    let columns = [("k", "INT NOT NULL"), ("v", "STRING")];
    let options = [("merge-engine", "first-row")];
    let all = [(I, vec![int(1), text("a")]), (I, vec![int(1), text("b")])];
    assert_eq!(merged(&columns, &options, &[], &all, false), [(I, vec![int(1), text("a")])]);
    let refuses = spec(&columns, &options, &[]);
    let retract = [all[0].clone(), (D, vec![int(1), text("a")])];
    let error = flush_rows(&refuses, &records(&refuses, &retract, &columns), 4).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let ignoring = [options[0], ("ignore-delete", "true")];
    assert_eq!(merged(&columns, &ignoring, &[], &retract, false), [(I, vec![int(1), text("a")])]);
}

#[test]
fn partial_update_removes_records_on_delete() {
    let columns = [("k", "INT NOT NULL"), ("a", "INT"), ("b", "INT")];
    let options = [("merge-engine", "partial-update"), ("partial-update.remove-record-on-delete", "true")];
    let all = [
        (I, vec![int(1), int(1), None]),
        (UB, vec![int(1), int(9), int(9)]),
        (D, vec![int(1), int(1), int(2)]),
        (I, vec![int(1), None, int(3)]),
    ];
    assert_eq!(merged(&columns, &options, &[], &all[..2], false), [(I, vec![int(1), int(1), None])]);
    assert_eq!(merged(&columns, &options, &[], &all[..3], false), []);
    assert_eq!(merged(&columns, &options, &[], &all, false), [(I, vec![int(1), None, int(3)])]);
    let refuses = spec(&columns, &options[..1], &[]);
    let error = flush_rows(&refuses, &records(&refuses, &all, &columns), 4).unwrap_err();
    assert!(error.hint().unwrap().contains("partial-update.remove-record-on-delete"));
}
