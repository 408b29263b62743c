#![no_main]
//! The target `deletion_vector` of `linn_testkit::fuzz`.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| linn_testkit::fuzz::run("deletion_vector", bytes));
