//! The same as `differential` with types of keys and columns that are ordered, summed and compared by rules of their own.

use serde_json::json;

use crate::differential::{Column, INSERTS, Key, Kind, MAPS, NESTED, aggregated, ints, maps, nested, texts};

/// Types that the columns above have not.
fn other_types() -> Vec<Column> {
    const LONG: &str = r#"{ "type": "ARRAY", "element": "DOUBLE" }"#;
    const TEXTS: &str = r#"{ "type": "ARRAY", "element": "STRING" }"#;
    let floats = || json!([0.5, "NaN", -0.0, 0.0, "-Infinity"]);
    let times = || json!(["1969-12-31T23:59:59.999Z", "2024-02-29T12:00:00.001Z", "2024-02-29T12:00:00.000Z"]);
    vec![
        Column("sum_tiny", "TINYINT", &[("aggregate-function", "sum")], json!([1, -1, 3])),
        Column("sum_float", "FLOAT", &[("aggregate-function", "sum")], json!([0.25, -4.0, "Infinity"])),
        Column("product_int", "INT", &[("aggregate-function", "product")], json!([1, -1, 2])),
        Column("product_double", "DOUBLE", &[("aggregate-function", "product")], json!([0.5, -2.0, 1.0])),
        Column("max_double", "DOUBLE", &[("aggregate-function", "max")], floats()),
        Column("min_double", "DOUBLE", &[("aggregate-function", "min")], floats()),
        Column("max_zoned", "TIMESTAMP(3) WITH LOCAL TIME ZONE", &[("aggregate-function", "max")], times()),
        Column("min_day", "DATE", &[("aggregate-function", "min")], json!(["0001-01-01", "1969-12-31", "2024-02-29"])),
        Column("min_char", "CHAR(4)", &[("aggregate-function", "min")], json!(["abcd", "a", "é", "Z"])),
        Column(
            "max_wide",
            "DECIMAL(38, 3)",
            &[("aggregate-function", "max")],
            json!(["12345678901234567890123456789012345.678", "-0.001", "0.000", "9.000", "10.000"]),
        ),
        Column(
            "sum_wide",
            "DECIMAL(38, 3)",
            &[("aggregate-function", "sum")],
            json!(["123456789012345678901.500", "-0.001"]),
        ),
        Column("collect_texts", TEXTS, &[("aggregate-function", "collect")], json!([["a", null], [""], ["b", "a"]])),
        Column(
            "distinct_floats",
            LONG,
            &[("aggregate-function", "collect"), ("distinct", "true")],
            json!([[0.0, "NaN"], [-0.0, "NaN"], [1.5], []]),
        ),
        Column("last_map", MAPS, &[("aggregate-function", "last_value")], maps()),
        Column("first_rows", NESTED, &[("aggregate-function", "first_non_null_value")], nested()),
    ]
}

#[test]
fn columns_of_other_types_are_aggregated() {
    let options = &[("merge-engine", "aggregation")];
    Kind { options, columns: other_types(), kinds: INSERTS, careful: false, key: Key::INT }.differ();
    let more = |key: Key| {
        let options = &[("merge-engine", "aggregation"), ("sequence.field", "other")];
        Kind { options, columns: aggregated(), kinds: INSERTS, careful: false, key }
    };
    more(Key("DECIMAL(20, 2) NOT NULL", r#"["-999999999999999999.99", "-0.01", "0.00", "9.00", "10.00", "99.00"]"#))
        .differ();
}

/// Keys that are ordered by other rules than their bytes are.
#[test]
fn keys_of_every_type() {
    for key in [
        Key("STRING NOT NULL", r#"["", "a", "aa", "b", "é", "\uffff"]"#),
        // Java 1 takes NaN for equal to every key, and a zero for one whatever its sign; Java 2 as Linn does.
        Key("DOUBLE NOT NULL", r#"["-Infinity", -1.5, -1e300, 0.0, 1.5, "Infinity"]"#),
        Key("FLOAT NOT NULL", r#"[-0.5, -1.5, 0.0, 1.5, 1e30, "Infinity"]"#),
        Key("DECIMAL(20, 2) NOT NULL", r#"["-999999999999999999.99", "-0.01", "0.00", "9.00", "10.00", "99.00"]"#),
        Key("DECIMAL(5, 2) NOT NULL", r#"["-100.00", "-0.01", "0.00", "9.00", "10.00", "99.00"]"#),
        Key("BYTES NOT NULL", r#"["", "00", "0000", "7f", "80", "ff"]"#),
        Key(
            "TIMESTAMP(9) NOT NULL",
            r#"["1960-01-01T00:00:00.000000001", "1970-01-01T00:00:00.000000000", "1970-01-01T00:00:00.000000001",
                "2024-01-01T00:00:00.999999999", "2024-01-01T00:00:01.000000000", "2100-01-01T00:00:00.000000000"]"#,
        ),
        Key("CHAR(4) NOT NULL", r#"["a", "aa", "b", "abcd", "Z", "10"]"#),
        Key("SMALLINT NOT NULL", "[-32768, -1, 0, 1, 255, 32767]"),
        Key("BOOLEAN NOT NULL", "[true, false, true, false, true, false]"),
        Key("DATE NOT NULL", r#"["0001-01-01", "1582-10-15", "1969-12-31", "1970-01-01", "2024-02-29", "9999-12-31"]"#),
    ] {
        let columns = vec![Column("v", "INT", &[], ints()), Column("t", "STRING", &[], texts())];
        Kind { options: &[("sequence.field", "v")], columns, kinds: INSERTS, careful: false, key }.differ();
    }
}

#[test]
fn kinds_that_stand_in_a_column() {
    let columns = || {
        vec![
            Column("v", "INT", &[], ints()),
            Column("kind", "STRING NOT NULL", &[], json!(["+I", "+i", "+U", "-D", "-d", "-U", "+u"])),
        ]
    };
    for more in [("ignore-delete", "true"), ("ignore-update-before", "true"), ("write-only", "true")] {
        let options = &[("rowkind.field", "kind"), more];
        Kind { options, columns: columns(), kinds: &["+I"], careful: false, key: Key::INT }.differ();
    }
}
