//! The store fails once, at any call of a round, with and without having done what it was asked: the process goes on by itself,
//! and the rows and the changelog are those of a store that never failed.

use std::sync::Arc;

use linn_core::storage::{Fault, Faulty, Op};
use linn_core::write::TableWriter;
use linn_core::{Commit, CommitOutcome, Committer};
use linn_format::ErrorKind;

use crate::drive::{block_on, write};
use crate::life::{Life, ROUNDS};

/// The round in which the store fails.
const BROKEN: i64 = 1;
/// How often a step is tried before the test gives up.
const TRIES: usize = 6;

/// Hands over and commits until it has succeeded, as a job does that outlives faults.
async fn commit(writer: &mut TableWriter, committer: &Committer, identifiers: &mut i64, what: &str) {
    for _ in 0..TRIES {
        let Ok(messages) = writer.prepare_commit(true).await else { continue };
        *identifiers += 1;
        for _ in 0..TRIES {
            let outcome = committer.commit(Commit::streaming(*identifiers, messages.clone())).await;
            match outcome {
                Ok(CommitOutcome::Committed(_)) => return,
                Ok(lost @ CommitOutcome::CompactionLost { .. }) => {
                    // Reading the table may fail as well, once.
                    if writer.settle(&lost).await.is_err() {
                        writer.settle(&lost).await.unwrap();
                    }
                    break;
                }
                Ok(CommitOutcome::Unknown(_)) | Err(_) => {}
                Ok(other) => panic!("{what}: {other:?}"),
            }
        }
    }
    panic!("{what}: the process did not get through");
}

fn check(options: &[(&str, &str)]) {
    block_on(async {
        let young = Life::new(options);
        for number in 0..BROKEN {
            young.live(number).await;
        }
        let faults = [
            Fault::Before(ErrorKind::Unavailable),
            Fault::After(ErrorKind::UnknownOutcome),
            Fault::Before(ErrorKind::UnknownOutcome),
            Fault::After(ErrorKind::Unavailable),
        ];
        let mut injected = 0;
        for op in [Op::Put, Op::Create, Op::Close, Op::Delete, Op::Read] {
            for fault in faults {
                let (usual, after) = (faults[..2].contains(&fault), matches!(fault, Fault::After(_)));
                // Only publishing has to tell all of them apart.
                if (op == Op::Read && after) || (op != Op::Create && !usual) {
                    continue;
                }
                let mut skip = 0;
                loop {
                    let what = format!("{options:?}, {op:?} {skip} fails {fault:?}");
                    let life = young.copy().await;
                    let store = Faulty::new(life.store.clone());
                    let table = life.table_over(Arc::new(store.clone())).await;
                    let committer = table.committer("other");
                    let mut writer = table.writer("other").unwrap();
                    store.inject(op, "", skip, 1, fault);
                    let mut identifiers = 0;
                    for number in BROKEN..ROUNDS {
                        let records = life.records(number);
                        if write(&mut writer, &table, &records).await.is_err() {
                            // A bucket could not be opened: nothing of the batch that belongs to it is written, so a
                            // new writer starts over.
                            writer.close().await.ok();
                            writer = table.writer("other").unwrap();
                            write(&mut writer, &table, &records).await.unwrap();
                        }
                        commit(&mut writer, &committer, &mut identifiers, &what).await;
                    }
                    life.check(&what, ROUNDS).await;
                    writer.close().await.ok();
                    life.finish(&what).await;
                    if store.is_waiting() {
                        break;
                    }
                    injected += 1;
                    // There are many reads, and they do not change anything.
                    skip += if op == Op::Read { 4 } else { 1 };
                }
            }
        }
        assert!(injected > 40, "{options:?}: only {injected} faults");
    });
}

#[test]
fn with_a_lookup_changelog() {
    check(&[("changelog-producer", "lookup")]);
}

#[test]
fn with_a_lookup_changelog_and_deletion_vectors() {
    check(&[("changelog-producer", "lookup"), ("deletion-vectors.enabled", "true")]);
}

#[test]
fn with_a_full_compaction_changelog() {
    check(&[("changelog-producer", "full-compaction")]);
}
