//! The table that is measured and its rows, the same in every run.
//!
//! The first commit brings new keys only; of every later one half are keys that are there, half are new. Keys come in
//! random order and once in a commit.

use std::sync::Arc;

use anyhow::Result;
use arrow_array::{ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use linn_format::SchemaId;
use linn_format::options::Options;
use linn_format::schema::TableSchema;
use linn_format::types::{DataField, DataType, arrow_schema};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rows of a batch given to a writer.
const BATCH: usize = 65_536;

/// How much is written.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) rows: usize,
    pub(crate) commits: usize,
}

/// `k BIGINT PRIMARY KEY` and eight columns, two of each type.
pub(crate) fn schema(options: &[(&str, &str)]) -> Result<TableSchema> {
    let columns = ["BIGINT NOT NULL", "INT", "INT", "BIGINT", "BIGINT", "DOUBLE", "DOUBLE", "STRING", "STRING"];
    let mut fields = Vec::new();
    for (id, sql) in (0..).zip(columns) {
        let name = if id == 0 { "k".to_owned() } else { format!("c{id}") };
        fields.push(DataField::new(id, name, DataType::parse(sql)?));
    }
    Ok(TableSchema {
        version: linn_format::schema::SCHEMA_VERSION,
        id: SchemaId(0),
        highest_field_id: 8,
        fields,
        partition_keys: Vec::new(),
        primary_keys: vec!["k".to_owned()],
        options: options.iter().copied().collect::<Options>(),
        comment: None,
        time_millis: 0,
    })
}

/// The rows of one commit.
pub(crate) fn batches(size: Size, commit: usize) -> Result<Vec<RecordBatch>> {
    let mut rng = ChaCha8Rng::seed_from_u64(commit as u64);
    let schema = arrow_schema(&schema(&[])?.fields)?;
    let mut batches = Vec::new();
    for keys in keys(size.rows, commit, &mut rng).chunks(BATCH) {
        let n = keys.len();
        let words: Vec<String> = (0..n).map(|_| format!("value-{:08}", rng.random_range(0..50_000_000_u32))).collect();
        let cities: Vec<String> = (0..n).map(|_| format!("city-{}", rng.random_range(0..1000_u32))).collect();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(keys.to_vec())),
            Arc::new(Int32Array::from_iter_values((0..n).map(|_| rng.random::<i32>()))),
            Arc::new(Int32Array::from_iter_values((0..n).map(|_| rng.random_range(0..100)))),
            Arc::new(Int64Array::from_iter_values((0..n).map(|_| rng.random::<i64>()))),
            Arc::new(Int64Array::from_iter_values((0..n).map(|_| rng.random_range(0..1_000_000)))),
            Arc::new(Float64Array::from_iter_values((0..n).map(|_| rng.random::<f64>()))),
            Arc::new(Float64Array::from_iter_values((0..n).map(|_| f64::from(rng.random_range(0..10_000)) / 100.0))),
            Arc::new(StringArray::from(words)),
            Arc::new(StringArray::from(cities)),
        ];
        batches.push(RecordBatch::try_new(schema.clone(), columns)?);
    }
    Ok(batches)
}

fn keys(rows: usize, commit: usize, rng: &mut ChaCha8Rng) -> Vec<i64> {
    let half = rows / 2;
    let used = if commit == 0 { 0 } else { rows + (commit - 1) * (rows - half) };
    let again = if commit == 0 { 0 } else { half };
    let mut keys: Vec<i64> = rand::seq::index::sample(rng, used, again).into_iter().map(|k| k as i64).collect();
    keys.extend((used..used + rows - again).map(|k| k as i64));
    keys.shuffle(rng);
    keys
}
