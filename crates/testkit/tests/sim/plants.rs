//! Bugs that are planted are caught by a promise that they break, and without them the same histories break none: a history that
//! breaks a promise does not go unseen.

use linn_testkit::sim::plant::trial;
use linn_testkit::sim::{Broken, Hazard, Scale, Setup, run};

/// Seeds that are tried for each.
const SEEDS: u64 = 20;
/// Tests that run side by side.
const PARTS: usize = 4;

fn all_caught(part: usize) {
    let mut bad = Vec::new();
    for hazard in Hazard::ALL.iter().skip(part).step_by(PARTS) {
        let trial = trial(*hazard, 0..SEEDS);
        if !trial.is_good() {
            bad.push(format!("{trial:?}"));
        }
    }
    assert!(bad.is_empty(), "not caught, or not clean without the bug:\n{}", bad.join("\n"));
}

#[test]
fn a_history_without_end_is_stuck() {
    let endless = run(0, &Setup::default(), Scale { steps: 1_000, ..Scale::SMALL });
    assert!(endless.steps <= 1_001);
    assert!(endless.violations.iter().any(|violation| violation.broken == Broken::Stuck), "{:?}", endless.violations);
}

#[test]
fn are_caught_one_in_four() {
    all_caught(0);
}

#[test]
fn are_caught_two_in_four() {
    all_caught(1);
}

#[test]
fn are_caught_three_in_four() {
    all_caught(2);
}

#[test]
fn are_caught_four_in_four() {
    all_caught(3);
}
