//! Running the binary in a folder of its own.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A folder with a warehouse.
pub(crate) struct Place(TempDir);

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A program in a folder that is also its home. No setting of the machine may have a say: neither a file in the home folder nor a
/// variable.
pub(crate) fn alone(program: &str, dir: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("LINN_")) {
        command.env_remove(name);
    }
    command.current_dir(dir).env("HOME", dir).env_remove("XDG_CONFIG_HOME").env_remove("RUST_LOG");
    command
}

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// Runs the binary with `input` on standard input.
    pub(crate) fn feed(&self, args: &[&str], input: &str) -> Ended {
        let mut child = alone(env!("CARGO_BIN_EXE_linn"), self.path())
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that does not read its input may be gone already.
        child.stdin.take().unwrap().write_all(input.as_bytes()).ok();
        let output = child.wait_with_output().unwrap();
        Ended {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs the binary.
    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        self.feed(args, "")
    }

    /// Runs what must succeed and gives its standard output.
    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let ended = self.run(args);
        assert_eq!(ended.code, 0, "{args:?}: {}", ended.err);
        ended.out
    }

    /// Runs what must fail with this code and gives its standard error; nothing may be on standard output.
    #[track_caller]
    pub(crate) fn fails(&self, args: &[&str], code: i32) -> String {
        let ended = self.run(args);
        assert_eq!(ended.code, code, "{args:?}: {}{}", ended.out, ended.err);
        assert_eq!(ended.out, "", "{args:?}");
        ended.err
    }
}
