//! What the tests need beside Rust, installed once into the cache. Each need has a stamp that names exactly what is there: the
//! same stamp means nothing to do, another one means install anew.

mod apt;
pub(crate) mod java;
pub(crate) mod python;
pub(crate) mod s3;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::exec;

/// Runs `make` in an empty `dir` unless the stamp in it equals `stamp`.
fn once(dir: &Path, stamp: &str, make: impl FnOnce() -> Result<()>) -> Result<()> {
    let file = dir.join("stamp");
    if fs::read_to_string(&file).is_ok_and(|have| have == stamp) {
        return Ok(());
    }
    exec::fresh(dir)?;
    make()?;
    fs::write(&file, stamp).with_context(|| format!("cannot write {}", file.display()))
}
