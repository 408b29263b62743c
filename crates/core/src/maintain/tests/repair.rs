//! Tables that lost files go on without them; partitions are marked done.

use linn_format::ErrorKind;
use linn_format::snapshot::SuccessFile;

use super::*;

#[tokio::test]
async fn lost_files_can_be_left_out() {
    let mut h = History::new(&[]).await;
    h.commit(&["a", "b"], &[]).await;
    h.commit(&["c"], &[]).await;
    assert_eq!(lost_files(&h.table).await.unwrap(), []);
    h.store.delete("db.db/t/bucket-0/b").await.unwrap();
    let lost = lost_files(&h.table).await.unwrap();
    assert_eq!(lost.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["db.db/t/bucket-0/b"]);
    assert_eq!(lost[0].file().row_count, 1);
    assert_eq!(remove_lost(&h.table, &lost).await.unwrap(), [SnapshotId(3)]);
    assert_eq!(lost_files(&h.table).await.unwrap(), []);
    assert_eq!(live(&h.table, &*h.snapshot(3).await).await.len(), 2);
    // A second time it is too late.
    assert_eq!(remove_lost(&h.table, &lost).await.unwrap_err().kind(), ErrorKind::Conflict);
}

#[tokio::test]
async fn the_earliest_snapshot_can_be_set_behind_a_gap() {
    let mut h = History::new(&[]).await;
    for name in ["a", "b", "c", "d"] {
        h.commit(&[name], &[]).await;
    }
    assert!(repair_earliest(&h.table, SnapshotId(3)).await.is_err(), "there is no gap");
    h.store.delete(&Snapshots::new(&h.table).path(SnapshotId(2))).await.unwrap();
    assert!(repair_earliest(&h.table, SnapshotId(1)).await.is_err(), "2 is missing");
    assert!(repair_earliest(&h.table, SnapshotId(5)).await.is_err());
    assert_eq!(repair_earliest(&h.table, SnapshotId(3)).await.unwrap(), SnapshotId(1));
    assert_eq!(Snapshots::new(&h.table).earliest_id().await.unwrap(), Some(SnapshotId(3)));
}

#[tokio::test]
async fn partitions_are_marked_done() {
    let h = History::of(schema(true, false, &[("bucket", "-1")]), |store| store).await;
    let one = |value: &str| vec![("p".to_owned(), Some(value.to_owned()))];
    assert_eq!(
        mark_done(&h.table, &[one("1"), one("07")]).await.unwrap(),
        ["db.db/t/p=1/_SUCCESS", "db.db/t/p=7/_SUCCESS"]
    );
    let first = h.clock.now_millis();
    h.clock.advance(5);
    mark_done(&h.table, &[one("1")]).await.unwrap();
    let mark = SuccessFile::from_json(&h.store.read("db.db/t/p=1/_SUCCESS", None).await.unwrap()).unwrap();
    assert_eq!(mark, SuccessFile { creation_time: first, modification_time: first + 5 });
    for bad in [vec![], one("x"), vec![("q".to_owned(), Some("1".to_owned()))]] {
        assert_eq!(mark_done(&h.table, &[one("2"), bad]).await.unwrap_err().kind(), ErrorKind::Invalid);
    }
    for (action, kind) in [
        ("success-file,done-partition", ErrorKind::Unsupported),
        ("success-file,http-report", ErrorKind::Invalid),
        ("nonsense", ErrorKind::Invalid),
    ] {
        let table = h.table.with_options(&[("partition.mark-done-action", action)].into_iter().collect()).unwrap();
        assert_eq!(mark_done(&table, &[one("2")]).await.unwrap_err().kind(), kind);
    }
    assert!(!h.store.paths().iter().any(|path| path.contains("p=2")));
}

#[tokio::test]
async fn a_purged_table_is_as_new() {
    let mut h = History::new(&[]).await;
    h.commit(&["a"], &[]).await;
    h.tag("t", 1).await;
    h.commit(&["b"], &["a"]).await;
    h.store.put("db.db/t/consumer/consumer-c", "{\"nextSnapshot\":1}".into()).await.unwrap();
    h.store.put("db.db/t/bucket-0/data-lost.parquet", "x".into()).await.unwrap();
    assert!(purge(&h.table).await.unwrap() > 3);
    assert_eq!((h.ids().await, h.data()), (vec![3], vec![]));
    assert_eq!(h.snapshot(3).await.total_record_count, Some(0));
    assert_eq!(h.check().await, Vec::<String>::new());
    let rest: Vec<String> =
        h.store.paths().into_iter().filter(|path| path.contains("/tag/") || path.contains("/consumer/")).collect();
    assert_eq!(rest, Vec::<String>::new());
}
