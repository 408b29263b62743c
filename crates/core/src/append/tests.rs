//! Writing, committing, reading and compacting append tables over a store in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Int8Array, Int32Array, RecordBatch, StringArray};
use futures::TryStreamExt;
use linn_format::ErrorKind;
use linn_format::file::FileSource;
use proptest::prelude::*;

use crate::commit::{Commit, CommitMessage, CommitOutcome};
use crate::file::{FileQuery, read_file};
use crate::fixture::{memory, schema, table};
use crate::spill::MemoryBudget;
use crate::table::Table;

type Row = (i32, i32, String);

/// The rows of every bucket in the order in which they are read.
type Buckets = BTreeMap<(Vec<u8>, i32), Vec<Row>>;

fn batch(rows: &[(i32, i32)]) -> RecordBatch {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("p", Arc::new(Int32Array::from_iter_values(rows.iter().map(|r| r.0)))),
        ("k", Arc::new(Int32Array::from_iter_values(rows.iter().map(|r| r.1)))),
        ("v", Arc::new(StringArray::from_iter_values(rows.iter().map(|r| format!("v{}", r.1))))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

async fn commit(table: &Table, identifier: i64, messages: Vec<CommitMessage>) {
    let outcome = table.committer("test").commit(Commit::streaming(identifier, messages)).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
}

async fn read(table: &Table) -> Buckets {
    let mut buckets = Buckets::new();
    for split in table.scan().plan().await.unwrap().splits {
        let rows = buckets.entry((split.partition.to_serialized().to_vec(), split.bucket)).or_default();
        for file in &split.files {
            let fields = table.schema().fields.clone();
            let query = FileQuery::all(fields, 7);
            let batches = read_file(table, &split.partition, split.bucket, file, None, query).await.unwrap();
            for batch in batches.try_collect::<Vec<_>>().await.unwrap() {
                let int = |i: usize| batch.column(i).as_primitive::<Int32Type>();
                let text = batch.column(2).as_string::<i32>();
                rows.extend(
                    (0..batch.num_rows()).map(|i| (int(0).value(i), int(1).value(i), text.value(i).to_owned())),
                );
            }
        }
    }
    buckets
}

fn all(buckets: Buckets) -> Vec<Row> {
    let mut rows: Vec<Row> = buckets.into_values().flatten().collect();
    rows.sort();
    rows
}

/// What was written, by partition in order.
fn written(commits: &[Vec<(i32, i32)>]) -> Vec<Row> {
    commits.iter().flatten().map(|(p, k)| (*p, *k, format!("v{k}"))).collect()
}

async fn check(options: &[(&str, &str)], budget: u64, commits: &[Vec<(i32, i32)>], full: bool) {
    let table = table(memory(), schema(true, false, options)).await;
    let ordered = table.options().bucket().unwrap() > 0;
    let mut writer = table.writer_within("test", MemoryBudget::new(budget)).unwrap();
    for (identifier, rows) in commits.iter().enumerate() {
        for chunk in rows.chunks(5) {
            writer.write(&batch(chunk), None).await.unwrap();
        }
        let messages = writer.prepare_commit(true).await.unwrap();
        commit(&table, identifier as i64, messages).await;
    }
    writer.close().await.unwrap();
    let before = read(&table).await;
    let mut expected = written(commits);
    if ordered {
        for rows in before.values() {
            let keys: std::collections::BTreeSet<i32> = rows.iter().map(|r| r.1).collect();
            let of_bucket = expected.iter().filter(|r| r.0 == rows[0].0 && keys.contains(&r.1)).cloned();
            assert_eq!(*rows, of_bucket.collect::<Vec<_>>(), "rows of a bucket are in the order of writing");
        }
    }
    expected.sort();
    assert_eq!(all(before.clone()), expected);
    let planned = table.plan_compaction(None, full).await.unwrap();
    let messages = table.compact(None, full).await.unwrap();
    assert_eq!(planned.is_empty(), messages.is_empty());
    for file in messages.iter().flat_map(|m| &m.compact_after) {
        assert_eq!((file.level, file.file_source), (0, Some(FileSource::Compact)));
    }
    commit(&table, 1_000, messages).await;
    let after = read(&table).await;
    if ordered {
        assert_eq!(after, before);
    }
    assert_eq!(all(after), expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn rows_survive_writing_and_compaction(
        commits in proptest::collection::vec(proptest::collection::vec((0..3i32, 0..50i32), 0..40), 1..8),
        bucketed in any::<bool>(),
        spillable in any::<bool>(),
        budget in prop_oneof![Just(1u64), Just(2_000), Just(1 << 30)],
        open_files in 0..3usize,
        full in any::<bool>(),
    ) {
        let (open_files, spillable) = (open_files.to_string(), spillable.to_string());
        let mut options = vec![
            ("write-max-writers-to-spill", open_files.as_str()),
            ("write-buffer-spillable", spillable.as_str()),
            ("compaction.min.file-num", "3"),
        ];
        options.extend(if bucketed { vec![("bucket", "2"), ("bucket-key", "k")] } else { vec![("bucket", "-1")] });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(check(&options, budget, &commits, full));
    }
}

#[tokio::test]
async fn only_buckets_go_on_counting() {
    for (bucket, first) in [("-1", 0), ("1", 5)] {
        let table = table(memory(), schema(true, false, &[("bucket", bucket), ("bucket-key", "k")])).await;
        for identifier in 0..2 {
            let mut writer = table.writer("test").unwrap();
            writer.write(&batch(&[(1, 1), (1, 2), (1, 3), (1, 4), (1, 5)]), None).await.unwrap();
            let messages = writer.prepare_commit(true).await.unwrap();
            assert_eq!((messages.len(), messages[0].bucket), (1, 0));
            assert_eq!(messages[0].total_buckets.to_string(), bucket);
            let file = &messages[0].new_files[0];
            let start = if identifier == 0 { 0 } else { first };
            assert_eq!((file.min_sequence_number, file.max_sequence_number), (start, start + 4));
            commit(&table, identifier, messages).await;
        }
    }
}

#[tokio::test]
async fn only_inserts_are_taken() {
    let table = table(memory(), schema(true, false, &[("bucket", "-1")])).await;
    let mut writer = table.writer("test").unwrap();
    let kinds = Int8Array::from(vec![0, 3]);
    let error = writer.write(&batch(&[(1, 1), (1, 2)]), Some(&kinds)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("row 1 is a -D"), "{error}");
    assert!(writer.prepare_commit(true).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_overwrite_replaces_rows_and_buckets() {
    let options = [("bucket", "2"), ("bucket-key", "k")];
    let table = table(memory(), schema(true, false, &options)).await;
    let mut writer = table.writer("test").unwrap();
    writer.write(&batch(&[(1, 1), (1, 2)]), None).await.unwrap();
    commit(&table, 1, writer.prepare_commit(true).await.unwrap()).await;
    let mut writer = table.overwriter("test").unwrap();
    writer.write(&batch(&[(1, 7)]), None).await.unwrap();
    let messages = writer.prepare_commit(true).await.unwrap();
    assert!(messages.iter().flat_map(|m| &m.new_files).all(|f| f.min_sequence_number == 0));
    let outcome =
        table.committer("test").overwrite(crate::commit::Overwrite::Table, Commit::streaming(2, messages)).await;
    assert!(matches!(outcome.unwrap(), CommitOutcome::Committed(_)));
    assert_eq!(all(read(&table).await), [(1, 7, "v7".to_owned())]);
}
