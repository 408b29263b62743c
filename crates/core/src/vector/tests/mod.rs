//! Merge trees with deletion vectors against a model, and what commits make of them.

mod append;
mod race;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, Int8Array, Int32Array, RecordBatch};
use futures::TryStreamExt;
use linn_format::schema::TableSchema;
use linn_format::snapshot::Snapshot;
use linn_format::types::{DataField, DataType};
use linn_format::{Result, SchemaId};

use super::vector_lines;
use crate::commit::{Commit, CommitMessage, CommitOutcome};
use crate::fixture::{memory, table as open};
use crate::snapshot::Snapshots;
use crate::table::Table;

/// A row: key, sequence of the user's, two values.
type Row = (i32, i32, Option<i32>, Option<i32>);

/// `T(k INT, s INT, a INT, b INT)`, with the key `k` when `keyed`.
async fn table(keyed: bool, options: &[(&str, &str)]) -> Table {
    let field = |id, name: &str, sql: &str| DataField::new(id, name, DataType::parse(sql).unwrap());
    let mut schema = TableSchema {
        version: 3,
        id: SchemaId(0),
        fields: vec![field(0, "k", "INT NOT NULL"), field(1, "s", "INT"), field(2, "a", "INT"), field(3, "b", "INT")],
        highest_field_id: 3,
        partition_keys: Vec::new(),
        primary_keys: if keyed { vec!["k".to_owned()] } else { Vec::new() },
        options: Default::default(),
        comment: None,
        time_millis: 0,
    };
    schema.options.set("deletion-vectors.enabled", "true");
    for (key, value) in options {
        schema.options.set(*key, *value);
    }
    linn_format::schema::validate(&schema).unwrap();
    open(memory(), schema).await
}

fn batch(rows: &[(Row, i8)]) -> (RecordBatch, Int8Array) {
    let column = |value: fn(&Row) -> Option<i32>| -> ArrayRef {
        Arc::new(rows.iter().map(|(row, _)| value(row)).collect::<Int32Array>())
    };
    let columns = vec![
        ("k", column(|r| Some(r.0))),
        ("s", column(|r| Some(r.1))),
        ("a", column(|r| r.2)),
        ("b", column(|r| r.3)),
    ];
    (RecordBatch::try_from_iter(columns).unwrap(), rows.iter().map(|(_, kind)| *kind).collect())
}

async fn try_commit(table: &Table, messages: Vec<CommitMessage>) -> CommitOutcome {
    table.committer("test").commit(Commit::batch(messages)).await.unwrap()
}

async fn commit(table: &Table, messages: Vec<CommitMessage>) {
    let outcome = try_commit(table, messages).await;
    assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
}

/// Writes and commits rows with their kinds.
async fn write(table: &Table, rows: &[(Row, i8)]) {
    let mut writer = table.writer("test").unwrap();
    let (batch, kinds) = batch(rows);
    writer.write(&batch, table.schema().is_primary_key_table().then_some(&kinds)).await.unwrap();
    let messages = writer.prepare_commit(false).await.unwrap();
    commit(table, messages).await;
    writer.close().await.unwrap();
}

/// The rows at a snapshot, and that no key is there twice.
async fn read_at(table: &Table, snapshot: Option<Arc<Snapshot>>) -> Result<Vec<Row>> {
    let read = table.read().build()?;
    let mut scan = table.scan();
    if let Some(snapshot) = snapshot {
        scan = scan.snapshot(snapshot);
    }
    let mut rows = Vec::new();
    for split in scan.plan().await?.splits {
        let batches: Vec<RecordBatch> = read.stream(&split).await?.try_collect().await?;
        let counted: usize = batches.iter().map(RecordBatch::num_rows).sum();
        if let Some(count) = split.merged_row_count() {
            assert_eq!(count, counted as i64, "the metadata counts other rows");
        }
        for batch in batches {
            let column = |c: usize| batch.column(c).as_primitive::<Int32Type>();
            let value = |c: usize, i: usize| column(c).is_valid(i).then(|| column(c).value(i));
            let row = |i| (column(0).value(i), column(1).value(i), value(2, i), value(3, i));
            rows.extend((0..batch.num_rows()).map(row));
        }
    }
    rows.sort_unstable();
    let keys: BTreeSet<i32> = rows.iter().map(|row| row.0).collect();
    assert!(!table.schema().is_primary_key_table() || keys.len() == rows.len(), "a key is there twice: {rows:?}");
    Ok(rows)
}

async fn read(table: &Table) -> Vec<Row> {
    read_at(table, None).await.unwrap()
}

async fn latest(table: &Table) -> Arc<Snapshot> {
    Snapshots::new(table).latest().await.unwrap().unwrap()
}

/// Deleted rows by data file at the latest snapshot, from the index manifest; all of the files are there (case D5).
async fn vectors(table: &Table) -> BTreeMap<String, i64> {
    let snapshot = latest(table).await;
    let plan = table.scan().snapshot(snapshot.clone()).every_level().plan().await.unwrap();
    let live: BTreeSet<String> =
        plan.splits.iter().flat_map(|split| &split.files).map(|file| file.file_name.clone()).collect();
    let mut vectors = BTreeMap::new();
    for line in vector_lines(table, &snapshot).await.unwrap() {
        for vector in line.deletion_vectors.into_iter().flatten() {
            assert!(live.contains(&vector.data_file), "a vector of {} which is gone", vector.data_file);
            assert_eq!(vectors.insert(vector.data_file, vector.cardinality.unwrap()), None);
        }
    }
    vectors
}

fn block_on<T>(future: impl std::future::Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}
