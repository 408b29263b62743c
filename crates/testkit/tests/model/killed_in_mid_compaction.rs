//! A process dies at any effect of writing, compacting and committing; the next one goes on, and nothing is lost, doubled or
//! told twice.

use std::sync::Arc;

use linn_core::storage::Faulty;
use linn_core::{Commit, CommitOutcome};
use linn_testkit::compare::{Rules, difference};

use crate::drive::{block_on, write};
use crate::life::{Life, ROUNDS};

/// The round in which processes die.
const DEADLY: i64 = 2;

/// A process that dies on its way; whether it was told that its rows are committed.
async fn dies(life: &Life, store: &Faulty) -> bool {
    let table = life.table_over(Arc::new(store.clone())).await;
    let Ok(mut writer) = table.writer("test") else { return false };
    if write(&mut writer, &table, &life.records(DEADLY)).await.is_err() {
        return false;
    }
    let Ok(messages) = writer.prepare_commit(true).await else { return false };
    let outcome = table.committer("test").commit(Commit::streaming(DEADLY, messages)).await;
    matches!(outcome, Ok(CommitOutcome::Committed(_) | CommitOutcome::CompactionLost { .. }))
}

fn check(options: &[(&str, &str)]) {
    block_on(async {
        let young = Life::new(options);
        for number in 0..DEADLY {
            young.live(number).await;
        }
        young.check("before", DEADLY).await;
        let mut effects = 0;
        loop {
            let mut died = false;
            for applied in [false, true] {
                let what = format!("{options:?}, dead after {effects} effects, the next applied: {applied}");
                let life = young.copy().await;
                let store = Faulty::new(life.store.clone());
                store.stop_after(effects, applied);
                let acknowledged = dies(&life, &store).await;
                died |= store.stopped();
                let rows = life.rows(None).await;
                let rules = Rules::of(&life.schema);
                let is = |number| difference(&life.before(number), &rows, &rules).is_none();
                assert!(
                    is(DEADLY + 1) || (!acknowledged && is(DEADLY)) || hides(options) && is(DEADLY),
                    "{what}: {rows:?}"
                );
                for number in DEADLY..ROUNDS {
                    life.live(number).await;
                    life.check(&what, number + 1).await;
                }
                life.finish(&what).await;
            }
            if !died {
                break;
            }
            effects += 1;
        }
        assert!(effects >= 10, "{options:?}: only {effects} effects");
    });
}

/// Rows that are committed show once they are compacted.
fn hides(options: &[(&str, &str)]) -> bool {
    options.contains(&("deletion-vectors.enabled", "true"))
}

#[test]
fn of_plain_tables() {
    // So that every second run is one too many.
    let eager = ("compaction.max-size-amplification-percent", "1");
    check(&[eager]);
    check(&[
        eager,
        ("merge-engine", "aggregation"),
        ("fields.s.aggregate-function", "sum"),
        ("fields.w.aggregate-function", "collect"),
    ]);
}

#[test]
fn of_deletion_vectors() {
    check(&[("deletion-vectors.enabled", "true")]);
}

#[test]
fn of_a_lookup_changelog() {
    check(&[("changelog-producer", "lookup")]);
    check(&[
        ("changelog-producer", "lookup"),
        ("lookup.remote-file.enabled", "true"),
        ("merge-engine", "aggregation"),
        ("fields.s.aggregate-function", "sum"),
        ("fields.w.aggregate-function", "collect"),
    ]);
}

#[test]
fn of_a_lookup_changelog_and_deletion_vectors() {
    check(&[("changelog-producer", "lookup"), ("deletion-vectors.enabled", "true")]);
}

#[test]
fn of_a_full_compaction_changelog() {
    check(&[("changelog-producer", "full-compaction")]);
}
