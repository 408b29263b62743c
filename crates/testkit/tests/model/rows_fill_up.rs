//! `partial-update`: columns fill up one by one, or follow their sequence group.

use proptest::prelude::*;
use serde_json::json;

use crate::drive::{cases, run, scripts};
use crate::table::{Column, Scenario, column, ints, texts};

const ALL: &[i8] = &[0, 0, 2, 1, 3];

fn scenario(columns: Vec<Column>, more: &[(&'static str, &'static str)]) -> Scenario {
    Scenario::new(columns, &[&[("merge-engine", "partial-update")], more].concat())
}

fn plain() -> Vec<Column> {
    vec![
        ints("a", "INT"),
        texts("b"),
        column("c", "DOUBLE", [json!(0.5), json!(2.0)]),
        column("e", "ARRAY<STRING>", [json!(["x"]), json!([null, "y"]), json!([])]),
        column("f", "BOOLEAN", [json!(true), json!(false)]),
    ]
}

/// Columns for groups: two sequences of one and of two fields, their columns, and one outside.
fn grouped() -> Vec<Column> {
    vec![
        ints("a", "INT"),
        ints("g", "INT"),
        texts("b"),
        ints("h", "BIGINT"),
        ints("c", "BIGINT"),
        ints("i", "INT"),
        ints("e", "INT"),
        texts("f"),
    ]
}

const GROUPS: [(&str, &str); 2] = [("fields.g.sequence-group", "a,b"), ("fields.h,i.sequence-group", "c,e")];

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn by_values_that_are_not_null(script in scripts()) {
        run(&scenario(plain(), &[]), &script);
    }

    #[test]
    fn deletes_that_are_ignored(script in scripts()) {
        run(&scenario(plain(), &[("ignore-delete", "true")]).kinds(ALL), &script);
    }

    #[test]
    fn deletes_that_remove_the_row(script in scripts()) {
        let options = [("partial-update.remove-record-on-delete", "true")];
        run(&scenario(plain(), &options).kinds(ALL), &script);
    }

    #[test]
    fn by_sequence_groups(script in scripts()) {
        run(&scenario(grouped(), &GROUPS), &script);
    }

    #[test]
    fn deletes_of_sequence_groups(script in scripts()) {
        let options = [GROUPS[0], GROUPS[1], ("fields.a.aggregate-function", "sum"), ("fields.c.aggregate-function", "sum")];
        run(&scenario(grouped(), &options).kinds(ALL), &script);
    }

    #[test]
    fn deletes_of_a_sequence_group_that_remove_the_row(script in scripts()) {
        let options = [
            GROUPS[0],
            GROUPS[1],
            ("fields.c.aggregate-function", "sum"),
            ("partial-update.remove-record-on-sequence-group", "g"),
        ];
        run(&scenario(grouped(), &options).kinds(ALL), &script);
    }

    #[test]
    fn by_functions_in_sequence_groups(script in scripts()) {
        let options = [
            ("fields.g.sequence-group", "a,b,c,f"),
            ("fields.h,i.sequence-group", "e"),
            ("fields.a.aggregate-function", "max"),
            ("fields.b.aggregate-function", "min"),
            ("fields.c.aggregate-function", "sum"),
            ("fields.f.aggregate-function", "last_value"),
            ("fields.e.aggregate-function", "sum"),
        ];
        run(&scenario(grouped(), &options), &script);
    }

    #[test]
    fn by_functions_that_depend_on_the_order(script in scripts()) {
        let options = [
            ("fields.g.sequence-group", "a,b,c,f"),
            ("fields.h,i.sequence-group", "e"),
            ("fields.a.aggregate-function", "first_value"),
            ("fields.b.aggregate-function", "listagg"),
            ("fields.c.aggregate-function", "last_non_null_value"),
            ("fields.f.aggregate-function", "first_non_null_value"),
            ("fields.e.aggregate-function", "product"),
        ];
        run(&scenario(grouped(), &options), &script);
    }

    #[test]
    fn values_that_groups_take_back(script in scripts()) {
        let options = [
            ("fields.g.sequence-group", "a,b,c,f"),
            ("fields.h,i.sequence-group", "e"),
            ("fields.a.aggregate-function", "last_value"),
            ("fields.b.aggregate-function", "last_non_null_value"),
            ("fields.c.aggregate-function", "sum"),
            ("fields.f.aggregate-function", "listagg"),
            ("fields.f.ignore-retract", "true"),
            ("fields.e.aggregate-function", "max"),
            ("fields.e.ignore-retract", "true"),
        ];
        run(&scenario(grouped(), &options).kinds(ALL), &script);
    }

    #[test]
    fn deletes_that_remove_rows_of_functions(script in scripts()) {
        let options = [
            GROUPS[0],
            GROUPS[1],
            ("fields.a.aggregate-function", "last_non_null_value"),
            ("fields.c.aggregate-function", "sum"),
            ("partial-update.remove-record-on-sequence-group", "g,h"),
        ];
        run(&scenario(grouped(), &options).kinds(ALL), &script);
    }

    #[test]
    fn by_a_default_function(script in scripts()) {
        let columns = vec![ints("a", "INT"), ints("g", "INT"), ints("c", "BIGINT"), ints("h", "INT")];
        let options = [
            ("fields.g.sequence-group", "a"),
            ("fields.h.sequence-group", "c"),
            ("fields.default-aggregate-function", "sum"),
            // Outside of groups there is no other function.
            ("fields.d.aggregate-function", "last_non_null_value"),
        ];
        run(&scenario(columns, &options), &script);
    }
}
