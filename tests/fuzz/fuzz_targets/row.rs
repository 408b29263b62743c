//! The target `row` of `linn_testkit::fuzz`.
#![no_main]

use linn_testkit::fuzz::{hold_panics, run_held};

libfuzzer_sys::fuzz_target!(init: hold_panics(), |bytes: &[u8]| run_held("row", bytes));
