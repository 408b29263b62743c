//! A streaming writer goes on when another process compacts or deletes under it (cases: K5).

use linn_core::CommitOutcome;

use crate::case::Case;

const OPTIONS: [(&str, &str); 2] = [("num-sorted-run.compaction-trigger", "2"), ("num-levels", "3")];

#[tokio::test(flavor = "multi_thread")]
async fn regress_a_lost_compaction_is_dropped_and_the_writer_goes_on() {
    let mut case = Case::new("k INT, v STRING", "k", &OPTIONS).await;
    let mut other = case.with(&[("write-only", "true")]);
    let mut writer = case.table.writer("stream").unwrap();
    let outcome = case.write(&mut writer, &["+I(1,a)", "+I(2,a)", "+I(3,a)"]).await.unwrap();
    writer.settle(&outcome).await.unwrap();
    // Another job deletes with a write-only writer, and a third one compacts everything.
    other.commit(&["-D(2,a)"]).await;
    other.compact(true).await;
    assert_eq!(case.levels().await, [2]);
    // The writer still counts on its first file: its compaction loses, its rows do not.
    let mut lost = 0;
    for round in 0..4 {
        let row = format!("+I({},b{round})", 10 + round);
        let outcome = case.write(&mut writer, &[row.as_str(), "+U(3,c)"]).await.unwrap();
        lost += usize::from(matches!(outcome, CommitOutcome::CompactionLost { .. }));
        assert!(!matches!(outcome, CommitOutcome::Conflict(_)), "{outcome:?}");
        writer.settle(&outcome).await.unwrap();
    }
    assert_eq!(lost, 1, "one compaction is lost, the later ones see what the table holds");
    writer.close().await.unwrap();
    assert_eq!(case.rows().await, ["1,a", "10,b0", "11,b1", "12,b2", "13,b3", "3,c"]);
    assert!(case.levels().await.len() <= 3, "{:?}", case.levels().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_in_the_buffer_stay_when_the_table_is_looked_at_anew() {
    let mut case = Case::new("k INT, v STRING", "k", &OPTIONS).await;
    let mut other = case.with(&[("write-only", "true")]);
    let mut writer = case.table.writer("stream").unwrap();
    case.write(&mut writer, &["+I(1,a)"]).await.unwrap();
    let (batch, kinds) = case.batch(&["+I(1,buffered)", "+I(2,buffered)"]);
    writer.write(&batch, Some(&kinds)).await.unwrap();
    other.compact(true).await;
    writer.refresh().await.unwrap();
    let outcome = case.write(&mut writer, &["+I(3,c)"]).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
    assert_eq!(case.rows().await, ["1,buffered", "2,buffered", "3,c"]);
}
