//! Every seed keeps every promise, and is the same history each time.

use linn_testkit::sim::{Outcome, Scale, Setup, Violation, run};

fn check(outcome: &Outcome) {
    let Outcome { seed, shape, violations, tail, story, .. } = outcome;
    assert!(
        violations.is_empty(),
        "seed {seed}: {shape:?}\n{}\nits snapshots:\n{}\nbefore that:\n{}",
        violations.iter().map(Violation::to_string).collect::<Vec<_>>().join("\n"),
        story.join("\n"),
        tail.join("\n")
    );
}

fn keep(seeds: impl Iterator<Item = u64>, scale: Scale) {
    seeds.for_each(|seed| check(&run(seed, &Setup::default(), scale)));
}

// Two tests, so that they run side by side.

#[test]
fn keep_the_promises() {
    keep((0..80).step_by(2), Scale::SMALL);
}

#[test]
fn keep_the_promises_too() {
    keep((1..80).step_by(2), Scale::SMALL);
}

#[test]
fn of_many_actors_keep_the_promises() {
    keep(0..4, Scale::LARGE);
}

#[test]
fn are_the_same_each_time() {
    let small = (100..104).map(|seed| (seed, Scale::SMALL));
    for (seed, scale) in small.chain([(100, Scale::LARGE)]) {
        let [one, two] = [0, 1].map(|_| run(seed, &Setup::default(), scale));
        assert!(one.effects > 100);
        assert_eq!((one.digest, one.effects), (two.digest, two.effects), "seed {seed}: {:?}", one.shape);
    }
}
