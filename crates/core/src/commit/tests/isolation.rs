//! Commits of statements that read the table they write: which commits of others rule them out.

use linn_format::datum::Datum;
use linn_format::predicate::{CompareOp, Predicate};

use super::*;
use crate::fixture::keyed_rows;

const K: i32 = 0;
const P: i32 = 2;

fn all() -> Predicate {
    Predicate::Constant(true)
}

fn is(field_id: i32, value: i32) -> Predicate {
    Predicate::Compare { field_id, op: CompareOp::Eq, literal: Datum::Int(value) }
}

/// What comes between the read of a statement and its commit.
enum Between<'a> {
    Nothing,
    /// Rows of these keys.
    Rows(&'a [i32]),
    /// A full compaction.
    Compaction,
    /// The partition goes.
    Drop(&'a str),
}

async fn write(table: &Table, user: &str, keys: &[i32]) -> CommitOutcome {
    let mut writer = table.writer(user).unwrap();
    writer.write(&keyed_rows(keys, user), None).await.unwrap();
    let messages = writer.prepare_commit(true).await.unwrap();
    let outcome = table.committer(user).commit(Commit::batch(messages)).await.unwrap();
    writer.close().await.unwrap();
    outcome
}

/// How a statement ends that reads by a filter, then writes keys: whether it is committed.
async fn check(options: &[(&str, &str)], filter: Predicate, keys: &[i32], between: Between<'_>) -> bool {
    let options = [&[("bucket", "2"), ("num-sorted-run.compaction-trigger", "100")], options].concat();
    let table = table(memory(), schema(true, true, &options)).await;
    write(&table, "before", &[1, 2, 3, 4, 5, 6, 7, 8]).await;
    let reads = Reads::default();
    let statement = table.noting(&reads).unwrap();
    statement.scan().filter(filter).plan().await.unwrap();
    match between {
        Between::Nothing => {}
        Between::Rows(keys) => assert!(matches!(write(&table, "other", keys).await, CommitOutcome::Committed(_))),
        Between::Compaction => {
            let messages = table.compact(None, true).await.unwrap();
            let vectors = table.options().deletion_vectors_enabled().unwrap();
            assert!(vectors || messages.iter().any(|message| !message.compact_after.is_empty()));
            table.committer("other").commit(Commit::batch(messages)).await.unwrap();
        }
        Between::Drop(partition) => {
            let spec = vec![("p".to_owned(), Some(partition.to_owned()))];
            table.committer("other").drop_partitions(vec![spec], BATCH_IDENTIFIER).await.unwrap();
        }
    }
    let outcome = write(&statement, "statement", keys).await;
    let committed = matches!(outcome, CommitOutcome::Committed(_) | CommitOutcome::CompactionLost { .. });
    assert_eq!(reads.is_lost(), !committed, "{outcome:?}");
    // What the job of a committed statement does afterwards is held against nothing.
    if committed {
        assert!(matches!(write(&table, "other", keys).await, CommitOutcome::Committed(_)));
        assert!(matches!(write(&statement, "statement", keys).await, CommitOutcome::Committed(_)));
    }
    committed
}

#[tokio::test]
async fn what_was_read_must_not_have_changed() {
    for options in [&[][..], &[("deletion-vectors.enabled", "true")], &[("bucket", "-1")]] {
        assert!(check(options, all(), &[1], Between::Nothing).await, "{options:?}");
        assert!(!check(options, all(), &[1], Between::Rows(&[9])).await, "{options:?}");
        assert!(!check(options, is(K, 1), &[1], Between::Rows(&[1])).await, "{options:?}");
        assert!(!check(options, is(P, 1), &[1], Between::Rows(&[11])).await, "a row that would have been read");
        assert!(!check(options, is(P, 1), &[1], Between::Drop("1")).await, "{options:?}");
    }
}

#[tokio::test]
async fn other_partitions_keys_and_compactions_do_not_matter() {
    for options in [&[][..], &[("deletion-vectors.enabled", "true")]] {
        assert!(check(options, is(P, 1), &[1], Between::Rows(&[2, 4])).await, "{options:?}");
        assert!(check(options, is(P, 1), &[1], Between::Drop("0")).await, "{options:?}");
        assert!(check(options, is(K, 1), &[1], Between::Rows(&[3])).await, "{options:?}");
        assert!(check(options, all(), &[1], Between::Compaction).await, "{options:?}");
    }
}

#[tokio::test]
async fn snapshot_isolation_looks_at_what_is_written_only() {
    let options = [("linn.isolation-level", "snapshot")];
    assert!(check(&options, all(), &[1], Between::Rows(&[2, 3])).await);
    assert!(!check(&options, all(), &[1, 5], Between::Rows(&[5])).await);
    assert!(check(&options, all(), &[1], Between::Compaction).await);
    assert!(check(&[("linn.isolation-level", "none")], all(), &[1], Between::Rows(&[1])).await);
}

#[tokio::test]
async fn a_table_that_was_empty_and_one_that_was_rolled_back_are_noticed() {
    let table = table(memory(), schema(true, true, &[("bucket", "1")])).await;
    let read = async |table: &Table| {
        let reads = Reads::default();
        let statement = table.noting(&reads).unwrap();
        statement.scan().plan().await.unwrap();
        statement
    };
    let of_nothing = read(&table).await;
    write(&table, "a", &[1]).await;
    assert!(matches!(write(&of_nothing, "b", &[1]).await, CommitOutcome::Conflict(_)));
    write(&table, "a", &[2]).await;
    let of_two = read(&table).await;
    table.rollback(&crate::rollback::RollbackTo::Snapshot(SnapshotId(1))).await.unwrap();
    write(&table, "a", &[3]).await;
    assert!(matches!(write(&of_two, "b", &[4]).await, CommitOutcome::Conflict(_)));
}

#[tokio::test]
async fn reads_of_the_past_and_of_other_tables_do_not_matter() {
    let table = table(memory(), schema(true, true, &[("bucket", "1")])).await;
    write(&table, "a", &[1]).await;
    let reads = Reads::default();
    let past = table.with_options(&[("scan.snapshot-id", "1")].into_iter().collect()).unwrap().noting(&reads).unwrap();
    past.scan().plan().await.unwrap();
    write(&table, "a", &[1]).await;
    assert!(matches!(write(&table.noting(&reads).unwrap(), "b", &[1]).await, CommitOutcome::Committed(_)));
}
