//! Append tables: rows deleted by their place, before and after compaction, with vectors and by writing files anew.

use arrow_array::types::Int64Type;
use linn_format::ErrorKind;
use proptest::prelude::*;

use super::*;
use crate::file::row_position_field;
use crate::scan::Split;

/// Messages that delete the rows whose key is one of these.
async fn deletion(table: &Table, keys: &[i32]) -> Vec<CommitMessage> {
    let snapshot = latest(table).await;
    let mut deletion = table.delete_rows(snapshot.clone()).unwrap();
    let fields = vec![table.schema().fields[0].clone(), row_position_field()];
    let read = table.read().fields(fields).build().unwrap();
    for split in table.scan().snapshot(snapshot).plan().await.unwrap().splits {
        for (at, file) in split.files.iter().enumerate() {
            let vector = split.deletion_files.get(at).cloned().flatten();
            let one = Split { files: vec![file.clone()].into(), deletion_files: vec![vector], ..split.clone() };
            for batch in read.stream(&one).await.unwrap().try_collect::<Vec<_>>().await.unwrap() {
                let (k, position) = (batch.column(0).as_primitive::<Int32Type>(), batch.column(1));
                for row in (0..batch.num_rows()).filter(|row| keys.contains(&k.value(*row))) {
                    let position = position.as_primitive::<Int64Type>().value(row);
                    deletion.mark(&split, at, position as u64).unwrap();
                }
            }
        }
    }
    deletion.finish().await.unwrap()
}

async fn delete(table: &Table, keys: &[i32]) {
    commit(table, deletion(table, keys).await).await;
}

fn rows(keys: impl IntoIterator<Item = i32>) -> Vec<(Row, i8)> {
    keys.into_iter().map(|k| ((k, 0, Some(k), None), 0)).collect()
}

fn keys(rows: &[Row]) -> Vec<i32> {
    rows.iter().map(|row| row.0).collect()
}

#[derive(Debug, Clone)]
enum Step {
    Write(Vec<i32>),
    Delete(Vec<i32>),
    Compact { full: bool },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => prop::collection::vec(0..30i32, 1..12).prop_map(Step::Write),
        2 => prop::collection::vec(0..30i32, 1..5).prop_map(Step::Delete),
        1 => any::<bool>().prop_map(|full| Step::Compact { full }),
    ];
    prop::collection::vec(step, 1..14)
}

/// Options of a table with so many buckets.
fn in_buckets(buckets: &str) -> Vec<(&str, &str)> {
    match buckets {
        "-1" => vec![("bucket", buckets)],
        _ => vec![("bucket", buckets), ("bucket-key", "k")],
    }
}

async fn run(options: &[(&str, &str)], steps: &[Step]) {
    let table = table(false, options).await;
    write(&table, &rows(0..20)).await;
    let mut model: Vec<i32> = (0..20).collect();
    let mut expected = Vec::new();
    for step in steps {
        match step {
            Step::Write(new) => {
                write(&table, &rows(new.iter().copied())).await;
                model.extend(new);
            }
            Step::Delete(gone) => {
                delete(&table, gone).await;
                model.retain(|key| !gone.contains(key));
            }
            Step::Compact { full } => {
                commit(&table, table.compact(None, *full).await.unwrap()).await;
                let left = vectors(&table).await;
                assert!(!full || left.is_empty(), "a complete compaction leaves {left:?}");
            }
        }
        vectors(&table).await;
        model.sort_unstable();
        expected.push((latest(&table).await, model.clone()));
    }
    for (snapshot, model) in expected {
        assert_eq!(keys(&read_at(&table, Some(snapshot.clone())).await.unwrap()), model, "at {}", snapshot.id);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn deleted_rows_stay_away(
        buckets in prop_oneof![Just("-1"), Just("2")],
        enabled in prop_oneof![3 => Just("true"), 1 => Just("false")],
        target in prop_oneof![Just("2 mb"), Just("10 b")],
        wide in prop_oneof![Just("true"), Just("false")],
        steps in steps(),
    ) {
        let mut options = in_buckets(buckets);
        options.extend([
            ("deletion-vectors.enabled", enabled), ("target-file-row-num", "7"),
            ("deletion-vector.index-file.target-size", target), ("deletion-vectors.bitmap64", wide),
        ]);
        block_on(run(&options, &steps));
    }
}

/// Vectors that did not change are not written anew unless they lie in the same index file.
#[test]
fn index_files_roll_and_are_replaced_one_by_one() {
    block_on(async {
        let options = [("bucket", "-1"), ("deletion-vector.index-file.target-size", "1 b")];
        let table = table(false, &options).await;
        for key in 0..3 {
            write(&table, &rows([key, key + 10])).await;
        }
        delete(&table, &[0, 1, 2]).await;
        let names = |lines: Vec<linn_format::manifest::IndexManifestEntry>| -> BTreeSet<String> {
            lines.into_iter().map(|line| line.file_name).collect()
        };
        let before = names(vector_lines(&table, &*latest(&table).await).await.unwrap());
        assert_eq!(before.len(), 3, "each vector has a file of its own");
        delete(&table, &[11]).await;
        let after = names(vector_lines(&table, &*latest(&table).await).await.unwrap());
        assert_eq!((after.len(), after.intersection(&before).count()), (3, 2));
        assert_eq!(keys(&read(&table).await), [10, 12]);
    });
}

/// Case D6: what the metadata counts leaves deleted rows out, so that a limit gets its rows.
#[test]
fn regress_a_limit_counts_no_deleted_rows() {
    block_on(async {
        let table = table(false, &[("bucket", "-1"), ("source.split.target-size", "1 b")]).await;
        for key in 1..4 {
            write(&table, &rows([key])).await;
        }
        delete(&table, &[1]).await;
        let splits = table.scan().limit(2).plan().await.unwrap().splits;
        assert_eq!(splits.iter().filter_map(Split::merged_row_count).sum::<i64>(), 2);
    });
}

#[test]
fn two_deletions_from_one_file_conflict() {
    block_on(async {
        for (buckets, enabled) in [("-1", "true"), ("1", "true"), ("-1", "false")] {
            let mut options = in_buckets(buckets);
            options.push(("deletion-vectors.enabled", enabled));
            let table = table(false, &options).await;
            write(&table, &rows(0..9)).await;
            let (first, second) = (deletion(&table, &[1]).await, deletion(&table, &[2]).await);
            commit(&table, first).await;
            let outcome = try_commit(&table, second.clone()).await;
            assert!(matches!(outcome, CommitOutcome::Conflict(_)), "{outcome:?}");
            table.committer("test").abort(&second).await.unwrap();
            assert_eq!(keys(&read(&table).await), [0, 2, 3, 4, 5, 6, 7, 8]);
        }
    });
}

#[test]
fn a_deletion_from_a_file_that_was_compacted_away_is_a_conflict() {
    block_on(async {
        for buckets in ["-1", "1"] {
            let table = table(false, &in_buckets(buckets)).await;
            for key in 0..3 {
                write(&table, &rows([key, key + 10])).await;
            }
            let late = deletion(&table, &[1]).await;
            let compaction = table.compact(None, true).await.unwrap();
            assert!(!compaction.is_empty());
            commit(&table, compaction).await;
            let outcome = try_commit(&table, late).await;
            assert!(matches!(outcome, CommitOutcome::Conflict(_)), "{outcome:?}");
            // The other way round the compaction is dropped.
            for key in 3..6 {
                write(&table, &rows([key, key + 10])).await;
            }
            let compaction = table.compact(None, true).await.unwrap();
            delete(&table, &[4]).await;
            let outcome = try_commit(&table, compaction).await;
            assert!(matches!(outcome, CommitOutcome::CompactionLost { .. }), "{outcome:?}");
            assert_eq!(keys(&read(&table).await), [0, 1, 2, 3, 5, 10, 11, 12, 13, 14, 15]);
        }
    });
}

#[test]
fn a_row_that_is_not_there_cannot_be_deleted() {
    block_on(async {
        let table = table(false, &[("bucket", "-1")]).await;
        write(&table, &rows(0..3)).await;
        let snapshot = latest(&table).await;
        let split = table.scan().plan().await.unwrap().splits.remove(0);
        let mut deletion = table.delete_rows(snapshot.clone()).unwrap();
        assert_eq!(deletion.mark(&split, 0, 3).unwrap_err().kind(), ErrorKind::Internal);
        assert_eq!(deletion.mark(&split, 1, 0).unwrap_err().kind(), ErrorKind::Internal);
        let keyed = super::table(true, &[("bucket", "1")]).await;
        assert_eq!(keyed.delete_rows(snapshot).unwrap_err().kind(), ErrorKind::Unsupported);
    });
}
