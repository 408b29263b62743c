//! `aggregation`: every function of the format, with what can be taken back.

use std::sync::Arc;

use linn_testkit::model::members::bitmap_of;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::drive::{cases, run, scripts};
use crate::table::{Column, Scenario, column, ints, texts};

const ALL: &[i8] = &[0, 0, 2, 1, 3];

fn scenario(columns: Vec<Column>, more: &[(&'static str, &'static str)]) -> Scenario {
    Scenario::new(columns, &[&[("merge-engine", "aggregation")], more].concat())
}

/// Values of a kind in the golden file of sketches, of those that fulfil a condition.
fn golden(kind: &str, fit: impl Fn(&str) -> bool) -> Vec<Value> {
    let all = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/sketches/unions.txt"));
    let of_kind = all.lines().filter(|line| line.split(' ').next() == Some(kind));
    let mut values: Vec<String> = of_kind.flat_map(|line| line.split(' ').skip(1).take(2)).map(str::to_owned).collect();
    values.retain(|hex| fit(hex));
    values.sort();
    values.dedup();
    assert!(values.len() > 1, "no values of {kind}");
    values.into_iter().map(Value::from).collect()
}

fn sets(name: &'static str, values: Vec<Value>) -> Column {
    let pick = move |_, seed: u8| {
        if seed == 0 { Value::Null } else { values[usize::from(seed - 1) % values.len()].clone() }
    };
    Column { name, sql: "BYTES", value: Arc::new(pick) }
}

fn factors(name: &'static str, sql: &'static str) -> Column {
    match sql {
        "BIGINT" => column(name, sql, [json!(1), json!(-1), json!(2)]),
        "DOUBLE" => column(name, sql, [json!(2.0), json!(0.5), json!(-1.0)]),
        _ => column(name, sql, [json!("1.0000000000"), json!("-1.0000000000"), json!("2.0000000000")]),
    }
}

fn tables(name: &'static str) -> Column {
    let row = |id: i32, n: Value, t: &str| json!({ "id": id, "n": n, "t": t });
    column(
        name,
        "ARRAY<ROW<id INT, n INT, t STRING>>",
        [
            json!([row(1, json!(1), "x")]),
            json!([row(1, json!(2), "y"), row(2, json!(null), "z")]),
            json!([null, row(3, json!(0), "w")]),
            json!([{ "id": null, "n": 5, "t": "n" }]),
            json!([]),
            json!([row(2, json!(3), "q"), row(1, json!(0), "p")]),
        ],
    )
}

fn maps(name: &'static str) -> Column {
    column(name, "MAP<STRING, INT>", [json!([["a", 1]]), json!([["b", 2], ["a", null]]), json!([]), json!([["c", 3]])])
}

fn lists(name: &'static str) -> Column {
    column(name, "ARRAY<INT>", [json!([1]), json!([1, 2]), json!([2, 2]), json!([]), json!([null, 1])])
}

fn times(name: &'static str) -> Column {
    let at = |key: &str, v: i32, ts: Value| json!([key, { "v": v, "ts": ts }]);
    column(
        name,
        "MAP<STRING, ROW<v INT, ts STRING>>",
        [
            json!([at("a", 1, json!("5"))]),
            json!([at("a", 2, json!("3")), at("b", 3, json!("7"))]),
            json!([at("b", 4, json!(null))]),
            json!([at("a", 6, json!("5"))]),
        ],
    )
}

/// A column for every function.
fn every() -> Scenario {
    let whole = golden("rbm64", |hex| hex.len() < 600);
    let by_key = Column {
        name: "rbm64",
        sql: "BYTES",
        value: Arc::new(
            move |key, seed| if seed == 0 { Value::Null } else { whole[usize::from(key) % whole.len()].clone() },
        ),
    };
    let bitmap = |values: &[u16]| json!(bitmap_of(&values.iter().copied().collect()));
    let columns = vec![
        ints("sum_int", "INT"),
        ints("sum_long", "BIGINT"),
        column("sum_double", "DOUBLE", [json!(0.5), json!(-2.5)]),
        column("sum_float", "FLOAT", [json!(0.25), json!(4.0)]),
        column("sum_decimal", "DECIMAL(20, 2)", [json!("1.05"), json!("-0.50"), json!("12.00")]),
        column("sum_short", "SMALLINT", [json!(1), json!(-7)]),
        factors("product_long", "BIGINT"),
        factors("product_double", "DOUBLE"),
        factors("product_decimal", "DECIMAL(38, 10)"),
        ints("max_int", "INT"),
        texts("max_text"),
        column("max_date", "DATE", [json!("2024-02-29"), json!("1969-12-31")]),
        texts("min_text"),
        column("min_decimal", "DECIMAL(5, 2)", [json!("10.00"), json!("9.50"), json!("-1.00")]),
        column("min_bytes", "BYTES", [json!("00ff"), json!("00"), json!("")]),
        texts("last_value"),
        texts("last_non_null_value"),
        texts("first_value"),
        texts("first_non_null_value"),
        ints("first_not_null_value", "INT"),
        texts("listagg"),
        texts("listagg_distinct"),
        column("bool_and", "BOOLEAN", [json!(true), json!(true), json!(false)]),
        column("bool_or", "BOOLEAN", [json!(false), json!(false), json!(true)]),
        lists("collect"),
        lists("collect_distinct"),
        maps("merge_map"),
        times("merge_map_with_keytime"),
        tables("nested_update"),
        tables("nested_update_keyed"),
        tables("nested_update_limited"),
        tables("nested_update_sequence"),
        tables("nested_partial_update"),
        sets("theta_sketch", golden("theta", |hex| hex.len() <= 96)),
        sets("hll_sketch", golden("hll", |hex| hex.starts_with("0201070c03"))),
        sets("rbm32", vec![bitmap(&[]), bitmap(&[1]), bitmap(&[1, 7, 500]), bitmap(&[65535, 3])]),
        by_key,
        ints("default_one", "INT"),
    ];
    let options = [
        ("fields.sum_int.aggregate-function", "sum"),
        ("fields.sum_long.aggregate-function", "sum"),
        ("fields.sum_double.aggregate-function", "sum"),
        ("fields.sum_float.aggregate-function", "sum"),
        ("fields.sum_decimal.aggregate-function", "sum"),
        ("fields.sum_short.aggregate-function", "sum"),
        ("fields.product_long.aggregate-function", "product"),
        ("fields.product_double.aggregate-function", "product"),
        ("fields.product_decimal.aggregate-function", "product"),
        ("fields.max_int.aggregate-function", "max"),
        ("fields.max_text.aggregate-function", "max"),
        ("fields.max_date.aggregate-function", "max"),
        ("fields.min_text.aggregate-function", "min"),
        ("fields.min_decimal.aggregate-function", "min"),
        ("fields.min_bytes.aggregate-function", "min"),
        ("fields.last_value.aggregate-function", "last_value"),
        ("fields.last_non_null_value.aggregate-function", "last_non_null_value"),
        ("fields.first_value.aggregate-function", "first_value"),
        ("fields.first_non_null_value.aggregate-function", "first_non_null_value"),
        ("fields.first_not_null_value.aggregate-function", "first_not_null_value"),
        ("fields.listagg.aggregate-function", "listagg"),
        ("fields.listagg.list-agg-delimiter", ";"),
        ("fields.listagg_distinct.aggregate-function", "listagg"),
        ("fields.listagg_distinct.distinct", "true"),
        ("fields.bool_and.aggregate-function", "bool_and"),
        ("fields.bool_or.aggregate-function", "bool_or"),
        ("fields.collect.aggregate-function", "collect"),
        ("fields.collect_distinct.aggregate-function", "collect"),
        ("fields.collect_distinct.distinct", "true"),
        ("fields.merge_map.aggregate-function", "merge_map"),
        ("fields.merge_map_with_keytime.aggregate-function", "merge_map_with_keytime"),
        ("fields.nested_update.aggregate-function", "nested_update"),
        ("fields.nested_update.count-limit", "3"),
        ("fields.nested_update_keyed.aggregate-function", "nested_update"),
        ("fields.nested_update_keyed.nested-key", "id"),
        ("fields.nested_update_limited.aggregate-function", "nested_update"),
        ("fields.nested_update_limited.nested-key", "id"),
        ("fields.nested_update_limited.count-limit", "2"),
        ("fields.nested_update_limited.nested-key-null-strategy", "ignore"),
        ("fields.nested_update_sequence.aggregate-function", "nested_update"),
        ("fields.nested_update_sequence.nested-key", "id"),
        ("fields.nested_update_sequence.nested-sequence-field", "n,t"),
        ("fields.nested_partial_update.aggregate-function", "nested_partial_update"),
        ("fields.nested_partial_update.nested-key", "id"),
        ("fields.theta_sketch.aggregate-function", "theta_sketch"),
        ("fields.hll_sketch.aggregate-function", "hll_sketch"),
        ("fields.rbm32.aggregate-function", "rbm32"),
        ("fields.rbm64.aggregate-function", "rbm64"),
        ("fields.default-aggregate-function", "min"),
    ];
    scenario(columns, &options)
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn by_every_function(script in scripts()) {
        run(&every(), &script);
    }

    #[test]
    fn deletes_that_are_ignored(script in scripts()) {
        let mut every = every();
        every.options.push(("ignore-delete", "true"));
        run(&every.kinds(ALL), &script);
    }

    #[test]
    fn values_that_are_taken_back_or_kept(script in scripts()) {
        let columns = vec![
            ints("a", "INT"),
            column("b", "DECIMAL(20, 2)", [json!("1.05"), json!("-0.50")]),
            column("c", "DOUBLE", [json!(0.5), json!(-2.5)]),
            texts("e"),
            ints("f", "INT"),
            texts("g"),
            lists("h"),
            tables("i"),
        ];
        let options = [
            ("fields.default-aggregate-function", "sum"),
            ("fields.e.aggregate-function", "last_value"),
            ("fields.f.aggregate-function", "max"),
            ("fields.f.ignore-retract", "true"),
            ("fields.g.aggregate-function", "listagg"),
            ("fields.g.ignore-retract", "true"),
            ("fields.h.aggregate-function", "collect"),
            ("fields.h.ignore-retract", "true"),
            ("fields.i.aggregate-function", "nested_partial_update"),
            ("fields.i.nested-key", "id"),
            ("fields.i.ignore-retract", "true"),
        ];
        run(&scenario(columns, &options).kinds(ALL), &script);
    }

    #[test]
    fn values_that_are_taken_back_from_what_is_known(script in scripts()) {
        let columns = vec![
            factors("a", "BIGINT"),
            factors("b", "DOUBLE"),
            factors("c", "DECIMAL(38, 10)"),
            texts("e"),
            lists("f"),
            lists("g"),
            maps("h"),
            tables("i"),
            tables("j"),
            tables("l"),
        ];
        let options = [
            ("fields.l.aggregate-function", "nested_update"),
            ("fields.l.nested-key", "id"),
            ("fields.l.count-limit", "2"),
            ("fields.a.aggregate-function", "product"),
            ("fields.b.aggregate-function", "product"),
            ("fields.c.aggregate-function", "product"),
            ("fields.f.aggregate-function", "collect"),
            ("fields.g.aggregate-function", "collect"),
            ("fields.g.distinct", "true"),
            ("fields.h.aggregate-function", "merge_map"),
            ("fields.i.aggregate-function", "nested_update"),
            ("fields.j.aggregate-function", "nested_update"),
            ("fields.j.nested-key", "id"),
        ];
        run(&scenario(columns, &options).kinds(ALL), &script);
    }

    #[test]
    fn values_that_are_cleared(script in scripts()) {
        let columns = vec![ints("a", "INT"), ints("b", "BIGINT"), texts("c"), texts("e")];
        let options = [
            ("fields.a.aggregate-function", "sum"),
            ("fields.c.aggregate-function", "last_value"),
            ("fields.default-aggregate-function", "last_non_null_value"),
        ];
        run(&scenario(columns, &options).kinds(ALL), &script);
    }

    #[test]
    fn deletes_that_remove_the_row(script in scripts()) {
        let columns = vec![ints("a", "INT"), ints("b", "BIGINT"), texts("c")];
        let options = [
            ("fields.a.aggregate-function", "sum"),
            ("fields.b.aggregate-function", "last_value"),
            ("aggregation.remove-record-on-delete", "true"),
        ];
        run(&scenario(columns, &options).kinds(ALL), &script);
    }

    #[test]
    fn in_the_order_of_a_sequence(script in scripts()) {
        let columns = vec![ints("s", "INT"), ints("a", "INT"), ints("b", "BIGINT"), texts("c"), texts("e")];
        let options = [
            ("sequence.field", "s"),
            ("fields.a.aggregate-function", "sum"),
            ("fields.b.aggregate-function", "max"),
            ("fields.c.aggregate-function", "min"),
            ("fields.e.aggregate-function", "last_value"),
        ];
        run(&scenario(columns, &options), &script);
    }
}
