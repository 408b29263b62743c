//! The merge against a row-at-a-time model that shares no code with it.

mod cases;
mod equal;
mod large;
mod model;
mod order;
mod timing;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int8Array, Int32Array, Int64Array, RecordBatch, StringArray};
use futures::StreamExt;
use linn_format::schema::TableSchema;
use linn_format::types::{DataField, DataType, Kind};
use linn_format::{BatchStream, Result, SchemaId};

use super::{
    Before, Columns, MergeOptions, MergeSpec, Merged, Ranks, Retractions, SortedBuffer, View, merge, merge_changes,
    merge_levels,
};

/// A value of a test row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Value {
    Int(i64),
    Text(String),
}

/// A record: values in column order, sequence number, row kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) values: Vec<Option<Value>>,
    pub(super) sequence: i64,
    pub(super) kind: i8,
}

/// A table whose first column is the key.
pub(super) fn table(columns: &[(&str, &str)], options: &[(&str, &str)]) -> TableSchema {
    let fields: Vec<DataField> = columns
        .iter()
        .enumerate()
        .map(|(i, (name, sql))| DataField::new(i as i32, *name, DataType::parse(sql).unwrap()))
        .collect();
    let mut schema = TableSchema {
        version: 3,
        id: SchemaId(0),
        highest_field_id: fields.len() as i32,
        primary_keys: vec![fields[0].name.clone()],
        fields,
        partition_keys: Vec::new(),
        options: Default::default(),
        comment: None,
        time_millis: 0,
    };
    for (key, value) in options {
        schema.options.set(*key, *value);
    }
    schema
}

/// A key-value batch of rows that have the columns `fields`.
pub(super) fn batch(fields: &[DataField], rows: &[Row]) -> RecordBatch {
    let int = |c: usize| {
        rows.iter().map(move |r| match &r.values[c] {
            Some(Value::Int(v)) => Some(*v),
            _ => None,
        })
    };
    let mut columns: Vec<ArrayRef> = fields
        .iter()
        .enumerate()
        .map(|(c, f)| match f.data_type.kind {
            Kind::Int => Arc::new(Int32Array::from_iter(int(c).map(|v| v.map(|v| v as i32)))) as ArrayRef,
            Kind::BigInt => Arc::new(Int64Array::from_iter(int(c))) as ArrayRef,
            _ => Arc::new(StringArray::from_iter(rows.iter().map(|r| match &r.values[c] {
                Some(Value::Text(t)) => Some(t.as_str()),
                _ => None,
            }))) as ArrayRef,
        })
        .collect();
    columns.push(Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.sequence))));
    columns.push(Arc::new(Int8Array::from_iter_values(rows.iter().map(|r| r.kind))));
    RecordBatch::try_new(super::key_value_schema(fields).unwrap(), columns).unwrap()
}

/// The rows of a key-value batch.
pub(super) fn rows(batch: &RecordBatch) -> Vec<Row> {
    let values = batch.num_columns() - 2;
    let value = |c: usize, i: usize| {
        let column = batch.column(c);
        if column.is_null(i) {
            return None;
        }
        Some(match column.data_type() {
            arrow_schema::DataType::Int32 => Value::Int(i64::from(column.as_primitive::<Int32Type>().value(i))),
            arrow_schema::DataType::Int64 => Value::Int(column.as_primitive::<Int64Type>().value(i)),
            _ => Value::Text(column.as_string::<i32>().value(i).to_owned()),
        })
    };
    (0..batch.num_rows())
        .map(|i| Row {
            values: (0..values).map(|c| value(c, i)).collect(),
            sequence: batch.column(values).as_primitive::<Int64Type>().value(i),
            kind: batch.column(values + 1).as_primitive::<Int8Type>().value(i),
        })
        .collect()
}

/// A run of batches, which may be cut anywhere.
pub(super) fn run(batches: Vec<RecordBatch>) -> BatchStream {
    futures::stream::iter(batches.into_iter().map(Ok)).boxed()
}

/// All rows of a stream.
pub(super) fn collect(stream: BatchStream) -> Result<Vec<Row>> {
    let batches = futures::executor::block_on(stream.collect::<Vec<_>>());
    let mut all = Vec::new();
    for batch in batches {
        all.extend(rows(&batch?));
    }
    Ok(all)
}

/// Merges runs of rows, newest first.
pub(super) fn merge_rows(spec: &Arc<MergeSpec>, runs: &[Vec<Row>], keep_deletes: bool, cut: usize) -> Result<Vec<Row>> {
    let streams =
        || runs.iter().map(|rows| run(rows.chunks(cut.max(1)).map(|c| batch(spec.read_fields(), c)).collect()));
    let merged = collect(merge(streams().collect(), spec.clone(), keep_deletes, cut.max(1)));
    let leveled = streams().map(|run| run.map(|batch| Ok((batch?, 0))).boxed()).collect();
    let beside = collect(merge_levels(leveled, spec.clone(), keep_deletes, cut.max(1), Columns::Beside));
    match (&merged, &beside) {
        (Ok(merged), Ok(beside)) => assert_eq!(merged, beside),
        (merged, beside) => {
            let text = |result: &Result<Vec<Row>>| result.as_ref().err().map(ToString::to_string);
            assert_eq!(text(merged), text(beside));
        }
    }
    merged
}

/// Sorts and merges rows in order of arrival, as a spill does: those of a key that stay apart follow each other.
pub(super) fn flush_rows(spec: &Arc<MergeSpec>, arrived: &[Row], cut: usize) -> Result<Vec<Row>> {
    let batches: Vec<_> = arrived.chunks(cut.max(1)).map(|c| batch(spec.read_fields(), c)).collect();
    let mut all = Vec::new();
    for merged in SortedBuffer::new(&batches, spec.clone(), View::part(Ranks::Together), cut.max(1))?.rows() {
        all.extend(rows(&merged?));
    }
    Ok(all)
}

/// The same, as a flush does: runs, oldest first, of which none has a key twice.
pub(super) fn flush_runs(spec: &Arc<MergeSpec>, arrived: &[Row], cut: usize) -> Result<Vec<Vec<Row>>> {
    let batches: Vec<_> = arrived.chunks(cut.max(1)).map(|c| batch(spec.read_fields(), c)).collect();
    let mut runs = by_rank(SortedBuffer::new(&batches, spec.clone(), View::part(Ranks::FromNewest), cut.max(1))?)?;
    runs.reverse();
    Ok(runs)
}

/// Merges runs, newest first, to which older ones may belong; runs, oldest first, of which none has a key twice.
pub(super) fn merge_part(spec: &Arc<MergeSpec>, runs: &[Vec<Row>], cut: usize) -> Result<Vec<Vec<Row>>> {
    let view = View::part(Ranks::FromOldest);
    by_rank(merged(spec, runs, view, cut))
}

/// Merges runs, newest first, that have all older records.
pub(super) fn merge_whole(
    spec: &Arc<MergeSpec>,
    runs: &[Vec<Row>],
    retractions: Retractions,
    cut: usize,
) -> Result<Vec<Vec<Row>>> {
    by_rank(merged(spec, runs, View::whole(retractions), cut))
}

fn merged(spec: &Arc<MergeSpec>, runs: &[Vec<Row>], view: View, cut: usize) -> Vec<Result<Merged>> {
    let cut = cut.max(1);
    let streams = runs.iter().map(|rows| {
        let run = run(rows.chunks(cut).map(|c| batch(spec.read_fields(), c)).collect());
        run.map(|batch| Ok((batch?, 0))).boxed()
    });
    let how =
        MergeOptions { view, batch_size: cut, before: Before::NotCompared, changes: None, columns: Columns::InTurn };
    futures::executor::block_on(merge_changes(streams.collect(), spec.clone(), how).collect())
}

fn by_rank(merged: impl IntoIterator<Item = Result<Merged>>) -> Result<Vec<Vec<Row>>> {
    let mut runs: Vec<Vec<Row>> = Vec::new();
    for merged in merged {
        let merged = merged?;
        for (rank, batch) in std::iter::once(merged.rows).chain(merged.apart).enumerate() {
            runs.resize(runs.len().max(rank + 1), Vec::new());
            runs[rank].extend(batch.iter().flat_map(rows));
        }
    }
    for run in &runs {
        assert!(run.windows(2).all(|two| two[0].values[0] < two[1].values[0]), "a key is twice in a run: {run:?}");
    }
    Ok(runs)
}

pub(super) fn int(v: i64) -> Option<Value> {
    Some(Value::Int(v))
}

pub(super) fn text(v: &str) -> Option<Value> {
    Some(Value::Text(v.to_owned()))
}
