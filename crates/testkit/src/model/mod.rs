//! Primary-key tables as rows and plain loops: what every read must return, whatever was compacted in between
//! (spec: features.md B2, B3). It reads a table's options by itself and shares no code with the engine.
//!
//! Rows are JSON objects in the encoding of tests/fixtures/README.md. Bitmaps and sketches are the set of their members,
//! as their bytes depend on the order of unions.

mod filter;
mod fold;
mod function;
pub mod members;
mod value;

use std::collections::BTreeMap;

use linn_format::schema::TableSchema;
use serde_json::{Map, Value};

pub use filter::{Op, Test};
use fold::Rule;
use members::Members;

/// Columns by name.
pub type Row = Map<String, Value>;

/// A row that was written, with its kind: 0 to 3 are `+I -U +U -D`.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Row kind.
    pub kind: i8,
    /// All columns.
    pub row: Row,
}

impl Record {
    fn is_retract(&self) -> bool {
        self.kind == 1 || self.kind == 3
    }
}

/// A table: all records that arrived, by key.
#[derive(Debug, Clone)]
pub struct Model {
    keys: Vec<String>,
    rule: Rule,
    sequence: Vec<String>,
    descending: bool,
    ignores: [bool; 4],
    members: BTreeMap<String, Members>,
    types: BTreeMap<String, linn_format::types::Kind>,
    arrived: BTreeMap<String, Vec<Record>>,
}

/// The option of a table, or a default.
fn option<'s>(schema: &'s TableSchema, key: &str, default: &'s str) -> &'s str {
    schema.options.raw(key).map_or(default, str::trim)
}

fn is_on(schema: &TableSchema, key: &str) -> bool {
    option(schema, key, "false") == "true"
}

fn names(text: &str) -> Vec<String> {
    text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

impl Model {
    /// An empty table.
    ///
    /// # Panics
    /// For an option value that the model does not know.
    pub fn of(schema: &TableSchema) -> Self {
        let mut ignores = [false; 4];
        ignores[1] = is_on(schema, "ignore-delete") || is_on(schema, "ignore-update-before");
        ignores[3] = is_on(schema, "ignore-delete");
        let of = |f: &linn_format::types::DataField| {
            let function = option(schema, &format!("fields.{}.aggregate-function", f.name), "");
            Members::of(function).map(|m| (f.name.clone(), m))
        };
        Self {
            keys: schema.primary_keys.clone(),
            rule: Rule::of(schema),
            sequence: names(option(schema, "sequence.field", "")),
            descending: option(schema, "sequence.field.sort-order", "ascending") == "descending",
            ignores,
            members: schema.fields.iter().filter_map(of).collect(),
            types: schema.fields.iter().map(|f| (f.name.clone(), f.data_type.kind.clone())).collect(),
            arrived: BTreeMap::new(),
        }
    }

    fn key(&self, row: &Row) -> String {
        let parts: Vec<String> = self.keys.iter().map(|k| row.get(k).unwrap_or(&Value::Null).to_string()).collect();
        parts.join("|")
    }

    /// Takes records in the order of their arrival.
    pub fn write(&mut self, records: &[Record]) {
        for record in records {
            if self.ignores.get(usize::try_from(record.kind).unwrap_or(0)) == Some(&true) {
                continue;
            }
            let row = self.comparable(&record.row);
            self.arrived.entry(self.key(&row)).or_default().push(Record { kind: record.kind, row });
        }
    }

    /// The rows of the table.
    pub fn rows(&self) -> Vec<Row> {
        self.arrived.values().filter_map(|records| self.fold(records)).collect()
    }

    /// A row as it is compared: bitmaps and sketches as their members.
    pub fn comparable(&self, row: &Row) -> Row {
        let mut row = row.clone();
        for (name, members) in &self.members {
            if let Some(value) = row.get_mut(name) {
                *value = members.of_hex(value);
            }
        }
        row
    }

    fn fold(&self, records: &[Record]) -> Option<Row> {
        let mut records: Vec<&Record> = records.iter().collect();
        // Of equal sequences the last arrived comes last.
        records.sort_by(|a, b| self.order(a, b));
        match records[..] {
            // What stands alone stays as it is.
            [one] => (!one.is_retract()).then(|| one.row.clone()),
            _ => self.rule.fold(&records),
        }
    }

    fn order(&self, a: &Record, b: &Record) -> std::cmp::Ordering {
        for name in &self.sequence {
            let (x, y) = (a.row.get(name).unwrap_or(&Value::Null), b.row.get(name).unwrap_or(&Value::Null));
            let order = value::order(self.types.get(name), x, y);
            // Nulls come first in both directions.
            let order = if self.descending && !x.is_null() && !y.is_null() { order.reverse() } else { order };
            if order.is_ne() {
                return order;
            }
        }
        std::cmp::Ordering::Equal
    }
}
