//! Differences of two snapshots, compared with those of the model's rows.

use std::collections::BTreeMap;

use futures::TryStreamExt;
use linn_core::{Split, Table};
use linn_format::SnapshotId;
use linn_format::file::key_value_batch_fields;
use linn_testkit::model::{Model, Row};
use linn_testkit::render;
use serde_json::Value;

use crate::table::Made;

/// Rows by key.
fn by_key<'r>(made: &Made, rows: &'r [Row]) -> BTreeMap<String, &'r Row> {
    rows.iter().map(|row| (key(made, row), row)).collect()
}

fn key(made: &Made, row: &Row) -> String {
    canonical(&made.schema.primary_keys.iter().map(|name| (name.clone(), row[name].clone())).collect())
}

/// What is told of one difference must turn the rows of before into those of after, and no more than that.
pub(crate) async fn check(
    table: &Table,
    made: &Made,
    model: &Model,
    before: (SnapshotId, &[Row]),
    after: (SnapshotId, &[Row]),
) {
    let between = format!("{},{}", before.0, after.0);
    let options = [("incremental-between", between.as_str()), ("incremental-between-scan-mode", "diff")];
    let table = table.with_options(&options.into_iter().collect()).unwrap();
    let (old, new) = (by_key(made, before.1), by_key(made, after.1));
    // Bytes of bitmaps and sketches may differ where their members do not.
    let exact = made.schema.fields.iter().all(|field| {
        let function = made.schema.options.raw(&format!("fields.{}.aggregate-function", field.name));
        function.is_none_or(|name| {
            !name.contains("rbm") && !name.contains("sketch") && name != "collect" && name != "merge_map"
        })
    });
    let splits = table.scan().plan().await.unwrap().splits;
    let mut state: BTreeMap<String, Row> = old.iter().map(|(key, row)| (key.clone(), (*row).clone())).collect();
    for (kind, row) in told(&table, made, model, &splits).await {
        let at = format!("{between}, options {:?}: kind {kind} of {row:?}", made.schema.options);
        let key = key(made, &row);
        match kind {
            0 | 2 => {
                assert_eq!(new.get(&key).map(|row| canonical(row)), Some(canonical(&row)), "{at}");
                let again = old.get(&key).is_some_and(|old| canonical(old) == canonical(&row));
                assert!(!again || !exact, "{at}: it was there");
                state.insert(key, row);
            }
            3 => {
                assert!(!new.contains_key(&key), "{at}: it is there");
                assert_eq!(
                    state.remove(&key).map(|row| canonical(&row)),
                    Some(canonical(&row)),
                    "{at}: it was not there"
                );
            }
            other => panic!("{at}: {other}"),
        }
    }
    let canonical_of =
        |rows: &BTreeMap<String, &Row>| rows.iter().map(|(k, r)| (k.clone(), canonical(r))).collect::<BTreeMap<_, _>>();
    let state: BTreeMap<String, String> = state.iter().map(|(key, row)| (key.clone(), canonical(row))).collect();
    assert_eq!(state, canonical_of(&new), "{between}, options {:?}", made.schema.options);
}

/// A row as text, whatever the order of entries in maps and of elements that come in hash order.
fn canonical(row: &Row) -> String {
    fn sorted(value: &Value) -> String {
        match value {
            Value::Array(items) => {
                let mut items: Vec<String> = items.iter().map(sorted).collect();
                items.sort();
                format!("[{}]", items.join(","))
            }
            Value::Object(fields) => {
                fields.iter().map(|(k, v)| format!("{k}:{}", sorted(v))).collect::<Vec<_>>().join(",")
            }
            // 1 and 1.0 are one number, and so are two spellings of a float.
            Value::Number(n) => match n.as_f64().filter(|_| n.is_f64()) {
                // These are two keys.
                Some(float) if float == 0.0 && float.is_sign_negative() => "-0".to_owned(),
                Some(float) if float.fract() == 0.0 && float.abs() < 1e15 => (float as i64).to_string(),
                Some(float) => format!("{float:.6e}"),
                None => n.to_string(),
            },
            other => other.to_string(),
        }
    }
    row.iter().map(|(name, value)| format!("{name}={}", sorted(value))).collect::<Vec<_>>().join(" ")
}

async fn told(table: &Table, made: &Made, model: &Model, splits: &[Split]) -> Vec<(i64, Row)> {
    let mut fields = key_value_batch_fields(&made.schema.fields);
    fields.retain(|field| field.name != "_SEQUENCE_NUMBER");
    let read = table.read().build().unwrap();
    let mut all = Vec::new();
    for split in splits {
        let batches: Vec<_> = read.changes(split).unwrap().try_collect().await.unwrap();
        for change in render::rows(&batches, &fields) {
            let Value::Object(mut row) = change else { panic!("{change}") };
            let kind = row.remove("_VALUE_KIND").and_then(|kind| kind.as_i64()).unwrap();
            all.push((kind, model.comparable(&row)));
        }
    }
    all
}
