#![no_main]
//! The target `file_index` of `linn_testkit::fuzz`.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| linn_testkit::fuzz::run("file_index", bytes));
