#![no_main]
//! The target `options` of `linn_testkit::fuzz`.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| linn_testkit::fuzz::run("options", bytes));
