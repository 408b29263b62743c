//! Every effect of every kind of work is cut in three ways, and nothing is lost.

use linn_testkit::sim::cut::scenarios;

#[test]
fn lose_nothing_anywhere() {
    let scenarios = scenarios();
    assert!(scenarios.len() >= 12);
    let mut broken = Vec::new();
    for scenario in scenarios {
        let report = scenario.run();
        println!("{}: {} effects, {} cuts", report.name, report.effects, report.cuts);
        assert!(!report.violations.is_empty() || report.cuts >= 3, "{}: nothing was cut", report.name);
        broken.extend(report.violations);
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
