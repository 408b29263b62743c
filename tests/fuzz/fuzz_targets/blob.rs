#![no_main]
//! The target `blob` of `linn_testkit::fuzz`.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| linn_testkit::fuzz::run("blob", bytes));
