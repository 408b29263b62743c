//! Tables of merge engine first-row (cases: M16, K2).

use crate::case::Case;

const FIRST_ROW: (&str, &str) = ("merge-engine", "first-row");

#[tokio::test(flavor = "multi_thread")]
async fn regress_merging_before_rows_are_spread_keeps_the_first() {
    let mut case = Case::new("k INT, v STRING", "k", &[FIRST_ROW, ("local-merge-buffer-size", "64 mb")]).await;
    case.commit(&["+I(1,a)", "+I(1,b)"]).await;
    case.compact(true).await;
    assert_eq!(case.rows().await, ["1,a"]);
    case.commit(&["+I(1,c)"]).await;
    case.compact(true).await;
    assert_eq!(case.rows().await, ["1,a"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_a_minor_compaction_sees_level_0() {
    let mut case = Case::new("k INT, v STRING", "k", &[FIRST_ROW, ("write-only", "true")]).await;
    case.commit(&["+I(1,a)", "+I(2,a)"]).await;
    case.commit(&["+I(2,b)", "+I(3,b)"]).await;
    assert!(case.rows().await.is_empty(), "level 0 is not read");
    assert_eq!(case.compact(false).await, 1);
    assert!(case.levels().await.iter().all(|level| *level > 0));
    assert_eq!(case.rows().await, ["1,a", "2,a", "3,b"]);
    assert_eq!(case.compact(false).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn deletes_are_left_out_when_asked() {
    let mut case = Case::new("k INT, v STRING", "k", &[FIRST_ROW, ("ignore-delete", "true")]).await;
    case.commit(&["+I(1,a)", "+I(2,a)", "-D(1,a)"]).await;
    case.commit(&["-D(2,a)"]).await;
    case.compact(true).await;
    assert_eq!(case.rows().await, ["1,a", "2,a"]);
}

/// Rows as they were written would tell later rows of keys that are known.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_changelog_it_is_not_followed() {
    let sum = [("merge-engine", "aggregation"), ("fields.v.aggregate-function", "max")];
    for options in [&[FIRST_ROW][..], &[("merge-engine", "partial-update")], &sum] {
        let mut case = Case::new("k INT, v STRING", "k", options).await;
        case.commit(&["+I(1,a)"]).await;
        let e = case.follow(&[]).await.unwrap_err();
        assert_eq!(e.kind(), linn_format::ErrorKind::Invalid);
        assert!(e.hint().unwrap().contains("changelog-producer to lookup"), "{e:?}");
    }
    let mut told = Case::new("k INT, v STRING", "k", &[FIRST_ROW, ("changelog-producer", "lookup")]).await;
    told.commit(&["+I(1,a)"]).await;
    told.commit(&["+I(1,b)", "+I(2,b)"]).await;
    assert_eq!(told.follow(&[("scan.snapshot-id", "1")]).await.unwrap(), ["+I(1,a)", "+I(2,b)"]);
}
