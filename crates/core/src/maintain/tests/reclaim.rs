//! What becomes free with a tag, or with snapshots that were rolled back.

use super::*;

#[tokio::test]
async fn a_tag_frees_what_its_neighbours_lack() {
    let mut h = History::new(&[]).await;
    h.commit(&["a", "x"], &[]).await;
    h.tag("one", 1).await;
    h.commit(&["b"], &["a"]).await;
    h.tag("two", 2).await;
    h.commit(&["c"], &["b"]).await;
    h.commit(&["d"], &["c", "x"]).await;
    h.expire(&keep("1")).await;
    assert_eq!(h.data(), ["a", "b", "d", "x"]);
    let tags = Tags::new(&h.table);
    let (one, two) = (tags.get("one").await.unwrap().snapshot, tags.get("two").await.unwrap().snapshot);
    let kept = [Arc::new(one), h.snapshot(4).await];
    let removal = reclaim(&h.table, &[Arc::new(two)], &kept, Share::All).await.unwrap();
    h.store.delete("db.db/t/tag/tag-two").await.unwrap();
    assert_eq!(removal.sweep(&h.table).await, 0);
    assert_eq!(h.data(), ["a", "d", "x"]);
    assert_eq!(h.check().await, Vec::<String>::new());
}

#[tokio::test]
async fn snapshots_that_were_rolled_back_free_what_they_added() {
    let mut h = History::new(&[("changelog-producer", "input")]).await;
    h.commit_changelog(&["a"], &["changelog-1"]).await;
    h.commit_changelog(&["b"], &["changelog-2"]).await;
    h.tag("t", 2).await;
    h.compact(&["a"], &["e"]).await;
    h.commit(&["d"], &[]).await;
    let gone = [h.snapshot(4).await, h.snapshot(3).await, h.snapshot(2).await];
    let tag = Arc::new(Tags::new(&h.table).get("t").await.unwrap().snapshot);
    let removal = reclaim(&h.table, &gone, &[h.snapshot(1).await, tag], Share::Added).await.unwrap();
    for id in [4, 3, 2] {
        h.store.delete(&Snapshots::new(&h.table).path(SnapshotId(id))).await.unwrap();
    }
    assert_eq!(removal.sweep(&h.table).await, 0);
    assert_eq!(h.data(), ["a", "b", "changelog-1"]);
    assert_eq!(h.check().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_deleted_tag_takes_its_files_along() {
    let mut h = History::new(&[]).await;
    h.commit(&["a", "x"], &[]).await;
    h.tag("one", 1).await;
    h.tag("same", 1).await;
    h.commit(&["b"], &["a"]).await;
    h.commit(&["c"], &["b", "x"]).await;
    h.table.delete_tag("same").await.unwrap();
    assert_eq!(h.data(), ["a", "b", "c", "x"]);
    h.expire(&keep("1")).await;
    assert_eq!(h.data(), ["a", "c", "x"]);
    h.table.delete_tag("one").await.unwrap();
    assert_eq!((h.data(), h.check().await), (vec!["c".to_owned()], Vec::new()));
}

/// Case E10: content that came back belongs to snapshots that are no neighbours of the tag.
#[tokio::test]
async fn what_was_brought_back_is_kept() {
    let mut h = History::new(&[]).await;
    h.commit(&["a", "x"], &[]).await;
    h.commit(&["b"], &["a"]).await;
    h.commit(&["c"], &["b", "x"]).await;
    let to = crate::rollback::RollbackTo::Snapshot(SnapshotId(1));
    let done = h.table.rollback_as_latest(&to).await.unwrap();
    h.commit(&["d"], &["x"]).await;
    h.expire(&keep("3")).await;
    let there = ["a", "c", "d", "x"].map(str::to_owned).to_vec();
    assert_eq!(h.data(), there);
    h.table.delete_tag(&done.tag.unwrap()).await.unwrap();
    assert_eq!((h.data(), h.check().await), (there, Vec::new()));
}
