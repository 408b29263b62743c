//! What changed between two snapshots, tags or times, as a batch read and as the logs show it.

use std::time::Duration;

use linn_core::system::{ChangeLog, Log};
use linn_core::{Snapshots, Table, Tags, read};
use linn_format::datum::Datum;
use linn_format::predicate::{CompareOp, Predicate};
use linn_format::{ErrorKind, Result, SnapshotId};

use crate::case::{Case, text};

impl Case {
    async fn between(&self, options: &[(&str, &str)]) -> Vec<String> {
        self.with(options).rows().await
    }

    async fn logged(&self, log: Log, options: &[(&str, &str)]) -> Result<Vec<String>> {
        let mut rows = logged(&self.with(options).table, log).await?;
        rows.sort();
        Ok(rows)
    }

    async fn audited(&self, options: &[(&str, &str)]) -> Vec<String> {
        self.logged(Log::Audit, options).await.unwrap()
    }

    async fn tag(&self, name: &str, id: i64) {
        let snapshot = Snapshots::new(&self.table).get(SnapshotId(id)).await.unwrap();
        Tags::new(&self.table).create(name, &snapshot, None::<Duration>).await.unwrap();
    }
}

async fn logged(table: &Table, log: Log) -> Result<Vec<String>> {
    let log = ChangeLog::open(log, table, None)?;
    let mut rows = Vec::new();
    for split in log.scan(None).plan().await?.splits {
        for batch in read::collect(log.stream(&split)?).await? {
            assert_eq!(batch.schema(), *log.schema());
            rows.extend(text(&batch));
        }
    }
    Ok(rows)
}

/// Snapshots 1 to 3 are commits, 4 is a compaction, 5 a commit.
async fn history(options: &[(&str, &str)]) -> Case {
    let mut case = Case::new("k INT, v INT", "k", options).await;
    case.commit(&["+I(1,1)", "+I(2,1)", "+I(3,1)"]).await;
    case.commit(&["-D(1,1)", "+I(2,2)", "+I(4,1)"]).await;
    case.commit(&["+I(1,3)"]).await;
    case.compact(true).await;
    case.commit(&["+I(5,5)"]).await;
    case
}

const BETWEEN: &str = "incremental-between";

#[tokio::test]
async fn between_snapshots_the_files_that_were_added() {
    let case = history(&[("write-only", "true")]).await;
    assert_eq!(case.between(&[(BETWEEN, "1,3")]).await, ["1,3", "2,2", "4,1"]);
    assert_eq!(case.audited(&[(BETWEEN, "1,3")]).await, ["+I,1,3", "+I,2,2", "+I,4,1", "-D,1,1"]);
    assert_eq!(case.between(&[(BETWEEN, "0,1")]).await, ["1,1", "2,1", "3,1"]);
    assert_eq!(case.between(&[(BETWEEN, "3,4")]).await, Vec::<String>::new(), "a compaction changes nothing");
    assert_eq!(case.between(&[(BETWEEN, "2,2")]).await, Vec::<String>::new());
    assert_eq!(case.between(&[("scan.mode", "latest-delta")]).await, ["5,5"]);
    let filter = Predicate::Compare { field_id: case.field("v").id, op: CompareOp::Gt, literal: Datum::Int(1) };
    assert_eq!(case.with(&[(BETWEEN, "1,3")]).select(&["v"], Some(filter)).await, ["2", "3"]);
}

#[tokio::test]
async fn between_states_what_differs() {
    let case = history(&[("write-only", "true")]).await;
    for (id, name) in [(1, "one"), (3, "three"), (4, "four")] {
        case.tag(name, id).await;
    }
    let differs = ["1,3", "2,2", "4,1"];
    assert_eq!(case.between(&[(BETWEEN, "one,four")]).await, differs);
    assert_eq!(case.between(&[(BETWEEN, "one,three")]).await, differs);
    let diff = [(BETWEEN, "1,4"), ("incremental-between-scan-mode", "diff")];
    assert_eq!(case.between(&diff).await, differs);
    assert_eq!(case.audited(&diff).await, ["+I,1,3", "+I,2,2", "+I,4,1"]);
    let gone = [(BETWEEN, "1,2"), ("incremental-between-scan-mode", "diff")];
    assert_eq!(case.audited(&gone).await, ["+I,2,2", "+I,4,1", "-D,1,1"]);
    assert_eq!(case.between(&gone).await, ["2,2", "4,1"]);
    assert_eq!(case.between(&[(BETWEEN, "three,four")]).await, Vec::<String>::new(), "the same rows in other files");
    let snapshots = [(BETWEEN, "one,four"), ("incremental-between-tag-to-snapshot", "true")];
    assert_eq!(case.audited(&snapshots).await, ["+I,1,3", "+I,2,2", "+I,4,1", "-D,1,1"]);
    let filter = Predicate::Compare { field_id: case.field("v").id, op: CompareOp::Gt, literal: Datum::Int(1) };
    assert_eq!(
        case.with(&diff).select(&["k"], Some(filter)).await,
        ["1", "2"],
        "a column that is not read is compared"
    );
}

#[tokio::test]
async fn with_a_changelog_it_is_what_is_read() {
    let case = history(&[("changelog-producer", "lookup")]).await;
    let latest = Snapshots::new(&case.table).latest_id().await.unwrap().unwrap();
    let all = format!("0,{latest}");
    let expected = ["+I,1,1", "+I,1,3", "+I,2,1", "+I,3,1", "+I,4,1", "+I,5,5", "+U,2,2", "-D,1,1", "-U,2,1"];
    assert_eq!(case.audited(&[(BETWEEN, &all)]).await, expected);
    let packed = case.logged(Log::Binary, &[(BETWEEN, &all)]).await.unwrap();
    let expected = [
        "+I,[1],[1]",
        "+I,[1],[3]",
        "+I,[2],[1]",
        "+I,[3],[1]",
        "+I,[4],[1]",
        "+I,[5],[5]",
        "+U,[2, 2],[1, 2]",
        "-D,[1],[1]",
    ];
    assert_eq!(packed, expected);
    let delta = [(BETWEEN, all.as_str()), ("incremental-between-scan-mode", "delta")];
    assert_eq!(case.between(&delta).await.len(), 7);
    let rows = ["+I,1,3", "+I,2,2", "+I,3,1", "+I,4,1", "+I,5,5"];
    let audited: Vec<String> = case.audited(&[]).await;
    assert_eq!(audited, rows, "without an interval the rows there are");
}

#[tokio::test]
async fn between_times_and_refusals() {
    let case = history(&[]).await;
    let snapshots = Snapshots::new(&case.table);
    let time = async |id| snapshots.get(SnapshotId(id)).await.unwrap().time_millis;
    let all = format!("0,{}", time(5).await);
    assert_eq!(case.audited(&[("incremental-between-timestamp", &all)]).await.len(), 8);
    assert_eq!(case.audited(&[("incremental-between-timestamp", "1,2")]).await.len(), 0);
    let local = [("incremental-between-timestamp", "1970-01-02 00:00:00,2999-01-01 00:00:00")];
    assert_eq!(case.audited(&local).await.len(), 8);
    for (options, kind) in [
        ((BETWEEN, "3,1"), ErrorKind::Invalid),
        ((BETWEEN, "1"), ErrorKind::Invalid),
        ((BETWEEN, "a,b"), ErrorKind::Invalid),
        ((BETWEEN, "1,99"), ErrorKind::NotFound),
        (("incremental-between-timestamp", "5,1"), ErrorKind::Invalid),
    ] {
        let e = case.with(&[options]).table.scan().plan().await.unwrap_err();
        assert_eq!(e.kind(), kind, "{options:?}: {e:?}");
    }
    // What expired is not left out in silence.
    case.table.storage().delete(&snapshots.path(SnapshotId(1))).await.unwrap();
    let hint = format!("{}/EARLIEST", case.table.snapshot_dir());
    case.table.storage().put(&hint, "2".into()).await.unwrap();
    assert_eq!(case.audited(&[(BETWEEN, "1,2")]).await.len(), 3);
    let e = case.with(&[(BETWEEN, "0,2")]).table.scan().plan().await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::NotFound);
    assert!(e.hint().unwrap().contains("snapshots 2"), "{e:?}");
}

#[tokio::test]
async fn rows_without_a_key_and_rows_that_were_deleted() {
    let mut case = Case::new("k INT, v INT", "", &[("bucket", "-1")]).await;
    case.commit(&["+I(1,1)"]).await;
    case.commit(&["+I(1,1)", "+I(2,2)"]).await;
    case.tag("a", 1).await;
    case.tag("b", 2).await;
    assert_eq!(case.between(&[(BETWEEN, "1,2")]).await, ["1,1", "2,2"]);
    assert_eq!(case.between(&[(BETWEEN, "a,b")]).await, ["1,1", "2,2"]);
    assert_eq!(case.audited(&[(BETWEEN, "a,b")]).await, ["+I,1,1", "+I,2,2"]);
    assert!(case.logged(Log::Audit, &[("table-read.sequence-number.enabled", "true")]).await.is_err());
    // The log of a table's rows shows what is deleted and not compacted yet, with its sequence number.
    let mut keyed = Case::new("k INT, v INT", "k", &[("table-read.sequence-number.enabled", "true")]).await;
    keyed.commit(&["+I(1,1)", "+I(2,1)"]).await;
    keyed.commit(&["-D(1,1)", "+U(2,7)"]).await;
    assert_eq!(keyed.audited(&[]).await, ["+U,3,2,7", "-D,2,1,1"]);
    assert_eq!(keyed.logged(Log::Binary, &[]).await.unwrap(), ["+U,3,[2],[7]", "-D,2,[1],[1]"]);
    assert_eq!(keyed.rows().await, ["2,7"]);
}

/// A pinned table reads the same whatever is committed after.
#[tokio::test]
async fn modes_are_pinned() {
    let mut case = history(&[]).await;
    for (options, rows) in [
        (&[("scan.mode", "latest-delta")][..], 1),
        (&[("scan.mode", "compacted-full")], 4),
        (&[("scan.file-creation-time-millis", "0")], 5),
        (&[("scan.creation-time-millis", "0")], 5),
        (&[(BETWEEN, "4,5")], 1),
    ] {
        let pinned = case.with(options).table.pinned().await.unwrap();
        let count = async |table: &Table| {
            let splits = table.scan().plan().await.unwrap().splits;
            let read = table.read().build().unwrap();
            let mut rows = 0;
            for split in splits {
                for batch in read::collect(read.stream(&split).await.unwrap()).await.unwrap() {
                    rows += batch.num_rows();
                }
            }
            rows
        };
        assert_eq!(count(&pinned).await, rows, "{options:?}");
        case.commit(&["+I(5,6)"]).await;
        assert_eq!(count(&pinned).await, rows, "{options:?}, later");
        // Back to where it was for the next mode.
        let path = Snapshots::new(&case.table).path(Snapshots::new(&case.table).latest_id().await.unwrap().unwrap());
        case.table.storage().delete(&path).await.unwrap();
    }
}

/// C12: two tags hold what is compared, whatever became of their snapshots.
#[tokio::test]
async fn tags_are_compared_after_their_snapshots_expired() {
    let case = history(&[("write-only", "true")]).await;
    case.tag("one", 1).await;
    case.tag("two", 2).await;
    let snapshots = Snapshots::new(&case.table);
    for id in [1, 2, 3] {
        case.table.storage().delete(&snapshots.path(SnapshotId(id))).await.unwrap();
    }
    assert_eq!(case.audited(&[(BETWEEN, "one,two")]).await, ["+I,2,2", "+I,4,1", "-D,1,1"]);
}

/// C9: what a commit added is at level 0, also where full reads leave that out.
#[tokio::test]
async fn tables_with_vectors_tell_what_was_added() {
    let options = [("deletion-vectors.enabled", "true"), ("changelog-producer", "lookup"), ("write-only", "true")];
    let mut case = Case::new("k INT, v INT", "k", &options).await;
    case.commit(&["+I(1,1)", "+I(2,1)", "+I(3,1)"]).await;
    let delta = [(BETWEEN, "0,1"), ("incremental-between-scan-mode", "delta")];
    assert_eq!(case.between(&delta).await, ["1,1", "2,1", "3,1"]);
    // C5: a changelog comes with a compaction only.
    assert_eq!(case.between(&[(BETWEEN, "0,1")]).await, Vec::<String>::new());
    assert_eq!(case.follow(&[]).await.unwrap(), Vec::<String>::new(), "what a compaction will tell is not told twice");
    case.compact(true).await;
    assert_eq!(case.between(&[(BETWEEN, "0,2")]).await, ["1,1", "2,1", "3,1"]);
    assert_eq!(case.follow(&[]).await.unwrap().len(), 3);
}

/// C11: columns are chosen before they become lists.
#[tokio::test]
async fn a_log_of_some_columns() {
    let case = history(&[("changelog-producer", "lookup")]).await;
    let table = case.with(&[(BETWEEN, "0,4")]).table;
    for (log, columns, expected) in
        [(Log::Binary, [2, 0], "[1, 2],+U"), (Log::Audit, [2, 0], "2,+U"), (Log::Binary, [0, 1], "+U,[2, 2]")]
    {
        let log = ChangeLog::open(log, &table, Some(&columns)).unwrap();
        let mut rows = Vec::new();
        for split in log.scan(None).plan().await.unwrap().splits {
            for batch in read::collect(log.stream(&split).unwrap()).await.unwrap() {
                rows.extend(text(&batch));
            }
        }
        assert!(rows.contains(&expected.to_owned()), "{rows:?}");
    }
}

/// C12: up to a tag that made itself, from the last one before; a period without a tag has no changes.
#[tokio::test]
async fn up_to_an_automatic_tag() {
    let case = history(&[("write-only", "true")]).await;
    for (name, id) in [("2024-12-01", 1), ("2024-12-02", 2), ("2024-12-04", 3), ("by hand", 4)] {
        case.tag(name, id).await;
    }
    let to = async |name: &str| case.audited(&[("incremental-to-auto-tag", name)]).await;
    assert_eq!(to("2024-12-02").await, ["+I,2,2", "+I,4,1", "-D,1,1"]);
    assert_eq!(to("2024-12-04").await, ["+I,1,3"]);
    assert_eq!(to("2024-12-01").await, Vec::<String>::new());
    assert_eq!(to("2024-12-03").await, Vec::<String>::new());
    let e = case.with(&[("incremental-to-auto-tag", "by hand")]).table.scan().plan().await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Invalid);
}
