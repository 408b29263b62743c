//! No decoder panics, over the corpora of the fuzz targets and changes of them.

use linn_testkit::fuzz::{TARGETS, check};

const MUTATIONS: usize = 300;

#[test]
fn never_panic() {
    assert!(TARGETS.len() >= 10);
    for target in TARGETS {
        check(target.name, 1, MUTATIONS, target.run);
    }
}
