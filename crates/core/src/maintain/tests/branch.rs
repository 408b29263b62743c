//! What maintenance of a table makes of its branches: whole ones, those whose making was cut off, and those that come meanwhile.

use super::orphan::Racing;
use super::*;
use crate::branch::Branches;

const DAY: i64 = 24 * 60 * 60 * 1000;

/// A copy of a snapshot below a branch without a schema, as a making that was cut off leaves it.
async fn begin(h: &History, branch: &str, snapshot: &Snapshot) {
    let path = format!("db.db/t/branch/branch-{branch}/snapshot/snapshot-{}", snapshot.id);
    h.store.put(&path, snapshot.to_json().unwrap().into()).await.unwrap();
}

#[tokio::test]
async fn what_was_begun_keeps_what_is_there_and_stops_nobody() {
    // Manifests of the table forget what was removed.
    let mut h = History::new(&[("manifest.full-compaction-threshold-size", "1 b")]).await;
    h.commit(&["a"], &[]).await;
    let first = h.snapshot(1).await;
    begin(&h, "x", &first).await;
    let lost = |name: &str| format!("manifest-list-{name}-lost-0");
    let gone = Snapshot { base_manifest_list: lost("base"), delta_manifest_list: lost("delta"), ..(*first).clone() };
    begin(&h, "y", &Snapshot { index_manifest: Some("index-manifest-lost-0".to_owned()), ..gone }).await;
    h.commit(&["b"], &["a"]).await;
    h.commit(&["c"], &["b"]).await;
    h.tag("t", 3).await;
    h.commit(&["d"], &["c"]).await;
    assert_eq!(h.expire(&keep("1")).await.snapshots.len(), 3);
    assert_eq!(h.data(), ["a", "c", "d"]);
    h.table.delete_tag("t").await.unwrap();
    assert_eq!(h.data(), ["a", "d"]);
    h.clock.advance(2 * DAY);
    assert_eq!(remove_orphans(&h.fresh(), None).await.unwrap().removal.files(), 0);
    let branches = Branches::new(&h.table);
    branches.delete("x").await.unwrap();
    remove_orphans(&h.fresh(), None).await.unwrap();
    assert_eq!(h.data(), ["d"]);
    branches.delete("y").await.unwrap();
    assert_eq!((branches.list().await.unwrap(), h.check().await), (Vec::new(), Vec::new()));
}

/// What is whole and lacks something is broken, and nothing is deleted then.
#[tokio::test]
async fn what_was_made_must_be_there() {
    let mut h = History::new(&[]).await;
    h.commit(&["a"], &[]).await;
    h.tag("t", 1).await;
    Branches::new(&h.table).create("x", Some("t")).await.unwrap();
    h.commit(&["b"], &["a"]).await;
    let list = h.table.manifest_path(&h.snapshot(1).await.delta_manifest_list);
    h.store.delete(&list).await.unwrap();
    h.clock.advance(2 * DAY);
    let before = h.store.paths();
    assert!(remove_orphans(&h.fresh(), None).await.is_err());
    assert_eq!(h.store.paths(), before);
}

/// The changelog goes with the snapshot, so a branch that is made of its tag later begins without one.
#[tokio::test]
async fn a_changelog_that_went_before_the_branch_was_made_stops_nobody() {
    let mut h = History::new(&[("changelog-producer", "input")]).await;
    h.commit_changelog(&["a"], &["changelog-1"]).await;
    h.tag("t", 1).await;
    h.commit_changelog(&["b"], &["changelog-2"]).await;
    h.expire(&keep("1")).await;
    assert_eq!(h.data(), ["a", "b", "changelog-2"]);
    Branches::new(&h.table).create("x", Some("t")).await.unwrap();
    h.commit_changelog(&["c"], &["changelog-3"]).await;
    h.expire(&keep("1")).await;
    h.clock.advance(2 * DAY);
    remove_orphans(&h.fresh(), None).await.unwrap();
    h.table.delete_tag("t").await.unwrap();
    assert_eq!(h.data(), ["a", "b", "c", "changelog-3"]);
}

/// Expiry that died between a list of changes and its manifests, where a tag names the list still.
#[tokio::test]
async fn half_of_a_changelog_of_a_tag_stops_nobody() {
    let mut h = History::new(&[("changelog-producer", "input")]).await;
    h.commit_changelog(&["a"], &["changelog-1"]).await;
    h.tag("t", 1).await;
    h.commit_changelog(&["b"], &["changelog-2"]).await;
    let first = h.snapshot(1).await;
    let list = first.changelog_manifest_list.clone().unwrap();
    let manifest = Manifests::new(&h.table).read_list(&list).await.unwrap().remove(0).file_name;
    for path in [Snapshots::new(&h.table).path(SnapshotId(1)), h.table.manifest_path(&manifest)] {
        h.store.delete(&path).await.unwrap();
    }
    h.clock.advance(2 * DAY);
    remove_orphans(&h.fresh(), None).await.unwrap();
    assert_eq!(h.data(), ["a", "b", "changelog-2"]);
}

/// Somebody tags what is about to expire, makes a branch of it and removes the tag before expiry looks again.
#[tokio::test]
async fn a_branch_that_comes_while_its_snapshot_expires_is_whole() {
    let mut h = History::new(&[]).await;
    h.commit(&["a"], &[]).await;
    h.commit(&["b"], &["a"]).await;
    let brancher = tokio::sync::Mutex::new(Some(h.table.clone()));
    let racing = Arc::new(Racing { inner: h.store.clone(), other: tokio::sync::Mutex::default(), brancher });
    let env = crate::seam::Env { clock: h.clock.clone(), ..env(racing, 8) };
    let table = Table::new("db.t", "db.db/t", h.table.schema().clone(), env);
    SnapshotExpiry::new(&table).unwrap().run(SnapshotId(1), SnapshotId(2)).await.unwrap();
    assert_eq!((h.ids().await, h.data()), (vec![2], ["a", "b"].map(str::to_owned).to_vec()));
    let branch = Branches::new(&h.fresh()).table("x").await.unwrap();
    let snapshot = Snapshots::new(&branch).latest().await.unwrap().unwrap();
    assert_eq!(live(&branch, &snapshot).await.len(), 1);
}
