#![no_main]
//! The target `snapshot` of `linn_testkit::fuzz`.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| linn_testkit::fuzz::run("snapshot", bytes));
