//! Random tables, commits and compactions: what a difference tells of any two snapshots is how their rows differ, whatever the
//! table, its files and its buckets.

use std::collections::BTreeMap;

use futures::TryStreamExt;
use linn_core::Snapshots;
use linn_core::system::{ChangeLog, Log};
use linn_format::SnapshotId;
use proptest::prelude::*;

use crate::case::{Case, text};
use crate::follow::changes;

type Options = Vec<(&'static str, &'static str)>;

/// Keys as a case takes them, and options.
fn tables() -> Vec<(&'static str, Options)> {
    let (vectors, lookup) = (("deletion-vectors.enabled", "true"), ("changelog-producer", "lookup"));
    let partial = ("merge-engine", "partial-update");
    let sum = [("merge-engine", "aggregation"), ("fields.v.aggregate-function", "sum")];
    vec![
        ("k", vec![]),
        ("k", vec![("bucket", "3")]),
        ("k", vec![("sequence.field", "w")]),
        ("k", vec![vectors]),
        ("k", vec![vectors, partial]),
        ("k", vec![vectors, ("write-only", "true"), ("bucket", "2")]),
        ("k", vec![partial]),
        ("k", vec![partial, ("write-only", "true")]),
        ("k", vec![sum[0], sum[1]]),
        ("k", vec![sum[0], sum[1], vectors]),
        ("k", vec![("merge-engine", "first-row"), lookup]),
        ("k", vec![lookup]),
        ("k", vec![("target-file-size", "1 kb"), ("file.format", "avro")]),
        ("k,d / d", vec![("bucket", "2")]),
        ("k,d / d", vec![("bucket", "-1"), ("dynamic-bucket.target-row-num", "2")]),
        ("k / d", vec![("bucket", "-1")]),
        ("", vec![("bucket", "-1")]),
        (" / d", vec![("bucket", "-1")]),
        ("", vec![("bucket", "2"), ("bucket-key", "k")]),
    ]
}

#[derive(Debug, Clone)]
struct Step {
    rows: Vec<(u8, u8, u8, bool)>,
    compact: Option<bool>,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let rows = prop::collection::vec((0u8..9, 0u8..4, 0u8..5, prop::bool::weighted(0.25)), 1..6);
    let compact = prop::option::weighted(0.4, any::<bool>());
    prop::collection::vec((rows, compact).prop_map(|(rows, compact)| Step { rows, compact }), 2..6)
}

/// Rows with how often they are there.
fn counted(rows: &[String]) -> BTreeMap<&str, i64> {
    let mut all = BTreeMap::new();
    rows.iter().for_each(|row| *all.entry(row.as_str()).or_default() += 1);
    all
}

fn by_key(rows: &[String]) -> BTreeMap<&str, &str> {
    rows.iter().map(|row| (row.split_once(',').unwrap().0, row.as_str())).collect()
}

/// What a difference of rows must tell, as kind and row, sorted.
fn expected(keyed: bool, before: &[String], after: &[String]) -> Vec<(char, String)> {
    let mut told = Vec::new();
    if keyed {
        let (old, new) = (by_key(before), by_key(after));
        told.extend(old.iter().filter(|(key, _)| !new.contains_key(*key)).map(|(_, row)| ('-', (*row).to_owned())));
        told.extend(
            new.iter().filter(|(key, row)| old.get(*key) != Some(row)).map(|(_, row)| ('+', (*row).to_owned())),
        );
    } else {
        let (old, new) = (counted(before), counted(after));
        for row in old.keys().chain(new.keys()).collect::<std::collections::BTreeSet<_>>() {
            let more = new.get(*row).unwrap_or(&0) - old.get(*row).unwrap_or(&0);
            let kind = if more < 0 { '-' } else { '+' };
            told.extend((0..more.abs()).map(|_| (kind, (*row).to_owned())));
        }
    }
    told.sort();
    told
}

impl Case {
    async fn told(&self, pairs: bool) -> Vec<(String, String)> {
        let mut read = self.table.read();
        if pairs {
            read = read.pairs();
        }
        let read = read.build().unwrap();
        let mut told = Vec::new();
        for split in self.table.scan().plan().await.unwrap().splits {
            let batches: Vec<_> = read.changes(&split).unwrap().try_collect().await.unwrap();
            for change in batches.iter().flat_map(changes) {
                let (kind, row) = change.strip_suffix(')').unwrap().split_once('(').unwrap();
                told.push((kind.to_owned(), row.to_owned()));
            }
        }
        told
    }

    /// The rows of a snapshot, level 0 included.
    async fn whole(&self, id: SnapshotId) -> Vec<String> {
        let snapshot = Snapshots::new(&self.table).get(id).await.unwrap();
        let read = self.table.read().build().unwrap();
        let mut rows = Vec::new();
        for split in self.table.scan().snapshot(snapshot).every_level().plan().await.unwrap().splits {
            let batches: Vec<_> = read.stream(&split).await.unwrap().try_collect().await.unwrap();
            rows.extend(batches.iter().flat_map(text));
        }
        rows.sort();
        rows
    }

    async fn logged_rows(&self, log: Log) -> usize {
        let log = ChangeLog::open(log, &self.table, None).unwrap();
        let mut rows = 0;
        for split in log.scan(None).plan().await.unwrap().splits {
            let batches: Vec<_> = log.stream(&split).unwrap().try_collect().await.unwrap();
            rows += batches.iter().map(|batch| text(batch).len()).sum::<usize>();
        }
        rows
    }
}

async fn check(keys: &str, options: &Options, steps: &[Step]) {
    let keyed = keys.starts_with('k');
    let mut case = Case::new("k INT, d INT, v INT, w INT", keys, options).await;
    let merges = options.iter().any(|(key, _)| *key == "merge-engine");
    let within = keys == "k,d / d";
    for step in steps {
        let row = |(k, v, w, gone): &(u8, u8, u8, bool)| {
            let kind = if *gone && keyed && !merges { "-D" } else { "+I" };
            // Of a table whose keys may move the partition follows from the value.
            let d = if within { k % 2 } else { v % 2 };
            let v = if merges && *v == 0 { "NULL".to_owned() } else { v.to_string() };
            format!("{kind}({k},{d},{v},{w})")
        };
        let rows: Vec<String> = step.rows.iter().map(row).collect();
        case.commit(&rows.iter().map(String::as_str).collect::<Vec<_>>()).await;
        if let Some(full) = step.compact {
            case.compact(full).await;
        }
    }
    let latest = Snapshots::new(&case.table).latest_id().await.unwrap().unwrap();
    let mut states = Vec::new();
    for id in 1..=latest.0 {
        states.push(case.whole(SnapshotId(id)).await);
    }
    // Before the first snapshot there was nothing.
    states.insert(0, Vec::new());
    for (i, before) in states.iter().enumerate() {
        for (j, after) in states.iter().enumerate().skip(i + 1) {
            let between = format!("{i},{j}");
            let diff = case.with(&[("incremental-between", &between), ("incremental-between-scan-mode", "diff")]);
            let expected = expected(keyed, before, after);
            let told = diff.told(false).await;
            let mut plain: Vec<(char, String)> =
                told.iter().map(|(kind, row)| (if kind == "-D" { '-' } else { '+' }, row.clone())).collect();
            plain.sort();
            assert_eq!(plain, expected, "{between} of {keys:?} {options:?}: {before:?} {after:?}");
            let added: Vec<String> =
                expected.iter().filter(|(kind, _)| *kind == '+').map(|(_, row)| row.clone()).collect();
            assert_eq!(diff.rows().await, added, "{between} of {keys:?} {options:?}");
            assert_eq!(diff.logged_rows(Log::Audit).await, expected.len());
            assert_eq!(diff.logged_rows(Log::Binary).await, expected.len());
            let pairs = diff.told(true).await;
            let old = by_key(before);
            for (at, (kind, row)) in pairs.iter().enumerate().filter(|_| keyed) {
                let key = row.split_once(',').unwrap().0;
                match kind.as_str() {
                    "-U" => {
                        assert_eq!(old.get(key), Some(&row.as_str()), "{pairs:?}");
                        assert_eq!(pairs[at + 1].0, "+U", "{pairs:?}");
                    }
                    "+U" => assert_eq!(pairs[at - 1].0, "-U", "{pairs:?}"),
                    "-D" => assert_eq!(old.get(key), Some(&row.as_str()), "{pairs:?}"),
                    _ => assert_eq!(old.get(key), None, "{pairs:?}"),
                }
            }
            // A filter on keys or values takes rows of the difference, whatever it leaves out of the files.
            for (column, value) in [("k", 3), ("v", 1), ("d", 0)] {
                let filter = case.equals(column, value);
                let at = ["k", "d", "v", "w"].iter().position(|name| *name == column).unwrap();
                let holds = |row: &&String| row.split(',').nth(at) == Some(&value.to_string());
                let wanted: Vec<String> = added.iter().filter(holds).cloned().collect();
                assert_eq!(diff.select(&["k", "d", "v", "w"], Some(filter)).await, wanted, "{between} {column}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_the_table(steps in steps(), (keys, options) in prop::sample::select(tables())) {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(async {
            check(keys, &options, &steps).await;
        });
    }
}

impl Case {
    fn equals(&self, column: &str, value: i32) -> linn_format::predicate::Predicate {
        linn_format::predicate::Predicate::Compare {
            field_id: self.field(column).id,
            op: linn_format::predicate::CompareOp::Eq,
            literal: linn_format::datum::Datum::Int(value),
        }
    }

    async fn diff(&self, between: &str) -> Vec<String> {
        let diff = self.with(&[("incremental-between", between), ("incremental-between-scan-mode", "diff")]);
        let mut told: Vec<String> =
            diff.told(false).await.into_iter().map(|(kind, row)| format!("{kind}({row})")).collect();
        told.sort();
        told
    }
}

/// Files that both states have are not left out where their rows are merged with others, or are deleted by their place.
#[tokio::test(flavor = "multi_thread")]
async fn regress_states_that_share_a_file() {
    let mut case = Case::new("k INT, a INT, b INT", "k", &[("merge-engine", "partial-update")]).await;
    case.commit(&["+I(1,7,8)"]).await;
    case.commit(&["+I(1,9,NULL)"]).await;
    assert_eq!(case.diff("1,2").await, ["+I(1,9,8)"]);
    let sum = [("merge-engine", "aggregation"), ("fields.v.aggregate-function", "sum")];
    let mut case = Case::new("k INT, v INT", "k", &sum).await;
    case.commit(&["+I(1,7)"]).await;
    case.commit(&["+I(1,9)"]).await;
    assert_eq!(case.diff("1,2").await, ["+I(1,16)"]);
    let mut case = Case::new("k INT, s INT", "k", &[("sequence.field", "s")]).await;
    case.commit(&["+I(1,5)"]).await;
    case.commit(&["+I(1,3)"]).await;
    assert_eq!(case.diff("1,2").await, Vec::<String>::new(), "a late row changes nothing");
    let mut case = Case::new("k INT, v INT", "k", &[("deletion-vectors.enabled", "true")]).await;
    case.commit(&["+I(1,1)", "+I(2,1)", "+I(3,1)"]).await;
    case.compact(true).await;
    let before = Snapshots::new(&case.table).latest_id().await.unwrap().unwrap();
    case.commit(&["-D(1,1)", "-D(2,1)"]).await;
    case.compact(true).await;
    let after = Snapshots::new(&case.table).latest_id().await.unwrap().unwrap();
    assert_eq!(case.diff(&format!("{before},{after}")).await, ["-D(1,1)", "-D(2,1)"]);
}

/// Without a key a row that is there twice came twice, and what a compaction moved did not change.
#[tokio::test(flavor = "multi_thread")]
async fn regress_rows_without_a_key_are_counted() {
    let mut case = Case::new("k INT, v INT", "", &[("bucket", "-1"), ("compaction.min.file-num", "2")]).await;
    case.commit(&["+I(1,1)", "+I(1,1)"]).await;
    case.commit(&["+I(2,2)", "+I(1,1)"]).await;
    assert!(case.compact(true).await > 0);
    assert_eq!(case.diff("1,3").await, ["+I(1,1)", "+I(2,2)"]);
    assert_eq!(case.diff("2,3").await, Vec::<String>::new(), "the same rows in other files");
}

/// A partition that has another number of buckets is compared as a whole.
#[tokio::test(flavor = "multi_thread")]
async fn partitions_are_compared_across_a_rescale() {
    let mut case = Case::new("k INT, v INT", "k", &[("bucket", "2")]).await;
    case.commit(&["+I(1,1)", "+I(2,1)", "+I(3,1)", "+I(4,1)", "+I(5,1)"]).await;
    let wider = case.with(&[("bucket", "3")]);
    wider.table.rescale("rescaler", Some(3), None).await.unwrap();
    let rescaled = Snapshots::new(&case.table).latest_id().await.unwrap().unwrap();
    let mut after = Case::of(wider.table.clone());
    after.commit(&["+I(2,2)", "-D(4,1)"]).await;
    assert!(rescaled > SnapshotId(1));
    assert_eq!(after.diff(&format!("1,{}", rescaled.0)).await, Vec::<String>::new());
    assert_eq!(after.diff(&format!("1,{}", rescaled.0 + 1)).await, ["+I(2,2)", "-D(4,1)"]);
}

/// An end that is not given is the latest snapshot; a tag and a snapshot are two states as well.
#[tokio::test(flavor = "multi_thread")]
async fn the_end_may_be_left_open() {
    let mut case = Case::new("k INT, v INT", "k", &[("write-only", "true")]).await;
    case.commit(&["+I(1,1)"]).await;
    let first = Snapshots::new(&case.table).get(SnapshotId(1)).await.unwrap();
    linn_core::Tags::new(&case.table).create("t1", &first, None).await.unwrap();
    case.commit(&["+I(2,2)"]).await;
    case.commit(&["+I(3,3)", "-D(1,1)"]).await;
    let told = async |between: &str| {
        let mut told = case.with(&[("incremental-between", between)]).told(false).await;
        told.sort();
        told.into_iter().map(|(kind, row)| format!("{kind}({row})")).collect::<Vec<_>>()
    };
    assert_eq!(told("t1,").await, ["+I(2,2)", "+I(3,3)", "-D(1,1)"]);
    assert_eq!(told("t1,2").await, ["+I(2,2)"]);
    assert_eq!(told("2,").await, ["+I(3,3)", "-D(1,1)"]);
    assert_eq!(told("3,").await, Vec::<String>::new());
    let time = |millis: i64| format!("{millis},");
    let since = case.with(&[("incremental-between-timestamp", &time(0))]);
    assert_eq!(since.told(false).await.len(), 4);
    // A pinned table stays at the end that was the latest.
    let pinned = Case::of(case.with(&[("incremental-between", "2,")]).table.pinned().await.unwrap());
    case.commit(&["+I(4,4)"]).await;
    assert_eq!(pinned.told(false).await.len(), 2);
    for text in [",2", "", ",", "9,"] {
        assert!(case.with(&[("incremental-between", text)]).table.scan().plan().await.is_err(), "{text:?}");
    }
}
