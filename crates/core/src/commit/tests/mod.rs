//! Commits over memory: what they publish, what they refuse, what they leave behind.

mod faults;
mod hooks;
mod isolation;
mod levels;
mod overwrite;
mod races;
mod reads;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use linn_format::SchemaId;
use linn_format::manifest::{FileKind, read_manifest, read_manifest_list};
use linn_format::row::BinaryRow;
use linn_format::snapshot::Snapshot;

use super::*;
use crate::fixture::{added, file, memory, row, schema, table};
use crate::seam::Storage;
use crate::snapshot::Snapshots;

/// The names of the live files at a snapshot, each with the number of times it is there.
pub(super) async fn files_at(table: &Table, snapshot: &Snapshot) -> BTreeMap<String, i32> {
    let mut counts = BTreeMap::new();
    for list in [&snapshot.base_manifest_list, &snapshot.delta_manifest_list] {
        let bytes = table.storage().read(&table.manifest_path(list), None).await.unwrap();
        for manifest in read_manifest_list(&bytes).unwrap() {
            let bytes = table.storage().read(&table.manifest_path(&manifest.file_name), None).await.unwrap();
            assert_eq!(bytes.len() as i64, manifest.file_size);
            let entries = read_manifest(&bytes).unwrap();
            for i in 0..entries.len() {
                let name = format!("{}@{}", entries.file_name(i), entries.level(i));
                *counts.entry(name).or_insert(0) += if entries.kind(i) == FileKind::Add { 1 } else { -1 };
            }
        }
    }
    counts.retain(|_, count| *count != 0);
    counts
}

pub(super) async fn latest(table: &Table) -> Arc<Snapshot> {
    Snapshots::new(table).latest().await.unwrap().unwrap()
}

/// The names of the live files; each is there once.
pub(super) async fn live(table: &Table) -> BTreeSet<String> {
    match Snapshots::new(table).latest().await.unwrap() {
        None => BTreeSet::new(),
        Some(snapshot) => {
            let files = files_at(table, &snapshot).await;
            assert!(files.values().all(|count| *count == 1), "{files:?}");
            let rows = files.len() as i64;
            assert!(snapshot.total_record_count.is_some_and(|total| total >= rows));
            files.into_keys().collect()
        }
    }
}

fn names<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.into_iter().map(str::to_owned).collect()
}

async fn append_table() -> Table {
    table(memory(), schema(false, false, &[])).await
}

/// New files of bucket 0 of two buckets of a keyed table.
fn keyed(new: &[(&str, (i32, i32))]) -> CommitMessage {
    let mut message = CommitMessage::new(BinaryRow::empty(), 0, 2);
    message.new_files = new.iter().map(|(name, keys)| file(name, 0, Some(*keys))).collect();
    message
}

fn compaction(before: &[(&str, i32, (i32, i32))], after: &[(&str, i32, (i32, i32))]) -> CommitMessage {
    let files = |all: &[(&str, i32, (i32, i32))]| {
        all.iter().map(|(name, level, keys)| file(name, *level, Some(*keys))).collect()
    };
    let mut message = CommitMessage::new(BinaryRow::empty(), 0, 2);
    message.compact_before = files(before);
    message.compact_after = files(after);
    message
}

fn committed(ids: &[i64]) -> CommitOutcome {
    CommitOutcome::Committed(ids.iter().map(|id| SnapshotId(*id)).collect())
}

#[tokio::test]
async fn a_commit_makes_a_snapshot_with_every_field() {
    let table = append_table().await;
    let committer = table.committer("u");
    let mut commit = Commit::streaming(1, vec![added(&["a", "b"])]);
    commit.watermark = Some(5);
    commit.properties.insert("x".into(), "y".into());
    commit.operation = Some("WRITE".into());
    assert_eq!(committer.commit(commit).await.unwrap(), committed(&[1]));
    let mut second = Commit::streaming(2, vec![added(&["c"])]);
    second.watermark = Some(3);
    assert_eq!(committer.commit(second).await.unwrap(), committed(&[2]));

    let first = Snapshots::new(&table).get(SnapshotId(1)).await.unwrap();
    assert_eq!((first.version, first.schema_id, first.commit_kind), (3, SchemaId(0), CommitKind::Append));
    assert_eq!(
        (first.total_record_count, first.delta_record_count, first.changelog_record_count),
        (Some(2), Some(2), None)
    );
    assert_eq!((first.watermark, first.next_row_id, first.operation.as_deref()), (Some(5), Some(0), Some("WRITE")));
    assert_eq!(first.properties.as_ref().unwrap()["x"], "y");
    let second = latest(&table).await;
    assert_eq!((second.watermark, second.total_record_count, second.delta_record_count), (Some(5), Some(3), Some(1)));
    assert!(second.properties.is_none() && second.uuid.is_some() && second.uuid != first.uuid);
    assert!(second.writer_version.as_ref().unwrap().starts_with("linn-"));
    for (list, size) in [
        (&second.base_manifest_list, second.base_manifest_list_size),
        (&second.delta_manifest_list, second.delta_manifest_list_size),
    ] {
        let there = table.storage().stat(&table.manifest_path(list)).await.unwrap().size;
        assert_eq!(Some(there as i64), size);
    }
    assert_eq!(live(&table).await, names(["a@0", "b@0", "c@0"]));
    for (hint, expected) in [("LATEST", "2"), ("EARLIEST", "1")] {
        let path = format!("db.db/t/snapshot/{hint}");
        assert_eq!(table.storage().read(&path, None).await.unwrap(), expected);
    }
}

#[tokio::test]
async fn changelog_files_are_listed_apart() {
    let table = append_table().await;
    let mut message = added(&["a"]);
    message.changelog_files = vec![file("changelog-a", 0, None)];
    table.committer("u").commit(Commit::streaming(1, vec![message])).await.unwrap();
    let snapshot = latest(&table).await;
    assert_eq!(snapshot.changelog_record_count, Some(1));
    let list = snapshot.changelog_manifest_list.as_ref().unwrap();
    let bytes = table.storage().read(&table.manifest_path(list), None).await.unwrap();
    assert_eq!(read_manifest_list(&bytes).unwrap()[0].num_added_files, 1);
    assert_eq!(live(&table).await, names(["a@0"]));
}

#[tokio::test]
async fn an_empty_commit_is_skipped_unless_it_is_wanted() {
    let table = append_table().await;
    let committer = table.committer("u");
    assert_eq!(committer.commit(Commit::streaming(1, vec![])).await.unwrap(), committed(&[]));
    assert!(Snapshots::new(&table).latest().await.unwrap().is_none());
    let wanted = Commit { when_empty: WhenEmpty::Create, ..Commit::streaming(2, vec![]) };
    assert_eq!(committer.commit(wanted).await.unwrap(), committed(&[1]));
    let forced = table.with_options(&[("commit.force-create-snapshot", "true")].into_iter().collect()).unwrap();
    assert_eq!(forced.committer("v").commit(Commit::streaming(1, vec![])).await.unwrap(), committed(&[2]));
}

#[tokio::test]
async fn a_commit_made_again_is_recognised() {
    let table = append_table().await;
    let commit = |id| Commit::streaming(id, vec![added(&[format!("f{id}").as_str()])]);
    let committer = table.committer("u");
    committer.commit(commit(1)).await.unwrap();
    committer.commit(commit(3)).await.unwrap();
    table.committer("other").commit(Commit::streaming(9, vec![added(&["o"])])).await.unwrap();
    for again in [&committer, &table.committer("u")] {
        assert_eq!(again.commit(commit(3)).await.unwrap(), committed(&[2]));
        assert_eq!(again.commit(commit(2)).await.unwrap(), committed(&[]), "older than the last");
        assert_eq!(again.filter_committed(&[2, 3, 4, 5]).await.unwrap(), [4, 5]);
    }
    assert_eq!(table.committer("new").filter_committed(&[1]).await.unwrap(), [1]);
    assert_eq!(live(&table).await, names(["f1@0", "f3@0", "o@0"]));
    assert!(committer.filter_committed(&[2, 1]).await.is_err());
}

#[tokio::test]
async fn the_walk_back_ends_where_snapshots_have_expired() {
    let table = append_table().await;
    for id in 1..=3 {
        table
            .committer("other")
            .commit(Commit::streaming(id, vec![added(&[format!("f{id}").as_str()])]))
            .await
            .unwrap();
    }
    table.storage().delete("db.db/t/snapshot/snapshot-1").await.unwrap();
    table.storage().delete("db.db/t/snapshot/snapshot-2").await.unwrap();
    assert_eq!(table.committer("u").commit(Commit::streaming(1, vec![added(&["g"])])).await.unwrap(), committed(&[4]));
}

#[tokio::test]
async fn new_rows_come_before_their_compaction() {
    let table = table(memory(), schema(false, true, &[("bucket", "2")])).await;
    let committer = table.committer("u");
    let mut message = keyed(&[("a", (1, 5)), ("b", (2, 9))]);
    let compacted = compaction(&[("a", 0, (1, 5)), ("b", 0, (2, 9))], &[("c", 5, (1, 9))]);
    message.compact_before = compacted.compact_before;
    message.compact_after = compacted.compact_after;
    let commit = Commit::streaming(1, vec![message]);
    assert_eq!(committer.commit(commit.clone()).await.unwrap(), committed(&[1, 2]));
    let kind = |snapshot: Arc<Snapshot>| snapshot.commit_kind;
    let snapshots = Snapshots::new(&table);
    assert_eq!(kind(snapshots.get(SnapshotId(1)).await.unwrap()), CommitKind::Append);
    assert_eq!(kind(snapshots.get(SnapshotId(2)).await.unwrap()), CommitKind::Compact);
    assert_eq!(live(&table).await, names(["c@5"]));
    assert_eq!(table.committer("u").commit(commit).await.unwrap(), committed(&[1, 2]), "made again after a restart");
    assert_eq!(latest(&table).await.id, SnapshotId(2));
}

#[tokio::test]
async fn a_compaction_that_comes_second_is_dropped_and_nothing_else() {
    let table = table(memory(), schema(false, true, &[("bucket", "2")])).await;
    let (ours, theirs) = (table.committer("ours"), table.committer("theirs"));
    ours.commit(Commit::streaming(1, vec![keyed(&[("a", (1, 5)), ("b", (2, 9))])])).await.unwrap();
    let before = [("a", 0, (1, 5)), ("b", 0, (2, 9))];
    theirs.commit(Commit::streaming(1, vec![compaction(&before, &[("c", 5, (1, 9))])])).await.unwrap();
    let mut late = compaction(&before, &[("d", 5, (1, 9))]);
    late.new_files = vec![file("e", 0, Some((3, 4)))];
    let outcome = ours.commit(Commit::streaming(2, vec![late])).await.unwrap();
    let CommitOutcome::CompactionLost { snapshots, why } = outcome else { panic!("{outcome:?}") };
    assert_eq!(snapshots, [SnapshotId(3)]);
    assert!(why.contains("not in the table any more"), "{why}");
    assert_eq!(live(&table).await, names(["c@5", "e@0"]));
}

#[tokio::test]
async fn conflicts_leave_no_metadata_behind() {
    let store = memory();
    let table = table(store.clone(), schema(false, true, &[("bucket", "2")])).await;
    let committer = table.committer("u");
    committer.commit(Commit::streaming(1, vec![keyed(&[("a", (1, 5))])])).await.unwrap();
    let before = store.paths();
    let mut gone = keyed(&[("n", (1, 1))]);
    gone.deleted_files = vec![file("never-there", 0, Some((1, 1)))];
    let outcome = committer.commit(Commit::streaming(2, vec![gone])).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Conflict(_)), "{outcome:?}");
    let mut rescaled = keyed(&[("m", (1, 1))]);
    rescaled.total_buckets = 4;
    let outcome = committer.commit(Commit::streaming(2, vec![rescaled])).await.unwrap();
    assert!(matches!(&outcome, CommitOutcome::Conflict(why) if why.contains("2 buckets")), "{outcome:?}");
    assert_eq!(store.paths(), before);
    assert_eq!(latest(&table).await.id, SnapshotId(1));
}

#[tokio::test]
async fn deleting_files_is_an_overwrite() {
    let table = append_table().await;
    let committer = table.committer("u");
    committer.commit(Commit::streaming(1, vec![added(&["a", "b"])])).await.unwrap();
    let mut message = added(&["c"]);
    message.deleted_files = vec![file("a", 0, None)];
    assert_eq!(committer.commit(Commit::streaming(2, vec![message])).await.unwrap(), committed(&[2]));
    let snapshot = latest(&table).await;
    assert_eq!((snapshot.commit_kind, snapshot.delta_record_count), (CommitKind::Overwrite, Some(0)));
    assert_eq!(live(&table).await, names(["b@0", "c@0"]));
}

#[tokio::test]
async fn files_that_are_there_can_be_discarded() {
    let table = table(memory(), schema(false, false, &[("commit.discard-duplicate-files", "true")])).await;
    let committer = table.committer("u");
    committer.commit(Commit::batch(vec![added(&["a"])])).await.unwrap();
    committer.commit(Commit::batch(vec![added(&["a", "b"])])).await.unwrap();
    assert_eq!(live(&table).await, names(["a@0", "b@0"]));
    assert_eq!(latest(&table).await.total_record_count, Some(2));
}

#[tokio::test]
async fn statistics_stay_while_the_schema_does() {
    let table = append_table().await;
    let committer = table.committer("u");
    committer.commit(Commit::streaming(1, vec![added(&["a"])])).await.unwrap();
    let mut analyzed = (*latest(&table).await).clone();
    analyzed.id = SnapshotId(2);
    analyzed.statistics = Some("stat-1".into());
    table.storage().put("db.db/t/statistics/stat-1", r#"{"schemaId": 0}"#.into()).await.unwrap();
    table.storage().create("db.db/t/snapshot/snapshot-2", analyzed.to_json().unwrap().into()).await.unwrap();
    committer.commit(Commit::streaming(2, vec![added(&["b"])])).await.unwrap();
    assert_eq!(latest(&table).await.statistics.as_deref(), Some("stat-1"));
    let change = linn_format::schema::SchemaChange::SetOption { key: "custom".into(), value: "x".into() };
    crate::schema::Schemas::new(&table).commit(&table, &[change]).await.unwrap();
    committer.commit(Commit::streaming(3, vec![added(&["c"])])).await.unwrap();
    let snapshot = latest(&table).await;
    assert_eq!((snapshot.statistics.as_deref(), snapshot.schema_id), (None, SchemaId(1)));
}

#[tokio::test]
async fn many_small_commits_keep_the_list_short() {
    let store = memory();
    let table = table(store.clone(), schema(false, false, &[])).await;
    let committer = table.committer("u");
    for id in 1..=100 {
        committer.commit(Commit::streaming(id, vec![added(&[format!("f{id}").as_str()])])).await.unwrap();
    }
    let snapshot = latest(&table).await;
    let bytes = store.read(&table.manifest_path(&snapshot.base_manifest_list), None).await.unwrap();
    let manifests = read_manifest_list(&bytes).unwrap();
    assert!(manifests.len() <= 31, "{}", manifests.len());
    assert_eq!(live(&table).await.len(), 100);
    assert_eq!(snapshot.total_record_count, Some(100));
}

#[tokio::test]
async fn partitions_are_described_in_manifest_lists() {
    let table = table(memory(), schema(true, false, &[])).await;
    let messages = [3, 7, 5].map(|p| {
        let mut message = CommitMessage::new(row(&[p]), 0, -1);
        message.new_files = vec![file(&format!("f{p}"), 0, None)];
        message
    });
    table.committer("u").commit(Commit::batch(messages.to_vec())).await.unwrap();
    let snapshot = latest(&table).await;
    let bytes = table.storage().read(&table.manifest_path(&snapshot.delta_manifest_list), None).await.unwrap();
    let manifests = read_manifest_list(&bytes).unwrap();
    let stats = &manifests[0].partition_stats;
    assert_eq!((&stats.min, &stats.max, &stats.null_counts), (&row(&[3]), &row(&[7]), &vec![Some(0)]));
    assert_eq!((manifests[0].num_added_files, manifests[0].min_bucket, manifests[0].max_level), (3, Some(0), Some(0)));
}
