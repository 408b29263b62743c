//! The texts that users see: strings of the library crates and the binary outside of their tests, and the help of commands and
//! flags. `cargo xtask texts` prints them in one list to be read through; `tidy` looks for phrases that were given up.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use serde::Deserialize;

use super::{Finding, code, scan};

/// What is looked for, in `xtask/layers.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rules {
    /// Folders of the code whose strings users see.
    folders: Vec<String>,
    /// Folders where comments of items are help texts.
    help: Vec<String>,
    /// Phrases that no text has, each with what to write instead. Compared without case, as whole words.
    phrases: BTreeMap<String, String>,
    /// Places outside of the code that are held to the same phrases: files, or folders of them.
    documents: Vec<String>,
}

/// A text and where it stands.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// All texts, in the order of their places.
pub(super) fn all(root: &Path, rules: &Rules) -> Result<Vec<Text>> {
    let files = scan::files(root)?;
    let within = |file: &str, folders: &[String]| folders.iter().any(|folder| file.starts_with(folder.as_str()));
    let rust: BTreeMap<&str, String> = files
        .iter()
        .filter(|file| file.ends_with(".rs") && within(file, &rules.folders))
        .filter_map(|file| Some((file.as_str(), scan::text(root, file).ok()??)))
        .collect();
    let tests = code::test_files(&rust);
    let mut texts = Vec::new();
    for (file, source) in rust.iter().filter(|(file, _)| !tests.contains(**file)) {
        let mut found = code::strings(source);
        found.retain(|(_, text)| is_sentence(text));
        if within(file, &rules.help) {
            found.extend(help(source));
        }
        found.sort();
        texts.extend(found.into_iter().map(|(line, text)| Text { file: (*file).to_owned(), line, text }));
    }
    Ok(texts)
}

pub(super) fn check(root: &Path, rules: &Rules) -> Result<Vec<Finding>> {
    let mut texts = all(root, rules)?;
    let within = |file: &str| rules.documents.iter().any(|place| file.starts_with(place.as_str()));
    for file in scan::files(root)?.into_iter().filter(|file| within(file)) {
        let text = scan::text(root, &file)?.unwrap_or_default();
        let lines = text.lines().enumerate();
        texts.extend(lines.map(|(i, line)| Text { file: file.clone(), line: i + 1, text: line.to_owned() }));
    }
    let mut findings = Vec::new();
    for Text { file, line, text } in texts {
        let found = rules.phrases.iter().filter(|(phrase, _)| says(&text, phrase));
        findings.extend(found.map(|(phrase, instead)| {
            let what = format!("`{phrase}` in a text that users see: write {instead}");
            Finding { file: file.clone(), line, what }
        }));
    }
    Ok(findings)
}

/// Whether a string is words for people rather than a name, a path or a pattern.
fn is_sentence(text: &str) -> bool {
    let words = text.split_whitespace().filter(|word| word.chars().filter(|c| c.is_alphabetic()).count() > 1);
    words.count() > 1
}

/// The comments of items, a text for each.
fn help(source: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut last = 0;
    for (i, line) in source.lines().enumerate() {
        let Some(text) = line.trim_start().strip_prefix("///") else { continue };
        match found.last_mut() {
            Some((_, whole)) if last == i => {
                whole.push(' ');
                whole.push_str(text.trim());
            }
            _ => found.push((i + 1, text.trim().to_owned())),
        }
        last = i + 1;
    }
    found
}

/// Whether a phrase stands in a text as whole words.
fn says(text: &str, phrase: &str) -> bool {
    let (text, phrase) = (text.to_lowercase(), phrase.to_lowercase());
    text.match_indices(&phrase).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_whole_words() {
        assert!(says("Table t is gone.", "is gone") && says("gone", "gone"));
        assert!(!says("this is goneness", "is gone") && !says("forgone", "gone"));
    }

    #[test]
    fn sentences_and_help_are_told_from_names() {
        assert!(is_sentence("no such table {table}") && !is_sentence("{}/{}") && !is_sentence("snapshot-{id}"));
        assert_eq!(help("/// a\n/// b\nx\n    /// c\n"), [(1, "a b".to_owned()), (4, "c".to_owned())]);
    }
}
