//! What follows commits by itself, and manifests that are compacted.

use super::*;
use crate::commit::{compact_manifests, count_manifests, lost_manifests};
use crate::fixture::row;
use crate::stream::Consumers;

/// A table that lets snapshots expire at its commits.
async fn busy(options: &[(&str, &str)]) -> History {
    let always = [("write-only", "false"), ("snapshot.num-retained.min", "2"), ("snapshot.num-retained.max", "3")];
    History::new(&[&always[..], options].concat()).await
}

#[tokio::test]
async fn commits_let_snapshots_expire() {
    for mode in ["sync", "async"] {
        let mut h = busy(&[("snapshot.expire.execution-mode", mode)]).await;
        h.commit(&["f0"], &[]).await;
        let committer = h.table.committer("w");
        for i in 1..8_i64 {
            let mut message = h.message(&[&format!("f{i}")]).await;
            message.deleted_files = vec![file(&format!("f{}", i - 1), 0, None)];
            h.clock.advance(1000);
            committer.commit(Commit::streaming(i, vec![message])).await.unwrap();
            tokio::task::yield_now().await;
        }
        assert_eq!(h.ids().await, [6, 7, 8], "{mode}");
        assert_eq!(h.data(), ["f5", "f6", "f7"], "{mode}");
        assert_eq!(h.check().await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_failing_expiry_fails_no_commit() {
    let options = [("write-only", "false"), ("snapshot.num-retained.min", "1"), ("snapshot.num-retained.max", "1")];
    let mut seen = None;
    let mut h =
        History::over(&options, |store| Arc::new(seen.insert(crate::storage::Faulty::new(store)).clone())).await;
    let faulty = seen.unwrap();
    h.commit(&["a"], &[]).await;
    let unavailable = crate::storage::Fault::Before(linn_format::ErrorKind::Unavailable);
    faulty.inject(crate::storage::Op::Delete, "snapshot-1", 0, 1, unavailable);
    assert_eq!(h.commit(&["b"], &["a"]).await, SnapshotId(2));
    assert_eq!(h.commit(&["c"], &["b"]).await, SnapshotId(3));
    assert_eq!(h.ids().await, [3]);
    h.check().await;
}

/// Requests to the store that each of ten commits makes, each by a committer of its own or all by one.
async fn requests(options: &[(&str, &str)], one_shot: bool) -> Vec<u64> {
    let mut seen = None;
    let mut h = History::over(options, |store| Arc::new(seen.insert(crate::storage::Faulty::new(store)).clone())).await;
    let faulty = seen.unwrap();
    for i in 0..15 {
        h.commit(&[&format!("f{i}")], &[]).await;
    }
    let mut committer = h.table.committer("w");
    let mut requests = Vec::new();
    for i in 0..10 {
        let message = h.message(&[&format!("g{i}")]).await;
        h.clock.advance(1000);
        let before = faulty.calls();
        committer.commit(Commit::streaming(i + 1, vec![message])).await.unwrap();
        requests.push(faulty.calls() - before);
        if one_shot {
            committer = h.table.committer("w");
        }
    }
    requests
}

/// What a commit costs more because snapshots may expire, while none is due.
#[tokio::test]
async fn looking_for_what_is_due_costs_next_to_nothing() {
    // Manifests stay as they are, so that every commit of a kind costs the same.
    let quiet = [("manifest.merge-min-count", "1000"), ("tag.time-expire-enabled", "false")];
    for (min, one_shot, more) in [("10", false, 0), ("10", true, 2), ("100", false, 0), ("100", true, 1)] {
        let with =
            |write_only| [&quiet[..], &[("write-only", write_only), ("snapshot.num-retained.min", min)]].concat();
        let (bare, due) = (requests(&with("true"), one_shot).await, requests(&with("false"), one_shot).await);
        let extra: Vec<u64> = due.iter().zip(&bare).skip(1).map(|(due, bare)| due - bare).collect();
        assert_eq!(extra, [more; 9], "{min} {one_shot}: {due:?} instead of {bare:?}");
    }
}

/// Nobody looks twice within ten seconds for what a reader holds, and nothing is lost by it.
#[tokio::test]
async fn what_a_reader_holds_goes_a_little_later() {
    let mut h = busy(&[]).await;
    h.commit(&["a"], &[]).await;
    h.store.put(&format!("{}/consumer-c", h.table.consumer_dir()), "{\"nextSnapshot\":2}".into()).await.unwrap();
    let committer = h.table.committer("w");
    let mut seen = Vec::new();
    for i in 0..20 {
        if i == 6 {
            Consumers::new(&h.table).delete("c").await.unwrap();
        }
        let message = h.message(&[&format!("f{i}")]).await;
        h.clock.advance(1000);
        committer.commit(Commit::streaming(i + 1, vec![message])).await.unwrap();
        seen.push(h.ids().await[0]);
    }
    assert_eq!(seen[..3], [1, 1, 2]);
    assert_eq!(seen.iter().filter(|first| **first == 2).count(), 11, "{seen:?}");
    assert_eq!(seen[19], 19);
}

#[tokio::test]
async fn consumers_that_stand_still_expire() {
    let mut h = busy(&[("consumer.expiration-time", "1 h")]).await;
    h.commit(&["a"], &[]).await;
    h.store.put(&format!("{}/consumer-c", h.table.consumer_dir()), "{\"nextSnapshot\":1}".into()).await.unwrap();
    for name in ["b", "c", "d", "e"] {
        h.commit(&[name], &[]).await;
    }
    assert_eq!(h.ids().await, [1, 2, 3, 4, 5]);
    h.clock.advance(2 * 60 * 60 * 1000);
    h.commit(&["f"], &[]).await;
    assert_eq!(Consumers::new(&h.table).names().await.unwrap(), Vec::<String>::new());
    // All of them are old by now, so as few stay as may.
    assert_eq!(h.ids().await, [5, 6]);
}

/// Partitions 20240101 to 20240105, a file each.
async fn partitioned(options: &[(&str, &str)]) -> History {
    let base = [("bucket", "-1"), ("partition.expiration-check-interval", "0 ms")];
    let h = History::of(schema(true, false, &[&base[..], options].concat()), |store| store).await;
    let mut message = Vec::new();
    for day in 20_240_101..20_240_106 {
        let mut one = CommitMessage::new(row(&[day]), 0, -1);
        one.new_files = vec![file(&format!("f{day}"), 0, None)];
        message.push(one);
    }
    h.table.committer("u").commit(Commit::streaming(1, message)).await.unwrap();
    h
}

fn days(partitions: &[PartitionSummary]) -> Vec<String> {
    partitions.iter().map(|partition| partition.name.split_once('=').unwrap().1.to_owned()).collect()
}

#[tokio::test]
async fn old_partitions_expire_at_commits() {
    // It is 2023-11-14; so an age in the future is as good as one in the past.
    let h = partitioned(&[("partition.timestamp-formatter", "yyyyMMdd")]).await;
    assert!(expired_partitions(&h.table).await.is_err(), "no age is set");
    let set = |extra: &[(&str, &str)]| {
        let all = [&[("partition.expiration-time", "2 d")], extra].concat();
        h.table.with_options(&all.into_iter().collect()).unwrap()
    };
    assert_eq!(days(&expired_partitions(&set(&[])).await.unwrap()), Vec::<String>::new());
    // 2024-01-05 12:00.
    h.clock.set(1_704_456_000_000);
    assert_eq!(days(&expired_partitions(&set(&[])).await.unwrap()), ["20240101", "20240102", "20240103"]);
    let one = [("partition.expiration-max-num", "1")];
    assert_eq!(days(&expired_partitions(&set(&one)).await.unwrap()), ["20240101"]);
    let updated = [("partition.expiration-strategy", "update-time")];
    assert_eq!(expired_partitions(&set(&updated)).await.unwrap().len(), 5, "all files are from November");
    let unknown = [("partition.expiration-strategy", "custom")];
    assert_eq!(expired_partitions(&set(&unknown)).await.unwrap_err().kind(), linn_format::ErrorKind::Unsupported);
    let mut message = CommitMessage::new(row(&[20_240_105]), 0, -1);
    message.new_files = vec![file("g", 0, None)];
    let table = set(&[("partition.expiration-batch-size", "2")]);
    table.committer("u").commit(Commit::streaming(2, vec![message])).await.unwrap();
    assert_eq!(days(&partitions(&h.table).await.unwrap()), ["20240104", "20240105"]);
    // Three partitions in batches of two are two more snapshots.
    assert_eq!(h.ids().await, [1, 2, 3, 4]);
    let last = h.snapshot(4).await;
    assert_eq!((last.commit_kind, last.total_record_count), (linn_format::snapshot::CommitKind::Overwrite, Some(3)));
}

/// Compactions of 2024-01-05 12:00 leave partitions alone that are about to go.
#[tokio::test]
async fn what_is_about_to_expire_is_not_compacted() {
    let h = partitioned(&[("partition.timestamp-formatter", "yyyyMMdd"), ("partition.expiration-time", "2 d")]).await;
    let more = (20_240_101..20_240_106).map(|day| {
        let mut one = CommitMessage::new(row(&[day]), 0, -1);
        one.new_files = vec![file(&format!("g{day}"), 0, None)];
        one
    });
    h.table.committer("u").commit(Commit::streaming(2, more.collect())).await.unwrap();
    h.clock.set(1_704_456_000_000);
    let days = async |extra: &[(&str, &str)], partitions: Option<&[BinaryRow]>| {
        let table = h.table.with_options(&extra.iter().copied().collect()).unwrap();
        let plans = table.plan_compaction(partitions, true).await.unwrap();
        let mut days: Vec<i32> = plans.iter().map(|plan| day(&plan.partition)).collect();
        days.sort_unstable();
        days
    };
    let all = [20_240_101, 20_240_102, 20_240_103, 20_240_104, 20_240_105];
    let skip = ("compaction.skip-expired-partitions", "true");
    assert_eq!(days(&[], None).await, all);
    assert_eq!(days(&[skip], None).await, all[3..]);
    assert_eq!(days(&[skip], Some(&[row(&[all[0]]), row(&[all[4]])])).await, all[4..]);
    assert_eq!(days(&[skip, ("partition.expiration-strategy", "update-time")], None).await, all);
    assert_eq!(days(&[skip, ("partition.expiration-time", "9 d")], None).await, all);
}

fn day(partition: &BinaryRow) -> i32 {
    let int = linn_format::types::DataType::required(linn_format::types::Kind::Int);
    match partition.datum(0, &int).unwrap() {
        Some(linn_format::datum::Datum::Int(day)) => day,
        other => panic!("{other:?} is no day"),
    }
}

#[tokio::test]
async fn manifests_are_compacted_into_one() {
    let mut h = History::new(&[]).await;
    h.commit(&["a"], &[]).await;
    h.commit(&["b"], &["a"]).await;
    h.commit(&["c"], &[]).await;
    let counts = count_manifests(&h.table).await.unwrap().unwrap();
    assert_eq!((counts.files, counts.removals, counts.removing, counts.small), (3, 1, 1, 3));
    let done = compact_manifests(&h.table).await.unwrap();
    assert_eq!((done.snapshot, done.before.len(), done.after), (Some(SnapshotId(4)), 3, 1));
    let (last, compacted) = (h.snapshot(3).await, h.snapshot(4).await);
    assert_eq!(compacted.total_record_count, last.total_record_count);
    assert_eq!(live(&h.table, &compacted).await.len(), 2);
    assert_eq!(Manifests::new(&h.table).of_snapshot(&compacted).await.unwrap().len(), 1);
    assert_eq!(compact_manifests(&h.table).await.unwrap().snapshot, None);
    let counts = count_manifests(&h.table).await.unwrap().unwrap();
    assert_eq!((counts.files, counts.removals, counts.removing, counts.small), (1, 0, 0, 1));
    let report = crate::invariants::check(&h.table, crate::invariants::Depth::Metadata).await.unwrap();
    assert_eq!(report.findings, []);
    h.expire(&keep("1")).await;
    assert_eq!((h.data(), h.check().await), (vec!["b".to_owned(), "c".to_owned()], Vec::new()));
}

#[tokio::test]
async fn lost_manifests_can_be_left_out() {
    let mut h = History::new(&[]).await;
    h.commit(&["a"], &[]).await;
    h.commit(&["b"], &[]).await;
    assert_eq!(crate::commit::remove_lost_manifests(&h.table).await.unwrap().snapshot, None);
    assert_eq!(lost_manifests(&h.table).await.unwrap(), []);
    let first = Manifests::new(&h.table).of_delta(&*h.snapshot(1).await).await.unwrap();
    h.store.delete(&h.table.manifest_path(&first[0].file_name)).await.unwrap();
    let fresh = h.fresh();
    assert_eq!(lost_manifests(&h.table).await.unwrap(), first);
    let done = crate::commit::remove_lost_manifests(&fresh).await.unwrap();
    assert_eq!((done.snapshot, done.before.len()), (Some(SnapshotId(3)), 1));
    let snapshot = Snapshots::new(&fresh).latest().await.unwrap().unwrap();
    assert_eq!((live(&fresh, &snapshot).await.len(), snapshot.total_record_count), (1, Some(1)));
}

#[tokio::test]
async fn the_contents_of_a_table_are_counted_by_kind() {
    let mut h = History::new(&[]).await;
    h.commit(&["a", "b"], &[]).await;
    h.tag("t", 1).await;
    let found = contents(&h.table).await.unwrap();
    let kinds: Vec<(&str, u64)> = found.iter().map(|one| (one.kind.as_str(), one.files)).collect();
    // A manifest and the two lists; the snapshot and its two hints.
    assert_eq!(kinds, [("data", 2), ("manifest", 3), ("schema", 1), ("snapshot", 3), ("tag", 1)]);
    assert_eq!(found[0].bytes, 200);
}

#[tokio::test]
async fn partitions_that_are_finished_are_marked_once() {
    let h = partitioned(&[("partition.timestamp-formatter", "yyyyMMdd")]).await;
    let hour = std::time::Duration::from_secs(3600);
    let finished = async || days(&idle_partitions(&h.table, hour, hour * 24).await.unwrap());
    // 2024-01-03 01:00: the first is over for a day and an hour, the second for an hour, which is not more than one.
    h.clock.set(1_704_243_600_000);
    assert_eq!(finished().await, ["20240101"]);
    h.clock.advance(1);
    assert_eq!(finished().await, ["20240101", "20240102"]);
    let all = idle_partitions(&h.table, hour, hour * 24).await.unwrap();
    assert_eq!(mark_partitions(&h.table, &all[1..]).await.unwrap(), ["db.db/t/p=20240102/_SUCCESS"]);
    assert_eq!(finished().await, ["20240101"]);
    let unmarked = History::new(&[]).await;
    assert!(idle_partitions(&unmarked.table, hour, hour).await.is_err());
}
