//! Hints, listings, tags and time travel over snapshots that are written here by hand.

use std::sync::Arc;
use std::time::Duration;

use linn_format::ErrorKind;
use linn_format::SchemaId;
use linn_format::options::Options;
use linn_format::snapshot::{CommitKind, Snapshot};

use super::*;
use crate::fixture::{NOW, memory, schema, table};
use crate::storage::Memory;

fn snapshot(id: i64, watermark: Option<i64>) -> Snapshot {
    Snapshot {
        version: 3,
        uuid: None,
        id: SnapshotId(id),
        schema_id: SchemaId(0),
        base_manifest_list: "base".into(),
        base_manifest_list_size: None,
        delta_manifest_list: "delta".into(),
        delta_manifest_list_size: None,
        changelog_manifest_list: None,
        changelog_manifest_list_size: None,
        index_manifest: None,
        commit_user: "u".into(),
        writer_version: None,
        commit_identifier: id,
        commit_kind: CommitKind::Append,
        time_millis: NOW + id * 1000,
        total_record_count: Some(id),
        delta_record_count: Some(1),
        changelog_record_count: None,
        watermark,
        statistics: None,
        properties: None,
        next_row_id: Some(0),
        operation: None,
    }
}

async fn written(ids: impl IntoIterator<Item = i64>) -> (Arc<Memory>, Table) {
    let store = memory();
    let table = table(store.clone(), schema(false, false, &[])).await;
    for id in ids {
        let bytes = snapshot(id, (id > 3).then_some(id * 10)).to_json().unwrap();
        store.create(&format!("db.db/t/snapshot/snapshot-{id}"), bytes.into()).await.unwrap();
    }
    (store, table)
}

async fn hint(store: &Memory, name: &str, text: &str) {
    store.put(&format!("db.db/t/snapshot/{name}"), Bytes::copy_from_slice(text.as_bytes())).await.unwrap();
}

#[tokio::test]
async fn an_empty_table_has_no_snapshot() {
    let (_, table) = written(std::iter::empty()).await;
    let snapshots = Snapshots::new(&table);
    assert!(snapshots.latest().await.unwrap().is_none());
    assert!(snapshots.earliest().await.unwrap().is_none());
    assert!(snapshots.travel().await.unwrap().is_none());
}

#[tokio::test]
async fn hints_never_change_the_answer() {
    let (store, table) = written(2..=5).await;
    for text in ["", "x", "0", "-1", "1", "2", "3", "5", "6", "99"] {
        hint(&store, "LATEST", text).await;
        hint(&store, "EARLIEST", if text == "3" || text == "5" { "2" } else { text }).await;
        let snapshots = Snapshots::new(&table);
        assert_eq!(snapshots.latest().await.unwrap().unwrap().id, SnapshotId(5), "LATEST {text:?}");
        assert_eq!(snapshots.earliest().await.unwrap().unwrap().id, SnapshotId(2), "EARLIEST {text:?}");
    }
}

#[tokio::test]
async fn a_table_that_lost_all_snapshots_is_not_empty() {
    let (store, table) = written(std::iter::empty()).await;
    hint(&store, "LATEST", "7").await;
    let error = Snapshots::new(&table).latest().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("db.db/t/snapshot/snapshot-7"), "{error}");
}

#[tokio::test]
async fn a_damaged_snapshot_is_named() {
    let (store, table) = written(1..=2).await;
    store.put("db.db/t/snapshot/snapshot-2", Bytes::from_static(b"{\"id\": 2}")).await.unwrap();
    let snapshots = Snapshots::new(&table);
    let error = snapshots.latest().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("db.db/t/snapshot/snapshot-2"), "{error}");
    assert_eq!(snapshots.get(SnapshotId(7)).await.unwrap_err().kind(), ErrorKind::NotFound);
}

async fn travels(table: &Table, key: &str, value: &str) -> Result<i64> {
    let options: Options = [(key, value)].into_iter().collect();
    Ok(Snapshots::new(table).resolve(&options).await?.unwrap().id.0)
}

#[tokio::test]
async fn options_travel_in_time() {
    let (_, table) = written(2..=6).await;
    Tags::new(&table).create("4", &snapshot(2, None), None).await.unwrap();
    let at = NOW + 4000;
    assert_eq!(travels(&table, "scan.snapshot-id", "3").await.unwrap(), 3);
    assert_eq!(travels(&table, "scan.timestamp-millis", &at.to_string()).await.unwrap(), 4);
    assert_eq!(travels(&table, "scan.timestamp-millis", &(at + 999).to_string()).await.unwrap(), 4);
    assert_eq!(travels(&table, "scan.timestamp-millis", &(at + 99_999).to_string()).await.unwrap(), 6);
    assert_eq!(travels(&table, "scan.timestamp", "2023-11-14 22:13:24.000").await.unwrap(), 4);
    assert_eq!(travels(&table, "scan.watermark", "0").await.unwrap(), 4);
    assert_eq!(travels(&table, "scan.watermark", "41").await.unwrap(), 5);
    assert_eq!(travels(&table, "scan.tag-name", "4").await.unwrap(), 2);
    assert_eq!(travels(&table, "scan.version", "4").await.unwrap(), 2, "a tag comes before a number");
    assert_eq!(travels(&table, "scan.version", "5").await.unwrap(), 5);
    assert_eq!(travels(&table, "scan.version", "watermark-60").await.unwrap(), 6);
}

/// Case E8.
#[tokio::test]
async fn watermarks_may_be_missing_anywhere() {
    let marks = [None, Some(10), None, Some(i64::MIN), Some(20), None, Some(30), None];
    let store = memory();
    let table = table(store.clone(), schema(false, false, &[])).await;
    for (id, watermark) in (1..).zip(marks) {
        let bytes = snapshot(id, watermark).to_json().unwrap();
        store.create(&format!("db.db/t/snapshot/snapshot-{id}"), bytes.into()).await.unwrap();
    }
    let snapshots = Snapshots::new(&table);
    for watermark in 0..40 {
        let known = (1..).zip(marks).filter_map(|(id, w)| Some((id, w.filter(|w| *w != i64::MIN)?)));
        let after = known.clone().find(|(_, w)| *w >= watermark).map(|(id, _)| id);
        let before = known.filter(|(_, w)| *w <= watermark).last().map(|(id, _)| id);
        let id = |found: Option<Arc<Snapshot>>| found.map(|snapshot| snapshot.id.0);
        assert_eq!(id(snapshots.at_or_after_watermark(watermark).await.unwrap()), after, "at or after {watermark}");
        assert_eq!(id(snapshots.at_or_before_watermark(watermark).await.unwrap()), before, "at or before {watermark}");
    }
    let (_, without) = written(1..=3).await;
    assert_eq!(travels(&without, "scan.watermark", "1").await.unwrap_err().kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn times_are_found_on_both_sides() {
    let (_, table) = written(2..=6).await;
    let snapshots = Snapshots::new(&table);
    for (millis, before, after) in
        [(0, None, Some(2)), (4000, Some(4), Some(4)), (4001, Some(4), Some(5)), (9000, Some(6), None)]
    {
        let id = |found: Option<Arc<Snapshot>>| found.map(|snapshot| snapshot.id.0);
        assert_eq!(id(snapshots.at_or_before_time(NOW + millis).await.unwrap()), before, "{millis}");
        assert_eq!(id(snapshots.at_or_after_time(NOW + millis).await.unwrap()), after, "{millis}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_answered_with_what_is() {
    let (_, table) = written(2..=6).await;
    for (key, value) in [
        ("scan.snapshot-id", "1"),
        ("scan.snapshot-id", "7"),
        ("scan.timestamp-millis", "5"),
        ("scan.watermark", "61"),
        ("scan.version", "99"),
    ] {
        let error = travels(&table, key, value).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{key} {value}");
        assert!(error.hint().unwrap().contains("snapshots 2 ("), "{error:?}");
    }
    for (key, value) in [("scan.snapshot-id", "x"), ("scan.timestamp", "yesterday"), ("scan.version", "watermark-x")] {
        assert_eq!(travels(&table, key, value).await.unwrap_err().kind(), ErrorKind::Invalid, "{key} {value}");
    }
    assert_eq!(travels(&table, "scan.tag-name", "nope").await.unwrap_err().kind(), ErrorKind::NotFound);
    let two: Options = [("scan.snapshot-id", "2"), ("scan.tag-name", "x")].into_iter().collect();
    assert_eq!(Snapshots::new(&table).resolve(&two).await.unwrap_err().kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn tags_are_made_found_and_removed() {
    let (_, table) = written(1..=2).await;
    let tags = Tags::new(&table);
    let tagged = snapshot(1, None);
    tags.create("b", &tagged, Some(Duration::from_secs(86_400))).await.unwrap();
    tags.create("a", &tagged, None).await.unwrap();
    assert_eq!(tags.create("a", &tagged, None).await.unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(tags.create(" ", &tagged, None).await.unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(tags.list().await.unwrap(), ["a", "b"]);
    let tag = tags.get("b").await.unwrap();
    assert_eq!((tag.snapshot, tag.time_retained), (tagged.clone(), Some(Duration::from_secs(86_400))));
    assert_eq!(tag.create_time.unwrap().and_utc().timestamp_millis(), NOW);
    assert_eq!(tags.get("a").await.unwrap().create_time, None);
    tags.delete("a").await.unwrap();
    assert_eq!(tags.delete("a").await.unwrap_err().kind(), ErrorKind::NotFound);
    assert!(tags.get("a").await.unwrap_err().hint().unwrap().contains('b'));
}
