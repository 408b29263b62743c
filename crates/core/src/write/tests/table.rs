//! Writing, committing, compacting and reading a table over a store.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use futures::{StreamExt, TryStreamExt};

use super::block_on;
use crate::commit::{Commit, CommitMessage, CommitOutcome};
use crate::compact::TableFiles;
use crate::file::BucketFiles;
use crate::fixture::{memory, schema, table};
use crate::merge::{KeyOrder, MergeSpec, merge, sections};
use crate::table::Table;

fn batch(keys: std::ops::Range<i32>, value: &str) -> RecordBatch {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("p", Arc::new(Int32Array::from_iter_values(keys.clone().map(|k| k % 2)))),
        ("k", Arc::new(Int32Array::from_iter_values(keys.clone()))),
        ("v", Arc::new(StringArray::from_iter_values(keys.map(|k| format!("{value}{k}"))))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

async fn commit(table: &Table, identifier: i64, messages: Vec<CommitMessage>) {
    let outcome = table.committer("test").commit(Commit::streaming(identifier, messages)).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
}

/// Values by key, and the levels of the files.
async fn read(table: &Table) -> (BTreeMap<i32, String>, Vec<i32>) {
    let spec = Arc::new(MergeSpec::of(table.schema(), &table.schema().fields).unwrap());
    let (mut rows, mut levels) = (BTreeMap::new(), Vec::new());
    for split in table.scan().plan().await.unwrap().splits {
        let (partition, bucket) = (split.partition.clone(), split.bucket);
        let files = TableFiles { table: table.clone(), partition, bucket, batch_size: 16, alone: false };
        levels.extend(split.files.iter().map(|f| f.level));
        for section in sections(&split.files, &KeyOrder::of(table.schema())).unwrap() {
            let mut runs = Vec::new();
            for run in section.runs {
                let mut all = Vec::new();
                for file in run {
                    all.extend(
                        files
                            .read(&file, spec.read_fields(), None)
                            .await
                            .unwrap()
                            .try_collect::<Vec<_>>()
                            .await
                            .unwrap(),
                    );
                }
                runs.push(futures::stream::iter(all.into_iter().map(Ok)).boxed());
            }
            for batch in merge(runs, spec.clone(), false, 16).try_collect::<Vec<_>>().await.unwrap() {
                let (k, v) = (batch.column(1).as_primitive::<Int32Type>(), batch.column(2).as_string::<i32>());
                rows.extend((0..batch.num_rows()).map(|i| (k.value(i), v.value(i).to_owned())));
            }
        }
    }
    (rows, levels)
}

fn expected() -> BTreeMap<i32, String> {
    let value = |k: i32| {
        if k < 40 {
            format!("c{k}")
        } else if k < 60 {
            format!("b{k}")
        } else {
            format!("a{k}")
        }
    };
    (0..100).map(|k| (k, value(k))).collect()
}

#[test]
fn a_table_is_written_compacted_and_read() {
    block_on(async {
        let table = table(memory(), schema(true, true, &[("bucket", "2"), ("write-only", "true")])).await;
        for (identifier, (keys, value)) in [(0..100, "a"), (20..60, "b"), (0..40, "c")].into_iter().enumerate() {
            let mut writer = table.writer("test").unwrap();
            writer.write(&batch(keys, value), None).await.unwrap();
            let messages = writer.prepare_commit(true).await.unwrap();
            commit(&table, identifier as i64, messages).await;
            writer.close().await.unwrap();
        }
        let (rows, levels) = read(&table).await;
        assert_eq!(rows, expected());
        assert!(levels.iter().all(|l| *l == 0));
        let planned = table.plan_compaction(None, true).await.unwrap();
        let messages = table.compact(None, true).await.unwrap();
        assert_eq!(planned.len(), messages.len());
        commit(&table, 9, messages).await;
        let (rows, levels) = read(&table).await;
        assert_eq!(rows, expected());
        assert_eq!(levels, vec![5; planned.len()]);
        assert!(table.compact(None, true).await.unwrap().is_empty());
    });
}

#[test]
fn a_writer_compacts_as_it_goes() {
    block_on(async {
        let table =
            table(memory(), schema(true, true, &[("num-sorted-run.compaction-trigger", "2"), ("bucket", "1")])).await;
        let mut writer = table.writer("test").unwrap();
        for (identifier, (keys, value)) in [(0..100, "a"), (20..60, "b"), (0..40, "c")].into_iter().enumerate() {
            writer.write(&batch(keys, value), None).await.unwrap();
            let messages = writer.prepare_commit(true).await.unwrap();
            commit(&table, identifier as i64, messages).await;
        }
        let (rows, levels) = read(&table).await;
        assert_eq!(rows, expected());
        assert!(levels.iter().any(|l| *l > 0), "{levels:?}");
        writer.close().await.unwrap();
    });
}

#[test]
fn compactions_and_nothing_else_keep_within_their_budget() {
    block_on(async {
        const LIMIT: i64 = 100;
        let limit = format!("{LIMIT} b");
        let options = [("bucket", "1"), ("linn.compaction.io-limit", &limit), ("write-only", "true")];
        let table = table(memory(), schema(true, true, &options)).await;
        let now = || table.env().clock.now_millis();
        let start = now();
        for (identifier, (keys, value)) in [(0..100, "a"), (20..60, "b"), (0..40, "c")].into_iter().enumerate() {
            let mut writer = table.writer("test").unwrap();
            writer.write(&batch(keys, value), None).await.unwrap();
            commit(&table, identifier as i64, writer.prepare_commit(true).await.unwrap()).await;
            writer.close().await.unwrap();
        }
        assert_eq!(now(), start, "a flush is no compaction");
        let messages = table.compact(None, true).await.unwrap();
        let files = messages.iter().flat_map(|m| m.compact_before.iter().chain(&m.compact_after));
        let bytes: i64 = files.map(|f| f.file_size).sum();
        let allowed = (now() - start) / 1000 * LIMIT;
        assert!(allowed >= bytes / 2, "{bytes} bytes were moved where {allowed} are allowed");
        commit(&table, 9, messages).await;
        assert_eq!(read(&table).await.0, expected());

        // The same beside a writer.
        let compacting = [("write-only", "false"), ("num-sorted-run.compaction-trigger", "2")];
        let table = table.with_options(&compacting.into_iter().collect()).unwrap();
        let before = now();
        let mut writer = table.writer("test").unwrap();
        for identifier in 10..13 {
            writer.write(&batch(0..100, "d"), None).await.unwrap();
            commit(&table, identifier, writer.prepare_commit(true).await.unwrap()).await;
        }
        writer.close().await.unwrap();
        assert!(now() > before, "the compaction of the writer waits");
    });
}
