//! Writing and compacting over files in memory.

mod changelog;
mod floats;
mod order;
mod regress_unopened;
mod regress_values_beyond_their_types;
mod restore;
mod store;
mod table;
mod wide;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int8Array, Int32Array, Int64Array, RecordBatch, StringArray};
use linn_format::ErrorKind;
use linn_format::schema::TableSchema;
use linn_format::types::{DataField, DataType};
use proptest::prelude::*;
use store::Store;

use super::{MemoryBudget, TableWriter};
use crate::commit::CommitMessage;

/// `T(p INT, k BIGINT, v STRING, PRIMARY KEY (p, k)) PARTITIONED BY (p)`.
fn table(options: &[(&str, &str)]) -> TableSchema {
    let field = |id, name: &str, sql: &str| DataField::new(id, name, DataType::parse(sql).unwrap());
    let mut schema = TableSchema {
        version: 3,
        id: linn_format::SchemaId(0),
        fields: vec![field(0, "p", "INT NOT NULL"), field(1, "k", "BIGINT NOT NULL"), field(2, "v", "STRING")],
        highest_field_id: 2,
        partition_keys: vec!["p".to_owned()],
        primary_keys: vec!["p".to_owned(), "k".to_owned()],
        options: Default::default(),
        comment: None,
        time_millis: 0,
    };
    schema.options.set("bucket", "2");
    for (key, value) in options {
        schema.options.set(*key, *value);
    }
    schema
}

type Row = (i32, i64, Option<String>, i8);

fn batch(rows: &[Row]) -> (RecordBatch, Int8Array) {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("p", Arc::new(Int32Array::from_iter_values(rows.iter().map(|r| r.0)))),
        ("k", Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.1)))),
        ("v", Arc::new(StringArray::from_iter(rows.iter().map(|r| r.2.clone())))),
    ];
    (RecordBatch::try_from_iter(columns).unwrap(), Int8Array::from_iter_values(rows.iter().map(|r| r.3)))
}

/// What a read of the table returns.
async fn read(store: &Arc<Store>, schema: &TableSchema) -> BTreeMap<(i32, i64), Option<String>> {
    let mut rows = BTreeMap::new();
    for batch in store.read_all(schema).await {
        let (p, k) = (batch.column(0).as_primitive::<Int32Type>(), batch.column(1).as_primitive::<Int64Type>());
        let v = batch.column(2).as_string::<i32>();
        for i in 0..batch.num_rows() {
            let value = v.is_valid(i).then(|| v.value(i).to_owned());
            assert_eq!(rows.insert((p.value(i), k.value(i)), value), None, "a key came twice");
        }
    }
    rows
}

fn writer(store: &Arc<Store>, schema: &TableSchema, budget: u64) -> TableWriter {
    TableWriter::new(schema, &store.env, store.clone(), MemoryBudget::new(budget)).unwrap()
}

fn block_on<T>(future: impl std::future::Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn rows(range: std::ops::Range<i64>, value: &str, kind: i8) -> Vec<Row> {
    range.map(|k| ((k % 3) as i32, k, Some(value.to_owned()), kind)).collect()
}

#[test]
fn rows_are_split_merged_and_counted() {
    block_on(async {
        let schema = table(&[("write-only", "true")]);
        let store = Store::new(&schema);
        let mut writer = writer(&store, &schema, 1 << 30);
        let (first, kinds) = batch(&rows(0..30, "a", 0));
        writer.write(&first, Some(&kinds)).await.unwrap();
        let (again, kinds) = batch(&rows(0..10, "b", 2));
        writer.write(&again, Some(&kinds)).await.unwrap();
        let (gone, kinds) = batch(&rows(5..8, "b", 3));
        writer.write(&gone, Some(&kinds)).await.unwrap();
        let messages = writer.prepare_commit(true).await.unwrap();
        assert!(messages.len() > 3 && messages.iter().all(|m| m.new_files.len() == 1 && m.total_buckets == 2));
        store.commit(&messages);
        let read = read(&store, &schema).await;
        assert_eq!(read.len(), 27);
        assert!(read.iter().all(|((_, k), v)| v.as_deref() == Some(if *k < 10 { "b" } else { "a" })));
        // Nothing happened since: no messages, and the writers are let go.
        assert!(writer.prepare_commit(true).await.unwrap().is_empty());
        writer.close().await.unwrap();
        assert_eq!(store.file_count(), messages.len());
    });
}

#[test]
fn a_batch_that_does_not_fit_is_refused_whole() {
    block_on(async {
        let schema = table(&[("write-only", "true")]);
        let store = Store::new(&schema);
        let mut writer = writer(&store, &schema, 1 << 30);
        let k = Arc::new(Int64Array::from(vec![Some(1), None])) as ArrayRef;
        let p = Arc::new(Int32Array::from(vec![1, 1])) as ArrayRef;
        let v = Arc::new(StringArray::from(vec!["x", "y"])) as ArrayRef;
        let bad = RecordBatch::try_from_iter([("p", p.clone()), ("k", k), ("v", v.clone())]).unwrap();
        let error = writer.write(&bad, None).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains("row 1") && error.to_string().contains("column: k"), "{error}");
        let lacking = RecordBatch::try_from_iter([("p", p.clone()), ("v", v.clone()), ("w", v.clone())]).unwrap();
        assert!(writer.write(&lacking, None).await.unwrap_err().to_string().contains('k'));
        let mistyped = RecordBatch::try_from_iter([("p", p.clone()), ("k", p), ("v", v)]).unwrap();
        assert!(writer.write(&mistyped, None).await.unwrap_err().to_string().contains("Int64"));
        assert!(writer.prepare_commit(true).await.unwrap().is_empty());
    });
}

#[test]
fn d1_ignored_deletes_are_known_from_the_row_kind_column() {
    block_on(async {
        let schema = table(&[("rowkind.field", "v"), ("ignore-delete", "true"), ("write-only", "true")]);
        let store = Store::new(&schema);
        let mut writer = writer(&store, &schema, 1 << 30);
        let (all, _) = batch(&[(0, 1, Some("+I".into()), 0), (0, 1, Some("-D".into()), 0)]);
        writer.write(&all, None).await.unwrap();
        store.commit(&writer.prepare_commit(true).await.unwrap());
        assert_eq!(read(&store, &schema).await, BTreeMap::from([((0, 1), Some("+I".to_owned()))]));
        let (bad, _) = batch(&[(0, 1, Some("I".into()), 0)]);
        assert_eq!(writer.write(&bad, None).await.unwrap_err().kind(), ErrorKind::Invalid);
    });
}

#[test]
fn sequence_numbers_go_on_where_the_last_writer_stopped() {
    block_on(async {
        let schema = table(&[("write-only", "true"), ("bucket", "1")]);
        let store = Store::new(&schema);
        for value in ["a", "b", "c"] {
            let mut writer = writer(&store, &schema, 1 << 30);
            writer.write(&batch(&rows(0..3, value, 0)).0, None).await.unwrap();
            store.commit(&writer.prepare_commit(true).await.unwrap());
            writer.close().await.unwrap();
        }
        assert!(read(&store, &schema).await.values().all(|v| v.as_deref() == Some("c")));
    });
}

#[test]
fn closing_gives_up_what_was_not_committed() {
    block_on(async {
        let schema = table(&[("write-buffer-spillable", "false"), ("num-sorted-run.compaction-trigger", "2")]);
        let store = Store::new(&schema);
        let mut writer = writer(&store, &schema, 1);
        for value in ["a", "b", "c", "d"] {
            writer.write(&batch(&rows(0..50, value, 0)).0, None).await.unwrap();
        }
        assert!(store.file_count() > 0);
        writer.close().await.unwrap();
        assert_eq!(store.file_count(), 0);
    });
}

#[test]
fn a_full_disk_is_an_error_after_which_the_writer_goes_on() {
    block_on(async {
        let schema = table(&[("write-only", "true")]);
        let store = Store::new(&schema);
        // A file stands where the spill folder should be.
        std::fs::write(&store.env.spill_dir, b"").unwrap();
        let mut writer = writer(&store, &schema, 1);
        let error = writer.write(&batch(&rows(0..30, "a", 0)).0, None).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        std::fs::remove_file(&store.env.spill_dir).unwrap();
        writer.write(&batch(&rows(30..60, "a", 0)).0, None).await.unwrap();
        store.commit(&writer.prepare_commit(true).await.unwrap());
        assert_eq!(read(&store, &schema).await.len(), 60);
        assert_eq!(std::fs::read_dir(&store.env.spill_dir).unwrap().count(), 0);
    });
}

#[test]
fn the_input_is_the_changelog_when_asked_for() {
    block_on(async {
        let schema = table(&[("changelog-producer", "input"), ("write-only", "true"), ("bucket", "1")]);
        let store = Store::new(&schema);
        let mut writer = writer(&store, &schema, 1 << 30);
        let (all, kinds) =
            batch(&[(0, 1, Some("a".into()), 0), (0, 1, Some("a".into()), 1), (0, 1, Some("b".into()), 2)]);
        writer.write(&all, Some(&kinds)).await.unwrap();
        let messages: Vec<CommitMessage> = writer.prepare_commit(true).await.unwrap();
        assert_eq!((messages[0].new_files[0].row_count, messages[0].changelog_files[0].row_count), (1, 3));
    });
}

#[derive(Debug, Clone)]
enum Action {
    Write(Vec<(i64, u8, bool)>),
    Commit(bool),
    Compact(bool),
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let row = (0i64..25, any::<u8>(), prop::bool::weighted(0.2));
    let action = prop_oneof![
        4 => prop::collection::vec(row, 1..30).prop_map(Action::Write),
        3 => any::<bool>().prop_map(Action::Commit),
        1 => any::<bool>().prop_map(Action::Compact),
    ];
    prop::collection::vec(action, 1..25)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever is flushed, spilled and compacted when: a read returns the last value of each key.
    #[test]
    fn reads_see_what_was_written(
        actions in actions(),
        trigger in 2usize..4,
        spills in any::<bool>(),
        budget in prop::sample::select(vec![1u64, 20_000, 1 << 30]),
    ) {
        block_on(async {
            let trigger = trigger.to_string();
            let schema = table(&[
                ("num-sorted-run.compaction-trigger", &trigger),
                ("write-buffer-spillable", if spills { "true" } else { "false" }),
                ("target-file-size", "2 kb"),
            ]);
            let store = Store::new(&schema);
            let mut writer = writer(&store, &schema, budget);
            let mut expected: BTreeMap<(i32, i64), Option<String>> = BTreeMap::new();
            for action in actions {
                match action {
                    Action::Write(changes) => {
                        let rows: Vec<Row> = changes
                            .iter()
                            .map(|(k, v, delete)| ((k % 2) as i32, *k, Some(v.to_string()), if *delete { 3 } else { 0 }))
                            .collect();
                        for (p, k, v, kind) in &rows {
                            match kind {
                                0 => expected.insert((*p, *k), v.clone()),
                                _ => expected.remove(&(*p, *k)),
                            };
                        }
                        let (rows, kinds) = batch(&rows);
                        writer.write(&rows, Some(&kinds)).await.unwrap();
                    }
                    Action::Commit(wait) => {
                        store.commit(&writer.prepare_commit(wait).await.unwrap());
                        assert_eq!(read(&store, &schema).await, expected);
                    }
                    Action::Compact(full) => {
                        for (partition, bucket) in store.buckets() {
                            writer.compact(&partition, bucket, full).await.unwrap();
                        }
                    }
                }
            }
            store.commit(&writer.prepare_commit(true).await.unwrap());
            assert_eq!(read(&store, &schema).await, expected);
            writer.close().await.unwrap();
            store.check_no_leaks();
        });
    }
}
