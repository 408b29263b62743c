//! The tables that are measured and their rows, the same in every run.
//!
//! The first commit brings new keys only; of every later one half are keys that are there, half are new. Keys come in
//! random order.

use std::sync::Arc;

use anyhow::Result;
use arrow_array::{ArrayRef, BinaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use linn_format::SchemaId;
use linn_format::options::Options;
use linn_format::schema::TableSchema;
use linn_format::types::{DataField, DataType, arrow_schema};
use rand::seq::SliceRandom;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::functions::{self, Column, EVERY, SCALARS};
use crate::wide;

/// Rows of a batch given to a writer.
const BATCH: usize = 65_536;
/// Bytes of one, where rows are large.
const BATCH_BYTES: usize = 64 << 20;

/// How much is written: the commits from `first` on.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) rows: usize,
    pub(crate) first: usize,
    pub(crate) commits: usize,
}

/// Which rows.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Rows {
    /// A BIGINT key and eight columns, two of each type. Once in a commit.
    Narrow,
    /// 200 columns, of which every row has the 50 of one of four sources. Every key has a row of each source in a commit.
    Sources,
    /// The same columns, all in every row. Once in a commit.
    Wide,
    /// Twenty columns with aggregate functions over single values. Once in a commit.
    Scalars,
    /// A column for each of the twenty aggregate functions. Once in a commit.
    Functions,
    /// A key and a value of a million bytes. Once in a commit.
    Big,
    /// A key and a value of a hundred million bytes. Once in a commit.
    Huge,
}

impl Rows {
    /// The name of it as an argument.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Narrow => "narrow",
            Self::Sources => "sources",
            Self::Wide => "wide",
            Self::Scalars => "scalars",
            Self::Functions => "functions",
            Self::Big => "big",
            Self::Huge => "huge",
        }
    }

    /// Rows in a commit unless it is said how many.
    pub(crate) fn per_commit(self) -> usize {
        match self {
            Self::Narrow => 1_000_000,
            Self::Scalars => 400_000,
            Self::Sources | Self::Wide | Self::Functions => 100_000,
            Self::Big => 1024,
            Self::Huge => 3,
        }
    }

    /// Bytes of the one value of a row, where rows are large.
    fn value_bytes(self) -> Option<usize> {
        match self {
            Self::Big => Some(1_000_000),
            Self::Huge => Some(100_000_000),
            _ => None,
        }
    }

    /// Rows of a batch given to a writer.
    fn per_batch(self) -> usize {
        self.value_bytes().map_or(BATCH, |bytes| (BATCH_BYTES / bytes).max(1))
    }

    /// The columns behind the key `k BIGINT NOT NULL`, by name and SQL type.
    fn columns(self) -> Vec<(String, &'static str)> {
        let numbered =
            |types: &[&'static str]| (1..).zip(types).map(|(n, sql)| (format!("c{n}"), *sql)).collect::<Vec<_>>();
        let of_functions = |columns: &[Column]| numbered(&columns.iter().map(|(_, sql)| *sql).collect::<Vec<_>>());
        match self {
            Self::Narrow => numbered(&["INT", "INT", "BIGINT", "BIGINT", "DOUBLE", "DOUBLE", "STRING", "STRING"]),
            Self::Sources | Self::Wide => wide::columns(),
            Self::Scalars => of_functions(&SCALARS),
            Self::Functions => of_functions(&EVERY),
            Self::Big | Self::Huge => numbered(&["BYTES"]),
        }
    }

    /// The options that make the merge engine of these rows do its work.
    pub(crate) fn engine(self) -> Vec<(String, String)> {
        let aggregation = |columns: &[Column]| {
            let mut options = vec![("merge-engine".to_owned(), "aggregation".to_owned())];
            for (n, (function, _)) in (1..).zip(columns) {
                options.extend(functions::options(&format!("c{n}"), function));
            }
            options
        };
        match self {
            Self::Narrow | Self::Big | Self::Huge => Vec::new(),
            Self::Sources | Self::Wide => wide::options(),
            Self::Scalars => aggregation(&SCALARS),
            Self::Functions => aggregation(&EVERY),
        }
    }

    /// The table.
    pub(crate) fn schema(self, options: &[(String, String)]) -> Result<TableSchema> {
        let mut fields = vec![DataField::new(0, "k", DataType::parse("BIGINT NOT NULL")?)];
        let mut next = 1;
        for (name, sql) in self.columns() {
            let field = DataField::new(next, name, DataType::parse(sql)?);
            fields.push(field);
            next += 1;
        }
        Ok(TableSchema {
            version: linn_format::schema::SCHEMA_VERSION,
            id: SchemaId(0),
            highest_field_id: next - 1,
            fields,
            partition_keys: Vec::new(),
            primary_keys: vec!["k".to_owned()],
            options: options.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect::<Options>(),
            comment: None,
            time_millis: 0,
        })
    }

    /// The rows of one commit.
    pub(crate) fn batches(self, size: Size, commit: usize) -> Result<Vec<RecordBatch>> {
        let mut rng = ChaCha8Rng::seed_from_u64(commit as u64);
        let schema = arrow_schema(&self.schema(&[])?.fields)?;
        if self == Self::Sources {
            let keys = keys(size.rows / wide::SOURCES, commit, &mut rng);
            return wide::of_sources(&schema, &keys, commit, BATCH, &mut rng);
        }
        let mut batches = Vec::new();
        for keys in keys(size.rows, commit, &mut rng).chunks(self.per_batch()) {
            let n = keys.len();
            let mut columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(keys.to_vec()))];
            match self {
                Self::Narrow => columns.extend(narrow(n, &mut rng)),
                Self::Sources | Self::Wide => columns.extend(wide::of_all(&schema, n, commit, &mut rng)?),
                Self::Scalars | Self::Functions => {
                    let of = if self == Self::Scalars { &SCALARS } else { &EVERY };
                    for ((function, _), field) in of.iter().zip(schema.fields().iter().skip(1)) {
                        columns.push(functions::of(function, field.data_type(), n, &mut rng)?);
                    }
                }
                Self::Big | Self::Huge => {
                    let mut value = vec![0; self.value_bytes().unwrap_or_default()];
                    let values = keys.iter().map(|_| {
                        rng.fill_bytes(&mut value);
                        value.clone()
                    });
                    columns.push(Arc::new(BinaryArray::from_iter_values(values)));
                }
            }
            batches.push(RecordBatch::try_new(schema.clone(), columns)?);
        }
        Ok(batches)
    }
}

fn narrow(n: usize, rng: &mut ChaCha8Rng) -> Vec<ArrayRef> {
    let words: Vec<String> = (0..n).map(|_| format!("value-{:08}", rng.random_range(0..50_000_000_u32))).collect();
    let cities: Vec<String> = (0..n).map(|_| format!("city-{}", rng.random_range(0..1000_u32))).collect();
    vec![
        Arc::new(Int32Array::from_iter_values((0..n).map(|_| rng.random::<i32>()))),
        Arc::new(Int32Array::from_iter_values((0..n).map(|_| rng.random_range(0..100)))),
        Arc::new(Int64Array::from_iter_values((0..n).map(|_| rng.random::<i64>()))),
        Arc::new(Int64Array::from_iter_values((0..n).map(|_| rng.random_range(0..1_000_000)))),
        Arc::new(Float64Array::from_iter_values((0..n).map(|_| rng.random::<f64>()))),
        Arc::new(Float64Array::from_iter_values((0..n).map(|_| f64::from(rng.random_range(0..10_000)) / 100.0))),
        Arc::new(StringArray::from(words)),
        Arc::new(StringArray::from(cities)),
    ]
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
