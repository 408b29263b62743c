//! A table whose primary key lacks its partition column (cases: B5).

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Int8Array, Int32Array, RecordBatch};
use futures::TryStreamExt;
use linn_format::ErrorKind;
use linn_format::schema::TableSchema;
use linn_format::types::{DataField, DataType, Kind};
use proptest::prelude::*;

use crate::commit::{Commit, CommitMessage, CommitOutcome, Overwrite};
use crate::fixture::{block_on, memory, row, schema, table};
use crate::seam::Storage;
use crate::storage::{Fault, Faulty, Op};
use crate::table::Table;
use crate::write::TableWriter;

/// `p INT`, the partition; `k INT`, the key; `v INT`.
fn of(options: &[(&str, &str)]) -> TableSchema {
    let mut all = vec![("bucket", "-1"), ("dynamic-bucket.target-row-num", "3")];
    all.extend(options);
    let mut schema = schema(true, true, &all);
    schema.primary_keys = vec!["k".to_owned()];
    schema.fields[2] = DataField::new(1, "v", DataType::nullable(Kind::Int));
    schema
}

/// Key, partition, value.
type Row = (i32, i32, Option<i32>);

fn batch(rows: &[Row]) -> RecordBatch {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("p", Arc::new(Int32Array::from_iter_values(rows.iter().map(|r| r.1)))),
        ("k", Arc::new(Int32Array::from_iter_values(rows.iter().map(|r| r.0)))),
        ("v", Arc::new(rows.iter().map(|r| r.2).collect::<Int32Array>())),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

async fn prepare(writer: &mut TableWriter, rows: &[Row]) -> Vec<CommitMessage> {
    writer.write(&batch(rows), None).await.unwrap();
    writer.prepare_commit(true).await.unwrap()
}

async fn write(table: &Table, identifier: i64, rows: &[Row]) {
    let mut writer = table.writer("job").unwrap();
    let messages = prepare(&mut writer, rows).await;
    commit(table, "job", identifier, messages).await;
    writer.close().await.unwrap();
}

async fn commit(table: &Table, user: &str, identifier: i64, messages: Vec<CommitMessage>) {
    let outcome = table.committer(user).commit(Commit::streaming(identifier, messages)).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
}

/// Partition and value by key.
async fn read(table: &Table) -> BTreeMap<i32, (i32, Option<i32>)> {
    let mut rows = BTreeMap::new();
    let read = table.read().build().unwrap();
    for split in table.scan().every_level().plan().await.unwrap().splits {
        for batch in read.stream(&split).await.unwrap().try_collect::<Vec<_>>().await.unwrap() {
            let column = |at: usize| batch.column(at).as_primitive::<Int32Type>().iter().collect::<Vec<_>>();
            for ((p, k), v) in column(0).into_iter().zip(column(1)).zip(column(2)) {
                assert_eq!(row(&[p.unwrap()]), split.partition, "a row is in another partition than it says");
                assert!(rows.insert(k.unwrap(), (p.unwrap(), v)).is_none(), "key {k:?} twice");
            }
        }
    }
    rows
}

fn check(options: &[(&str, &str)], commits: &[&[Row]], expected: &[Row]) {
    block_on(async {
        let table = table(memory(), of(options)).await;
        for (identifier, rows) in commits.iter().enumerate() {
            write(&table, identifier as i64, rows).await;
        }
        let expected: BTreeMap<_, _> = expected.iter().map(|(k, p, v)| (*k, (*p, *v))).collect();
        assert_eq!(read(&table).await, expected, "{options:?}");
    });
}

#[test]
fn the_engine_says_what_becomes_of_a_key_that_moves() {
    let commits: [&[Row]; 2] = [
        &[(1, 0, Some(10)), (2, 0, Some(20)), (1, 0, Some(11))],
        &[(1, 1, Some(5)), (3, 1, Some(30)), (3, 2, Some(31))],
    ];
    let rest: Row = (2, 0, Some(20));
    check(&[], &commits, &[(1, 1, Some(5)), rest, (3, 2, Some(31))]);
    check(&[("merge-engine", "first-row")], &commits, &[(1, 0, Some(10)), rest, (3, 1, Some(30))]);
    let aggregation = [("merge-engine", "aggregation"), ("fields.v.aggregate-function", "sum")];
    check(&aggregation, &commits, &[(1, 0, Some(26)), rest, (3, 1, Some(61))]);
    let partial: [&[Row]; 2] = [&[(1, 0, Some(1))], &[(1, 1, None), (2, 1, None), (2, 0, Some(2))]];
    check(&[("merge-engine", "partial-update")], &partial, &[(1, 0, Some(1)), (2, 1, Some(2))]);
}

/// With deletion vectors a batch read leaves level 0 out; the keys there must be known all the same.
#[test]
fn b5_keys_of_level_0_are_known() {
    let options =
        [("deletion-vectors.enabled", "true"), ("write-only", "true"), ("dynamic-bucket.target-row-num", "1")];
    let old: Vec<Row> = (0..5).map(|k| (k, k % 2, Some(k))).collect();
    let moved: Vec<Row> = (0..3).map(|k| (k, 7, Some(10 + k))).collect();
    let more: Vec<Row> = (3..5).map(|k| (k, 8, Some(10 + k))).collect();
    let expected: Vec<Row> = moved.iter().chain(&more).copied().collect();
    check(&options, &[&old, &moved, &more], &expected);
}

#[test]
fn a_second_writer_is_refused() {
    block_on(async {
        let table = table(memory(), of(&[])).await;
        let (mut one, mut two) = (table.writer("one").unwrap(), table.writer("two").unwrap());
        let first = prepare(&mut one, &[(1, 0, Some(1))]).await;
        let other = prepare(&mut two, &[(1, 1, Some(2))]).await;
        commit(&table, "one", 1, first).await;
        let committer = table.committer("two");
        let outcome = committer.commit(Commit::streaming(1, other)).await.unwrap();
        assert!(matches!(outcome, CommitOutcome::Conflict(_)), "{outcome:?}");
        // The first one goes on, beside a compaction.
        let compacted = table.compact(None, true).await.unwrap();
        commit(&table, "compaction", 1, compacted).await;
        let next = prepare(&mut one, &[(1, 3, Some(3))]).await;
        commit(&table, "one", 2, next).await;
        assert_eq!(read(&table).await, BTreeMap::from([(1, (3, Some(3)))]));
    });
}

/// Where rows are lost after their keys moved, the writer must not go on as if they were written.
#[test]
fn a_writer_that_lost_rows_commits_nothing() {
    block_on(async {
        let inner = memory();
        let table_over = |store: Arc<dyn Storage>| table(store, of(&[]));
        let table = table_over(inner.clone()).await;
        write(&table, 1, &[(1, 0, Some(1))]).await;
        let store = Faulty::new(inner.clone());
        let mut writer = table_over(Arc::new(store.clone())).await.writer("job").unwrap();
        writer.write(&batch(&[(2, 0, Some(2))]), None).await.unwrap();
        // The partition that comes next cannot be looked up.
        store.inject(Op::Read, "snapshot/", 0, usize::MAX, Fault::Before(ErrorKind::Unavailable));
        assert_eq!(writer.write(&batch(&[(1, 1, Some(3))]), None).await.unwrap_err().kind(), ErrorKind::Unavailable);
        assert_eq!(writer.write(&batch(&[(1, 1, Some(3))]), None).await.unwrap_err().kind(), ErrorKind::Invalid);
        assert_eq!(writer.prepare_commit(true).await.unwrap_err().kind(), ErrorKind::Invalid);
        writer.close().await.unwrap();
        write(&table, 2, &[(1, 1, Some(3))]).await;
        assert_eq!(read(&table).await, BTreeMap::from([(1, (1, Some(3)))]));
    });
}

#[test]
fn only_the_whole_table_is_overwritten() {
    block_on(async {
        let table = table(memory(), of(&[])).await;
        write(&table, 1, &[(1, 0, Some(1)), (2, 1, Some(2))]).await;
        let mut writer = table.overwriter("over").unwrap();
        let messages = prepare(&mut writer, &[(1, 1, Some(3))]).await;
        let committer = table.committer("over");
        let partial = committer.overwrite(Overwrite::Dynamic, Commit::batch(messages.clone())).await;
        assert_eq!(partial.unwrap_err().kind(), ErrorKind::Unsupported);
        committer.overwrite(Overwrite::Table, Commit::batch(messages)).await.unwrap();
        assert_eq!(read(&table).await, BTreeMap::from([(1, (1, Some(3)))]));
    });
}

#[test]
fn a_key_in_two_partitions_is_damage() {
    block_on(async {
        let table = table(memory(), of(&[])).await;
        for (user, partition) in [("one", 0), ("two", 1)] {
            let mut writer = table.overwriter(user).unwrap();
            let messages = prepare(&mut writer, &[(1, partition, Some(1))]).await;
            commit(&table, user, 1, messages).await;
        }
        let error = table.writer("job").unwrap().write(&batch(&[(2, 0, None)]), None).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        // Where keys are only known for a time this comes about without anyone's fault.
        let ttl = table.with_options(&[("cross-partition-upsert.index-ttl", "1 d")].into_iter().collect()).unwrap();
        write(&ttl, 2, &[(2, 0, None)]).await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever writers do the writing, with as little memory as makes the index spill: a key is where its last row (of
    /// deduplicate) or its first row (of the others) was.
    #[test]
    fn a_key_is_in_one_partition(
        commits in prop::collection::vec(
            (prop::collection::vec((0..20i32, 0..3i32, prop::bool::weighted(0.15)), 1..30), any::<bool>()),
            1..6,
        ),
        deduplicate in any::<bool>(),
    ) {
        let engine = if deduplicate { "deduplicate" } else { "aggregation" };
        let mut options = vec![("merge-engine", engine), ("lookup.cache-max-memory-size", "300 b")];
        if !deduplicate {
            options.push(("fields.v.aggregate-function", "last_value"));
        }
        block_on(async {
            let table = table(memory(), of(&options)).await;
            let mut writer: Option<TableWriter> = None;
            let mut model: BTreeMap<i32, (i32, Option<i32>)> = BTreeMap::new();
            let mut firsts: BTreeMap<i32, i32> = BTreeMap::new();
            for (identifier, (rows, restart)) in commits.iter().enumerate() {
                if *restart && let Some(old) = writer.take() {
                    old.close().await.unwrap();
                    // The keys of deleted rows are not known any more.
                    firsts.retain(|key, _| model.contains_key(key));
                }
                let mut current = writer.take().unwrap_or_else(|| table.writer("job").unwrap());
                let mut values = Vec::new();
                for (at, (key, partition, delete)) in rows.iter().enumerate() {
                    let value = Some((identifier * 100 + at) as i32);
                    values.push((*key, *partition, value));
                    let partition = if deduplicate { *partition } else { *firsts.entry(*key).or_insert(*partition) };
                    // Deletes are of deduplicate only.
                    match *delete && deduplicate {
                        true => drop(model.remove(key)),
                        false => drop(model.insert(*key, (partition, value))),
                    }
                }
                let kinds = Int8Array::from_iter_values(rows.iter().map(|r| if r.2 && deduplicate { 3 } else { 0 }));
                current.write(&batch(&values), Some(&kinds)).await.unwrap();
                let messages = current.prepare_commit(true).await.unwrap();
                commit(&table, "job", identifier as i64, messages).await;
                writer = Some(current);
                assert_eq!(read(&table).await, model);
            }
        });
    }
}

/// A partition has no more buckets than the table allows, in one writer and in the next.
#[test]
fn the_most_buckets_hold_for_every_partition() {
    block_on(async {
        let table = table(memory(), of(&[("dynamic-bucket.max-buckets", "2")])).await;
        let rows = |keys: std::ops::Range<i32>| keys.map(|k| (k, k % 2, Some(k))).collect::<Vec<Row>>();
        write(&table, 1, &rows(0..20)).await;
        write(&table, 2, &rows(20..40)).await;
        let splits = table.scan().every_level().plan().await.unwrap().splits;
        let buckets: std::collections::BTreeSet<_> =
            splits.iter().map(|split| (split.partition.to_serialized().to_vec(), split.bucket)).collect();
        assert_eq!(buckets.len(), 4, "two of each partition");
        assert!(buckets.iter().all(|(_, bucket)| *bucket < 2));
        assert_eq!(read(&table).await.len(), 40);
    });
}

/// Replaces partition 1 by rows; the keys of some were in another one.
#[test]
fn a_partition_is_overwritten_among_others() {
    let check = |options: &[(&str, &str)], expected: &[Row]| {
        block_on(async {
            let table = table(memory(), of(options)).await;
            write(&table, 1, &[(1, 1, Some(1)), (2, 1, Some(2)), (3, 2, Some(3)), (4, 2, Some(4))]).await;
            let spec = vec![("p".to_owned(), Some("1".to_owned()))];
            let mut writer = table.partition_overwriter("over", &spec).await.unwrap();
            let messages = prepare(&mut writer, &[(2, 1, Some(20)), (3, 1, Some(30)), (9, 1, Some(90))]).await;
            writer.close().await.unwrap();
            let committer = table.committer("over");
            // What the rows are in does not tell what stays.
            let dynamic = committer.overwrite(Overwrite::Dynamic, Commit::batch(messages.clone())).await;
            assert_eq!(dynamic.unwrap_err().kind(), ErrorKind::Unsupported);
            let outcome = committer.overwrite(Overwrite::Partition(spec), Commit::batch(messages)).await.unwrap();
            assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
            let expected: BTreeMap<_, _> = expected.iter().map(|(k, p, v)| (*k, (*p, *v))).collect();
            assert_eq!(read(&table).await, expected, "{options:?}");
            let compacted = table.compact(None, true).await.unwrap();
            commit(&table, "compact", 1, compacted).await;
            assert_eq!(read(&table).await, expected, "{options:?}, compacted");
        });
    };
    check(&[], &[(2, 1, Some(20)), (3, 1, Some(30)), (4, 2, Some(4)), (9, 1, Some(90))]);
    let stays = [(2, 1, Some(20)), (3, 2, Some(30)), (4, 2, Some(4)), (9, 1, Some(90))];
    check(&[("merge-engine", "partial-update")], &stays);
    check(&[("merge-engine", "first-row")], &[(2, 1, Some(20)), (3, 2, Some(3)), (4, 2, Some(4)), (9, 1, Some(90))]);
    let sum = [("merge-engine", "aggregation"), ("fields.v.aggregate-function", "sum")];
    check(&sum, &[(2, 1, Some(20)), (3, 2, Some(33)), (4, 2, Some(4)), (9, 1, Some(90))]);
}

/// Replaces the partitions that rows are in; the keys of some are in others, which stay.
async fn overwrite_dynamically(table: &Table, target: Overwrite, rows: &[Row]) -> CommitOutcome {
    let mut writer = table.batch_overwriter("over").await.unwrap();
    for some in rows.chunks(3) {
        writer.write(&batch(some), None).await.unwrap();
    }
    let messages = writer.prepare_commit(true).await.unwrap();
    let again = writer.write(&batch(&[(1, 1, None)]), None).await.unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Invalid, "what is replaced is settled");
    writer.close().await.unwrap();
    table.committer("over").overwrite(target, Commit::batch(messages)).await.unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_partitions_that_rows_are_in_are_overwritten(
        old in prop::collection::btree_map(0..20i32, (0..4i32, prop::option::of(0..100i32)), 0..15),
        new in prop::collection::vec((0..20i32, 0..3i32, prop::option::of(100..200i32)), 0..12),
        named in any::<bool>(),
        compacts in any::<bool>(),
    ) {
        block_on(async {
            let table = table(memory(), of(&[])).await;
            let rows: Vec<Row> = old.iter().map(|(k, (p, v))| (*k, *p, *v)).collect();
            if !rows.is_empty() {
                write(&table, 1, &rows).await;
            }
            let target = if named { Overwrite::Partition(Vec::new()) } else { Overwrite::Dynamic };
            let outcome = overwrite_dynamically(&table, target, &new).await;
            assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
            let gone: Vec<i32> = new.iter().map(|(_, p, _)| *p).collect();
            let mut model = old.clone();
            model.retain(|_, (p, _)| !gone.contains(p));
            model.extend(new.iter().map(|(k, p, v)| (*k, (*p, *v))));
            assert_eq!(read(&table).await, model);
            if compacts && !model.is_empty() {
                let compacted = table.compact(None, true).await.unwrap();
                commit(&table, "compact", 1, compacted).await;
                assert_eq!(read(&table).await, model);
            }
            // Keys are still known to be where they are.
            write(&table, 2, &[(3, 2, Some(7))]).await;
            model.insert(3, (2, Some(7)));
            assert_eq!(read(&table).await, model);
        });
    }
}

/// Others have written since the keys were looked for.
#[test]
fn overwriting_the_partitions_that_rows_are_in_is_refused_when_others_wrote() {
    block_on(async {
        let table = table(memory(), of(&[])).await;
        write(&table, 1, &[(1, 1, Some(1)), (3, 2, Some(3))]).await;
        let mut writer = table.batch_overwriter("over").await.unwrap();
        let messages = prepare(&mut writer, &[(9, 1, Some(90))]).await;
        writer.close().await.unwrap();
        write(&table, 2, &[(9, 2, Some(9))]).await;
        let outcome = table.committer("over").overwrite(Overwrite::Dynamic, Commit::batch(messages)).await;
        assert!(matches!(outcome.unwrap(), CommitOutcome::Conflict(_)));
        assert_eq!(read(&table).await.len(), 3);
    });
}

/// Rows of others may have the keys that were looked for.
#[test]
fn overwriting_a_partition_is_refused_when_others_wrote() {
    block_on(async {
        let table = table(memory(), of(&[])).await;
        write(&table, 1, &[(1, 1, Some(1)), (3, 2, Some(3))]).await;
        let spec = vec![("p".to_owned(), Some("1".to_owned()))];
        let mut writer = table.partition_overwriter("over", &spec).await.unwrap();
        let messages = prepare(&mut writer, &[(9, 1, Some(90))]).await;
        writer.close().await.unwrap();
        write(&table, 2, &[(9, 2, Some(9))]).await;
        let outcome = table.committer("over").overwrite(Overwrite::Partition(spec), Commit::batch(messages)).await;
        assert!(matches!(outcome.unwrap(), CommitOutcome::Conflict(_)));
        assert_eq!(read(&table).await.len(), 3);
    });
}
