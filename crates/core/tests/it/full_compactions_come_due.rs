//! `full-compaction.delta-commits` counts the commits of all writers, also where each commits once and goes.

use crate::case::Case;

/// What each of some commits of new writers leaves: whether everything is at the highest level.
async fn after_commits(case: &mut Case, count: i32) -> Vec<bool> {
    let mut full = Vec::new();
    for i in 0..count {
        case.commit(&[&format!("+I({i},new)")]).await;
        full.push(case.levels().await.iter().all(|level| *level == 3));
    }
    full
}

fn options(changelog: &'static str) -> Vec<(&'static str, &'static str)> {
    vec![
        ("full-compaction.delta-commits", "4"),
        ("changelog-producer", changelog),
        ("num-sorted-run.compaction-trigger", "3"),
        // Nothing but the count starts a full compaction.
        ("compaction.max-size-amplification-percent", "1000000"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_partial_compactions_do_not_put_it_off() {
    for changelog in ["none", "full-compaction"] {
        let mut case = Case::new("k INT, v STRING", "k", &options(changelog)).await;
        let rows: Vec<String> =
            (0..5000).map(|k| format!("+I({k},{})", "some text that makes files large".repeat(3))).collect();
        case.commit(&rows.iter().map(String::as_str).collect::<Vec<_>>()).await;
        case.compact(true).await;
        let full = after_commits(&mut case, 11).await;
        let due: Vec<usize> = full.iter().enumerate().filter(|(_, full)| **full).map(|(i, _)| i + 1).collect();
        assert_eq!(due, [4, 8], "{changelog}");
    }
}

/// Where the last one was before all snapshots that are left, there is no telling how many commits followed it.
#[tokio::test(flavor = "multi_thread")]
async fn a_history_that_does_not_tell_counts_as_due() {
    let mut case = Case::new("k INT, v STRING", "k", &options("none")).await;
    case.commit(&["+I(1,a)"]).await;
    case.commit(&["+I(2,a)"]).await;
    let (store, path) = (case.table.storage(), case.table.path());
    store.delete(&format!("{path}/snapshot/snapshot-1")).await.unwrap();
    assert_eq!(after_commits(&mut case, 2).await, [true, false]);
}
