//! Habits of the source: a first line that says what the file is, a length that one reads, no panics outside tests, nothing that
//! only holds on one machine. `// tidy: allow(RULE) why` on the line or the one before lets a single place through.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;
use serde::Deserialize;

use super::{Finding, code, scan};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rules {
    /// Most lines of a Rust file.
    lines: usize,
    /// Files that may be longer, each with its reason.
    longer: BTreeMap<String, String>,
    /// Folders whose Rust code must not panic.
    no_panic: Vec<String>,
    /// Words that no text file may contain (lower case; compared without case).
    words: BTreeSet<String>,
    /// Beginnings of paths that exist on one machine only.
    paths: Vec<String>,
}

pub(super) fn check(root: &Path, rules: &Rules) -> Result<Vec<Finding>> {
    let files = scan::files(root)?;
    let mut findings = Vec::new();
    for (file, reason) in &rules.longer {
        if !files.contains(file) || reason.trim().is_empty() {
            let what = format!("{file} is an exception in xtask/layers.toml, but it does not exist or has no reason");
            findings.push(Finding { file: "xtask/layers.toml".to_owned(), line: 1, what });
        }
    }
    let rust: BTreeMap<&str, String> = files
        .iter()
        .filter(|f| f.ends_with(".rs"))
        .filter_map(|f| Some((f.as_str(), scan::text(root, f).ok()??)))
        .collect();
    let test_files = code::test_files(&rust);
    for (file, text) in &rust {
        shape(file, text, rules, &mut findings);
        let library = rules.no_panic.iter().any(|dir| file.starts_with(dir.as_str()));
        if library && !test_files.contains(*file) {
            panics(file, text, &mut findings);
        }
    }
    for file in files.iter().filter(|f| *f != "Cargo.lock" && *f != "xtask/layers.toml") {
        if let Some(text) = scan::text(root, file)? {
            words(file, &text, rules, &mut findings);
        }
    }
    Ok(findings)
}

fn shape(file: &str, text: &str, rules: &Rules, findings: &mut Vec<Finding>) {
    let mut report = |line, what: String| findings.push(Finding { file: file.to_owned(), line, what });
    if !text.starts_with("//!") {
        report(1, "does not open with `//!`: say what the file is, and its invariant".to_owned());
    }
    let lines = text.lines().count();
    if lines > rules.lines && !rules.longer.contains_key(file) {
        report(
            lines,
            format!(
                "{lines} lines, more than {}: split it by concept, or give a reason in xtask/layers.toml",
                rules.lines
            ),
        );
    }
}

fn panics(file: &str, text: &str, findings: &mut Vec<Finding>) {
    let plain = code::without_tests(&code::without_text(text));
    let lines: Vec<&str> = text.lines().collect();
    for (i, line) in plain.lines().enumerate() {
        for (rule, needle) in [("unwrap", ".unwrap()"), ("expect", ".expect("), ("panic", "panic!(")] {
            if line.contains(needle) && !allowed(&lines, i, rule) {
                let what = format!(
                    "`{needle}` in library code: return an Error, or `// tidy: allow({rule}) why it cannot happen`"
                );
                findings.push(Finding { file: file.to_owned(), line: i + 1, what });
            }
        }
    }
}

fn words(file: &str, text: &str, rules: &Rules, findings: &mut Vec<Finding>) {
    let lines: Vec<&str> = text.lines().collect();
    for (i, line) in lines.iter().enumerate() {
        let mut report = |what: String| findings.push(Finding { file: file.to_owned(), line: i + 1, what });
        if let Some(path) = rules.paths.iter().find(|p| line.contains(p.as_str()))
            && !allowed(&lines, i, "path")
        {
            report(format!("`{path}…` is a path of one machine: make it relative or configurable"));
        }
        let lower = line.to_lowercase();
        if let Some(word) = rules.words.iter().find(|w| lower.contains(w.as_str())) {
            report(format!("the word `{word}` is not used here"));
        }
    }
}

fn allowed(lines: &[&str], at: usize, rule: &str) -> bool {
    let mark = format!("tidy: allow({rule})");
    let before = at.checked_sub(1).and_then(|i| lines.get(i));
    lines
        .get(at)
        .into_iter()
        .chain(before)
        .any(|line| line.split_once(&mark).is_some_and(|(_, why)| why.trim().len() > 3))
}
