//! What streams tell of each kind of table, snapshot and filter (cases: M15, R6, R9).

use linn_core::stream::Position;
use linn_core::{Commit, Snapshots};
use linn_format::SnapshotId;
use linn_format::datum::Datum;
use linn_format::predicate::{CompareOp, Predicate};

use crate::case::Case;
use crate::follow::{drain, next, rows};

const FIRST: [(&str, &str); 1] = [("scan.snapshot-id", "1")];

#[tokio::test]
async fn producers_tell_what_they_know() {
    for (producer, expected) in [
        ("none", vec!["+I(1,a)", "+U(1,b)", "-D(1,b)"]),
        ("input", vec!["+I(1,a)", "-U(1,a)", "+U(1,b)", "-D(1,b)"]),
        ("lookup", vec!["+I(1,a)", "-U(1,a)", "+U(1,b)", "-D(1,b)"]),
    ] {
        let mut case = Case::new("k INT, v STRING", "k", &[("changelog-producer", producer)]).await;
        case.commit(&["+I(1,a)"]).await;
        case.commit(&["-U(1,a)", "+U(1,b)"]).await;
        case.commit(&["-D(1,b)"]).await;
        case.compact(true).await;
        assert_eq!(case.follow(&FIRST).await.unwrap(), expected, "{producer}");
    }
}

#[tokio::test]
async fn full_compactions_tell_the_sum() {
    let options = [("changelog-producer", "full-compaction"), ("write-only", "true")];
    let mut case = Case::new("k INT, v STRING", "k", &options).await;
    case.commit(&["+I(1,a)", "+I(2,a)"]).await;
    case.commit(&["+I(1,b)"]).await;
    assert_eq!(case.follow(&FIRST).await.unwrap(), Vec::<String>::new(), "nothing was compacted");
    assert_eq!(case.follow(&[]).await.unwrap(), Vec::<String>::new(), "what will be told is not read before");
    case.compact(true).await;
    case.commit(&["-D(2,a)", "+I(1,c)"]).await;
    case.compact(true).await;
    let told = ["+I(1,b)", "+I(2,a)", "-U(1,b)", "+U(1,c)", "-D(2,a)"];
    assert_eq!(case.follow(&FIRST).await.unwrap(), told);
    assert_eq!(case.follow(&[]).await.unwrap(), ["+I(1,c)"]);
}

#[tokio::test]
async fn tables_without_a_key_add_rows() {
    let mut case = Case::new("k INT, v STRING", "", &[("bucket", "-1")]).await;
    case.commit(&["+I(1,a)", "+I(2,b)"]).await;
    case.commit(&["+I(1,a)"]).await;
    case.compact(true).await;
    case.commit(&["+I(3,c)"]).await;
    assert_eq!(case.follow(&FIRST).await.unwrap(), ["+I(1,a)", "+I(2,b)", "+I(1,a)", "+I(3,c)"]);
    assert_eq!(case.followed(&[]).await, ["+I(1,a)", "+I(1,a)", "+I(2,b)", "+I(3,c)"]);
}

/// Rows of a bucket come in the order in which they were written.
#[tokio::test]
async fn the_order_of_a_bucket_is_kept() {
    let mut case = Case::new("k INT, v INT", "", &[("bucket", "1"), ("bucket-key", "k")]).await;
    let row = |i: i32| format!("+I({},{i})", i * 7 % 10);
    let mut expected = Vec::new();
    for commit in 0..5 {
        let rows: Vec<String> = (commit * 20..commit * 20 + 20).map(row).collect();
        case.commit(&rows.iter().map(String::as_str).collect::<Vec<_>>()).await;
        expected.extend(rows);
    }
    assert_eq!(case.follow(&FIRST).await.unwrap(), expected);
}

async fn overwrite(case: &Case, batch: &[&str]) {
    let mut writer = case.table.overwriter("o").unwrap();
    let (rows, kinds) = case.batch(batch);
    writer.write(&rows, Some(&kinds)).await.unwrap();
    let messages = writer.prepare_commit(true).await.unwrap();
    case.table.committer("o").overwrite(linn_core::commit::Overwrite::Table, Commit::batch(messages)).await.unwrap();
    writer.close().await.unwrap();
}

#[tokio::test]
async fn overwrites_are_told_when_asked_for() {
    for (options, silent, shown) in [
        (&[][..], vec!["+I(1,a)", "+I(2,a)"], vec!["+I(1,a)", "+I(2,a)", "-D(1,a)", "-D(2,a)", "+I(2,z)"]),
        (
            &[("deletion-vectors.enabled", "true")],
            vec!["+I(1,a)", "+I(2,a)"],
            vec!["+I(1,a)", "+I(2,a)", "-D(1,a)", "-D(2,a)", "+I(2,z)"],
        ),
    ] {
        let mut case = Case::new("k INT, v STRING", "k", options).await;
        case.commit(&["+I(1,a)", "+I(2,a)"]).await;
        overwrite(&case, &["+I(2,z)"]).await;
        assert_eq!(case.follow(&FIRST).await.unwrap(), silent);
        let with = [FIRST[0], ("streaming-read-overwrite", "true")];
        assert_eq!(case.follow(&with).await.unwrap(), shown);
    }
    let mut append = Case::new("k INT, v STRING", "", &[("bucket", "-1")]).await;
    append.commit(&["+I(1,a)"]).await;
    overwrite(&append, &["+I(2,z)"]).await;
    assert_eq!(append.follow(&FIRST).await.unwrap(), ["+I(1,a)"]);
    let with = [FIRST[0], ("streaming-read-append-overwrite", "true")];
    assert_eq!(append.follow(&with).await.unwrap(), ["+I(1,a)", "+I(2,z)"]);
}

fn greater(case: &Case, column: &str, than: i32) -> Predicate {
    Predicate::Compare { field_id: case.field(column).id, op: CompareOp::Gt, literal: Datum::Int(than) }
}

/// R9: a filter is applied to changes, never below them, so that a row that stops to match is taken back.
#[tokio::test]
async fn a_row_that_stops_to_match_is_taken_back() {
    for (producer, expected) in [
        ("lookup", vec!["+I(1,20)", "-U(1,20)", "+U(1,30)"]),
        ("none", vec!["+I(1,20)", "-D(2,5)", "-D(1,5)", "+I(1,30)", "-D(3,1)"]),
    ] {
        let mut case = Case::new("k INT, v INT", "k", &[("changelog-producer", producer)]).await;
        case.commit(&["+I(1,20)", "+I(2,5)"]).await;
        case.commit(&["+I(1,5)"]).await;
        case.commit(&["+I(1,30)", "+I(3,1)"]).await;
        let table = case.table.with_options(&FIRST.iter().copied().collect()).unwrap();
        let filter = Some(greater(&case, "v", 10));
        let mut stream = table.changes().filter(filter.clone()).until_now().open().await.unwrap();
        let mut found = Vec::new();
        while let Some(delivered) = next(&mut stream).await {
            found.extend(delivered.unwrap().0);
        }
        let expected: Vec<&str> = match producer {
            // The update to 5 takes the row back, the one to 30 brings it anew.
            "lookup" => vec!["+I(1,20)", "-U(1,20)", "+U(1,30)"],
            _ => expected,
        };
        assert_eq!(found, expected, "{producer}");
        // A filter on the key needs nothing to be taken back.
        let keys = table.changes().filter(Some(greater(&case, "k", 1))).until_now();
        let mut stream = keys.open().await.unwrap();
        let mut found = Vec::new();
        while let Some(delivered) = next(&mut stream).await {
            found.extend(delivered.unwrap().0);
        }
        assert_eq!(found, ["+I(2,5)", "+I(3,1)"], "{producer}");
    }
}

#[tokio::test]
async fn columns_and_sequence_numbers_are_chosen() {
    let mut case = Case::new("k INT, v STRING, w STRING", "k", &[]).await;
    case.commit(&["+I(1,a,x)", "+I(2,b,y)"]).await;
    case.commit(&["+I(1,c,z)"]).await;
    let builder = case.table.changes().fields(vec![case.field("w"), case.field("k")]).sequence_numbers();
    let mut stream = builder.position(Some(Position::at(SnapshotId(1)))).until_now().open().await.unwrap();
    let names: Vec<String> = stream.schema().fields().iter().map(|f| f.name().clone()).collect();
    assert_eq!(names, ["w", "k", "_SEQUENCE_NUMBER", "_VALUE_KIND"]);
    let mut found = Vec::new();
    while let Some(delivered) = next(&mut stream).await {
        found.extend(delivered.unwrap().0);
    }
    assert_eq!(found, ["+I(x,1,0)", "+I(y,2,1)", "+I(z,1,2)"]);
    let append = Case::new("k INT", "", &[("bucket", "-1")]).await;
    assert!(append.table.changes().sequence_numbers().open().await.is_err());
}

/// R6: rows that wait for a bucket are told once, when they were written; placing them is no change.
#[tokio::test]
async fn rows_that_wait_are_told_once_in_their_order() {
    let mut case = Case::new("k INT, v INT", "k", &[("bucket", "-2")]).await;
    let mut expected = Vec::new();
    for commit in 0..4 {
        let rows: Vec<String> = (0..6).map(|k| format!("+I({k},{})", commit * 10 + k)).collect();
        case.commit(&rows.iter().map(String::as_str).collect::<Vec<_>>()).await;
        expected.extend(rows);
        if commit == 1 {
            case.compact(true).await;
        }
    }
    assert_eq!(case.follow(&FIRST).await.unwrap(), expected);
    // A full start has what is placed, then what waits: it folds to the newest rows.
    let full = case.follow(&[]).await.unwrap();
    assert_eq!(full.len(), 6 + 12);
    assert_eq!(full[12..], expected[18..]);
    // With a changelog, placing them is what is told.
    let mut told = Case::new("k INT, v INT", "k", &[("bucket", "-2"), ("changelog-producer", "lookup")]).await;
    told.commit(&["+I(1,1)"]).await;
    assert_eq!(told.follow(&FIRST).await.unwrap(), Vec::<String>::new());
    told.compact(true).await;
    assert_eq!(told.follow(&FIRST).await.unwrap(), ["+I(1,1)"]);
}

#[tokio::test]
async fn a_watermark_and_a_delay_hold_a_stream_back() {
    let mut case = Case::new("k INT, v INT", "k", &[]).await;
    for (k, watermark) in [(1, Some(10)), (2, Some(20)), (3, Some(30))] {
        let mut writer = case.table.writer("w").unwrap();
        let (batch, kinds) = case.batch(&[&format!("+I({k},0)")]);
        writer.write(&batch, Some(&kinds)).await.unwrap();
        let messages = writer.prepare_commit(true).await.unwrap();
        let commit = Commit { watermark, ..Commit::streaming(i64::from(k), messages) };
        case.table.committer("w").commit(commit).await.unwrap();
        writer.close().await.unwrap();
    }
    let bounded = |bound: &'static str| [FIRST[0], ("scan.bounded.watermark", bound)];
    assert_eq!(case.follow(&bounded("20")).await.unwrap(), ["+I(1,0)", "+I(2,0)"]);
    assert_eq!(case.follow(&bounded("5")).await.unwrap(), Vec::<String>::new());
    // The end is an end for a stream that would wait, too.
    let table = case.table.with_options(&bounded("20").iter().copied().collect()).unwrap();
    let mut stream = table.changes().open().await.unwrap();
    let mut found = Vec::new();
    while let Some(delivered) = next(&mut stream).await {
        found.extend(delivered.unwrap().0);
    }
    assert_eq!(found, ["+I(1,0)", "+I(2,0)"]);
    // Rows of a snapshot behind the bound are delivered, its successors are not.
    assert_eq!(case.followed(&[("scan.bounded.watermark", "5")]).await.len(), 3);
    let held = [FIRST[0], ("streaming.read.snapshot.delay", "1 h")];
    assert_eq!(case.follow(&held).await.unwrap(), Vec::<String>::new());
    let latest = Snapshots::new(&case.table).latest_id().await.unwrap();
    assert_eq!(latest, Some(SnapshotId(3)));
    case.commit(&["+I(4,0)"]).await;
    let delivered = drain(&case.table, Some(Position::at(SnapshotId(4)))).await.unwrap();
    assert_eq!(rows(&delivered), ["+I(4,0)"]);
}
