//! Every effect of every kind of work is cut in three ways, and nothing is lost.

use linn_testkit::sim::cut::{Scenario, scenarios};

fn lose_nothing(scenarios: impl Iterator<Item = Scenario>) {
    let mut broken = Vec::new();
    for scenario in scenarios {
        let report = scenario.run();
        assert!(!report.violations.is_empty() || report.cuts >= 3, "{}: nothing was cut", report.name);
        broken.extend(report.violations);
        broken.extend(report.tail);
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

// Two tests, so that they run side by side.

#[test]
fn lose_nothing_in_every_other_work() {
    assert!(scenarios().len() >= 12);
    lose_nothing(scenarios().into_iter().step_by(2));
}

#[test]
fn lose_nothing_in_the_rest() {
    lose_nothing(scenarios().into_iter().skip(1).step_by(2));
}
