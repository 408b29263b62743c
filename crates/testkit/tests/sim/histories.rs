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

#[test]
fn keep_the_promises() {
    for seed in 0..6 {
        check(&run(seed, &Setup::default(), Scale::SMALL));
    }
}

#[test]
fn are_the_same_each_time() {
    for seed in 100..102 {
        let [one, two] = [0, 1].map(|_| run(seed, &Setup::default(), Scale::SMALL));
        assert!(one.effects > 100);
        assert_eq!((one.digest, one.effects), (two.digest, two.effects), "seed {seed}: {:?}", one.shape);
    }
}
