//! A table with dynamic buckets over several writers (cases: B8).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::Int8Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use futures::TryStreamExt;
use linn_format::ErrorKind;
use linn_format::hash::read_hash_index;
use linn_format::manifest::HASH_INDEX;
use proptest::prelude::*;

use crate::commit::{Commit, CommitOutcome, Overwrite};
use crate::fixture::{block_on, keyed_rows, memory, schema, table};
use crate::manifest::Manifests;
use crate::snapshot::Snapshots;
use crate::storage::{Fault, Faulty, Op};
use crate::table::Table;
use crate::write::TableWriter;

async fn dynamic(options: &[(&str, &str)]) -> Table {
    let mut all = vec![("bucket", "-1"), ("dynamic-bucket.target-row-num", "10")];
    all.extend(options);
    table(memory(), schema(true, true, &all)).await
}

async fn commit(table: &Table, identifier: i64, writer: &mut TableWriter) -> CommitOutcome {
    let messages = writer.prepare_commit(true).await.unwrap();
    table.committer("test").commit(Commit::streaming(identifier, messages)).await.unwrap()
}

async fn write(table: &Table, identifier: i64, keys: &[i32], value: &str) {
    let mut writer = table.writer("test").unwrap();
    writer.write(&keyed_rows(keys, value), None).await.unwrap();
    let outcome = commit(table, identifier, &mut writer).await;
    assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
    writer.close().await.unwrap();
}

/// Values by key, and the buckets that have a record of each.
async fn read(table: &Table) -> (BTreeMap<i32, String>, BTreeMap<i32, BTreeSet<i32>>) {
    let (mut rows, mut buckets) = (BTreeMap::new(), BTreeMap::<i32, BTreeSet<i32>>::new());
    for split in table.scan().plan().await.unwrap().splits {
        let batches =
            table.read().build().unwrap().stream(&split).await.unwrap().try_collect::<Vec<_>>().await.unwrap();
        for batch in batches {
            let (k, v) = (batch.column(1).as_primitive::<Int32Type>(), batch.column(2).as_string::<i32>());
            for i in 0..batch.num_rows() {
                assert!(rows.insert(k.value(i), v.value(i).to_owned()).is_none(), "key {} twice", k.value(i));
                buckets.entry(k.value(i)).or_default().insert(split.bucket);
            }
        }
    }
    (rows, buckets)
}

/// Number of hashes in the index file of each partition and bucket.
async fn index(table: &Table) -> BTreeMap<(i32, i32), usize> {
    let latest = Snapshots::new(table).latest().await.unwrap().unwrap();
    let mut counts = BTreeMap::new();
    for line in Manifests::new(table).index_of(&latest).await.unwrap() {
        assert_eq!(line.index_type, HASH_INDEX);
        let bytes = table.storage().read(&table.index_file_path(&line).unwrap(), None).await.unwrap();
        let hashes = read_hash_index(&line.file_name, &bytes, line.row_count).unwrap();
        let int = linn_format::types::DataType::required(linn_format::types::Kind::Int);
        let Some(linn_format::datum::Datum::Int(partition)) = line.partition.datum(0, &int).unwrap() else { panic!() };
        assert!(counts.insert((partition, line.bucket), hashes.len()).is_none());
    }
    counts
}

#[test]
fn keys_keep_their_bucket_over_writers_and_compactions() {
    block_on(async {
        let table = dynamic(&[]).await;
        write(&table, 1, &(0..50).collect::<Vec<_>>(), "a").await;
        let (_, before) = read(&table).await;
        write(&table, 2, &(0..90).rev().collect::<Vec<_>>(), "b").await;
        let messages = table.compact(None, true).await.unwrap();
        assert!(!messages.is_empty());
        table.committer("compact").commit(Commit::batch(messages)).await.unwrap();
        write(&table, 3, &[3, 4, 91], "c").await;
        let (rows, after) = read(&table).await;
        assert_eq!(rows.len(), 91);
        assert_eq!((rows[&3].as_str(), rows[&5].as_str(), rows[&91].as_str()), ("c3", "b5", "c91"));
        assert!(before.iter().all(|(key, bucket)| after[key] == *bucket));
        let counts = index(&table).await;
        assert_eq!(counts.values().sum::<usize>(), 91);
        assert!(counts.values().all(|count| *count <= 10));
    });
}

#[test]
fn one_writer_goes_on_for_many_commits() {
    block_on(async {
        let table = dynamic(&[]).await;
        let mut writer = table.writer("test").unwrap();
        for identifier in 1..=12 {
            // Even commits touch one partition only, so that the other one's index is let go of and read again.
            let keys: Vec<i32> = (0..identifier * 4).filter(|k| identifier % 4 == 0 || k % 2 == 0).collect();
            writer.write(&keyed_rows(&keys, &format!("{identifier}-")), None).await.unwrap();
            let outcome = commit(&table, i64::from(identifier), &mut writer).await;
            assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
        }
        let (rows, _) = read(&table).await;
        assert_eq!(rows.len(), 48);
        assert_eq!(index(&table).await.values().sum::<usize>(), 48);
    });
}

/// Two writers that begin at the same snapshot: the second one to commit is refused, and with it nothing of its rows.
#[test]
fn a_second_writer_is_refused() {
    block_on(async {
        let table = dynamic(&[("dynamic-bucket.max-buckets", "2")]).await;
        write(&table, 1, &(0..60).collect::<Vec<_>>(), "a").await;
        let (mut one, mut two) = (table.writer("one").unwrap(), table.writer("two").unwrap());
        one.write(&keyed_rows(&[100, 102], "one"), None).await.unwrap();
        two.write(&keyed_rows(&[100, 104], "two"), None).await.unwrap();
        let messages = one.prepare_commit(true).await.unwrap();
        let outcome = table.committer("one").commit(Commit::streaming(1, messages)).await.unwrap();
        assert!(matches!(outcome, CommitOutcome::Committed(_)));
        let messages = two.prepare_commit(true).await.unwrap();
        let committer = table.committer("two");
        let CommitOutcome::Conflict(why) = committer.commit(Commit::streaming(1, messages.clone())).await.unwrap()
        else {
            panic!("two writers of one partition were not noticed")
        };
        assert!(why.contains("one writer"), "{why}");
        // Nor may it write known keys alone: both number rows from the same number on.
        let mut three = table.writer("three").unwrap();
        three.write(&keyed_rows(&[2], "three"), None).await.unwrap();
        one.write(&keyed_rows(&[2], "one"), None).await.unwrap();
        let messages = one.prepare_commit(true).await.unwrap();
        assert!(messages.iter().all(|message| message.index_changes.is_empty()));
        let outcome = table.committer("one").commit(Commit::streaming(2, messages)).await.unwrap();
        assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
        let messages = three.prepare_commit(true).await.unwrap();
        let outcome = table.committer("three").commit(Commit::streaming(1, messages)).await.unwrap();
        assert!(matches!(outcome, CommitOutcome::Conflict(_)), "{outcome:?}");
        let (rows, _) = read(&table).await;
        assert_eq!((rows.len(), rows[&100].as_str(), rows[&2].as_str()), (62, "one100", "one2"));
        // A writer of the other partition is none of their business.
        write(&table, 2, &[101], "three").await;
    });
}

#[test]
fn an_overwrite_gives_buckets_anew() {
    block_on(async {
        let table = dynamic(&[]).await;
        write(&table, 1, &(0..90).collect::<Vec<_>>(), "a").await;
        let mut stale = table.writer("stale").unwrap();
        stale.write(&keyed_rows(&[80], "stale"), None).await.unwrap();
        let mut writer = table.overwriter("over").unwrap();
        writer.write(&keyed_rows(&[80, 82], "new"), None).await.unwrap();
        let messages = writer.prepare_commit(true).await.unwrap();
        let outcome = table.committer("over").overwrite(Overwrite::Dynamic, Commit::batch(messages)).await.unwrap();
        assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
        let (rows, buckets) = read(&table).await;
        assert_eq!(rows.len(), 47);
        assert_eq!(buckets[&80], BTreeSet::from([0]));
        assert_eq!(index(&table).await[&(0, 0)], 2);
        // Who still knows the old buckets must not write by them.
        assert!(matches!(commit(&table, 2, &mut stale).await, CommitOutcome::Conflict(_)));
    });
}

#[test]
fn deletes_go_where_the_key_is() {
    block_on(async {
        let table = dynamic(&[]).await;
        write(&table, 1, &(0..40).collect::<Vec<_>>(), "a").await;
        let mut writer = table.writer("test").unwrap();
        let keys: Vec<i32> = (0..40).step_by(2).collect();
        let kinds = Int8Array::from(vec![3; keys.len()]);
        writer.write(&keyed_rows(&keys, "a"), Some(&kinds)).await.unwrap();
        commit(&table, 2, &mut writer).await;
        let (rows, _) = read(&table).await;
        assert_eq!(rows.into_keys().collect::<Vec<_>>(), (0..40).skip(1).step_by(2).collect::<Vec<_>>());
    });
}

#[test]
fn a_writer_outlives_an_index_that_could_not_be_written() {
    block_on(async {
        let store = Faulty::new(memory());
        let options = [("bucket", "-1"), ("dynamic-bucket.target-row-num", "2")];
        let table = table(Arc::new(store.clone()), schema(true, true, &options)).await;
        let mut writer = table.writer("test").unwrap();
        writer.write(&keyed_rows(&(0..8).collect::<Vec<_>>(), "a"), None).await.unwrap();
        store.inject(Op::Put, "/index/", 1, 1, Fault::Before(ErrorKind::Unavailable));
        assert_eq!(writer.prepare_commit(true).await.unwrap_err().kind(), ErrorKind::Unavailable);
        let outcome = commit(&table, 1, &mut writer).await;
        assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
        assert_eq!(read(&table).await.0.len(), 8);
        let counts = index(&table).await;
        assert_eq!(counts.values().sum::<usize>(), 8);
        let files = table.storage().list(&format!("{}/index", table.path())).await.unwrap();
        assert_eq!(files.len(), counts.len(), "index files that no commit has are left over");
    });
}

#[test]
fn a_damaged_index_is_named() {
    block_on(async {
        let table = dynamic(&[]).await;
        write(&table, 1, &[2, 4], "a").await;
        let latest = Snapshots::new(&table).latest().await.unwrap().unwrap();
        let line = Manifests::new(&table).index_of(&latest).await.unwrap().remove(0);
        let path = table.index_file_path(&line).unwrap();
        let whole = table.storage().read(&path, None).await.unwrap();
        let mut damages = vec![whole.slice(..whole.len() - 1), whole.slice(4..), bytes::Bytes::new()];
        damages.extend((0..whole.len() * 8).map(|bit| {
            let mut flipped = whole.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            flipped.into()
        }));
        for damaged in damages {
            table.storage().put(&path, damaged).await.unwrap();
            let mut writer = table.writer("test").unwrap();
            let error = writer.write(&keyed_rows(&[2], "b"), None).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            assert!(error.to_string().contains(&line.file_name), "{error}");
            writer.close().await.unwrap();
        }
        // With an index anew, by an overwrite that does not look at the old one, the table is whole again.
        let mut writer = table.overwriter("test").unwrap();
        writer.write(&keyed_rows(&[2, 4], "c"), None).await.unwrap();
        let messages = writer.prepare_commit(true).await.unwrap();
        writer.close().await.unwrap();
        table.committer("test").overwrite(Overwrite::Dynamic, Commit::batch(messages)).await.unwrap();
        write(&table, 2, &[2], "d").await;
        assert_eq!(read(&table).await.0, [(2, "d2".to_owned()), (4, "c4".to_owned())].into());
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Two jobs that should not, restarts, overwrites and compactions: what was committed is there, each key once.
    #[test]
    fn a_key_is_in_one_bucket(
        steps in prop::collection::vec(
            (0..2usize, prop::collection::btree_set(0..60i32, 1..12), 0..6u8),
            1..14,
        ),
        max in prop_oneof![Just("-1"), Just("2")],
    ) {
        block_on(async {
            let options = [("dynamic-bucket.target-row-num", "4"), ("dynamic-bucket.max-buckets", max)];
            let table = dynamic(&options).await;
            let users = ["one", "two"];
            let mut writers: [Option<TableWriter>; 2] = [None, None];
            let mut keys: BTreeSet<i32> = BTreeSet::new();
            for (identifier, (who, rows, kind)) in steps.iter().enumerate() {
                let (identifier, rows) = (identifier as i64, rows.iter().copied().collect::<Vec<_>>());
                if *kind == 0 {
                    let mut writer = table.overwriter("over").unwrap();
                    writer.write(&keyed_rows(&rows, "o"), None).await.unwrap();
                    let messages = writer.prepare_commit(true).await.unwrap();
                    let commit = Commit::batch(messages);
                    table.committer("over").overwrite(Overwrite::Dynamic, commit).await.unwrap();
                    let replaced: BTreeSet<i32> = rows.iter().map(|k| k % 2).collect();
                    keys.retain(|key| !replaced.contains(&(key % 2)));
                    keys.extend(rows);
                } else {
                    let mut writer = match writers[*who].take().filter(|_| *kind > 1) {
                        Some(writer) => writer,
                        None => table.writer(users[*who]).unwrap(),
                    };
                    writer.write(&keyed_rows(&rows, "w"), None).await.unwrap();
                    let messages = writer.prepare_commit(true).await.unwrap();
                    let committer = table.committer(users[*who]);
                    match committer.commit(Commit::streaming(identifier, messages.clone())).await.unwrap() {
                        CommitOutcome::Committed(_) | CommitOutcome::CompactionLost { .. } => {
                            keys.extend(rows);
                            writers[*who] = Some(writer);
                        }
                        // Whoever is refused begins anew.
                        CommitOutcome::Conflict(_) => committer.abort(&messages).await.unwrap(),
                        CommitOutcome::Unknown(why) => panic!("{why}"),
                    }
                }
                if *kind == 5 {
                    let messages = table.compact(None, true).await.unwrap();
                    table.committer("compact").commit(Commit::batch(messages)).await.unwrap();
                }
                let (found, _) = read(&table).await;
                assert_eq!(found.into_keys().collect::<BTreeSet<_>>(), keys);
            }
        });
    }
}
