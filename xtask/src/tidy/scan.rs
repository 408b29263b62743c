//! Which files there are (git's view: tracked, and new ones that are not ignored), and their text.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::exec;

/// Paths relative to the root, sorted.
pub(super) fn files(root: &Path) -> Result<Vec<String>> {
    let listed = exec::output(Command::new("git").current_dir(root).args([
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
    ]))?;
    let mut files: Vec<String> = listed.lines().filter(|file| root.join(file).is_file()).map(str::to_owned).collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// The file's text; none for binary files.
pub(super) fn text(root: &Path, file: &str) -> Result<Option<String>> {
    let bytes = std::fs::read(root.join(file))?;
    if bytes.contains(&0) {
        return Ok(None);
    }
    Ok(String::from_utf8(bytes).ok())
}
