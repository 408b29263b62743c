//! The Python implementation, in an environment of its own with every package pinned.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::{apt, once};
use crate::{exec, place};

/// The environment's interpreter.
pub(crate) fn install() -> Result<PathBuf> {
    let dir = place::cache()?.join("python");
    let wanted = place::root().join("tests/interop/python/requirements.txt");
    let python = dir.join("bin/python");
    once(&dir, &fs::read_to_string(&wanted)?, || {
        let system = apt::program("python3", &[], &["python3", "python3-venv"])?;
        let make = || exec::step("making a Python environment", Command::new(&system).args(["-m", "venv"]).arg(&dir));
        if make().is_err() {
            apt::packages_for("python3 -m venv", &["python3-venv"])?;
            make()?;
        }
        exec::step(
            "installing Python packages",
            Command::new(&python)
                .args(["-m", "pip", "install", "-q", "--disable-pip-version-check", "--prefer-binary", "-r"])
                .arg(&wanted),
        )
    })?;
    Ok(python)
}
