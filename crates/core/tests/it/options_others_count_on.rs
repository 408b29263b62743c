//! Options that decide what others find in a table: those that writers cannot follow are refused, the rest is there.

use linn_core::{Commit, Snapshots};
use linn_format::ErrorKind;
use linn_format::options::{Effect, OPTIONS, OptionKind};

use crate::case::Case;

#[tokio::test(flavor = "multi_thread")]
async fn tables_that_ask_for_more_are_read_and_not_written() {
    for columns in [("k INT, v INT", "k"), ("k INT, v INT", "")] {
        let mut case = Case::new(columns.0, columns.1, &[("bucket-key", "k")]).await;
        case.commit(&["+I(1,1)"]).await;
        for def in OPTIONS.iter().filter(|def| def.effect() == Effect::Refused && !def.immutable) {
            let value = match def.kind {
                OptionKind::Bool => "true",
                OptionKind::Choice(words) => words.iter().find(|word| def.default != Some(*word)).unwrap(),
                _ => "v",
            };
            let other = case.with(&[(def.key, value)]);
            let refusals = [
                other.table.writer("a").map(drop).unwrap_err(),
                other.table.overwriter("a").map(drop).unwrap_err(),
                other.table.batch_writer("a").await.map(drop).unwrap_err(),
                other.table.compact(None, true).await.map(drop).unwrap_err(),
                other.table.committer("a").truncate(7).await.map(drop).unwrap_err(),
            ];
            for error in refusals {
                assert!(error.kind() == ErrorKind::Unsupported && error.message().contains(def.key), "{error}");
            }
            assert_eq!(other.rows().await, ["1,1"], "{}", def.key);
        }
    }
}

async fn carried(case: &Case) -> Option<String> {
    let latest = Snapshots::new(&case.table).latest().await.unwrap().unwrap();
    latest.properties.as_ref().and_then(|p| p.get("sequence.generation.max-sequence-number")).cloned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_largest_sequence_number_is_carried() {
    let mut case = Case::new("k INT, v INT", "k", &[("write-only", "true")]).await;
    case.commit(&["+I(1,1)", "+I(2,2)", "+I(3,3)"]).await;
    assert_eq!(carried(&case).await, None);
    // The table begins to carry it: what was there counts.
    let mut carrying = case.with(&[("write.sequence-number-init-mode", "snapshot")]);
    carrying.table.committer("t").truncate(1).await.unwrap();
    assert_eq!(carried(&carrying).await.as_deref(), Some("2"));
    // Numbers begin anew where nothing is left, but not for those who look at the snapshot.
    carrying.commit(&["+I(4,4)", "+I(5,5)"]).await;
    assert_eq!(carried(&carrying).await.as_deref(), Some("2"));
    carrying.commit(&["+I(6,6)", "+I(7,7)"]).await;
    assert_eq!(carried(&carrying).await.as_deref(), Some("3"));
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_commits_are_kept_when_asked_for() {
    let case = Case::new("k INT, v INT", "k", &[]).await;
    for (value, snapshots) in [("true", 0), ("false", 1)] {
        let table = case.with(&[("snapshot.ignore-empty-commit", value)]).table;
        table.committer("a").commit(Commit::batch(Vec::new())).await.unwrap();
        assert_eq!(Snapshots::new(&table).list().await.unwrap().len(), snapshots, "{value}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn users_have_the_prefix() {
    let case = Case::new("k INT, v INT", "k", &[]).await;
    let prefixed = case.with(&[("commit.user-prefix", "nightly")]).table;
    assert!(prefixed.new_user().starts_with("nightly_"));
    assert_ne!(prefixed.new_user(), prefixed.new_user());
    assert!(!case.table.new_user().contains('_'));
}

#[tokio::test(flavor = "multi_thread")]
async fn removed_files_need_no_statistics() {
    let mut case = Case::new("k INT, v INT", "k", &[("manifest.delete-file-drop-stats", "true")]).await;
    case.commit(&["+I(1,1)"]).await;
    case.commit(&["+I(1,2)"]).await;
    case.compact(true).await;
    assert_eq!(case.rows().await, ["1,2"]);
    let latest = Snapshots::new(&case.table).latest().await.unwrap().unwrap();
    let manifests = linn_core::manifest::Manifests::new(&case.table);
    let mut columns = Vec::new();
    for manifest in manifests.of_delta(&latest).await.unwrap() {
        let all = linn_format::manifest::StatsColumns::All;
        let batch = manifests.read_manifest(&manifest.file_name, all).await.unwrap();
        columns.extend((0..batch.len()).map(|i| {
            let file = batch.file(i).unwrap();
            (batch.kind(i) == linn_format::manifest::FileKind::Add, file.value_stats.null_counts.len())
        }));
    }
    columns.sort_unstable();
    assert_eq!(columns, [(false, 0), (false, 0), (true, 2)]);
}
