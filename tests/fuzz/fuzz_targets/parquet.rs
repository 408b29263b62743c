#![no_main]
//! The target `parquet` of `linn_testkit::fuzz`.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| linn_testkit::fuzz::run("parquet", bytes));
