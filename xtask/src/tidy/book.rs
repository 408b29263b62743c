//! The book and the other documents: every page is in the summary and the reverse, and every link leads somewhere.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use anyhow::Result;

use super::{Finding, scan};

/// All of it is in the book, as pages or as parts of pages.
const FOLDER: &str = "docs/";
/// Where the pages of the book are.
const PAGES: &str = "docs/src/";
const SUMMARY: &str = "docs/src/SUMMARY.md";

pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let files = scan::files(root)?;
    let documents: Vec<&String> = files.iter().filter(|file| file.ends_with(".md")).collect();
    let mut findings = Vec::new();
    let mut listed = BTreeSet::new();
    for file in &documents {
        let Some(text) = scan::text(root, file)? else { continue };
        for (line, what) in included(&text) {
            let path = beside(file, what);
            if root.join(&path).is_file() {
                listed.insert(path);
            } else {
                findings.push(Finding {
                    file: (*file).clone(),
                    line,
                    what: format!("includes {what}, which does not exist"),
                });
            }
        }
        for (line, link) in links(&text) {
            if *file == SUMMARY {
                listed.insert(beside(file, link));
            }
            if let Some(what) = broken(root, file, &text, link)? {
                findings.push(Finding { file: (*file).clone(), line, what });
            }
        }
    }
    for page in documents.iter().filter(|file| file.starts_with(FOLDER) && **file != SUMMARY) {
        if !listed.contains(Path::new(page)) {
            let what =
                "the book does not have it: docs/src/SUMMARY.md does not list it, no page includes it".to_owned();
            findings.push(Finding { file: (*page).clone(), line: 1, what });
        }
    }
    Ok(findings)
}

/// What is wrong with a link, if anything.
fn broken(root: &Path, file: &str, text: &str, link: &str) -> Result<Option<String>> {
    if link.contains("://") || link.starts_with("mailto:") {
        return Ok(None);
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if path.is_empty() { PathBuf::from(file) } else { beside(file, path) };
    if !root.join(&target).exists() {
        return Ok(Some(format!("the link {link} leads nowhere: there is no {}", target.display())));
    }
    if file.starts_with(PAGES) && !target.starts_with(PAGES) {
        return Ok(Some(format!("the link {link} leads out of the book, where its readers cannot follow")));
    }
    if anchor.is_empty() || target.extension().is_none_or(|e| e != "md") {
        return Ok(None);
    }
    let other = if path.is_empty() { Some(text.to_owned()) } else { scan::text(root, &target.to_string_lossy())? };
    let found = other.is_some_and(|text| prose(&text).any(|(_, line)| heading(line).is_some_and(|h| h == anchor)));
    Ok((!found).then(|| format!("the link {link} leads to a heading that is not there")))
}

/// A path as a document names it, seen from the root.
fn beside(file: &str, path: &str) -> PathBuf {
    let folder = Path::new(file).parent().unwrap_or_else(|| Path::new(""));
    let mut whole = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    whole
}

/// Numbered lines outside of fenced code.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(i, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((i + 1, line))
    })
}

/// The targets of `[text](target)`, with their lines; code between backquotes is none.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        let pieces = line.split('`').enumerate().filter(|(i, _)| i % 2 == 0);
        // A link's text may be code: then the target stands at the beginning of a piece.
        for (_, piece) in pieces {
            let targets = piece.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            found.extend(targets.map(|target| (number, target.split(' ').next().unwrap_or(target))));
        }
    }
    found
}

/// The files of `{{#include file}}`, with their lines.
fn included(text: &str) -> Vec<(usize, &str)> {
    let target = |line: &'_ str| -> Option<(usize, usize)> {
        let start = line.find("{{#include ")? + "{{#include ".len();
        Some((start, start + line.get(start..)?.find("}}")?))
    };
    prose(text)
        .filter_map(|(i, line)| target(line).and_then(|(from, to)| Some((i, line.get(from..to)?.trim()))))
        .collect()
}

/// The name by which a heading is linked to.
fn heading(line: &str) -> Option<String> {
    let title = line.trim_start_matches('#');
    if title.len() == line.len() || !title.starts_with(' ') {
        return None;
    }
    let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    Some(kept.collect::<String>().to_lowercase().replace(' ', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_of_code() {
        let text = "[a](x.md) and [`b`](y.md#z)\n```\n[c](no.md)\n```\n`[d](no.md)` [e](../f.md \"title\")";
        assert_eq!(links(text), [(1, "x.md"), (1, "y.md#z"), (5, "../f.md")]);
        assert_eq!(included("a\n{{#include ../b.md}}"), [(2, "../b.md")]);
    }

    #[test]
    fn paths_and_headings_are_made_plain() {
        assert_eq!(beside("docs/src/guide/a.md", "../limits.md"), Path::new("docs/src/limits.md"));
        assert_eq!(beside("README.md", "docs/x.md"), Path::new("docs/x.md"));
        assert_eq!(heading("## What `x` is: a, b").as_deref(), Some("what-x-is-a-b"));
        assert_eq!(heading("no heading"), None);
    }
}
