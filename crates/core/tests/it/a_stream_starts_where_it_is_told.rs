//! Streams start at every place that `scan.mode` knows, and what has expired is replaced or told (cases: R2, R3).

use linn_core::stream::{Consumers, OutOfRange, Position};
use linn_core::{Snapshots, Tags};
use linn_format::{ErrorKind, SnapshotId};

use crate::case::Case;
use crate::follow::{drain, next, rows};

/// Three commits: snapshots 1 to 3.
async fn three(options: &[(&str, &str)]) -> Case {
    let mut case = Case::new("k INT, v STRING", "k", options).await;
    case.commit(&["+I(1,a)", "+I(2,a)"]).await;
    case.commit(&["+U(1,b)"]).await;
    case.commit(&["-D(2,a)", "+I(3,c)"]).await;
    case
}

#[tokio::test]
async fn every_mode_has_its_start() {
    let case = three(&[]).await;
    let full = ["+I(1,b)", "+I(3,c)"];
    assert_eq!(case.followed(&[]).await, full);
    assert_eq!(case.followed(&[("scan.mode", "latest-full")]).await, full);
    assert_eq!(case.followed(&[("scan.mode", "full")]).await, full);
    assert_eq!(case.followed(&[("scan.mode", "latest")]).await, Vec::<String>::new());
    let second = [("scan.snapshot-id", "2")];
    assert_eq!(case.followed(&second).await, ["+I(3,c)", "+U(1,b)", "-D(2,a)"]);
    let second_full = [("scan.mode", "from-snapshot-full"), ("scan.snapshot-id", "2")];
    assert_eq!(case.followed(&second_full).await, ["+I(1,b)", "+I(2,a)", "+I(3,c)", "-D(2,a)"]);
    assert_eq!(case.followed(&[("scan.version", "3")]).await, ["+I(3,c)", "-D(2,a)"]);
}

#[tokio::test]
async fn times_choose_the_first_snapshot_that_is_as_young() {
    let case = three(&[]).await;
    let snapshots = Snapshots::new(&case.table);
    let time = async |id| snapshots.get(SnapshotId(id)).await.unwrap().time_millis;
    let from = async |millis: i64| case.followed(&[("scan.timestamp-millis", &millis.to_string())]).await.len();
    assert_eq!(from(0).await, 5, "all there is");
    assert_eq!(from(time(3).await + 1).await, 0, "only what comes");
    let third = time(3).await;
    let expected = if time(2).await < third { 2 } else { 3 + 2 * usize::from(time(1).await == third) };
    assert_eq!(from(third).await, expected);
    // Files that were made since, of the latest snapshot: all, or none.
    let made = |millis: i64| [("scan.file-creation-time-millis", millis.to_string())];
    let rows = async |millis: i64| {
        let options = made(millis);
        let options: Vec<(&str, &str)> = options.iter().map(|(key, value)| (*key, value.as_str())).collect();
        case.followed(&options).await.len()
    };
    assert_eq!(rows(0).await, 2);
    assert_eq!(rows(third + 100_000).await, 0);
    let creation = (third + 100_000).to_string();
    assert_eq!(case.followed(&[("scan.creation-time-millis", &creation)]).await.len(), 0);
    assert_eq!(case.followed(&[("scan.creation-time-millis", "1")]).await.len(), 2, "nothing is older: its files");
}

#[tokio::test]
async fn the_last_compaction_is_a_start() {
    let mut case = three(&[]).await;
    case.compact(true).await;
    case.commit(&["+I(9,z)"]).await;
    let compacted = case.follow(&[("scan.mode", "compacted-full")]).await.unwrap();
    assert_eq!(compacted, ["+I(1,b)", "+I(3,c)", "+I(9,z)"]);
    assert_eq!(case.followed(&[("scan.snapshot-id", "4")]).await, ["+I(9,z)"], "compactions are no change");
}

#[tokio::test]
async fn streams_do_not_start_in_the_ways_of_batches() {
    let case = three(&[]).await;
    let snapshot = Snapshots::new(&case.table).latest().await.unwrap().unwrap();
    Tags::new(&case.table).create("t", &snapshot, None).await.unwrap();
    for options in [
        &[("scan.tag-name", "t")][..],
        &[("scan.watermark", "1")],
        &[("scan.version", "t")],
        &[("incremental-between", "1,2")],
        &[("scan.mode", "latest-delta")],
    ] {
        let e = case.follow(options).await.unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Invalid, "{options:?}: {e:?}");
    }
}

#[tokio::test]
async fn an_empty_table_has_no_start_yet() {
    let mut case = Case::new("k INT, v STRING", "k", &[]).await;
    for options in
        [&[][..], &[("scan.mode", "latest")], &[("scan.timestamp-millis", "5")], &[("scan.snapshot-id", "1")]]
    {
        assert_eq!(case.follow(options).await.unwrap(), Vec::<String>::new(), "{options:?}");
    }
    // The first snapshot of a table that was empty is a change.
    let latest = case.with(&[("scan.mode", "latest")]);
    let mut stream = latest.table.changes().open().await.unwrap();
    let (started, position) = next(&mut stream).await.unwrap().unwrap();
    assert_eq!((started.len(), position), (0, Position::at(SnapshotId(1))));
    case.commit(&["+I(1,a)"]).await;
    assert_eq!(next(&mut stream).await.unwrap().unwrap().0, ["+I(1,a)"]);
}

/// Removes what an expiry would, so that snapshots 1 to `below` - 1 are gone.
async fn expire(case: &Case, below: i64) {
    let snapshots = Snapshots::new(&case.table);
    for id in 1..below {
        case.table.storage().delete(&snapshots.path(SnapshotId(id))).await.unwrap();
    }
    let hint = format!("{}/EARLIEST", case.table.snapshot_dir());
    case.table.storage().put(&hint, below.to_string().into_bytes().into()).await.unwrap();
}

/// R3: an expired snapshot in the options is replaced by the earliest one.
#[tokio::test]
async fn an_expired_start_is_clamped() {
    let case = three(&[]).await;
    expire(&case, 3).await;
    assert_eq!(case.followed(&[("scan.snapshot-id", "1")]).await, ["+I(3,c)", "-D(2,a)"]);
    let full = [("scan.mode", "from-snapshot-full"), ("scan.snapshot-id", "1")];
    assert_eq!(case.followed(&full).await, ["+I(1,b)", "+I(3,c)"]);
    Consumers::new(&case.table).set("c", SnapshotId(2)).await.unwrap();
    assert_eq!(case.followed(&[("consumer-id", "c")]).await, ["+I(3,c)", "-D(2,a)"]);
}

/// A position is a promise: what is missing behind it is an error that says so.
#[tokio::test]
async fn an_expired_position_is_an_error() {
    let case = three(&[]).await;
    expire(&case, 3).await;
    let e = drain(&case.table, Some(Position::at(SnapshotId(2)))).await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::NotFound);
    let range = OutOfRange::of(&e).unwrap();
    assert_eq!((range.wanted, range.earliest, range.latest), (SnapshotId(2), Some(SnapshotId(3)), Some(SnapshotId(3))));
    assert!(range.has_expired() && e.hint().unwrap().contains("consumer"), "{e:?}");
}

/// R2: a place ahead of the table is an error, not silence.
#[tokio::test]
async fn a_place_ahead_of_the_table_is_an_error() {
    let case = three(&[]).await;
    assert_eq!(rows(&drain(&case.table, Some(Position::at(SnapshotId(4)))).await.unwrap()), Vec::<String>::new());
    Consumers::new(&case.table).set("c", SnapshotId(7)).await.unwrap();
    let consumer = case.with(&[("consumer-id", "c")]);
    let number = case.with(&[("scan.snapshot-id", "7")]);
    for (table, from) in
        [(&case.table, Some(Position::at(SnapshotId(5)))), (&consumer.table, None), (&number.table, None)]
    {
        let mut stream = table.changes().position(from.clone()).open().await.unwrap();
        let e = loop {
            match next(&mut stream).await.unwrap() {
                Ok((rows, _)) => assert!(rows.is_empty()),
                Err(e) => break e,
            }
        };
        assert_eq!(e.kind(), ErrorKind::Invalid);
        assert!(!OutOfRange::of(&e).unwrap().has_expired(), "{e:?}");
    }
    // Without its progress a consumer starts anew.
    let anew = [("consumer-id", "c"), ("consumer.ignore-progress", "true")];
    assert_eq!(case.followed(&anew).await, ["+I(1,b)", "+I(3,c)"]);
}

/// A snapshot that has expired is followed by the changelog that is left of it.
#[tokio::test]
async fn changelogs_outlive_their_snapshots() {
    let mut case = Case::new("k INT, v STRING", "k", &[("changelog-producer", "input")]).await;
    for rows in [&["+I(1,a)"][..], &["-U(1,a)", "+U(1,b)"], &["-D(1,b)"]] {
        case.commit(rows).await;
    }
    let snapshots = Snapshots::new(&case.table);
    for id in [1, 2] {
        let bytes = case.table.storage().read(&snapshots.path(SnapshotId(id)), None).await.unwrap();
        let path = format!("{}/changelog-{id}", case.table.changelog_dir());
        case.table.storage().put(&path, bytes).await.unwrap();
    }
    expire(&case, 3).await;
    let all = ["+I(1,a)", "-U(1,a)", "+U(1,b)", "-D(1,b)"];
    let first = ("scan.snapshot-id", "1");
    assert_eq!(case.follow(&[first]).await.unwrap(), all[3..], "a table that does not keep them does not look");
    let keeps = ("changelog.num-retained.max", "2147483647");
    let keeps = [keeps, ("snapshot.num-retained.max", "10")];
    assert_eq!(case.follow(&[first, keeps[0], keeps[1]]).await.unwrap(), all);
    let zero = ("scan.timestamp-millis", "0");
    assert_eq!(case.follow(&[zero, keeps[0], keeps[1]]).await.unwrap(), all);
    let table = case.with(&keeps).table;
    assert_eq!(rows(&drain(&table, Some(Position::at(SnapshotId(2)))).await.unwrap()), all[1..]);
}

/// A read that is interrupted within the rows of a snapshot cannot go on once that snapshot has expired, and says so.
#[tokio::test]
async fn rows_that_expired_in_between_are_an_error() {
    let mut case = Case::new("k INT, v STRING", "k", &[("bucket", "4")]).await;
    let batch: Vec<String> = (0..40).map(|k| format!("+I({k},a)")).collect();
    case.commit(&batch.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let position = drain(&case.table, None).await.unwrap().remove(0).1;
    assert_eq!(position.for_consumer(), None, "a consumer that started from here would miss rows");
    case.commit(&["+I(1,b)"]).await;
    expire(&case, 2).await;
    let e = drain(&case.table, Some(position)).await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::NotFound);
    assert!(OutOfRange::of(&e).unwrap().has_expired(), "{e:?}");
}
