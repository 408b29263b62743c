//! Expiry that dies at any effect: nothing that is reachable is missing, the next run goes on (spec: reliability.md H7, H9).

use super::*;
use crate::storage::{Fault, Faulty, Op};

async fn history() -> (History, Faulty) {
    let mut seen = None;
    let mut h = History::over(&[], |store| Arc::new(seen.insert(Faulty::new(store)).clone())).await;
    let faulty = seen.unwrap();
    h.commit(&["a"], &[]).await;
    h.commit(&["b"], &["a"]).await;
    h.tag("t", 2).await;
    h.commit(&["c"], &["b"]).await;
    h.commit(&["d"], &["c"]).await;
    h.commit(&["e"], &["d"]).await;
    (h, faulty)
}

#[tokio::test]
async fn a_crash_at_any_effect_loses_nothing() {
    let mut effects = 0;
    loop {
        let mut stopped = false;
        for applied in [false, true] {
            let (h, faulty) = history().await;
            let table = h.table.with_options(&keep("1").into_iter().collect()).unwrap();
            faulty.stop_after(effects, applied);
            let expiry = SnapshotExpiry::new(&table).unwrap();
            let _ = expiry.run(SnapshotId(1), SnapshotId(5)).await;
            stopped |= faulty.stopped();
            h.check().await;
            // A reader that starts at the earliest finds all of it.
            let after = h.fresh();
            let earliest = Snapshots::new(&after).earliest().await.unwrap().unwrap();
            assert!(!live(&after, &earliest).await.is_empty());
            let expiry = SnapshotExpiry::new(&after).unwrap();
            if let Some((begin, end)) = expiry.range(&Retention::of_snapshots(&table).unwrap()).await.unwrap() {
                expiry.run(begin, end).await.unwrap();
            }
            assert_eq!(h.ids().await, [5], "after {effects} effects, applied {applied}");
            h.check().await;
            assert!(["b", "e"].iter().all(|name| h.data().contains(&(*name).to_owned())));
        }
        effects += 1;
        if !stopped {
            break;
        }
    }
    assert!(effects > 10, "an expiry has more effects than {effects}");
}

#[tokio::test]
async fn the_data_of_a_snapshot_that_cannot_be_removed_stays() {
    let (h, faulty) = history().await;
    faulty.inject(Op::Delete, "snapshot-3", 0, 1, Fault::Before(linn_format::ErrorKind::Unavailable));
    let expiry = SnapshotExpiry::new(&h.table).unwrap();
    let error = expiry.run(SnapshotId(1), SnapshotId(5)).await.unwrap_err();
    assert_eq!(error.kind(), linn_format::ErrorKind::Unavailable);
    assert!(h.ids().await.contains(&3));
    h.check().await;
    let expiry = SnapshotExpiry::new(&h.table).unwrap();
    let again = [("snapshot.num-retained.min", "1"), ("snapshot.num-retained.max", "1")].into_iter().collect();
    let retention = Retention::of_snapshots(&h.table.with_options(&again).unwrap()).unwrap();
    let (begin, end) = expiry.range(&retention).await.unwrap().unwrap();
    expiry.run(begin, end).await.unwrap();
    assert_eq!(h.ids().await, [5]);
    h.check().await;
}

#[tokio::test]
async fn files_that_cannot_be_removed_are_counted_and_stop_nothing() {
    let (h, faulty) = history().await;
    faulty.inject(Op::Delete, "bucket-0", 0, 1, Fault::Before(linn_format::ErrorKind::Unavailable));
    let done = SnapshotExpiry::new(&h.table).unwrap().run(SnapshotId(1), SnapshotId(5)).await.unwrap();
    assert_eq!((done.left, h.ids().await), (1, vec![5]));
}

#[tokio::test]
async fn snapshots_go_before_their_data() {
    let (h, faulty) = history().await;
    let before = faulty.trace().len();
    SnapshotExpiry::new(&h.table).unwrap().run(SnapshotId(1), SnapshotId(5)).await.unwrap();
    let trace: Vec<String> = faulty.trace().split_off(before).into_iter().map(|(_, path)| path).collect();
    let place = |part: &str, last: bool| {
        let found = |path: &String| path.contains(part);
        if last { trace.iter().rposition(found).unwrap() } else { trace.iter().position(found).unwrap() }
    };
    assert!(place("EARLIEST", true) < place("snapshot-", false), "{trace:?}");
    assert!(place("snapshot-", true) < place("/manifest/", false), "{trace:?}");
    assert!(place("/manifest/", true) < place("/bucket-", false), "{trace:?}");
}
