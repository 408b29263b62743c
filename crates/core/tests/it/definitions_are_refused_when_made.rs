//! What a table cannot be is said when it is made or changed, not when it is compacted (cases: M14, D3, D4).

use linn_format::schema::{SchemaChange, apply};
use linn_format::types::DataType;

use crate::case::schema;

fn refused(columns: &str, keys: &str, options: &[(&str, &str)], word: &str) {
    let error = schema(columns, keys, options).unwrap_err();
    assert!(error.to_string().contains(word), "{error}");
    assert!(error.hint().is_some(), "{error}");
}

#[test]
fn regress_definitions_that_used_to_fail_at_compaction() {
    let partial = ("merge-engine", "partial-update");
    let aggregation = ("merge-engine", "aggregation");
    refused("k INT, v INT", "k", &[partial, ("fields.v.aggregate-function", "sum")], "sequence group");
    refused("k INT, v INT", "k", &[partial, ("fields.k.sequence-group", "v")], "primary key column");
    refused("k INT, s INT, v INT", "k", &[partial, ("fields.s.sequence-group", "v,k")], "primary key column");
    refused("k INT, v ARRAY<INT>", "k", &[aggregation, ("fields.v.aggregate-function", "max")], "does not take");
    refused("k INT, v MAP<INT,INT>", "k", &[aggregation, ("fields.v.aggregate-function", "min")], "does not take");
    refused("k INT, v INT", "k", &[aggregation, ("fields.v.aggregate-function", "hll_sketch")], "does not take");
    refused("k INT, v INT", "k", &[aggregation, ("fields.v.aggregate-function", "mean")], "does not exist");
    let lookup = [("changelog-producer", "lookup"), ("full-compaction.delta-commits", "3")];
    refused("k INT, v INT", "k", &lookup, "full-compaction.delta-commits");
    refused("k INT, v INT", "k", &[("merge-engine", "first-row"), ("sequence.field", "v")], "first-row");
    refused("k INT, v INT", "k", &[("merge-engine", "first-row"), ("deletion-vectors.enabled", "true")], "first-row");
    let nested = ("fields.v.aggregate-function", "nested_update");
    for option in [("fields.v.nested-key-null-strategy", "ignore"), ("fields.v.nested-sequence-field", "s")] {
        refused("k INT, v ARRAY<ROW<s INT>>", "k", &[aggregation, nested, option], "needs a nested key");
    }
    let partly = ("fields.v.aggregate-function", "nested_partial_update");
    refused("k INT, v ARRAY<ROW<s INT>>", "k", &[aggregation, partly], "needs a nested key");
    let elsewhere = [aggregation, nested, ("fields.v.nested-key", "t")];
    refused("k INT, v ARRAY<ROW<s INT>>", "k", &elsewhere, "no field");
    let both = [partial, ("ignore-delete", "true"), ("partial-update.remove-record-on-delete", "true")];
    refused("k INT, v INT", "k", &both, "exclude each other");
    let full = [("changelog-producer", "full-compaction"), ("deletion-vectors.enabled", "true")];
    refused("k INT, v INT", "k", &full, "deletion-vectors.enabled");
}

fn change(options: &[(&str, &str)], change: SchemaChange) -> Result<(), String> {
    let old = schema("k INT, v INT", "k", options).unwrap();
    apply(&old, &[change], true, 1).map(drop).map_err(|e| e.to_string())
}

fn set(key: &str, value: &str) -> SchemaChange {
    SchemaChange::SetOption { key: key.to_owned(), value: value.to_owned() }
}

#[test]
fn regress_what_was_ignored_stays_ignored() {
    for key in ["ignore-delete", "ignore-update-before"] {
        assert!(change(&[], set(key, "true")).is_ok());
        assert!(change(&[(key, "true")], set(key, "false")).unwrap_err().contains(key));
        assert!(change(&[(key, "true")], SchemaChange::RemoveOption { key: key.to_owned() }).is_err());
    }
}

#[test]
fn what_is_fixed_by_the_data_cannot_change() {
    for (key, value) in [
        ("merge-engine", "aggregation"),
        ("rowkind.field", "v"),
        ("bucket", "-1"),
        ("deletion-vectors.enabled", "true"),
        ("aggregation.remove-record-on-delete", "true"),
        ("partial-update.remove-record-on-delete", "true"),
        ("sequence.snapshot-ordering", "true"),
    ] {
        assert!(change(&[], set(key, value)).is_err(), "{key}");
    }
    let retype = SchemaChange::UpdateColumnType {
        path: vec!["k".to_owned()],
        new_type: DataType::parse("BIGINT").unwrap(),
        keep_nullability: false,
    };
    assert!(change(&[], retype).unwrap_err().contains('k'));
}
