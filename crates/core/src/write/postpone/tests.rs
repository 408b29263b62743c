//! A table with postponed buckets: written, compacted, read, rescaled (cases: B6, B7, R6).

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::Int8Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use futures::TryStreamExt;
use linn_format::ErrorKind;
use linn_format::datum::Datum;
use linn_format::predicate::{CompareOp, Predicate};
use linn_format::row::BinaryRow;
use linn_format::schema::Bucketing;
use linn_format::snapshot::CommitKind;

use crate::commit::{Commit, CommitMessage, CommitOutcome, Overwrite};
use crate::compact::Reason;
use crate::fixture::{block_on, keyed_rows, memory, row, schema, table};
use crate::job::Growth;
use crate::scan::Split;
use crate::snapshot::Snapshots;
use crate::table::Table;
use crate::write::TableWriter;

async fn postponed(options: &[(&str, &str)]) -> Table {
    let mut all = vec![("bucket", "-2")];
    all.extend(options);
    table(memory(), schema(true, true, &all)).await
}

async fn commit(table: &Table, user: &str, identifier: i64, messages: Vec<CommitMessage>) {
    let outcome = table.committer(user).commit(Commit::streaming(identifier, messages)).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
}

async fn feed(mut writer: TableWriter, keys: &[i32], value: &str) -> Vec<CommitMessage> {
    writer.write(&keyed_rows(keys, value), None).await.unwrap();
    let messages = writer.prepare_commit(true).await.unwrap();
    writer.close().await.unwrap();
    messages
}

/// As a stream does: rows wait.
async fn stream(table: &Table, identifier: i64, keys: &[i32], value: &str) {
    commit(table, "stream", identifier, feed(table.writer("stream").unwrap(), keys, value).await).await;
}

async fn compact(table: &Table, full: bool) {
    let messages = table.compact(None, full).await.unwrap();
    let outcome = table.committer("compact").commit(Commit::batch(messages)).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
}

async fn rows(table: &Table, splits: &[Split]) -> Vec<(i32, String)> {
    let mut rows = Vec::new();
    let read = table.read().build().unwrap();
    for split in splits {
        for batch in read.stream(split).await.unwrap().try_collect::<Vec<_>>().await.unwrap() {
            let (k, v) = (batch.column(1).as_primitive::<Int32Type>(), batch.column(2).as_string::<i32>());
            rows.extend((0..batch.num_rows()).map(|i| (k.value(i), v.value(i).to_owned())));
        }
    }
    rows
}

async fn read(table: &Table) -> BTreeMap<i32, String> {
    let all = rows(table, &table.scan().plan().await.unwrap().splits).await;
    let unique: BTreeMap<_, _> = all.iter().cloned().collect();
    assert_eq!(unique.len(), all.len(), "a key is there twice");
    unique
}

/// Buckets by partition, with the count that their files were written with.
async fn buckets(table: &Table) -> BTreeMap<Vec<u8>, BTreeSet<(i32, i32)>> {
    let mut buckets: BTreeMap<Vec<u8>, BTreeSet<(i32, i32)>> = BTreeMap::new();
    for split in table.scan().plan().await.unwrap().splits {
        let partition = split.partition.to_serialized().to_vec();
        buckets.entry(partition).or_default().insert((split.bucket, split.total_buckets));
    }
    buckets
}

fn key(partition: i32) -> Vec<u8> {
    row(&[partition]).to_serialized().to_vec()
}

fn expected(keys: impl IntoIterator<Item = i32>, value: &str) -> BTreeMap<i32, String> {
    keys.into_iter().map(|k| (k, format!("{value}{k}"))).collect()
}

#[test]
fn rows_wait_until_a_compaction() {
    block_on(async {
        let table = postponed(&[("postpone.default-bucket-num", "3")]).await;
        stream(&table, 1, &(0..20).collect::<Vec<_>>(), "a").await;
        stream(&table, 2, &[3, 4], "b").await;
        assert!(read(&table).await.is_empty(), "what waits is not shown");
        let planned = table.plan_compaction(None, false).await.unwrap();
        let planned: Vec<_> = planned.iter().map(|plan| (plan.choice.reason, plan.choice.files.len())).collect();
        assert_eq!(planned, [(Reason::Postponed, 2), (Reason::Postponed, 2)], "{planned:?}");
        let mut all = expected(0..20, "a");
        all.extend(expected([3, 4], "b"));
        compact(&table, false).await;
        assert_eq!(read(&table).await, all);
        assert!(buckets(&table).await.values().flatten().all(|(_, count)| *count == 3));
        // The next rows of a key go to its bucket, whatever the options say by then.
        let other = table.with_options(&[("postpone.default-bucket-num", "5")].into_iter().collect()).unwrap();
        stream(&other, 3, &(0..30).collect::<Vec<_>>(), "c").await;
        compact(&other, true).await;
        assert_eq!(read(&table).await, expected(0..30, "c"));
        assert!(buckets(&table).await.values().flatten().all(|(_, count)| *count == 3));
        assert!(table.compact(None, true).await.unwrap().is_empty(), "nothing waits any more");
        let latest = Snapshots::new(&table).latest().await.unwrap().unwrap();
        assert_eq!(latest.commit_kind, CommitKind::Compact);
    });
}

/// Avro has no LZ4: rows wait in files of the table's own format then.
#[test]
fn rows_wait_with_the_compression_of_level_0() {
    block_on(async {
        let table = postponed(&[("file.compression.per.level", "0:lz4")]).await;
        stream(&table, 1, &[1, 2], "a").await;
        compact(&table, true).await;
        assert_eq!(read(&table).await, expected([1, 2], "a"));
    });
}

/// With `postpone.merge-on-read` reads see at any time what they will see when all rows are placed.
#[test]
fn what_waits_is_shown_when_asked_for() {
    let engines: [&[(&str, &str)]; 4] = [
        &[],
        &[("merge-engine", "first-row")],
        &[("deletion-vectors.enabled", "true")],
        // So little memory that what waits is sorted in many parts.
        &[("sort-spill-buffer-size", "1 b"), ("postpone.default-bucket-num", "3")],
    ];
    for options in engines {
        block_on(async {
            let table = postponed(options).await;
            let shown = table.with_options(&[("postpone.merge-on-read", "true")].into_iter().collect()).unwrap();
            let first = options.iter().any(|(_, value)| *value == "first-row");
            let mut all = BTreeMap::new();
            let ranges = [(0..20), (10..30), (5..12), (25..60), (0..3)];
            for (round, keys) in (1..).zip(ranges) {
                let value = format!("{round}-");
                stream(&table, 2 * round, &keys.clone().collect::<Vec<_>>(), &value).await;
                stream(&table, 2 * round + 1, &[keys.start], &format!("{value}again-")).await;
                for (k, text) in
                    expected(keys.clone(), &value).into_iter().chain(expected([keys.start], &format!("{value}again-")))
                {
                    if !first || !all.contains_key(&k) {
                        all.insert(k, text);
                    }
                }
                assert_eq!(read(&shown).await, all, "{options:?}, round {round}");
                if round % 2 == 0 {
                    compact(&table, round == 4).await;
                    assert_eq!(read(&shown).await, all, "{options:?}, round {round}, placed");
                    assert_eq!(read(&table).await, all);
                }
            }
            // A filter and a projection do not change which record stands.
            let v = table.schema().fields[2].clone();
            let filter = Predicate::Compare {
                field_id: v.id,
                op: CompareOp::Eq,
                literal: Datum::String(all[&0].as_str().into()),
            };
            let splits = shown.scan().filter(filter.clone()).plan().await.unwrap().splits;
            let reading = shown.read().fields(vec![v]).filter(Some(filter)).build().unwrap();
            let mut found = 0;
            for split in &splits {
                for batch in reading.stream(split).await.unwrap().try_collect::<Vec<_>>().await.unwrap() {
                    found += batch.num_rows();
                }
            }
            assert_eq!(found, 1);
        });
    }
}

#[test]
fn deletes_wait_too() {
    block_on(async {
        let table = postponed(&[]).await;
        stream(&table, 1, &[0, 2, 4], "a").await;
        let mut writer = table.writer("stream").unwrap();
        writer.write(&keyed_rows(&[2, 2, 4], "b"), Some(&Int8Array::from(vec![3, 0, 3]))).await.unwrap();
        commit(&table, "stream", 2, writer.prepare_commit(true).await.unwrap()).await;
        compact(&table, true).await;
        let mut all = expected([0], "a");
        all.extend(expected([2], "b"));
        assert_eq!(read(&table).await, all);
    });
}

/// A retraction that no compaction could take would wait for ever, and all rows with it.
#[test]
fn retractions_are_refused_at_once() {
    block_on(async {
        let table = postponed(&[("merge-engine", "first-row")]).await;
        let mut writer = table.writer("stream").unwrap();
        let error = writer.write(&keyed_rows(&[2, 4], "a"), Some(&Int8Array::from(vec![0, 3]))).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        writer.write(&keyed_rows(&[2], "b"), None).await.unwrap();
        commit(&table, "stream", 1, writer.prepare_commit(true).await.unwrap()).await;
        compact(&table, true).await;
        assert_eq!(read(&table).await, expected([2], "b"));
    });
}

/// A stream over the table sees every row once, in the order of the commits, and nothing of the placing.
#[test]
fn a_stream_sees_rows_as_they_came() {
    block_on(async {
        let table = postponed(&[]).await;
        stream(&table, 1, &[4, 2], "a").await;
        compact(&table, true).await;
        stream(&table, 2, &[2, 0], "b").await;
        let snapshots = Snapshots::new(&table);
        let mut seen = Vec::new();
        for id in snapshots.list().await.unwrap() {
            let snapshot = snapshots.get(id).await.unwrap();
            if snapshot.commit_kind == CommitKind::Append {
                seen.extend(rows(&table, &table.scan().plan_delta(&snapshot).await.unwrap().splits).await);
            }
        }
        let all: Vec<(i32, String)> =
            [(4, "a"), (2, "a"), (2, "b"), (0, "b")].iter().map(|(k, v)| (*k, format!("{v}{k}"))).collect();
        assert_eq!(seen, all);
    });
}

#[test]
fn a_batch_job_places_its_rows_at_once() {
    block_on(async {
        let table = postponed(&[("postpone.target-row-num-per-bucket", "10")]).await;
        let keys: Vec<i32> = (0..50).filter(|k| k % 2 == 0 || *k < 4).collect();
        let messages = feed(table.batch_writer("batch").await.unwrap(), &keys, "a").await;
        assert!(messages.iter().all(|message| message.bucket >= 0));
        commit(&table, "batch", 1, messages).await;
        assert_eq!(read(&table).await, expected(keys.iter().copied(), "a"));
        let now = buckets(&table).await;
        assert!(now[&key(0)].iter().all(|(_, count)| *count == 4), "25 rows need 3 buckets, rounded up: {now:?}");
        assert!(now[&key(1)].iter().all(|(_, count)| *count == 1), "{now:?}");
        // More of the same go to the same buckets.
        let messages = feed(table.batch_writer("batch").await.unwrap(), &(0..80).collect::<Vec<_>>(), "b").await;
        commit(&table, "batch", 2, messages).await;
        assert_eq!(read(&table).await, expected(0..80, "b"));
        let now = buckets(&table).await;
        assert!(now[&key(0)].iter().all(|(_, count)| *count == 4) && now[&key(1)].iter().all(|(_, count)| *count == 1));
        // Waiting files were only on the way.
        let files = table.storage().list(&table.bucket_path(&row(&[0]), Bucketing::POSTPONED).unwrap()).await.unwrap();
        assert!(files.is_empty(), "{files:?}");
        let over = feed(table.batch_overwriter("over").await.unwrap(), &[1, 3], "c").await;
        let outcome = table.committer("over").overwrite(Overwrite::Dynamic, Commit::batch(over)).await.unwrap();
        assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
        let mut all = expected((0..80).step_by(2), "b");
        all.extend(expected([1, 3], "c"));
        assert_eq!(read(&table).await, all);
    });
}

#[test]
fn names_say_whose_rows_wait() {
    block_on(async {
        let table = postponed(&[]).await;
        let messages = feed(table.writer("job/1-s-2").unwrap(), &[2], "a").await;
        let file = &messages[0].new_files[0];
        assert!(file.file_name.starts_with("data--u-job_1_s_2-s-"), "{}", file.file_name);
        assert!(file.file_name.contains("-w-") && file.file_name.ends_with("-0.avro"), "{}", file.file_name);
        assert_eq!((messages[0].total_buckets, file.max_sequence_number, file.level), (-2, -1, 0));
        let path = format!("{}/{}", table.bucket_path(&row(&[0]), -2).unwrap(), file.file_name);
        assert!(path.contains("/bucket-postpone/"), "{path}");
        table.storage().stat(&path).await.unwrap();
    });
}

/// Of two compactions one wins; the other one's files are not in the table.
#[test]
fn two_compactions_do_not_place_rows_twice() {
    block_on(async {
        let table = postponed(&[("postpone.default-bucket-num", "2")]).await;
        stream(&table, 1, &(0..10).collect::<Vec<_>>(), "a").await;
        let (one, two) = (table.compact(None, true).await.unwrap(), table.compact(None, true).await.unwrap());
        commit(&table, "one", 1, one).await;
        let outcome = table.committer("two").commit(Commit::streaming(1, two)).await.unwrap();
        assert!(matches!(outcome, CommitOutcome::CompactionLost { .. }), "{outcome:?}");
        assert_eq!(read(&table).await, expected(0..10, "a"));
    });
}

async fn rescale(table: &Table, buckets: Option<i32>, partitions: Option<&[BinaryRow]>) -> CommitOutcome {
    table.rescale("rescale", buckets, partitions).await.unwrap()
}

#[test]
fn a_rescale_changes_the_count_of_a_partition() {
    block_on(async {
        let table = postponed(&[("postpone.default-bucket-num", "1")]).await;
        stream(&table, 1, &(0..40).collect::<Vec<_>>(), "a").await;
        compact(&table, true).await;
        stream(&table, 2, &[0, 100], "waiting").await;
        let outcome = rescale(&table, Some(4), Some(&[row(&[0])])).await;
        assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
        let now = buckets(&table).await;
        assert_eq!(now[&key(0)].iter().map(|(_, count)| *count).collect::<BTreeSet<_>>(), BTreeSet::from([4]));
        assert_eq!(now[&key(0)].len(), 4);
        assert_eq!(now[&key(1)], BTreeSet::from([(0, 1)]));
        assert_eq!(read(&table).await, expected(0..40, "a"), "rows that wait go on waiting");
        compact(&table, true).await;
        let mut all = expected(0..40, "a");
        all.extend(expected([0, 100], "waiting"));
        assert_eq!(read(&table).await, all);
        assert_eq!(buckets(&table).await[&key(0)].len(), 4);
    });
}

#[test]
fn regress_a_rescale_of_what_only_waits_shows_nothing() {
    block_on(async {
        let table = postponed(&[]).await;
        stream(&table, 1, &[0, 2], "a").await;
        assert_eq!(rescale(&table, Some(2), None).await, CommitOutcome::Committed(Vec::new()));
        assert!(read(&table).await.is_empty());
        assert_eq!(table.rescale("r", None, None).await.unwrap_err().kind(), ErrorKind::Invalid);
        compact(&table, true).await;
        assert_eq!(read(&table).await.len(), 2);
    });
}

/// Rows that another job commits while a rescale runs must not be lost with the files that it replaces.
#[test]
fn a_rescale_loses_no_row_of_others() {
    block_on(async {
        let fixed = table(memory(), schema(true, true, &[("bucket", "1")])).await;
        commit(&fixed, "one", 1, feed(fixed.writer("one").unwrap(), &(0..10).collect::<Vec<_>>(), "a").await).await;
        let half = fixed.begin_rescale("rescale", Some(2), None).await.unwrap().unwrap();
        commit(&fixed, "one", 2, feed(fixed.writer("one").unwrap(), &[3], "b").await).await;
        assert!(matches!(half.commit().await.unwrap(), CommitOutcome::Conflict(_)));
        let mut all = expected(0..10, "a");
        all.extend(expected([3], "b"));
        assert_eq!(read(&fixed).await, all);
        assert!(matches!(rescale(&fixed, Some(2), None).await, CommitOutcome::Committed(_)));
        assert_eq!(read(&fixed).await, all);
    });
}

/// The rows of a job that needs many more buckets than there are are spread over more, with those from before.
#[test]
fn a_partition_that_a_job_outgrew_is_enlarged() {
    block_on(async {
        let options = [
            ("postpone.target-row-num-per-bucket", "5"),
            ("postpone.batch-write-fixed-bucket.rescale-load-factor", "2"),
        ];
        let table = postponed(&options).await;
        let batch = async |keys: &[i32], value: &str| {
            let messages = feed(table.batch_writer("job").await.unwrap(), keys, value).await;
            let mut growth = Growth::default();
            growth.note(&messages);
            let outcome = table.committer(table.new_user()).commit(Commit::batch(messages)).await.unwrap();
            assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
            table.enlarge(&growth).await.unwrap()
        };
        assert_eq!(batch(&[0, 1], "a").await, 0);
        // Ten rows for one bucket of five are borne; partition 1 gets eleven.
        let keys: Vec<i32> = (10..30).chain([31]).collect();
        assert_eq!(batch(&keys, "b").await, 1);
        let now = buckets(&table).await;
        assert!(now[&key(0)].iter().all(|(_, count)| *count == 1) && now[&key(1)].iter().all(|(_, count)| *count == 4));
        let mut all = expected([0, 1], "a");
        all.extend(expected(keys, "b"));
        assert_eq!(read(&table).await, all);
        assert_eq!(batch(&[1, 31], "c").await, 0);
        all.extend(expected([1, 31], "c"));
        assert_eq!(read(&table).await, all);
    });
}
