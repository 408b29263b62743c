//! Tags by hand, by themselves and out of time, on commits of files that are only named.

use std::sync::Arc;
use std::time::Duration;

use linn_format::ErrorKind;
use linn_format::options::Options;

use super::{OlderThan, Retained, TagOf, Tags};
use crate::commit::Commit;
use crate::fixture::{NOW, added, memory, schema, table};
use crate::seam::ManualClock;
use crate::table::Table;

const HOUR: i64 = 3_600_000;

/// A table whose clock can be moved.
async fn timed(options: &[(&str, &str)]) -> (Table, Arc<ManualClock>) {
    let store = memory();
    let plain = table(store.clone(), schema(false, false, &[])).await;
    let clock = Arc::new(ManualClock::new(NOW));
    let mut env = plain.env().clone();
    env.clock = clock.clone();
    let table = Table::new(plain.name(), plain.path(), plain.schema().clone(), env);
    let given: Options = options.iter().copied().chain([("bucket", "-1")]).collect();
    (table.with_options(&given).unwrap(), clock)
}

async fn commit(table: &Table, identifier: i64, watermark: Option<i64>) {
    let name = format!("f{identifier}.parquet");
    let commit = Commit { watermark, ..Commit::streaming(identifier, vec![added(&[&name])]) };
    table.committer("u").commit(commit).await.unwrap();
}

async fn names(table: &Table) -> Vec<String> {
    Tags::new(table).list().await.unwrap()
}

#[tokio::test]
async fn tags_are_made_of_what_is_asked_for() {
    let (table, clock) = timed(&[]).await;
    assert_eq!(table.create_tag("t", TagOf::Latest, Retained::Default).await.unwrap_err().kind(), ErrorKind::NotFound);
    for (identifier, watermark) in [(1, None), (2, Some(20)), (3, Some(30))] {
        commit(&table, identifier, watermark).await;
        clock.advance(1000);
    }
    for (name, of, id) in [
        ("latest", TagOf::Latest, 3),
        ("id", TagOf::Id(linn_format::SnapshotId(1)), 1),
        ("time", TagOf::Time(NOW + 500), 2),
        ("watermark", TagOf::Watermark(21), 3),
    ] {
        let snapshot = table.create_tag(name, of, Retained::Default).await.unwrap();
        assert_eq!(snapshot.id.0, id, "{name}");
    }
    for of in [TagOf::Id(linn_format::SnapshotId(9)), TagOf::Time(NOW + 5000), TagOf::Watermark(31)] {
        let error = table.create_tag("x", of, Retained::Default).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }
    // A snapshot that only a tag keeps can be tagged again.
    table.storage().delete("db.db/t/snapshot/snapshot-1").await.unwrap();
    table.create_tag("again", TagOf::Id(linn_format::SnapshotId(1)), Retained::Default).await.unwrap();
    assert_eq!(table.create_tag("old", TagOf::Time(0), Retained::Default).await.unwrap().id.0, 1);
}

#[tokio::test]
async fn tags_change_their_name_and_their_snapshot() {
    let (table, _) = timed(&[]).await;
    commit(&table, 1, None).await;
    table.create_tag("a", TagOf::Latest, Retained::For(Duration::from_secs(60))).await.unwrap();
    commit(&table, 2, None).await;
    table.create_tag("b", TagOf::Latest, Retained::Default).await.unwrap();
    let tags = Tags::new(&table);
    assert_eq!(tags.rename("a", "b").await.unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(tags.rename("x", "y").await.unwrap_err().kind(), ErrorKind::NotFound);
    let before = tags.get("a").await.unwrap();
    tags.rename("a", "c").await.unwrap();
    assert_eq!(names(&table).await, ["b", "c"]);
    assert_eq!(tags.get("c").await.unwrap(), before);
    table.replace_tag("c", TagOf::Latest, None).await.unwrap();
    let after = tags.get("c").await.unwrap();
    assert_eq!((after.snapshot.id.0, after.time_retained), (2, None));
    assert_eq!(table.replace_tag("x", TagOf::Latest, None).await.unwrap_err().kind(), ErrorKind::NotFound);
    let tagged = tags.snapshots().await.unwrap();
    assert_eq!(tagged.values().map(|t| t.names.clone()).collect::<Vec<_>>(), [["b", "c"]]);
}

/// Case E9: 2023-11-14T22:13:20Z and the two days after.
#[tokio::test]
async fn days_are_tagged_when_they_are_over() {
    for (formatter, last) in [("with_dashes", "2023-11-15"), ("without_dashes", "20231115")] {
        let (table, clock) = timed(&[
            ("tag.automatic-creation", "process-time"),
            ("tag.period-formatter", formatter),
            ("tag.num-retained-max", "1"),
            ("sink.process-time-zone", "UTC"),
        ])
        .await;
        let committer = table.committer("u");
        for identifier in 1..=49 {
            let name = format!("f{identifier}.parquet");
            committer.commit(Commit::streaming(identifier, vec![added(&[&name])])).await.unwrap();
            clock.advance(HOUR);
        }
        assert_eq!(names(&table).await, [last]);
        // The first commit after midnight has it: hours are 22:13, 23:13, 00:13 …
        assert_eq!(Tags::new(&table).get(last).await.unwrap().snapshot.id.0, 27);
    }
}

#[tokio::test]
async fn watermarks_zones_delays_and_holes() {
    let (table, _) = timed(&[
        ("tag.automatic-creation", "watermark"),
        ("tag.creation-period", "hourly"),
        ("tag.creation-delay", "10 min"),
        ("tag.automatic-completion", "true"),
        ("tag.default-time-retained", "1 h"),
        ("sink.watermark-time-zone", "Asia/Shanghai"),
    ])
    .await;
    // 22:00 UTC is 06:00 of the next day there.
    let base = 1_699_999_200_000;
    let committer = table.committer("u");
    for (identifier, minutes) in [(1, -5), (2, 5), (3, 10), (4, 200), (5, 201), (6, 202)] {
        let name = format!("f{identifier}.parquet");
        let watermark = Some(base + minutes * 60_000);
        let commit = Commit { watermark, ..Commit::streaming(identifier, vec![added(&[&name])]) };
        committer.commit(commit).await.unwrap();
    }
    let tags = Tags::new(&table);
    let ids: Vec<(String, i64)> =
        tags.all(|_| true).await.unwrap().into_iter().map(|(name, tag)| (name, tag.snapshot.id.0)).collect();
    let expected =
        [("2023-11-15 04", 1), ("2023-11-15 05", 3), ("2023-11-15 06", 4), ("2023-11-15 07", 5), ("2023-11-15 08", 6)];
    assert_eq!(ids, expected.map(|(name, id)| (name.to_owned(), id)));
    assert_eq!(tags.get("2023-11-15 05").await.unwrap().time_retained, Some(Duration::from_secs(3600)));
    // Another committer finds nothing left to do.
    assert!(table.create_due_tags().await.unwrap().is_empty());
}

#[tokio::test]
async fn tags_wait_for_a_snapshot() {
    let (table, clock) = timed(&[("tag.automatic-creation", "process-time"), ("tag.creation-period", "hourly")]).await;
    let committer = table.committer("u");
    let mut made = Vec::new();
    for identifier in 1..=5 {
        made.push(matches!(
            committer.commit(Commit::streaming(identifier, Vec::new())).await.unwrap(),
            crate::CommitOutcome::Committed(ids) if !ids.is_empty()
        ));
        clock.advance(HOUR / 2);
    }
    // 22:13 and 23:13 end periods; 22:43 does not.
    assert_eq!(made, [true, false, true, false, true]);
    assert_eq!(names(&table).await, ["2023-11-14 21", "2023-11-14 22", "2023-11-14 23"]);
}

#[tokio::test]
async fn a_batch_job_has_one_tag_a_day() {
    let (table, clock) =
        timed(&[("tag.automatic-creation", "batch"), ("tag.num-retained-max", "2"), ("sink.process-time-zone", "UTC")])
            .await;
    for job in 0..4 {
        let name = format!("f{job}.parquet");
        table.committer(format!("job{job}")).commit(Commit::batch(vec![added(&[&name])])).await.unwrap();
        clock.advance(if job == 0 { 60_000 } else { 24 * HOUR });
    }
    assert_eq!(names(&table).await, ["batch-write-2023-11-15", "batch-write-2023-11-16"]);
    commit(&table, 1, None).await;
    assert_eq!(names(&table).await.len(), 2, "a stream has no batch tag");
}

#[tokio::test]
async fn tags_go_when_their_time_is_over() {
    let (table, clock) = timed(&[]).await;
    commit(&table, 1, None).await;
    table.create_tag("short", TagOf::Latest, Retained::For(Duration::from_secs(3600))).await.unwrap();
    table.create_tag("long", TagOf::Latest, Retained::For(Duration::from_secs(360_000))).await.unwrap();
    table.create_tag("ever", TagOf::Latest, Retained::Default).await.unwrap();
    clock.advance(HOUR);
    assert!(table.expired_tags(None).await.unwrap().is_empty(), "to the millisecond it is not over");
    clock.advance(1);
    assert_eq!(table.expired_tags(None).await.unwrap().iter().map(|t| &t.name).collect::<Vec<_>>(), ["short"]);
    commit(&table, 2, None).await;
    assert_eq!(names(&table).await, ["ever", "long"]);
    let time = chrono::DateTime::from_timestamp_millis(NOW + 1).unwrap().naive_utc();
    let mut gone = table.expire_tags(Some(OlderThan(time))).await.unwrap();
    gone.sort();
    assert_eq!(gone, ["ever", "long"]);
}

#[tokio::test]
async fn bad_options_fail_no_commit() {
    let (table, _) =
        timed(&[("tag.automatic-creation", "process-time"), ("sink.process-time-zone", "Nowhere/Town")]).await;
    commit(&table, 1, None).await;
    assert!(names(&table).await.is_empty());
    assert_eq!(table.create_due_tags().await.unwrap_err().kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn success_files_come_and_go_with_tags() {
    let store = memory();
    let table =
        table(store.clone(), schema(false, false, &[("bucket", "-1"), ("tag.create-success-file", "true")])).await;
    table.committer("u").commit(Commit::streaming(1, vec![added(&["f"])])).await.unwrap();
    let marks = || store.paths().into_iter().filter(|path| path.contains("tag-success-file")).collect::<Vec<_>>();
    table.create_tag("a", TagOf::Latest, Retained::Default).await.unwrap();
    assert_eq!(marks(), ["db.db/t/tag/tag-success-file/a_SUCCESS"]);
    let tags = Tags::new(&table);
    tags.rename("a", "b").await.unwrap();
    assert_eq!(marks(), ["db.db/t/tag/tag-success-file/b_SUCCESS"]);
    assert_eq!(tags.list().await.unwrap(), ["b"]);
    table.delete_tag("b").await.unwrap();
    assert_eq!(marks(), Vec::<String>::new());
}
