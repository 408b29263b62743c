//! With `sequence.snapshot-ordering` the rows of the later commit stand, whoever wrote them and when (case S9).

use linn_format::ErrorKind;

use crate::case::{Case, schema};

const ORDERED: [(&str, &str); 2] = [("sequence.snapshot-ordering", "true"), ("write-only", "true")];

fn options(more: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    ORDERED.iter().chain(more).copied().collect()
}

/// Files above level 0, as (smallest, largest) sequence number.
async fn compacted(case: &Case) -> Vec<(i64, i64)> {
    let splits = case.table.scan().every_level().plan().await.unwrap().splits;
    let files = splits.iter().flat_map(|split| &split.files).filter(|file| file.level > 0);
    files.map(|file| (file.min_sequence_number, file.max_sequence_number)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_the_numbers_of_the_writers() {
    let mut case = Case::new("k INT, v INT", "k", &options(&[])).await;
    let mut other = case.with(&[]);
    // Both start on the empty table; the first to commit has counted far ahead.
    let (mut ahead, mut behind) = (case.table.writer("a").unwrap(), case.table.writer("b").unwrap());
    let many: Vec<String> = (0..100).map(|i| format!("+I(1,{i})")).collect();
    case.write(&mut ahead, &many.iter().map(String::as_str).collect::<Vec<_>>()).await.unwrap();
    assert_eq!(case.rows().await, ["1,99"]);
    other.write(&mut behind, &["+I(1,7)", "+I(2,7)"]).await.unwrap();
    assert_eq!(case.rows().await, ["1,7", "2,7"]);
    case.write(&mut ahead, &["+I(3,1)"]).await.unwrap();
    other.write(&mut behind, &["-D(2,7)"]).await.unwrap();
    assert_eq!(case.rows().await, ["1,7", "3,1"]);

    // Every row keeps the snapshot that it came with, which is not the compaction's.
    case.compact(true).await;
    assert_eq!(case.rows().await, ["1,7", "3,1"]);
    assert_eq!(compacted(&case).await, [(2, 3)]);

    other.write(&mut behind, &["+I(1,8)", "+I(2,8)"]).await.unwrap();
    case.write(&mut ahead, &["+I(1,9)"]).await.unwrap();
    assert_eq!(case.rows().await, ["1,9", "2,8", "3,1"]);
    case.compact(true).await;
    assert_eq!(case.rows().await, ["1,9", "2,8", "3,1"]);
    assert_eq!(compacted(&case).await, [(3, 7)]);
}

/// A file that only changes its level is still one of a writer, and holds the writer's numbers.
#[tokio::test(flavor = "multi_thread")]
async fn files_that_move_up_stay_in_order() {
    let mut case = Case::new("k INT, v INT", "k", &options(&[])).await;
    let many: Vec<String> = (0..50).map(|i| format!("+I(1,{i})")).collect();
    case.commit(&many.iter().map(String::as_str).collect::<Vec<_>>()).await;
    case.compact(true).await;
    case.commit(&["+I(1,1)"]).await;
    assert_eq!(case.rows().await, ["1,1"]);
    case.compact(true).await;
    assert_eq!(case.rows().await, ["1,1"]);
    assert_eq!(compacted(&case).await, [(3, 3)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn with_every_engine() {
    let check = |more: &'static [(&'static str, &'static str)], expected: &'static str| async move {
        let mut case = Case::new("k INT, v INT, w INT", "k", &options(more)).await;
        let mut ahead = case.table.writer("a").unwrap();
        let mut behind = case.table.writer("b").unwrap();
        let first = ["+I(9,0,0)", "+I(9,0,0)", "+I(1,1,1)"];
        case.write(&mut ahead, &first).await.unwrap();
        let mut other = case.with(&[]);
        other.write(&mut behind, &["+I(1,2,NULL)"]).await.unwrap();
        let expected = [expected, "9,0,0"];
        assert_eq!(case.rows().await, expected, "{more:?}");
        case.compact(true).await;
        assert_eq!(case.rows().await, expected, "{more:?}");
    };
    check(&[], "1,2,NULL").await;
    check(&[("merge-engine", "partial-update")], "1,2,1").await;
    let last = [("merge-engine", "aggregation"), ("fields.default-aggregate-function", "last_value")];
    check(Box::leak(Box::new(last)), "1,2,NULL").await;
    check(&[("deletion-vectors.enabled", "true"), ("deletion-vectors.merge-on-read", "true")], "1,2,NULL").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_orders_what_has_no_snapshot_yet() {
    let case = Case::new("k INT, v INT", "k", &options(&[])).await;
    let compacting = case.with(&[("write-only", "false")]);
    let error = compacting.table.writer("a").map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.hint().is_some_and(|hint| hint.contains("job of its own")), "{error}");
    let refused = |more: &[(&'static str, &'static str)], columns: &str, keys: &str| {
        schema(columns, keys, &options(more)).unwrap_err().to_string()
    };
    assert!(refused(&[("bucket", "-2")], "k INT, v INT", "k").contains("postponed"));
    assert!(refused(&[("sequence.field", "v")], "k INT, v INT", "k").contains("exclude each other"));
    assert!(refused(&[("write-only", "false")], "k INT, v INT", "k").contains("write-only"));
    assert!(refused(&[("bucket", "-1")], "k INT, v INT", "").contains("primary key"));
}
