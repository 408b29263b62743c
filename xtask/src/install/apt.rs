//! Programs from the system's packages: installed where this process may (root on Debian), otherwise asked for by name.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::exec;

/// The program's path, after installing `packages` when it is missing.
pub(crate) fn program(name: &str, also: &[&str], packages: &[&str]) -> Result<PathBuf> {
    if let Some(path) = exec::find(name, also) {
        return Ok(path);
    }
    packages_for(name, packages)?;
    exec::find(name, also).with_context(|| format!("{packages:?} installed, but there is no {name}"))
}

/// Installs packages because `what` is missing.
pub(crate) fn packages_for(what: &str, packages: &[&str]) -> Result<()> {
    let wanted = packages.join(" ");
    let root = exec::output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if !root || exec::find("apt-get", &[]).is_none() {
        bail!("{what} is missing: install the packages {wanted} (Debian's names) and try again");
    }
    let apt = || {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    exec::step("updating the list of system packages", apt().args(["update", "-q"]))?;
    exec::step(
        &format!("installing {wanted}"),
        apt().args(["install", "-q", "-y", "--no-install-recommends"]).args(packages),
    )
}
