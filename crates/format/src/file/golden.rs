//! For tests: the tables of the reference, read file by file and compared with what the reference read.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::FileFormat;
use crate::fixture::{self, Archive, Memory, canonical, columns, render};
use crate::schema::TableSchema;
use crate::types::{DataField, DataType, Kind};

/// Compares a table of the reference with its expected rows. Rows of a primary-key table are deduplicated by sequence
/// number over all files there are, which is what the table is.
pub(crate) fn check_table(format: &dyn FileFormat, archive: &Archive, table: &str) {
    let mut schema = fixture::schema(archive, table);
    schema.fields.iter_mut().for_each(coarsen);
    let fields = file_fields(&schema);
    let suffix = format!(".{}", format.name());
    let mut rows = Vec::new();
    for (path, bytes) in fixture::files(archive, table, |f| f.contains("data-") && f.ends_with(&suffix)) {
        let batches = Memory::new(bytes).read(format, columns(&fields)).unwrap_or_else(|e| panic!("{path}: {e:?}"));
        rows.extend(batches.iter().flat_map(|batch| render(batch, &fields)));
    }
    if !schema.primary_keys.is_empty() {
        rows = newest(rows, &schema);
    }
    let row = DataType::required(Kind::Row(schema.fields.clone()));
    let expected = fixture::expected(archive, table, "expected.jsonl");
    assert!(!expected.is_empty());
    let (got, expected) = (lines(rows), lines(expected.iter().map(|v| canonical(v, &row)).collect()));
    assert_eq!(got.len(), expected.len(), "{table}");
    for (got, expected) in got.iter().zip(&expected) {
        assert_eq!(got, expected, "{table}");
    }
}

/// The reference's tables hold timestamps that no 64 bits of nanoseconds can; they are read to the microsecond.
pub(crate) fn coarsen(field: &mut DataField) {
    if let Kind::Timestamp(p) | Kind::LocalZonedTimestamp(p) = &mut field.data_type.kind {
        *p = (*p).min(6);
    }
}

fn lines(rows: Vec<Value>) -> Vec<String> {
    let mut lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    lines.sort();
    lines
}

fn file_fields(schema: &TableSchema) -> Vec<DataField> {
    if schema.primary_keys.is_empty() {
        return schema.fields.clone();
    }
    let mut fields = vec![
        DataField::new(-1, "_SEQUENCE_NUMBER", DataType::required(Kind::BigInt)),
        DataField::new(-2, "_VALUE_KIND", DataType::required(Kind::TinyInt)),
    ];
    fields.extend(schema.fields.iter().cloned());
    fields
}

fn newest(rows: Vec<Value>, schema: &TableSchema) -> Vec<Value> {
    let mut newest: BTreeMap<String, (i64, i64, Value)> = BTreeMap::new();
    for row in rows {
        let Value::Object(mut row) = row else { unreachable!() };
        let sequence = row.remove("_SEQUENCE_NUMBER").and_then(|v| v.as_i64()).unwrap();
        let kind = row.remove("_VALUE_KIND").and_then(|v| v.as_i64()).unwrap();
        let key: Map<String, Value> = schema.primary_keys.iter().map(|k| (k.clone(), row[k].clone())).collect();
        let ordered = schema.fields.iter().map(|f| (f.name.clone(), row[&f.name].clone())).collect();
        let entry = (sequence, kind, Value::Object(ordered));
        let slot = newest.entry(Value::Object(key).to_string()).or_insert_with(|| entry.clone());
        if slot.0 <= sequence {
            *slot = entry;
        }
    }
    newest.into_values().filter(|(_, kind, _)| *kind != 3 && *kind != 1).map(|(_, _, row)| row).collect()
}
