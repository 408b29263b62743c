//! Stores that fail, lie about success, or go away: nothing is lost, nothing is doubled (spec: reliability.md H1–H4).

use linn_format::ErrorKind;

use super::*;
use crate::fixture::env;
use crate::storage::{Fault, Faulty, Memory, Op};

/// A table over memory, seen through a store that can be broken.
async fn broken() -> (Arc<Memory>, Faulty, Table) {
    let inner = memory();
    let store = Faulty::new(inner.clone());
    let table = table(Arc::new(store.clone()), schema(false, false, &[])).await;
    table.committer("u").commit(Commit::streaming(1, vec![added(&["f1"])])).await.unwrap();
    (inner, store, table)
}

fn second() -> Commit {
    Commit::streaming(2, vec![added(&["f2"])])
}

#[tokio::test]
async fn regress_a_lost_acknowledgement_neither_loses_nor_doubles() {
    for kind in [ErrorKind::UnknownOutcome, ErrorKind::Unavailable, ErrorKind::AlreadyExists] {
        let (_, store, table) = broken().await;
        store.inject(Op::Create, "snapshot-2", 0, 1, Fault::After(kind));
        assert_eq!(table.committer("u").commit(second()).await.unwrap(), committed(&[2]), "{kind:?}");
        assert_eq!(live(&table).await, names(["f1@0", "f2@0"]));
        assert_eq!(latest(&table).await.id, SnapshotId(2));
    }
}

#[tokio::test]
async fn regress_a_snapshot_that_reads_back_cut_off_is_not_taken_for_anothers() {
    for kind in [ErrorKind::UnknownOutcome, ErrorKind::AlreadyExists] {
        let (_, store, table) = broken().await;
        store.inject(Op::Create, "snapshot-2", 0, 1, Fault::After(kind));
        store.inject(Op::Read, "snapshot-2", 0, 2, Fault::Short);
        assert_eq!(table.committer("u").commit(second()).await.unwrap(), committed(&[2]), "{kind:?}");
        assert_eq!(live(&table).await, names(["f1@0", "f2@0"]));
    }
}

#[tokio::test]
async fn regress_what_a_store_says_is_there_and_cannot_be_read_may_be_ours() {
    let (inner, store, table) = broken().await;
    let committer = table.committer("u");
    // The first creation was ours; the store tells of it as of somebody else's.
    store.inject(Op::Create, "snapshot-2", 0, 1, Fault::After(ErrorKind::AlreadyExists));
    store.inject(Op::Read, "snapshot-2", 0, 99, Fault::Before(ErrorKind::Unavailable));
    let outcome = committer.commit(second()).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Unknown(_)), "{outcome:?}");
    let again = Table::new(table.name(), table.path(), table.schema().clone(), env(inner, 9));
    assert_eq!(live(&again).await, names(["f1@0", "f2@0"]));
}

#[tokio::test]
async fn an_error_without_effect_is_tried_again() {
    for kind in [ErrorKind::UnknownOutcome, ErrorKind::Unavailable] {
        let (_, store, table) = broken().await;
        store.inject(Op::Create, "snapshot-2", 0, 2, Fault::Before(kind));
        assert_eq!(table.committer("u").commit(second()).await.unwrap(), committed(&[2]), "{kind:?}");
        assert_eq!(live(&table).await, names(["f1@0", "f2@0"]));
    }
}

#[tokio::test]
async fn a_store_that_cannot_create_fails_cleanly() {
    let (inner, store, table) = broken().await;
    let before = inner.paths();
    store.inject(Op::Create, "snapshot-2", 0, 1, Fault::Before(ErrorKind::Unsupported));
    let error = table.committer("u").commit(second()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    store.inject(Op::Create, "snapshot-2", 0, 99, Fault::Before(ErrorKind::Unavailable));
    let error = table.committer("u").commit(second()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(inner.paths(), before);
}

/// Publishes, then neither hears of it nor can read it back.
async fn unknown(store: &Faulty, committer: &Committer, commit: Commit, fault: Fault) {
    store.inject(Op::Create, "snapshot-2", 0, 99, fault);
    store.inject(Op::Read, "snapshot-2", 0, 99, Fault::Before(ErrorKind::Unavailable));
    let outcome = committer.commit(commit).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Unknown(_)), "{outcome:?}");
}

#[tokio::test]
async fn an_unknown_outcome_deletes_nothing_and_is_settled_by_committing_again() {
    for (identifier, fault) in [
        (2, Fault::After(ErrorKind::UnknownOutcome)),
        (2, Fault::Before(ErrorKind::UnknownOutcome)),
        (BATCH_IDENTIFIER, Fault::After(ErrorKind::UnknownOutcome)),
        (BATCH_IDENTIFIER, Fault::Before(ErrorKind::UnknownOutcome)),
    ] {
        let (inner, store, table) = broken().await;
        let committer = table.committer("u");
        let commit = Commit { identifier, ..second() };
        unknown(&store, &committer, commit.clone(), fault).await;
        assert!(!store.trace().iter().any(|(op, _)| *op == Op::Delete));
        assert_eq!(committer.abort(&commit.messages).await.unwrap_err().kind(), ErrorKind::UnknownOutcome);
        // The faults end.
        for _ in 0..99 {
            let _ = table.storage().read("snapshot-2", None).await;
            let _ = table.storage().create("x/snapshot-2", "x".into()).await;
            let _ = table.storage().delete("x/snapshot-2").await;
        }
        assert!(inner.paths().iter().all(|path| !path.starts_with("x/")));
        assert_eq!(committer.commit(commit).await.unwrap(), committed(&[2]), "{fault:?}");
        assert_eq!(live(&table).await, names(["f1@0", "f2@0"]));
        assert_eq!(latest(&table).await.id, SnapshotId(2));
    }
}

#[tokio::test]
async fn another_process_settles_an_unknown_outcome_by_user_and_identifier() {
    let (inner, store, table) = broken().await;
    unknown(&store, &table.committer("u"), second(), Fault::After(ErrorKind::UnknownOutcome)).await;
    let healthy = Table::new("db.t", "db.db/t", table.schema().clone(), env(inner, 77));
    assert_eq!(healthy.committer("u").commit(second()).await.unwrap(), committed(&[2]));
    assert_eq!(live(&healthy).await, names(["f1@0", "f2@0"]));
}

#[tokio::test]
async fn another_commit_may_take_the_number_of_an_unknown_one() {
    let (inner, store, table) = broken().await;
    let committer = table.committer("u");
    unknown(&store, &committer, second(), Fault::Before(ErrorKind::UnknownOutcome)).await;
    let healthy = Table::new("db.t", "db.db/t", table.schema().clone(), env(inner, 77));
    healthy.committer("v").commit(Commit::streaming(1, vec![added(&["g"])])).await.unwrap();
    for _ in 0..99 {
        let _ = table.storage().read("snapshot-2", None).await;
    }
    assert_eq!(committer.commit(second()).await.unwrap(), committed(&[3]));
    assert_eq!(live(&table).await, names(["f1@0", "f2@0", "g@0"]));
}

#[tokio::test]
async fn hints_that_cannot_be_written_fail_no_commit() {
    let (_, store, table) = broken().await;
    store.inject(Op::Put, "LATEST", 0, 99, Fault::Before(ErrorKind::Unavailable));
    for id in 2..5 {
        let commit = Commit::streaming(id, vec![added(&[format!("f{id}").as_str()])]);
        assert_eq!(table.committer("u").commit(commit).await.unwrap(), committed(&[id]));
    }
    assert_eq!(live(&table).await.len(), 4);
}

#[tokio::test]
async fn a_crash_at_any_effect_leaves_a_table_that_works() {
    let mut effects = 0;
    let mut crashes = 0;
    loop {
        for applied in [false, true] {
            let (inner, store, table) = broken().await;
            store.stop_after(effects, applied);
            let outcome = table.committer("u").commit(second()).await;
            crashes += usize::from(store.stopped());
            let acknowledged = matches!(outcome, Ok(CommitOutcome::Committed(_)));
            let after = Table::new("db.t", "db.db/t", table.schema().clone(), env(inner, 77));
            let there = live(&after).await;
            assert!(there == names(["f1@0"]) || there == names(["f1@0", "f2@0"]), "{effects} {there:?}");
            assert!(!acknowledged || there.len() == 2);
            let again = after.committer("u").commit(second()).await.unwrap();
            assert_eq!(again, committed(&[2]), "after {effects} effects, applied {applied}");
            after.committer("u").commit(Commit::streaming(3, vec![added(&["f3"])])).await.unwrap();
            assert_eq!(live(&after).await, names(["f1@0", "f2@0", "f3@0"]));
        }
        effects += 1;
        if crashes < effects * 2 {
            break;
        }
    }
    assert!(effects >= 5, "a commit has more effects than {effects}");
}

#[tokio::test]
async fn regress_a_batch_whose_compaction_is_unknown_keeps_its_rows_once() {
    let inner = memory();
    let store = Faulty::new(inner.clone());
    let table = table(Arc::new(store.clone()), schema(false, true, &[("bucket", "2")])).await;
    let committer = table.committer("u");
    let mut message = keyed(&[("a", (1, 5))]);
    message.compact_before = vec![file("a", 0, Some((1, 5)))];
    message.compact_after = vec![file("b", 5, Some((1, 5)))];
    let commit = Commit::batch(vec![message]);
    unknown(&store, &committer, commit.clone(), Fault::After(ErrorKind::UnknownOutcome)).await;
    for _ in 0..99 {
        let _ = table.storage().read("snapshot-2", None).await;
        let _ = table.storage().create("x/snapshot-2", "x".into()).await;
        let _ = table.storage().delete("x/snapshot-2").await;
    }
    assert_eq!(committer.commit(commit).await.unwrap(), committed(&[1, 2]));
    assert_eq!(live(&table).await, names(["b@5"]));
    assert_eq!(latest(&table).await.id, SnapshotId(2));
}
