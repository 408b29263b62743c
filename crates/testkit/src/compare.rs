//! Rows as JSON compared as multisets, with the freedom that the encoding leaves: map entries in any order, numbers by value, columns
//! whose elements come in hash order as sets (tests/fixtures/README.md).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use linn_format::schema::TableSchema;
use linn_format::types::{DataField, DataType, Kind};
use serde_json::Value;

/// How many rows a message shows of each side.
const SHOWN: usize = 3;

/// What two sides agree on before their rows are compared.
#[derive(Debug, Default, Clone)]
pub struct Rules {
    types: BTreeMap<String, DataType>,
    unordered: Vec<String>,
}

impl Rules {
    /// Rules for a table; columns that an aggregation fills in hash order are compared as sets.
    pub fn of(schema: &TableSchema) -> Self {
        let unordered = schema.fields.iter().filter(|f| is_unordered(schema, &f.name)).map(|f| f.name.clone());
        Self { unordered: unordered.collect(), ..Self::of_fields(&schema.fields) }
    }

    /// Rules for plain columns.
    pub fn of_fields(fields: &[DataField]) -> Self {
        let types = fields.iter().map(|f| (f.name.clone(), f.data_type.clone())).collect();
        Self { types, unordered: Vec::new() }
    }

    fn column(&self, name: &str, value: &Value) -> String {
        let text = canonical(value, self.types.get(name).map(|t| &t.kind));
        if !self.unordered.iter().any(|n| n == name) {
            return text;
        }
        match (value, self.types.get(name).map(|t| &t.kind)) {
            (Value::Array(items), Some(Kind::Array(element))) => {
                sorted(items.iter().map(|v| canonical(v, Some(&element.kind))))
            }
            _ => text,
        }
    }

    fn row(&self, row: &Value) -> BTreeMap<String, String> {
        let Value::Object(columns) = row else {
            panic!("a row is no object: {row}");
        };
        columns.iter().map(|(name, value)| (name.clone(), self.column(name, value))).collect()
    }
}

fn is_unordered(schema: &TableSchema, column: &str) -> bool {
    let option = |key: &str| schema.options.raw(&format!("fields.{column}.{key}")).unwrap_or_default().to_owned();
    match option("aggregate-function").as_str() {
        "collect" => option("distinct") == "true",
        "nested_update" | "nested_partial_update" => true,
        _ => false,
    }
}

/// Text that is equal exactly when the values are.
fn canonical(value: &Value, kind: Option<&Kind>) -> String {
    match (value, kind) {
        (Value::Null, _) => "null".to_owned(),
        (Value::Array(entries), Some(Kind::Map(key, value))) => entry_texts(entries, key, Some(&value.kind)),
        (Value::Array(entries), Some(Kind::Multiset(element))) => entry_texts(entries, element, Some(&Kind::Int)),
        (Value::Array(items), Some(Kind::Array(element) | Kind::Vector { element, .. })) => {
            let items: Vec<String> = items.iter().map(|v| canonical(v, Some(&element.kind))).collect();
            format!("[{}]", items.join(","))
        }
        (Value::Object(row), Some(Kind::Row(fields))) => {
            let absent = Value::Null;
            let text = |f: &DataField| canonical(row.get(&f.name).unwrap_or(&absent), Some(&f.data_type.kind));
            let mut columns: Vec<String> = fields.iter().map(|f| format!("{}:{}", f.name, text(f))).collect();
            let known = |name: &String| fields.iter().any(|f| f.name == *name);
            columns.extend(row.iter().filter(|(name, _)| !known(name)).map(|(name, v)| format!("{name}:{v}")));
            format!("{{{}}}", columns.join(","))
        }
        (_, Some(Kind::Float)) => number::<f32>(value),
        (_, Some(Kind::Double)) => number::<f64>(value),
        (other, _) => other.to_string(),
    }
}

fn entry_texts(entries: &[Value], key: &DataType, value: Option<&Kind>) -> String {
    sorted(entries.iter().map(|entry| {
        let part = |i: usize| entry.get(i).unwrap_or(&Value::Null);
        format!("{}={}", canonical(part(0), Some(&key.kind)), canonical(part(1), value))
    }))
}

fn sorted(texts: impl Iterator<Item = String>) -> String {
    let mut texts: Vec<String> = texts.collect();
    texts.sort();
    format!("<{}>", texts.join(","))
}

fn number<T: std::str::FromStr + std::fmt::Debug>(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    text.parse::<T>().map_or(text, |number| format!("{number:?}"))
}

/// The differences, or none when both have the same rows the same number of times.
pub fn difference(expected: &[Value], actual: &[Value], rules: &Rules) -> Option<String> {
    let mut counts: BTreeMap<BTreeMap<String, String>, i64> = BTreeMap::new();
    for row in expected {
        *counts.entry(rules.row(row)).or_default() += 1;
    }
    for row in actual {
        *counts.entry(rules.row(row)).or_default() -= 1;
    }
    let missing: Vec<_> = counts.iter().filter(|(_, n)| **n > 0).collect();
    let extra: Vec<_> = counts.iter().filter(|(_, n)| **n < 0).collect();
    if missing.is_empty() && extra.is_empty() {
        return None;
    }
    let mut text = format!(
        "{} rows expected, {} found; {} kinds of rows are missing, {} are too many",
        expected.len(),
        actual.len(),
        missing.len(),
        extra.len()
    );
    for (row, count) in missing.iter().take(SHOWN) {
        match nearest(row, extra.iter().map(|(r, _)| *r)) {
            Some((other, differ)) => {
                let _ = write!(text, "\n  differs: {}", columns(row, other, &differ));
            }
            None => {
                let _ = write!(text, "\n  missing ({count} x): {row:?}");
            }
        }
    }
    if missing.is_empty() {
        for (row, count) in extra.iter().take(SHOWN) {
            let _ = write!(text, "\n  too many ({} x): {row:?}", -**count);
        }
    }
    Some(text)
}

type Row = BTreeMap<String, String>;

/// The other row that differs in the fewest columns, when it is still recognisably the same.
fn nearest<'a>(row: &Row, others: impl Iterator<Item = &'a Row>) -> Option<(&'a Row, Vec<String>)> {
    let names = |other: &Row| -> Vec<String> {
        let mut names: Vec<String> = row.keys().chain(other.keys()).cloned().collect();
        names.sort();
        names.dedup();
        names.retain(|n| row.get(n) != other.get(n));
        names
    };
    others.map(|other| (other, names(other))).filter(|(_, n)| n.len() < row.len()).min_by_key(|(_, n)| n.len())
}

fn columns(row: &Row, other: &Row, differ: &[String]) -> String {
    let same = row.iter().filter(|(n, _)| !differ.contains(n)).take(2).map(|(n, v)| format!("{n}={v}"));
    let absent = "absent".to_owned();
    let parts = differ
        .iter()
        .map(|n| format!("{n}: expected {}, found {}", row.get(n).unwrap_or(&absent), other.get(n).unwrap_or(&absent)));
    format!("({}) {}", same.collect::<Vec<_>>().join(" "), parts.collect::<Vec<_>>().join("; "))
}

/// Fails with the differences.
///
/// # Panics
/// When the rows differ.
#[track_caller]
pub fn assert_same(what: &str, expected: &[Value], actual: &[Value], rules: &Rules) {
    if let Some(text) = difference(expected, actual, rules) {
        panic!("{what}: {text}");
    }
}

#[cfg(test)]
mod tests;
