//! `deduplicate`: the last record of a key by sequence, unless it is a delete.

use proptest::prelude::*;
use serde_json::json;

use crate::drive::{cases, run, scripts};
use crate::table::{Column, Scenario, column, ints, texts};

const ALL: &[i8] = &[0, 0, 1, 2, 3];

fn columns() -> Vec<Column> {
    vec![
        ints("s", "INT"),
        ints("t", "BIGINT"),
        texts("w"),
        column("x", "DOUBLE", [json!(0.5), json!(-1.5)]),
        column("a", "ARRAY<INT>", [json!([1, null]), json!([]), json!([2])]),
        column("r", "ROW<p INT, q STRING>", [json!({ "p": 1, "q": null }), json!({ "p": null, "q": "z" })]),
    ]
}

fn scenario(options: &[(&'static str, &'static str)]) -> Scenario {
    Scenario::new(columns(), options).kinds(ALL)
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn by_arrival(script in scripts()) {
        run(&scenario(&[]), &script);
    }

    #[test]
    fn deletes_that_are_ignored(script in scripts()) {
        run(&scenario(&[("ignore-delete", "true")]), &script);
    }

    #[test]
    fn updates_without_their_before(script in scripts()) {
        run(&scenario(&[("ignore-update-before", "true")]), &script);
    }

    #[test]
    fn by_kinds_that_stand_in_a_column(script in scripts(), ignores in any::<bool>()) {
        let mut columns = columns();
        columns.push(texts("kind"));
        let options = [("rowkind.field", "kind"), ("ignore-delete", if ignores { "true" } else { "false" })];
        run(&Scenario::new(columns, &options).kinds(ALL), &script);
    }

    #[test]
    fn by_a_sequence(script in scripts()) {
        run(&scenario(&[("sequence.field", "s")]), &script);
    }

    #[test]
    fn by_a_falling_sequence_of_two_fields(script in scripts()) {
        let options = [("sequence.field", "s,t"), ("sequence.field.sort-order", "descending")];
        run(&scenario(&options), &script);
    }
}
