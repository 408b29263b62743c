//! Statements and clauses of Linn's SQL.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        linn_sql::check_syntax(text).ok();
    }
});
