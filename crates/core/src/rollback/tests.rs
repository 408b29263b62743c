//! Rollbacks of both kinds, what they keep, what they cost when they are cut short, and committers that go on afterwards.

use std::sync::Arc;

use linn_format::{ErrorKind, SnapshotId};

use super::RollbackTo;
use crate::commit::{Commit, CommitOutcome, Overwrite};
use crate::fixture::{added, env, memory, schema, table};
use crate::seam::Storage;
use crate::snapshot::Snapshots;
use crate::storage::{Faulty, Memory};
use crate::table::Table;
use crate::tag::{Retained, TagOf, Tags};

/// Snapshots 1 to `count`, each with a file of its own.
async fn with_commits(count: i64) -> (Arc<Memory>, Table) {
    let store = memory();
    let table = table(store.clone(), schema(false, false, &[("bucket", "-1")])).await;
    let committer = table.committer("u");
    for identifier in 1..=count {
        let name = format!("f{identifier}.parquet");
        committer.commit(Commit::streaming(identifier, vec![added(&[&name])])).await.unwrap();
    }
    (store, table)
}

async fn files(table: &Table) -> Vec<String> {
    let splits = table.scan().plan().await.unwrap().splits;
    let mut names: Vec<String> = splits.iter().flat_map(|s| s.files.iter().map(|f| f.file_name.clone())).collect();
    names.sort();
    names
}

async fn ids(table: &Table) -> Vec<i64> {
    Snapshots::new(table).list().await.unwrap().into_iter().map(|id| id.0).collect()
}

#[tokio::test]
async fn everything_later_goes() {
    let (store, table) = with_commits(5).await;
    for (name, id) in [("a", 2), ("b", 4)] {
        table.create_tag(name, TagOf::Id(SnapshotId(id)), Retained::Default).await.unwrap();
    }
    for id in 1..=4 {
        let snapshot = Snapshots::new(&table).get(SnapshotId(id)).await.unwrap();
        store_file(&store, &format!("changelog/changelog-{id}"), snapshot.to_json().unwrap()).await;
    }
    let to = RollbackTo::Snapshot(SnapshotId(2));
    let plan = table.plan_rollback(&to).await.unwrap();
    assert_eq!(plan.snapshots, [3, 4, 5].map(SnapshotId));
    assert_eq!(plan.changelogs, [3, 4].map(SnapshotId));
    assert_eq!(plan.tags, [(SnapshotId(4), "b".to_owned())]);
    assert_eq!(files(&table).await.len(), 5, "a plan does nothing");
    assert_eq!(table.rollback(&to).await.unwrap().id.0, 2);
    assert_eq!(ids(&table).await, [1, 2]);
    assert_eq!(files(&table).await, ["f1.parquet", "f2.parquet"]);
    assert_eq!(Tags::new(&table).list().await.unwrap(), ["a"]);
    let changelogs = crate::snapshot::numbered(&**table.storage(), &table.changelog_dir(), "changelog-").await.unwrap();
    assert_eq!(changelogs, [1, 2]);
    assert!(table.plan_rollback(&RollbackTo::Tag("b".into())).await.is_err());
    table.committer("v").commit(Commit::streaming(1, vec![added(&["g.parquet"])])).await.unwrap();
    assert_eq!(ids(&table).await, [1, 2, 3]);
}

async fn store_file(store: &Memory, path: &str, bytes: Vec<u8>) {
    store.put(&format!("db.db/t/{path}"), bytes.into()).await.unwrap();
}

#[tokio::test]
async fn times_and_watermarks_find_their_snapshot() {
    let store = memory();
    let table = table(store, schema(false, false, &[("bucket", "-1")])).await;
    for (identifier, watermark) in [(1, None), (2, Some(10)), (3, Some(20))] {
        let name = format!("f{identifier}.parquet");
        let commit = Commit { watermark, ..Commit::streaming(identifier, vec![added(&[&name])]) };
        table.committer("u").commit(commit).await.unwrap();
    }
    let error = table.rollback(&RollbackTo::Watermark(9)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(table.rollback(&RollbackTo::Time(0)).await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(table.rollback(&RollbackTo::Watermark(19)).await.unwrap().id.0, 2);
    assert_eq!(table.rollback(&RollbackTo::Time(i64::MAX)).await.unwrap().id.0, 2);
}

#[tokio::test]
async fn a_tag_brings_its_snapshot_back() {
    let (store, table) = with_commits(5).await;
    table.create_tag("t", TagOf::Id(SnapshotId(2)), Retained::Default).await.unwrap();
    let snapshots = Snapshots::new(&table);
    for id in 1..=3 {
        store.delete(&snapshots.path(SnapshotId(id))).await.unwrap();
    }
    snapshots.hint_earliest(SnapshotId(4)).await;
    for to in [RollbackTo::Tag("t".into()), RollbackTo::Snapshot(SnapshotId(2))] {
        assert_eq!(table.rollback(&to).await.unwrap().id.0, 2);
        assert_eq!(ids(&table).await, [2]);
        assert_eq!(Snapshots::new(&table).earliest_id().await.unwrap(), Some(SnapshotId(2)));
        assert_eq!(files(&table).await, ["f1.parquet", "f2.parquet"]);
    }
}

/// Case E10: what a committer knows of snapshots that were taken away does not hold for those that have their numbers.
#[tokio::test]
async fn a_committer_notices() {
    for others in [0, 1, 4] {
        let (_, table) = with_commits(2).await;
        let committer = table.committer("w");
        for identifier in 1..=2 {
            let name = format!("w{identifier}.parquet");
            committer.commit(Commit::streaming(identifier, vec![added(&[&name])])).await.unwrap();
        }
        table.rollback(&RollbackTo::Snapshot(SnapshotId(2))).await.unwrap();
        for i in 0..others {
            let name = format!("o{i}.parquet");
            table.committer("o").commit(Commit::streaming(i + 1, vec![added(&[&name])])).await.unwrap();
        }
        let outcome = committer.commit(Commit::streaming(2, vec![added(&["w2.parquet"])])).await.unwrap();
        assert_eq!(outcome, CommitOutcome::Committed(vec![SnapshotId(3 + others)]), "{others}");
        assert!(files(&table).await.contains(&"w2.parquet".to_owned()));
    }
}

/// Case E10.
#[tokio::test]
async fn the_old_content_comes_back_as_a_new_snapshot() {
    let (_, table) = with_commits(3).await;
    let target = Snapshots::new(&table).get(SnapshotId(2)).await.unwrap();
    let committer = table.committer("x");
    committer.overwrite(Overwrite::Table, Commit::batch(vec![added(&["x.parquet"])])).await.unwrap();
    assert_eq!(files(&table).await, ["x.parquet"]);
    let done = table.rollback_as_latest(&RollbackTo::Snapshot(SnapshotId(2))).await.unwrap();
    assert_eq!((done.previous.0, done.target.id.0, done.current.0), (4, 2, 5));
    assert_eq!(files(&table).await, ["f1.parquet", "f2.parquet"]);
    assert_eq!(ids(&table).await, [1, 2, 3, 4, 5]);
    let now = Snapshots::new(&table).latest().await.unwrap().unwrap();
    assert_eq!(now.total_record_count, target.total_record_count);
    assert_eq!(now.delta_record_count, Some(1));
    let tag = Tags::new(&table).get(&done.tag.unwrap()).await.unwrap();
    assert_eq!((tag.snapshot.id.0, tag.time_retained), (2, None));
    // Going on writes upon what came back.
    committer.commit(Commit::batch(vec![added(&["y.parquet"])])).await.unwrap();
    assert_eq!(files(&table).await, ["f1.parquet", "f2.parquet", "y.parquet"]);
    // The tag that is there may be deleted, so there is another one; one is enough.
    table.create_tag("t", TagOf::Id(SnapshotId(4)), Retained::Default).await.unwrap();
    let done = table.rollback_as_latest(&RollbackTo::Tag("t".into())).await.unwrap();
    assert!(done.tag.is_some());
    assert_eq!(files(&table).await, ["x.parquet"]);
    assert_eq!(table.rollback_as_latest(&RollbackTo::Snapshot(SnapshotId(4))).await.unwrap().tag, None);
    assert!(table.rollback_as_latest(&RollbackTo::Snapshot(SnapshotId(99))).await.is_err());
}

#[tokio::test]
async fn a_rollback_that_is_cut_short_leaves_a_table_and_is_done_by_doing_it_again() {
    let to = RollbackTo::Snapshot(SnapshotId(1));
    let mut cuts = 0;
    for (cut, applied) in (0..).flat_map(|cut| [(cut, false), (cut, true)]) {
        let (store, table) = with_commits(4).await;
        table.create_tag("t", TagOf::Id(SnapshotId(4)), Retained::Default).await.unwrap();
        let faulty = Faulty::new(store);
        faulty.stop_after(cut, applied);
        let broken = Table::new("db.t", "db.db/t", table.schema().clone(), env(Arc::new(faulty.clone()), 3));
        let _ = broken.rollback(&to).await;
        if !faulty.stopped() {
            break;
        }
        cuts += 1;
        let names = files(&table).await;
        assert!((1..=4).contains(&names.len()), "after {cut}: {names:?}");
        table.rollback(&to).await.unwrap();
        assert_eq!(files(&table).await, ["f1.parquet"], "after {cut}");
        assert!(Tags::new(&table).list().await.unwrap().is_empty());
    }
    assert!(cuts >= 8, "{cuts}");
}
