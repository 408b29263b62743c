//! Schemas: golden files, creation, changes, properties.

mod alter;
mod create;
mod golden;
mod property;

use super::*;
use crate::types::DataType;

/// A column of SQL type text.
fn column(name: &str, sql: &str) -> DataField {
    DataField::new(0, name, DataType::parse(sql).unwrap())
}

fn options(pairs: &[(&str, &str)]) -> Options {
    pairs.iter().copied().collect()
}

/// A table with primary key `k`, columns `v STRING`, `n INT`, `d DECIMAL(5, 2)`, `arr ARRAY<INT>`, `r ROW<a INT, b STRING>`.
fn keyed(pairs: &[(&str, &str)]) -> crate::Result<TableSchema> {
    TableSchema::create(
        NewTable {
            columns: vec![
                column("k", "INT"),
                column("v", "STRING"),
                column("n", "INT"),
                column("d", "DECIMAL(5, 2)"),
                column("arr", "ARRAY<INT>"),
                column("r", "ROW<a INT, b STRING>"),
            ],
            primary_keys: vec!["k".into()],
            options: options(pairs),
            ..NewTable::default()
        },
        7,
    )
}

fn path(text: &str) -> Vec<String> {
    text.split('.').map(str::to_owned).collect()
}

fn names(schema: &TableSchema) -> Vec<&str> {
    schema.fields.iter().map(|field| field.name.as_str()).collect()
}

/// That `result` is an error whose message holds all of `parts`.
fn refused<T>(result: crate::Result<T>, parts: &[&str]) {
    let Err(e) = result else { panic!("{parts:?} was not refused") };
    for part in parts {
        assert!(e.message().contains(part), "{part:?} is not in: {e}");
    }
    assert!(e.hint().is_some(), "no hint: {e}");
}
