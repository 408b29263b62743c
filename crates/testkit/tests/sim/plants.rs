//! Every bug that is planted is caught: a history that breaks a promise does not go unseen.

use std::collections::BTreeSet;

use linn_testkit::sim::{Hazard, Scale, run};

/// Seeds that are tried for each.
const SEEDS: u64 = 40;

#[test]
fn are_caught() {
    let mut missed = Vec::new();
    for hazard in Hazard::ALL {
        let plants = BTreeSet::from([*hazard]);
        let caught = (0..SEEDS).find_map(|seed| {
            let first = run(seed, &plants, Scale::SMALL).violations.into_iter().next();
            first.map(|violation| (seed, violation))
        });
        match caught {
            Some((seed, violation)) => {
                println!("{hazard}: seed {seed}: {}", violation.lines().next().unwrap_or_default())
            }
            None => missed.push(*hazard),
        }
    }
    assert!(missed.is_empty(), "not caught: {missed:?}");
}
