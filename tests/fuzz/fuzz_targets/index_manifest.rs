//! The target `index_manifest` of `linn_testkit::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| linn_testkit::fuzz::run("index_manifest", bytes));
