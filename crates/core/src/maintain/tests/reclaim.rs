//! What becomes free with a tag, or with snapshots that were rolled back.

use super::*;
use crate::rollback::RollbackTo;

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

/// Snapshot 2 is what is gone back to; later ones add, replace, tag, and bring old content back.
async fn to_go_back(options: &[(&str, &str)], through: impl FnOnce(Arc<Memory>) -> Arc<dyn Storage>) -> History {
    let mut h = History::over(options, through).await;
    h.commit_changelog(&["a", "x"], &["changelog-1"]).await;
    h.commit(&["b"], &["a"]).await;
    h.tag("stays", 2).await;
    h.compact(&["b", "x"], &["e"]).await;
    h.commit_changelog(&["d"], &["changelog-4"]).await;
    h.tag("goes", 4).await;
    h.commit(&[], &["d", "e"]).await;
    h.table.rollback_as_latest(&RollbackTo::Snapshot(SnapshotId(1))).await.unwrap();
    h
}

#[tokio::test]
async fn what_a_rollback_takes_away_takes_its_files_along() {
    let to = RollbackTo::Tag("stays".into());
    for decoupled in [&[][..], &[("changelog-producer", "input"), ("changelog.num-retained.max", "100")]] {
        // Snapshot 1 is there, has expired, or only its changelog is left.
        for expire in [false, true] {
            let h = to_go_back(decoupled, |store| store).await;
            if expire {
                let mut keep = keep("2").to_vec();
                keep.extend(decoupled);
                h.expire(&keep).await;
            }
            let plan = h.table.plan_rollback(&to).await.unwrap();
            let planned = h.table.rollback_frees(&plan).await.unwrap();
            let done = h.table.rollback_and_clean(&to).await.unwrap();
            assert_eq!((done.target.id.0, &done.removal, done.left), (2, &planned, 0));
            // The tag of the rollback in between is of snapshot 1, and stays.
            let mut there = vec!["a", "b", "x"];
            if !expire || !decoupled.is_empty() {
                there.insert(2, "changelog-1");
            }
            assert_eq!(h.data(), there, "{decoupled:?} {expire}");
            assert_eq!(h.check().await, Vec::<String>::new());
            let report = crate::invariants::check(&h.fresh(), crate::invariants::Depth::Metadata).await.unwrap();
            assert_eq!(report.findings, []);
        }
    }
}

#[tokio::test]
async fn a_rollback_with_its_files_that_dies_at_any_effect_loses_nothing() {
    let to = RollbackTo::Snapshot(SnapshotId(2));
    let mut cuts = 0;
    for (cut, applied) in (0..).flat_map(|cut| [(cut, false), (cut, true)]) {
        let mut seen = None;
        let through =
            |store: Arc<Memory>| Arc::new(seen.insert(crate::storage::Faulty::new(store)).clone()) as Arc<dyn Storage>;
        let h = to_go_back(&[], through).await;
        let faulty = seen.unwrap();
        faulty.stop_after(cut, applied);
        let _ = h.table.rollback_and_clean(&to).await;
        if !faulty.stopped() {
            break;
        }
        cuts += 1;
        h.check().await;
        assert_eq!(h.fresh().rollback_and_clean(&to).await.unwrap().target.id.0, 2, "after {cut}");
        assert_eq!(h.ids().await, [1, 2], "after {cut}");
        h.check().await;
    }
    assert!(cuts > 20, "{cuts}");
}

/// A branch begins with a snapshot that is taken away; what it has stays, and nothing goes when one comes meanwhile.
#[tokio::test]
async fn a_rollback_spares_what_branches_have() {
    let h = to_go_back(&[], |store| store).await;
    crate::branch::Branches::new(&h.table).create("b", Some("goes")).await.unwrap();
    h.table.rollback_and_clean(&RollbackTo::Snapshot(SnapshotId(2))).await.unwrap();
    assert_eq!(h.data(), ["a", "b", "changelog-1", "changelog-4", "d", "e", "x"]);
    let branch = crate::branch::Branches::new(&h.fresh()).table("b").await.unwrap();
    let latest = Snapshots::new(&branch).latest().await.unwrap().unwrap();
    assert_eq!(live(&branch, &latest).await.len(), 2);
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
    let to = RollbackTo::Snapshot(SnapshotId(1));
    let done = h.table.rollback_as_latest(&to).await.unwrap();
    h.commit(&["d"], &["x"]).await;
    h.expire(&keep("3")).await;
    let there = ["a", "c", "d", "x"].map(str::to_owned).to_vec();
    assert_eq!(h.data(), there);
    h.table.delete_tag(&done.tag.unwrap()).await.unwrap();
    assert_eq!((h.data(), h.check().await), (there, Vec::new()));
}

/// A changelog that outlives its snapshot keeps the lists of data only where new files are the changelog.
#[tokio::test]
async fn regress_a_tag_leaves_nothing_behind_where_changelogs_live_longer() {
    for producer in ["none", "input", "lookup"] {
        let decoupled = [("changelog-producer", producer), ("changelog.num-retained.max", "100")];
        let mut h = History::new(&decoupled).await;
        h.commit_changelog(&["a"], if producer == "input" { &["changelog-1"] } else { &[] }).await;
        h.compact(&["a"], &["e"]).await;
        h.tag("t", 2).await;
        h.commit(&["b"], &[]).await;
        h.compact(&["e", "b"], &["f"]).await;
        h.commit(&["c"], &[]).await;
        let mut options = keep("1").to_vec();
        options.extend(decoupled);
        h.expire(&options).await;
        assert!(h.data().contains(&"e".to_owned()), "{producer}");
        h.fresh().delete_tag("t").await.unwrap();
        let stays: &[&str] = match producer {
            // New files are what readers of changes are told.
            "none" => &["a", "b", "c", "f"],
            "input" => &["c", "changelog-1", "f"],
            _ => &["c", "f"],
        };
        assert_eq!(h.data(), stays, "{producer}");
        if producer != "none" {
            assert_eq!(h.check().await, Vec::<String>::new(), "{producer}");
        }
        // With the last changelogs goes what they kept.
        let table = h.fresh();
        let expiry = ChangelogExpiry::new(&table);
        let all = expiry.all().await.unwrap();
        expiry.run(&all).await.unwrap();
        assert_eq!(h.data(), ["c", "f"], "{producer}");
        assert_eq!(h.check().await, Vec::<String>::new(), "{producer}");
    }
}
