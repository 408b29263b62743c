//! `first-row`: the first record of a key, visible once it has been compacted.

use proptest::prelude::*;
use serde_json::json;

use crate::drive::{cases, run, scripts};
use crate::table::{Scenario, column, ints, texts};

fn scenario(more: &[(&'static str, &'static str)]) -> Scenario {
    let columns = vec![ints("v", "INT"), texts("w"), column("m", "MAP<STRING, INT>", [json!([["a", 1], ["b", null]])])];
    Scenario::new(columns, &[&[("merge-engine", "first-row")], more].concat())
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn of_inserts(script in scripts()) {
        run(&scenario(&[]), &script);
    }

    #[test]
    fn deletes_that_are_ignored(script in scripts()) {
        run(&scenario(&[("ignore-delete", "true")]).kinds(&[0, 1, 2, 3]), &script);
    }
}
