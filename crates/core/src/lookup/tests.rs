//! Lookup files of compactions: made for a few keys, kept, put beside data files, and never believed when damaged.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{ArrayRef, Int32Array, ListArray, MapArray, RecordBatch, StringArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType as ArrowType, FieldRef};
use bytes::Bytes;
use futures::TryStreamExt;
use linn_format::file::DataFileMeta;
use linn_format::options::Options;
use linn_format::row::BinaryRow;
use linn_format::types::{DataField, DataType, arrow_schema};

use crate::commit::{Commit, CommitOutcome};
use crate::compact::TableFiles;
use crate::file::BucketFiles;
use crate::fixture::{env, memory, schema};
use crate::schema::Schemas;
use crate::seam::Env;
use crate::snapshot::Snapshots;
use crate::table::Table;
use crate::write::TableWriter;

/// A table whose changelog comes from lookups, and its folder on local disk.
async fn table(options: &[(&str, &str)]) -> (Table, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let storage = memory();
    let mut schema = schema(false, true, &[("bucket", "1"), ("changelog-producer", "lookup")]);
    for (key, value) in options {
        schema.options.set(*key, *value);
    }
    Schemas::at(storage.clone(), "db.db/t").create(&schema).await.unwrap();
    let env = Env { spill_dir: folder.path().join("spill"), ..env(storage, 1) };
    (Table::new("db.t", "db.db/t", schema, env), folder)
}

fn local_files(table: &Table) -> usize {
    std::fs::read_dir(&table.env().spill_dir).map_or(0, Iterator::count)
}

async fn write(table: &Table, writer: &mut TableWriter, identifier: i64, keys: std::ops::Range<i32>, value: &str) {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("k", Arc::new(Int32Array::from_iter_values(keys.clone()))),
        ("v", Arc::new(StringArray::from_iter_values(keys.map(|k| format!("{value}{k}"))))),
    ];
    writer.write(&RecordBatch::try_from_iter(columns).unwrap(), None).await.unwrap();
    let messages = writer.prepare_commit(true).await.unwrap();
    let outcome = table.committer("test").commit(Commit::streaming(identifier, messages)).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
}

fn files_of(table: &Table) -> TableFiles {
    TableFiles { table: table.clone(), partition: BinaryRow::empty(), bucket: 0, batch_size: 100, alone: true }
}

/// Key, value and row kind of the latest changelog.
async fn changes(table: &Table) -> Vec<(i32, String, i8)> {
    let snapshot = Snapshots::new(table).latest().await.unwrap().unwrap();
    let mut changes = Vec::new();
    for split in table.scan().plan_changelog(&snapshot).await.unwrap().splits {
        for file in &split.files {
            let batches = files_of(table).read(file, &table.schema().fields, None).await.unwrap();
            for batch in batches.try_collect::<Vec<_>>().await.unwrap() {
                let (k, v) = (batch.column(0).as_primitive::<Int32Type>(), batch.column(1).as_string::<i32>());
                let kinds = batch.column(3).as_primitive::<Int8Type>();
                changes.extend((0..batch.num_rows()).map(|i| (k.value(i), v.value(i).to_owned(), kinds.value(i))));
            }
        }
    }
    changes
}

fn updates(keys: std::ops::Range<i32>, old: &str, new: &str) -> Vec<(i32, String, i8)> {
    keys.flat_map(|k| [(k, format!("{old}{k}"), 1), (k, format!("{new}{k}"), 2)]).collect()
}

async fn live(table: &Table) -> Vec<Arc<DataFileMeta>> {
    table.scan().every_level().plan().await.unwrap().splits.into_iter().flat_map(|s| s.files).collect()
}

#[tokio::test]
async fn a_few_keys_are_asked_of_a_lookup_file_that_is_kept() {
    let (table, _folder) = table(&[]).await;
    let mut writer = table.writer("test").unwrap();
    write(&table, &mut writer, 0, 0..5000, "a").await;
    assert_eq!(changes(&table).await.len(), 5000);
    assert_eq!(local_files(&table), 0);
    write(&table, &mut writer, 1, 70..74, "b").await;
    assert_eq!(changes(&table).await, updates(70..74, "a", "b"));
    assert_eq!(local_files(&table), 1, "no lookup file was made");
    // The file of the highest level is asked again; the new file above it answers for its keys.
    write(&table, &mut writer, 2, 72..76, "c").await;
    let mut expected = updates(72..74, "b", "c");
    expected.extend(updates(74..76, "a", "c"));
    assert_eq!(changes(&table).await, expected);
    // Many keys are looked up without.
    write(&table, &mut writer, 3, 0..3000, "d").await;
    assert_eq!(changes(&table).await.len(), 6000);
    writer.close().await.unwrap();
    assert_eq!(local_files(&table), 0, "lookup files stay behind");
}

#[tokio::test]
async fn lookup_files_on_local_disk_are_bounded() {
    let (table, _folder) = table(&[("lookup.cache-max-disk-size", "1 kb")]).await;
    let mut writer = table.writer("test").unwrap();
    write(&table, &mut writer, 0, 0..5000, "a").await;
    for round in 1..4 {
        write(&table, &mut writer, round, 70..72, "b").await;
        assert_eq!(changes(&table).await.len(), 4);
    }
    assert_eq!(local_files(&table), 0);
}

#[tokio::test]
async fn lookup_files_beside_data_files_are_used_unless_they_are_damaged() {
    for damage in [false, true] {
        let (table, _folder) = table(&[("lookup.remote-file.enabled", "true")]).await;
        let mut writer = table.writer("test").unwrap();
        write(&table, &mut writer, 0, 0..50, "a").await;
        write(&table, &mut writer, 1, 20..30, "b").await;
        writer.close().await.unwrap();
        let files = live(&table).await;
        let with: Vec<_> =
            files.iter().filter(|f| f.extra_files.iter().any(|n| n.ends_with(".value.v1.lookup"))).collect();
        assert!(!with.is_empty(), "no lookup file lies beside {files:?}");
        for file in with {
            let name = &file.extra_files[0];
            let bytes = files_of(&table).read_extra(file, name).await.unwrap();
            assert!(name.contains(&format!(".{}.", bytes.len())), "{name} does not tell its size {}", bytes.len());
            if damage {
                let damaged: Bytes = bytes.iter().map(|b| b ^ 1).collect();
                let path = format!("db.db/t/bucket-0/{name}");
                table.storage().delete(&path).await.unwrap();
                table.storage().put(&path, damaged).await.unwrap();
            }
        }
        let mut writer = table.writer("test").unwrap();
        write(&table, &mut writer, 2, 28..32, "c").await;
        let mut expected = updates(28..30, "b", "c");
        expected.extend(updates(30..32, "a", "c"));
        assert_eq!(changes(&table).await, expected);
        writer.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_writer_tells_what_another_left_behind() {
    let (table, _folder) = table(&[("lookup-wait", "false")]).await;
    let write_only: Options = [("write-only", "true")].into_iter().collect();
    let mut first = table.with_options(&write_only).unwrap().writer("test").unwrap();
    write(&table, &mut first, 0, 0..10, "a").await;
    first.close().await.unwrap();
    assert!(changes(&table).await.is_empty());
    let mut second = table.writer("test").unwrap();
    assert_eq!(second.resume().await.unwrap(), 1);
    let messages = second.prepare_commit(true).await.unwrap();
    table.committer("test").commit(Commit::streaming(1, messages)).await.unwrap();
    assert_eq!(changes(&table).await.len(), 10);
    assert!(live(&table).await.iter().all(|f| f.level > 0));
}

/// Lookup files keep values without the ids of nested fields; the merge gets them back.
#[tokio::test]
async fn regress_nested_columns_come_back_from_lookup_files() {
    let nested = [("a", "ARRAY<INT>"), ("m", "MAP<STRING, ARRAY<INT>>"), ("r", "ROW<x INT, y ARRAY<ROW<z STRING>>>")];
    for (options, keys) in [(&[("lookup.remote-file.enabled", "true")][..], 0..40), (&[][..], 0..5000)] {
        for engine in ["deduplicate", "partial-update"] {
            let folder = tempfile::tempdir().unwrap();
            let storage = memory();
            let mut schema = schema(false, true, &[("bucket", "1"), ("changelog-producer", "lookup")]);
            for (name, sql) in nested {
                let id = schema.highest_field_id + 1;
                // Ids inside of a column follow its own.
                schema.fields.push(DataField::new(id, name, DataType::parse(sql).unwrap()));
                schema.highest_field_id = id + 10;
            }
            schema.options.set("merge-engine", engine);
            options.iter().for_each(|(key, value)| _ = schema.options.set(*key, *value));
            Schemas::at(storage.clone(), "db.db/t").create(&schema).await.unwrap();
            let env = Env { spill_dir: folder.path().join("spill"), ..env(storage, 1) };
            let table = Table::new("db.t", "db.db/t", schema, env);
            let mut writer = table.writer("test").unwrap();
            for (identifier, keys, number) in [(0, keys.clone(), 1), (1, 3..6, 2), (2, 5..8, 3)] {
                let batch = nested_rows(&table, keys, number);
                writer.write(&batch, None).await.unwrap();
                let messages = writer.prepare_commit(true).await.unwrap();
                table.committer("test").commit(Commit::streaming(identifier, messages)).await.unwrap();
            }
            assert!(local_files(&table) > 0, "no lookup file was asked");
            let read = table.read().build().unwrap();
            let mut rows = Vec::new();
            for split in table.scan().plan().await.unwrap().splits {
                rows.extend(read.stream(&split).await.unwrap().try_collect::<Vec<_>>().await.unwrap());
            }
            let rows = arrow_select::concat::concat_batches(read.schema(), &rows).unwrap();
            let number = |k: i32| match k {
                3 | 4 => 2,
                5..8 => 3,
                _ => 1,
            };
            let expected: Vec<_> = keys.clone().map(|k| nested_rows(&table, k..k + 1, number(k))).collect();
            assert_eq!(rows, arrow_select::concat::concat_batches(read.schema(), &expected).unwrap(), "{engine}");
            writer.close().await.unwrap();
        }
    }
}

/// `a = [n, null, k]`, `m = {"n": [k]}`, `r = (n, [("k")])`, and every column null for keys that 7 divides.
fn nested_rows(table: &Table, keys: std::ops::Range<i32>, number: i32) -> RecordBatch {
    let arrow = arrow_schema(&table.schema().fields).unwrap();
    let count = keys.len();
    let valid: NullBuffer = keys.clone().map(|k| k % 7 != 0).collect();
    let each = |length: usize| OffsetBuffer::<i32>::from_lengths(std::iter::repeat_n(length, count));
    let list = |field: &FieldRef, length, values: ArrayRef, nulls| -> ArrayRef {
        Arc::new(ListArray::new(field.clone(), each(length), values, nulls))
    };
    let ints = |one: fn(i32, i32) -> Vec<Option<i32>>| -> ArrayRef {
        Arc::new(keys.clone().flat_map(|k| one(number, k)).collect::<Int32Array>())
    };
    let columns = arrow.fields().iter().map(|field| -> ArrayRef {
        match field.data_type() {
            ArrowType::Int32 => Arc::new(Int32Array::from_iter_values(keys.clone())),
            ArrowType::List(element) => {
                list(element, 3, ints(|n, k| vec![Some(n), None, Some(k)]), Some(valid.clone()))
            }
            ArrowType::Map(entries, _) => {
                let ArrowType::Struct(pair) = entries.data_type() else { panic!("entries are {entries}") };
                let names: ArrayRef = Arc::new(StringArray::from(vec![number.to_string(); count]));
                let ArrowType::List(element) = pair[1].data_type() else { panic!("values are {}", pair[1]) };
                let values = list(element, 1, ints(|_, k| vec![Some(k)]), None);
                let pairs = StructArray::new(pair.clone(), vec![names, values], None);
                Arc::new(MapArray::new(entries.clone(), each(1), pairs, Some(valid.clone()), false))
            }
            ArrowType::Struct(parts) => {
                let ArrowType::List(element) = parts[1].data_type() else { panic!("y is {}", parts[1]) };
                let ArrowType::Struct(z) = element.data_type() else { panic!("y has {element}") };
                let texts: ArrayRef = Arc::new(StringArray::from_iter_values(keys.clone().map(|k| k.to_string())));
                let y = list(element, 1, Arc::new(StructArray::new(z.clone(), vec![texts], None)), None);
                let x: ArrayRef = ints(|n, _| vec![Some(n)]);
                Arc::new(StructArray::new(parts.clone(), vec![x, y], Some(valid.clone())))
            }
            _ => Arc::new(StringArray::from_iter_values(keys.clone().map(|k| k.to_string()))),
        }
    });
    RecordBatch::try_new(arrow.clone(), columns.collect()).unwrap()
}
