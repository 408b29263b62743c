//! Plans over small tables: pruning, sections, limits, deletion files.

use std::sync::Arc;

use linn_format::SnapshotId;
use linn_format::datum::Datum;
use linn_format::file::DataFileMeta;
use linn_format::manifest::{DELETION_VECTORS_INDEX, DeletionVectorMeta, FileKind, IndexManifestEntry};
use linn_format::predicate::{CompareOp, Predicate};
use linn_format::row::BinaryRow;
use linn_format::stats::SimpleStats;
use linn_format::types::{DataType, Kind};

use super::Plan;
use crate::commit::{Commit, CommitMessage};
use crate::fixture::{file, memory, row, schema, table};
use crate::table::Table;

const K: i32 = 0;
const V: i32 = 1;
const P: i32 = 2;

async fn commit(table: &Table, identifier: i64, messages: Vec<CommitMessage>) {
    table.committer("u").commit(Commit::streaming(identifier, messages)).await.unwrap();
}

fn message(partition: BinaryRow, bucket: i32, total: i32, files: Vec<Arc<DataFileMeta>>) -> CommitMessage {
    let mut message = CommitMessage::new(partition, bucket, total);
    message.new_files = files;
    message
}

/// A file with statistics: keys from `keys.0` to `keys.1`, values from `values.0` to `values.1`.
fn with_values(name: &str, level: i32, keys: (i32, i32), values: (&str, &str)) -> Arc<DataFileMeta> {
    let mut file = (*file(name, level, Some(keys))).clone();
    let (int, text) = (DataType::required(Kind::Int), DataType::string());
    let both = |k: i32, v: &str| {
        BinaryRow::from_datums(&[(Some(Datum::Int(k)), &int), (Some(Datum::String(v.to_owned())), &text)]).unwrap()
    };
    let zeros = |n| vec![Some(0); n];
    file.key_stats = SimpleStats { min: row(&[keys.0]), max: row(&[keys.1]), null_counts: zeros(1) };
    file.value_stats = SimpleStats { min: both(keys.0, values.0), max: both(keys.1, values.1), null_counts: zeros(2) };
    file.value_stats_cols = None;
    Arc::new(file)
}

fn equals(field_id: i32, literal: Datum) -> Predicate {
    Predicate::Compare { field_id, op: CompareOp::Eq, literal }
}

fn text(value: &str) -> Datum {
    Datum::String(value.to_owned())
}

fn names(plan: &Plan) -> Vec<String> {
    let files = plan.splits.iter().flat_map(|s| &s.files).map(|f| f.file_name.clone());
    let mut names: Vec<_> = files.collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn an_empty_table_has_an_empty_plan() {
    let table = table(memory(), schema(false, true, &[("bucket", "1")])).await;
    let plan = table.scan().plan().await.unwrap();
    assert_eq!((plan.snapshot_id, plan.splits.len()), (None, 0));
}

#[tokio::test]
async fn partitions_and_buckets_are_left_out() {
    let table = table(memory(), schema(true, true, &[("bucket", "2")])).await;
    let messages = (0..3).flat_map(|p| (0..2).map(move |b| (p, b)));
    let messages = messages.map(|(p, b)| message(row(&[p]), b, 2, vec![file(&format!("f{p}{b}"), 0, Some((0, 9)))]));
    commit(&table, 1, messages.collect()).await;
    let all = table.scan().plan().await.unwrap();
    assert_eq!(
        all.splits.iter().map(|s| (s.partition.clone(), s.bucket)).collect::<Vec<_>>(),
        [(row(&[0]), 0), (row(&[0]), 1), (row(&[1]), 0), (row(&[1]), 1), (row(&[2]), 0), (row(&[2]), 1),]
    );
    let one = table.scan().filter(equals(P, Datum::Int(1))).plan().await.unwrap();
    assert_eq!(names(&one), ["f10", "f11"]);
    let named = table.scan().partitions(vec![row(&[2])]).buckets(vec![1]).plan().await.unwrap();
    assert_eq!(names(&named), ["f21"]);
    // The bucket of INT 0 and 1 among two: their hashes are -300363099 and 1465514398.
    let zero = table.scan().filter(equals(K, Datum::Int(0))).plan().await.unwrap();
    assert_eq!(names(&zero), ["f01", "f11", "f21"]);
    let one = table.scan().filter(equals(K, Datum::Int(1))).plan().await.unwrap();
    assert_eq!(names(&one), ["f00", "f10", "f20"]);
}

#[tokio::test]
async fn deleted_files_are_gone_and_deltas_keep_to_themselves() {
    let table = table(memory(), schema(false, true, &[("bucket", "1")])).await;
    let (old, new) = (file("old", 0, Some((0, 9))), file("new", 5, Some((0, 9))));
    commit(&table, 1, vec![message(row(&[]), 0, 1, vec![old.clone()])]).await;
    let mut compaction = CommitMessage::new(row(&[]), 0, 1);
    compaction.compact_before = vec![old];
    compaction.compact_after = vec![new];
    commit(&table, 2, vec![compaction]).await;
    commit(&table, 3, vec![message(row(&[]), 0, 1, vec![file("last", 0, Some((5, 6)))])]).await;
    assert_eq!(names(&table.scan().plan().await.unwrap()), ["last", "new"]);
    let snapshots = crate::snapshot::Snapshots::new(&table);
    let second = snapshots.get(SnapshotId(2)).await.unwrap();
    assert_eq!(names(&table.scan().snapshot(second.clone()).plan().await.unwrap()), ["new"]);
    assert_eq!(names(&table.scan().plan_delta(&second).await.unwrap()), ["new"]);
    assert_eq!(names(&table.scan().plan_changelog(&second).await.unwrap()), [""; 0]);
}

#[tokio::test]
async fn splits_are_whole_sections() {
    let options = [("bucket", "1"), ("source.split.target-size", "250 b"), ("source.split.open-file-cost", "1 b")];
    let table = table(memory(), schema(false, true, &options)).await;
    let files = [("a", 0, (1, 2)), ("b", 0, (3, 4)), ("c", 0, (5, 180)), ("d", 0, (5, 190)), ("e", 0, (200, 600))];
    let files = files.iter().map(|(name, level, keys)| file(name, *level, Some(*keys))).collect();
    commit(&table, 1, vec![message(row(&[]), 0, 1, files)]).await;
    let plan = table.scan().plan().await.unwrap();
    let shape: Vec<_> = plan.splits.iter().map(|s| (s.files.len(), s.raw_convertible)).collect();
    assert_eq!(shape, [(2, false), (2, false), (1, true)]);
}

/// Case M15: a value filter drops a file only where no other file has its keys.
#[tokio::test]
async fn value_filters_respect_overlapping_keys() {
    let check = async |engine: &'static str, want: &[&str]| {
        let table = table(memory(), schema(false, true, &[("bucket", "1"), ("merge-engine", engine)])).await;
        let files = vec![
            with_values("alone", 0, (1, 2), ("a", "c")),
            with_values("alone-hit", 0, (3, 4), ("x", "x")),
            with_values("miss-1", 0, (10, 20), ("a", "b")),
            with_values("miss-2", 0, (15, 25), ("c", "d")),
            with_values("half-hit", 0, (30, 40), ("x", "z")),
            with_values("half-miss", 0, (35, 45), ("a", "b")),
        ];
        commit(&table, 1, vec![message(row(&[]), 0, 1, files)]).await;
        let plan = table.scan().filter(equals(V, text("x"))).plan().await.unwrap();
        assert_eq!(names(&plan), want);
        let keyed = Predicate::and([equals(V, text("x")), equals(K, Datum::Int(35))]);
        let plan = table.scan().filter(keyed).plan().await.unwrap();
        assert_eq!(names(&plan), ["half-hit", "half-miss"]);
    };
    check("deduplicate", &["alone-hit", "half-hit", "half-miss"]).await;
    check("partial-update", &["alone-hit", "half-hit", "half-miss", "miss-1", "miss-2"]).await;
}

/// Case D6: deleted rows do not count towards a limit. Level 0 waits for its deletion vectors.
#[tokio::test]
async fn limits_count_rows_that_are_left() {
    let options = [("bucket", "1"), ("deletion-vectors.enabled", "true"), ("source.split.target-size", "1 b")];
    let table = table(memory(), schema(false, true, &options)).await;
    let files = (0..4).map(|i| file(&format!("f{i}"), i32::from(i < 3), Some((i * 10, i * 10)))).collect();
    let mut write = CommitMessage::new(row(&[]), 0, 1);
    write.compact_after = files;
    write.compact_index_changes = vec![IndexManifestEntry {
        kind: FileKind::Add,
        partition: row(&[]),
        bucket: 0,
        index_type: DELETION_VECTORS_INDEX.to_owned(),
        file_name: "index-1".to_owned(),
        file_size: 30,
        row_count: 1,
        deletion_vectors: Some(vec![DeletionVectorMeta {
            data_file: "f0".to_owned(),
            offset: 1,
            length: 22,
            cardinality: Some(1),
        }]),
        external_path: None,
        global_index: None,
    }];
    commit(&table, 1, vec![write]).await;
    let all = table.scan().plan().await.unwrap();
    assert_eq!(names(&all), ["f0", "f1", "f2"]);
    assert_eq!(all.splits[0].deletion_files[0].as_ref().unwrap().path, "db.db/t/index/index-1");
    assert_eq!(names(&table.scan().limit(2).plan().await.unwrap()), ["f0", "f1", "f2"]);
    assert_eq!(names(&table.scan().limit(1).plan().await.unwrap()), ["f0", "f1"]);
    assert_eq!(names(&table.scan().every_level().plan().await.unwrap()), ["f0", "f1", "f2", "f3"]);
}

#[tokio::test]
async fn files_of_append_tables_stay_in_order() {
    let options = [("bucket", "-1"), ("source.split.target-size", "200 b"), ("source.split.open-file-cost", "1 b")];
    let table = table(memory(), schema(false, false, &options)).await;
    let of = |name: &str, sequence| {
        let mut file = (*with_values(name, 0, (0, 0), ("a", "b"))).clone();
        file.min_sequence_number = sequence;
        Arc::new(file)
    };
    commit(&table, 1, vec![message(row(&[]), 0, -1, vec![of("c", 3), of("a", 1), of("b", 2)])]).await;
    let plan = table.scan().plan().await.unwrap();
    let files = |i: usize| plan.splits[i].files.iter().map(|f| f.file_name.as_str()).collect::<Vec<_>>();
    assert_eq!((files(0), files(1)), (vec!["a", "b"], vec!["c"]));
    assert!(plan.splits.iter().all(|s| s.raw_convertible));
    assert!(table.scan().filter(equals(V, text("x"))).plan().await.unwrap().splits.is_empty());
}

#[tokio::test]
async fn partitions_are_listed_by_value() {
    let table = table(memory(), schema(true, true, &[("bucket", "2")])).await;
    let messages = [10, 2, 1].map(|p| message(row(&[p]), 0, 2, vec![file(&format!("f{p}"), 0, Some((0, 9)))]));
    commit(&table, 1, messages.to_vec()).await;
    assert_eq!(table.scan().partition_names().await.unwrap(), ["p=1", "p=2", "p=10"]);
    let some = table.scan().filter(equals(P, Datum::Int(2))).partition_names().await.unwrap();
    assert_eq!(some, ["p=2"]);
}

#[tokio::test]
async fn files_say_the_same_before_and_after_they_are_made() {
    let options = [("bucket", "1"), ("source.split.target-size", "250 b"), ("source.split.open-file-cost", "1 b")];
    let table = table(memory(), schema(false, true, &options)).await;
    let files: Vec<_> = (0..7)
        .map(|n| {
            let mut file = (*file(&format!("f{n}"), 3, Some((n * 10, n * 10 + 9)))).clone();
            (file.file_size, file.row_count, file.delete_row_count) = (100, i64::from(n) + 1, Some(0));
            Arc::new(file)
        })
        .collect();
    commit(&table, 1, vec![message(BinaryRow::empty(), 0, 1, files.clone())]).await;
    let splits = table.scan().plan().await.unwrap().splits;
    let says = |split: &super::Split| {
        let files = &split.files;
        (files.len(), files.rows(), files.bytes(), files.take_nothing_back(), files.is_empty())
    };
    let before: Vec<_> = splits.iter().map(says).collect();
    assert_eq!(before.iter().map(|(files, ..)| *files).collect::<Vec<_>>(), [2, 2, 2, 1]);
    let told = |file: &Arc<DataFileMeta>| (file.file_name.clone(), file.row_count, file.max_key.clone());
    let mut made: Vec<_> = splits.iter().flat_map(|split| &split.files).map(told).collect();
    made.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(made, files.iter().map(told).collect::<Vec<_>>());
    assert_eq!(splits.iter().map(says).collect::<Vec<_>>(), before);
    let as_vector = |split: super::Split| super::Split { files: split.files.to_vec().into(), ..split };
    let of_vectors: Vec<_> = splits.into_iter().map(as_vector).collect();
    assert_eq!(of_vectors.iter().map(says).collect::<Vec<_>>(), before);
}
