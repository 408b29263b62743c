//! Where things are: the repository, the build directory, the cache of installed test needs.

use std::env;
use std::path::PathBuf;

use anyhow::{Context, Result};

/// The root of the repository that `cargo` runs this for, which need not be the one it was built from: clones may share a build
/// directory.
pub(crate) fn root() -> PathBuf {
    let manifest =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest.parent().map_or_else(|| PathBuf::from("."), PathBuf::from)
}

/// `CARGO_TARGET_DIR`, or a folder that outlives the clone, so that a fresh clone builds warm.
pub(crate) fn target() -> Result<PathBuf> {
    match env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => Ok(PathBuf::from(dir)),
        None => Ok(home()?.join(".cache/linn/target")),
    }
}

/// `LINN_TEST_CACHE`, or a folder under the home directory: jars, Python packages, the S3 server.
pub(crate) fn cache() -> Result<PathBuf> {
    match env::var_os("LINN_TEST_CACHE") {
        Some(dir) => Ok(PathBuf::from(dir)),
        None => Ok(home()?.join(".cache/linn/test")),
    }
}

fn home() -> Result<PathBuf> {
    env::var_os("HOME").map(PathBuf::from).context("HOME is not set: set CARGO_TARGET_DIR and LINN_TEST_CACHE")
}
