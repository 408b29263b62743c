//! Runs blocks in a folder of their page.

use std::cell::RefCell;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::page::{Block, Language};

/// The folder of a page.
pub(super) struct Place {
    dir: TempDir,
    /// What `USE` said last: the SQL blocks of a page are one session.
    database: RefCell<String>,
}

impl Place {
    pub(super) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), database: RefCell::new("default".to_owned()) }
    }

    /// Runs a block and gives what it printed on standard output.
    pub(super) fn run(&self, block: &Block) -> Result<String, String> {
        let mut command = match block.language() {
            Language::Bash => {
                let mut bash = Command::new("bash");
                bash.args(["-euo", "pipefail", "-c", block.code()]);
                bash
            }
            Language::Sql => {
                let mut linn = Command::new(env!("CARGO_BIN_EXE_linn"));
                linn.args(["sql", "-d", &self.database.borrow(), "-c", block.code()]);
                linn
            }
        };
        let output = self.alone(&mut command).output().map_err(|e| e.to_string())?;
        self.note_database(block);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if output.status.success() { Ok(out.into_owned()) } else { Err(format!("{}\n{out}\n{err}", output.status)) }
    }

    /// No setting of the machine may have a say: neither a file in the home folder nor a variable.
    fn alone<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("LINN_")) {
            command.env_remove(name);
        }
        let binaries = Path::new(env!("CARGO_BIN_EXE_linn")).parent().unwrap().to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(binaries).chain(std::env::split_paths(&path))).unwrap();
        command
            .current_dir(self.dir.path())
            .env("PATH", path)
            .env("HOME", self.dir.path())
            .env("TZ", "UTC")
            .env("NO_COLOR", "1")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("RUST_LOG")
    }

    fn note_database(&self, block: &Block) {
        let used = block.code().lines().filter_map(|line| line.trim().strip_prefix("USE "));
        if let (Language::Sql, Some(name)) = (block.language(), used.last()) {
            *self.database.borrow_mut() = name.trim_end_matches(';').trim().to_owned();
        }
    }
}
