//! The target `snapshot` of `linn_testkit::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| linn_testkit::fuzz::run("snapshot", bytes));
