#![no_main]
//! The target `index_manifest` of `linn_testkit::fuzz`.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| linn_testkit::fuzz::run("index_manifest", bytes));
