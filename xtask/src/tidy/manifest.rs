//! Cargo.toml files: every dependency and the lints come from the workspace, so that there is one version and one habit of each; and
//! no dependency is there that the sources of the crate do not name.

use std::path::Path;

use anyhow::{Context, Result};
use toml::{Table, Value};

use super::{Finding, scan};

pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for file in scan::files(root)? {
        // The fuzz targets are a workspace of their own, with the nightly compiler that they need.
        if !file.ends_with("/Cargo.toml") || file.starts_with("tests/fuzz/") {
            continue;
        }
        let text = std::fs::read_to_string(root.join(&file))?;
        let manifest: Table = toml::from_str(&text).with_context(|| format!("cannot parse {file}"))?;
        let mut report = |needle: &str, what: String| {
            let line = text.lines().position(|l| l.trim_start().starts_with(needle)).map_or(1, |i| i + 1);
            findings.push(Finding { file: file.clone(), line, what });
        };
        let sources = sources(root, &file)?;
        for (name, dependency) in dependencies(&manifest) {
            if manifest.contains_key("package") && !names(&sources, &name.replace('-', "_")) {
                report(name, format!("no source of the crate names {name}: remove the dependency"));
            }
            if dependency.get("workspace").and_then(Value::as_bool) != Some(true) {
                report(name, format!("{name} must come from the workspace table: `{name}.workspace = true`"));
            }
        }
        let lints = manifest.get("lints").and_then(|l| l.get("workspace"));
        if lints.and_then(Value::as_bool) != Some(true) {
            report("[lints]", "the workspace's lints are missing: `[lints] workspace = true`".to_owned());
        }
    }
    Ok(findings)
}

/// All sources below the folder of a manifest.
fn sources(root: &Path, manifest: &str) -> Result<String> {
    let folder = manifest.trim_end_matches("Cargo.toml");
    let mut sources = String::new();
    for file in scan::files(root)?.iter().filter(|file| file.starts_with(folder) && file.ends_with(".rs")) {
        sources.push_str(&std::fs::read_to_string(root.join(file))?);
    }
    Ok(sources)
}

/// Whether a text has a word.
fn names(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, found)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + found.len()..].chars().next());
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

fn dependencies(manifest: &Table) -> Vec<(&String, &Value)> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let tables = targets.into_iter().flat_map(|t| t.values().filter_map(Value::as_table));
    std::iter::once(manifest)
        .chain(tables)
        .flat_map(|table| ["dependencies", "dev-dependencies", "build-dependencies"].map(|kind| table.get(kind)))
        .flatten()
        .filter_map(Value::as_table)
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_name_is_a_whole_word() {
        assert!(names("use arrow_row::Rows;", "arrow_row"));
        assert!(!names("use arrow_rows::Rows; my_arrow_row()", "arrow_row"));
    }
}
