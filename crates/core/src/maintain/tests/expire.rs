//! Which snapshots expire, and what goes with them.

use super::*;
use crate::stream::Consumers;

#[tokio::test]
async fn files_go_with_the_last_snapshot_that_has_them() {
    let mut h = History::new(&[]).await;
    h.commit(&["a"], &[]).await;
    h.commit(&["b"], &["a"]).await;
    h.commit(&["c"], &[]).await;
    h.compact(&["b", "c"], &["d"]).await;
    let done = h.expire(&keep("3")).await;
    assert_eq!((done.snapshots, h.data()), (vec![SnapshotId(1)], ["b", "c", "d"].map(str::to_owned).to_vec()));
    assert_eq!(h.expire(&keep("1")).await.snapshots, [SnapshotId(2), SnapshotId(3)]);
    assert_eq!((h.ids().await, h.data()), (vec![4], vec!["d".to_owned()]));
    assert_eq!(h.check().await, Vec::<String>::new());
    assert_eq!(h.expire(&keep("1")).await, Expired::default());
}

#[tokio::test]
async fn a_file_that_changes_its_level_or_comes_back_stays() {
    let mut h = History::new(&[]).await;
    h.commit(&["a", "b"], &[]).await;
    h.compact(&["a"], &["a"]).await;
    h.commit(&[], &["b"]).await;
    h.commit(&["b"], &[]).await;
    h.commit(&["c"], &[]).await;
    h.expire(&keep("1")).await;
    assert_eq!(h.data(), ["a", "b", "c"]);
    assert_eq!(h.check().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_snapshot_stays_until_its_successor_is_old() {
    let mut h = History::new(&[]).await;
    for name in ["a", "b", "c", "d"] {
        h.commit(&[name], &[]).await;
    }
    let options = |time| [("snapshot.num-retained.min", "1"), ("snapshot.time-retained", time)];
    // Snapshots are 3, 2, 1 and 0 seconds old.
    assert_eq!(h.expire(&options("3 s")).await.snapshots, []);
    assert_eq!(h.expire(&options("2 s")).await.snapshots, []);
    assert_eq!(h.expire(&options("1999 ms")).await.snapshots, [SnapshotId(1)]);
    assert_eq!(h.expire(&options("1 ms")).await.snapshots, [SnapshotId(2)]);
    assert_eq!(h.ids().await, [3, 4]);
}

#[tokio::test]
async fn tags_keep_their_files() {
    let mut h = History::new(&[]).await;
    h.commit(&["a"], &[]).await;
    h.commit(&["b"], &["a"]).await;
    h.commit(&["c"], &["b"]).await;
    h.tag("t", 2).await;
    h.commit(&["d"], &["c"]).await;
    h.expire(&keep("1")).await;
    assert_eq!(h.data(), ["b", "d"]);
    assert_eq!(h.check().await, Vec::<String>::new());
    // Also when the tag is before everything that expires.
    h.commit(&["e"], &["d"]).await;
    h.commit(&["f"], &["e"]).await;
    h.expire(&keep("1")).await;
    assert_eq!(h.data(), ["b", "f"]);
    assert_eq!(h.check().await, Vec::<String>::new());
}

#[tokio::test]
async fn consumers_hold_what_they_have_yet_to_read() {
    let mut h = History::new(&[]).await;
    for name in ["a", "b", "c", "d"] {
        h.commit(&[name], &[]).await;
    }
    let consumer = |id: &str, next: i64| {
        let bytes = linn_format::snapshot::Consumer { next_snapshot: SnapshotId(next) }.to_json().unwrap();
        let (store, path) = (h.store.clone(), format!("{}/consumer-{id}", h.table.consumer_dir()));
        async move { store.put(&path, bytes.into()).await.unwrap() }
    };
    consumer("x", 3).await;
    consumer("y", 2).await;
    assert_eq!(h.expire(&keep("1")).await.snapshots, [SnapshotId(1)]);
    let free = [&keep("1")[..], &[("consumer.changelog-only", "true")]].concat();
    assert_eq!(h.expire(&free).await.snapshots, [SnapshotId(2), SnapshotId(3)]);
    let consumers = Consumers::new(&h.table);
    assert_eq!(consumers.names().await.unwrap(), ["x", "y"]);
    h.clock.advance(5000);
    let stale = consumers.idle(std::time::Duration::from_secs(3600)).await.unwrap();
    assert_eq!(stale, Vec::<String>::new());
    assert!(consumers.delete("x").await.unwrap());
    assert_eq!(consumers.smallest_next().await.unwrap(), Some(SnapshotId(2)));
}

#[tokio::test]
async fn a_gap_stops_nothing() {
    let mut h = History::new(&[]).await;
    for name in ["a", "b", "c", "d", "e", "f"] {
        h.commit(&[name], &[]).await;
    }
    for id in [2, 3, 5] {
        h.store.delete(&Snapshots::new(&h.table).path(SnapshotId(id))).await.unwrap();
    }
    let limited = [&keep("1")[..], &[("snapshot.expire.limit", "1")]].concat();
    assert_eq!(h.expire(&limited).await.snapshots, [SnapshotId(1)]);
    assert_eq!(h.expire(&limited).await.snapshots, [SnapshotId(4)]);
    assert_eq!(h.ids().await, [6]);
}

#[tokio::test]
async fn metadata_that_is_gone_already_stops_nothing() {
    let mut h = History::new(&[]).await;
    h.commit(&["a"], &[]).await;
    h.commit(&["b"], &["a"]).await;
    h.commit(&["c"], &["b"]).await;
    let second = h.snapshot(2).await;
    h.store.delete(&h.table.manifest_path(&second.delta_manifest_list)).await.unwrap();
    let table = h.fresh();
    let expiry = SnapshotExpiry::new(&table).unwrap();
    expiry.run(SnapshotId(1), SnapshotId(3)).await.unwrap();
    // What the lost change removed is not known any more; that is for orphan cleaning.
    assert_eq!((h.ids().await, h.data()), (vec![3], ["a", "c"].map(str::to_owned).to_vec()));
}

#[tokio::test]
async fn what_stays_but_cannot_be_read_stops_everything() {
    let mut h = History::new(&[]).await;
    h.commit(&["a"], &[]).await;
    h.tag("t", 1).await;
    h.commit(&["b"], &["a"]).await;
    h.commit(&["c"], &["b"]).await;
    let tagged = h.snapshot(1).await;
    h.store.put(&h.table.manifest_path(&tagged.delta_manifest_list), "x".into()).await.unwrap();
    let fresh = h.fresh();
    let before = h.store.paths();
    let expiry = SnapshotExpiry::new(&fresh).unwrap();
    let error = expiry.run(SnapshotId(1), SnapshotId(3)).await.unwrap_err();
    assert_eq!(error.kind(), linn_format::ErrorKind::Corrupt);
    assert_eq!(h.store.paths(), before);
}

#[tokio::test]
async fn changelogs_outlive_their_snapshots_where_asked_for() {
    let decoupled = [("changelog-producer", "input"), ("changelog.num-retained.max", "100")];
    let mut h = History::new(&decoupled).await;
    h.commit_changelog(&["a"], &["changelog-1"]).await;
    h.commit_changelog(&["b"], &["changelog-2"]).await;
    h.commit(&["c"], &["a", "b"]).await;
    let done = h.expire(&keep("1")).await;
    assert_eq!(done.changelogs, [SnapshotId(1), SnapshotId(2)]);
    assert_eq!(h.data(), ["c", "changelog-1", "changelog-2"]);
    assert_eq!(h.check().await, Vec::<String>::new());
    let kept = Changelogs::new(&h.table).find(SnapshotId(2)).await.unwrap().unwrap();
    assert!(kept.changelog_manifest_list.is_some());
}

#[tokio::test]
async fn without_a_producer_new_files_are_the_changelog() {
    let mut h = History::new(&[("changelog.num-retained.max", "100")]).await;
    h.commit(&["a"], &[]).await;
    let second = h.compact(&["a"], &["b"]).await;
    h.compact(&["b"], &["c"]).await;
    h.expire(&keep("1")).await;
    assert_eq!(h.data(), ["a", "c"]);
    let kept = Changelogs::new(&h.table).find(second).await.unwrap().unwrap();
    assert_eq!(Manifests::new(&h.table).read_list(&kept.delta_manifest_list).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_branch_keeps_what_it_shares() {
    let mut h = History::new(&[]).await;
    h.commit(&["a"], &[]).await;
    h.commit(&["b"], &[]).await;
    // A branch is a copy of metadata below the table.
    for name in ["snapshot/snapshot-2", "schema/schema-0"] {
        let bytes = h.store.read(&format!("db.db/t/{name}"), None).await.unwrap();
        h.store.put(&format!("db.db/t/branch/branch-x/{name}"), bytes).await.unwrap();
    }
    h.commit(&["c"], &["a"]).await;
    h.expire(&keep("1")).await;
    assert_eq!(h.data(), ["a", "b", "c"]);
    let branch = h.table.with_options(&[("branch", "x")].into_iter().collect()).unwrap();
    let snapshot = Snapshots::new(&branch).latest().await.unwrap().unwrap();
    assert_eq!(live(&branch, &snapshot).await.len(), 2);
}

#[tokio::test]
async fn parts_add_up() {
    let mut h = History::new(&[]).await;
    h.commit(&["f0"], &[]).await;
    for i in 1..1040 {
        h.commit(&[&format!("f{i}")], &[&format!("f{}", i - 1)]).await;
    }
    let all = [&keep("1")[..], &[("snapshot.expire.limit", "10000")]].concat();
    let done = h.expire(&all).await;
    assert_eq!((done.snapshots.len(), h.data()), (1039, vec!["f1039".to_owned()]));
    assert_eq!(h.check().await, Vec::<String>::new());
}
