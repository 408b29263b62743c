//! Changelogs of lookups and of full compactions (cases: C1, C3, C6, C9, C10, C13, S3).

use linn_core::commit::Overwrite;
use linn_core::{Commit, CommitOutcome, Snapshots};
use linn_format::SnapshotId;
use linn_format::schema::SchemaChange;

use crate::case::Case;

const LOOKUP: (&str, &str) = ("changelog-producer", "lookup");
const VECTORS: (&str, &str) = ("deletion-vectors.enabled", "true");

/// Commits one after the other, and what each must tell.
async fn check(columns: &str, options: &[(&str, &str)], commits: &[(&[&str], &[&str])]) -> Case {
    let mut case = Case::new(columns, "k", options).await;
    let mut seen = 0;
    for (rows, expected) in commits {
        case.commit(rows).await;
        let (changes, latest) = case.changes_since(seen).await;
        assert_eq!(changes, *expected, "{options:?} {rows:?}");
        seen = latest;
    }
    case
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_a_row_that_comes_back_as_it_was_is_new() {
    for more in [&[][..], &[("lookup.remote-file.enabled", "true")]] {
        let options = [&[LOOKUP, VECTORS, ("changelog-producer.row-deduplicate", "true")], more].concat();
        let commits: &[(&[&str], &[&str])] = &[
            (&["+I(1,a)", "+I(2,b)"], &["+I 1,a", "+I 2,b"]),
            (&["-D(1,a)"], &["-D 1,a"]),
            (&["+I(1,a)"], &["+I 1,a"]),
            (&["+I(1,a)"], &[]),
        ];
        check("k INT, v STRING", &options, commits).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_late_rows_are_summed_once_and_told_so() {
    let options = [
        ("merge-engine", "aggregation"),
        ("sequence.field", "seq"),
        ("fields.v.aggregate-function", "sum"),
        ("num-sorted-run.compaction-trigger", "2"),
    ];
    let commits: &[(&[&str], &[&str])] = &[
        (&["+I(1,7,7)"], &["+I 1,7,7"]),
        (&["+I(1,8,8)"], &["-U 1,7,7", "+U 1,8,15"]),
        (&["+I(1,6,6)"], &["-U 1,8,15", "+U 1,8,21"]),
    ];
    for more in [&[LOOKUP][..], &[LOOKUP, VECTORS], &[("changelog-producer", "full-compaction")]] {
        check("k INT, seq INT, v INT", &[&options, more].concat(), commits).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn updates_of_ignored_fields_are_stored_and_not_told() {
    for producer in ["lookup", "full-compaction"] {
        let options = [
            ("changelog-producer", producer),
            ("changelog-producer.row-deduplicate", "true"),
            ("changelog-producer.row-deduplicate-ignore-fields", "f1"),
        ];
        let commits: &[(&[&str], &[&str])] = &[
            (&["+I(1,1,1)"], &["+I 1,1,1"]),
            (&["+I(1,1,2)"], &[]),
            (&["+I(1,2,3)"], &["-U 1,1,2", "+U 1,2,3"]),
            (&["+I(1,2,4)"], &[]),
        ];
        let case = check("k INT, f0 INT, f1 INT", &options, commits).await;
        assert_eq!(case.rows().await, ["1,2,4"]);
    }
}

/// A writer whose compaction runs is not idle.
#[tokio::test(flavor = "multi_thread")]
async fn regress_no_change_is_lost_when_nobody_waits() {
    let mut case = Case::new("k INT, d INT", "k,d / d", &[LOOKUP, ("lookup-wait", "false")]).await;
    let mut writer = case.table.writer("w").unwrap();
    let rows: Vec<String> = (0..5000).map(|k| format!("+I({k},{})", k % 5)).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let (batch, kinds) = case.batch(&rows);
    writer.write(&batch, Some(&kinds)).await.unwrap();
    let committer = case.table.committer("w");
    for (identifier, wait) in [(1, false), (2, false), (3, false), (4, true)] {
        let messages = writer.prepare_commit(wait).await.unwrap();
        let outcome = committer.commit(Commit::streaming(identifier, messages)).await.unwrap();
        assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
    }
    writer.close().await.unwrap();
    assert_eq!(case.changes_since(0).await.0.len(), 5000);
    // A later writer has nothing left to tell.
    case.commit(&["+I(9999,1)"]).await;
    assert_eq!(case.changes_since(0).await.0.len(), 5001);
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_an_overwrite_tells_nothing_and_leaves_no_changelog_files() {
    for more in [&[][..], &[VECTORS]] {
        let options = [&[LOOKUP, ("compaction.force-up-level-0", "true")], more].concat();
        let mut case = Case::new("k INT, v INT", "k", &options).await;
        case.commit(&["+I(1,1)", "+I(2,2)"]).await;
        let files = |case: &Case| {
            let storage = case.table.storage().clone();
            async move {
                let all = storage.list("db.db/t/bucket-0").await.unwrap();
                all.into_iter().filter(|e| e.path.contains("changelog-")).count()
            }
        };
        let before = files(&case).await;
        assert!(before > 0);
        let mut writer = case.table.overwriter("w").unwrap();
        let (batch, kinds) = case.batch(&["+I(3,3)"]);
        writer.write(&batch, Some(&kinds)).await.unwrap();
        let messages = writer.prepare_commit(true).await.unwrap();
        let committer = case.table.committer("w");
        let outcome = committer.overwrite(Overwrite::Table, Commit::batch(messages)).await.unwrap();
        assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
        let latest = Snapshots::new(&case.table).latest().await.unwrap().unwrap();
        assert_eq!(latest.changelog_manifest_list, None);
        assert_eq!(files(&case).await, before);
        assert!(case.levels().await.iter().all(|level| *level > 0), "{:?}", case.levels().await);
        assert_eq!(case.rows().await, ["3,3"]);
    }
}

/// That level 0 is left out is a rule of full reads only.
#[tokio::test(flavor = "multi_thread")]
async fn regress_what_a_snapshot_added_is_read_from_level_0() {
    let mut case = Case::new("k INT, v INT", "k", &[LOOKUP, VECTORS]).await;
    case.commit(&["+I(1,1)", "+I(2,2)", "+I(3,3)"]).await;
    let snapshots = Snapshots::new(&case.table);
    let added = snapshots.get(SnapshotId(1)).await.unwrap();
    let delta = case.table.scan().plan_delta(&added).await.unwrap();
    assert_eq!(delta.splits.iter().map(linn_core::Split::row_count).sum::<i64>(), 3);
    let full = case.table.scan().snapshot(added).plan().await.unwrap();
    assert!(full.splits.is_empty(), "rows would come twice, here and with the changelog");
    assert_eq!(case.rows().await.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_a_changelog_that_is_turned_on_later_loses_no_row() {
    for producer in ["full-compaction", "lookup"] {
        let mut case = Case::new("k INT, v INT", "k", &[("num-sorted-run.compaction-trigger", "3")]).await;
        case.commit(&["+I(1,1)", "+I(2,2)"]).await;
        case.commit(&["+I(2,3)", "+I(3,3)"]).await;
        let change = SchemaChange::SetOption { key: "changelog-producer".into(), value: producer.into() };
        case.alter(&[change]).await;
        assert_eq!(case.rows().await, ["1,1", "2,3", "3,3"]);
        let seen = case.latest().await;
        case.commit(&["+I(1,5)", "+I(4,4)"]).await;
        assert_eq!(case.rows().await, ["1,5", "2,3", "3,3", "4,4"]);
        let (mut changes, _) = case.changes_since(seen).await;
        changes.sort();
        // Nothing that waited at level 0 was told before.
        assert_eq!(changes, ["+I 1,5", "+I 2,3", "+I 3,3", "+I 4,4"], "{producer}");
    }
}
