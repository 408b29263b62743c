//! Services that `cargo xtask test` starts, found through the environment. Without it a test that needs one skips, unless
//! `LINN_TEST_REQUIRE_SERVICES` says that skipping is failing.

use std::env;

/// The S3 server: what a store needs to know to use it.
#[derive(Debug, Clone)]
pub struct S3 {
    /// `http://host:port`.
    pub endpoint: String,
    /// A bucket that exists.
    pub bucket: String,
    /// Access key.
    pub access_key: String,
    /// Secret key.
    pub secret_key: String,
}

/// The S3 server, or none with a word on stderr.
///
/// # Panics
/// When it is missing although services are required.
pub fn s3() -> Option<S3> {
    Some(S3 {
        endpoint: variable("LINN_TEST_S3_ENDPOINT")?,
        bucket: variable("LINN_TEST_S3_BUCKET")?,
        access_key: variable("AWS_ACCESS_KEY_ID")?,
        secret_key: variable("AWS_SECRET_ACCESS_KEY")?,
    })
}

/// The value of an environment variable that `cargo xtask test` sets.
///
/// # Panics
/// When it is missing although services are required.
pub(crate) fn variable(name: &str) -> Option<String> {
    match env::var(name) {
        Ok(value) if !value.is_empty() => Some(value),
        _ => {
            let required = env::var_os("LINN_TEST_REQUIRE_SERVICES").is_some();
            assert!(!required, "{name} is not set although services are required: run `cargo xtask test`");
            eprintln!("skipped: {name} is not set (run `cargo xtask test` for everything)");
            None
        }
    }
}
