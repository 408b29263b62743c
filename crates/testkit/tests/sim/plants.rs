//! Bugs that are planted are caught by a promise that they break, and without them the same histories break none: a history that
//! breaks a promise does not go unseen.

use linn_testkit::sim::Hazard::{self, H1, H4, H5, H8, H9, H10, H12, H13, H14};
use linn_testkit::sim::plant::trial;

/// Seeds that are tried for each.
const SEEDS: u64 = 20;

fn all_caught(hazards: &[Hazard]) {
    let mut bad = Vec::new();
    for hazard in hazards {
        let trial = trial(*hazard, 0..SEEDS);
        if !trial.is_good() {
            bad.push(format!("{trial:?}"));
        }
    }
    assert!(bad.is_empty(), "not caught, or not clean without the bug:\n{}", bad.join("\n"));
}

// Two tests, so that they run side by side.

#[test]
fn of_commits_and_expiry_are_caught() {
    all_caught(&[H1, H4, H5, H8, H9]);
}

#[test]
fn of_merging_and_changelogs_are_caught() {
    all_caught(&[H10, H12, H13, H14]);
}
