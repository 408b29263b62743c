//! Levels above 0 stay disjoint, however many files of a bucket a change has nothing to do with.

use super::*;

async fn keyed_table() -> Table {
    table(memory(), schema(false, true, &[("bucket", "2"), ("write-only", "true")])).await
}

/// Twenty files of ten keys each on level 3.
async fn levelled() -> Table {
    let table = keyed_table().await;
    let new: Vec<(String, (i32, i32))> = (0..20).map(|n| (format!("old{n}"), (n * 10, n * 10 + 9))).collect();
    let after: Vec<_> = new.iter().map(|(name, keys)| (name.as_str(), 3, *keys)).collect();
    let made = table.committer("old").commit(Commit::streaming(1, vec![compaction(&[], &after)])).await.unwrap();
    assert!(matches!(made, CommitOutcome::Committed(_)), "{made:?}");
    table
}

async fn outcome(
    table: &Table,
    before: &[(&str, i32, (i32, i32))],
    after: &[(&str, i32, (i32, i32))],
) -> std::result::Result<usize, String> {
    let commit = Commit::streaming(7, vec![compaction(before, after)]);
    match table.committer("new").commit(commit).await.unwrap() {
        CommitOutcome::Committed(_) => Ok(live(table).await.len()),
        CommitOutcome::CompactionLost { why, .. } => Err(why),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_overlaps_a_file_that_stays_conflicts() {
    for keys in [(55, 56), (0, 0), (199, 300), (-5, 400), (49, 50)] {
        let why = outcome(&levelled().await, &[], &[("new", 3, keys)]).await.unwrap_err();
        assert!(why.contains("overlapping keys"), "{why}");
    }
    let twice = outcome(&levelled().await, &[], &[("new", 2, (1, 5)), ("more", 2, (5, 9))]).await.unwrap_err();
    assert!(twice.contains("overlapping keys"), "{twice}");
}

#[tokio::test]
async fn what_overlaps_only_what_goes_or_other_levels_fits() {
    let gone = [("old5", 3, (50, 59)), ("old6", 3, (60, 69))];
    assert_eq!(outcome(&levelled().await, &gone, &[("new", 3, (50, 69))]).await, Ok(19));
    assert_eq!(outcome(&levelled().await, &[], &[("new", 2, (50, 69))]).await, Ok(21));
    assert_eq!(outcome(&levelled().await, &[], &[("new", 3, (200, 210)), ("more", 3, (-9, -1))]).await, Ok(22));
    let over = outcome(&levelled().await, &gone, &[("new", 3, (50, 70))]).await.unwrap_err();
    assert!(over.contains("overlapping keys"), "{over}");
}

#[tokio::test]
async fn what_is_not_there_cannot_go_and_what_is_there_not_come() {
    let there = outcome(&levelled().await, &[], &[("old5", 3, (50, 59))]).await.unwrap_err();
    assert!(there.contains("in the table already"), "{there}");
    for gone in [("old20", 3, (500, 509)), ("old5", 2, (50, 59))] {
        let why = outcome(&levelled().await, &[gone], &[]).await.unwrap_err();
        assert!(why.contains("not in the table any more"), "{why}");
    }
    // A file that was removed and came again is there.
    let table = levelled().await;
    let old = [("old5", 3, (50, 59))];
    for (n, (before, after)) in [(&old[..], &[][..]), (&[], &old)].into_iter().enumerate() {
        let commit = Commit::streaming(n as i64, vec![compaction(before, after)]);
        table.committer("again").commit(commit).await.unwrap();
    }
    assert!(outcome(&table, &[], &[("new", 3, (55, 55))]).await.is_err());
    assert_eq!(outcome(&table, &old, &[("new", 3, (55, 55))]).await, Ok(20));
}
