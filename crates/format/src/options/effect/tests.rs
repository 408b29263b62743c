//! Every option is acted on, or stands in a list that says why it is not.

use std::path::{Path, PathBuf};

use super::*;
use crate::ErrorKind;
use crate::options::{OPTIONS, OptionKind};
use crate::schema::{NewTable, SchemaChange, TableSchema, apply};
use crate::types::{DataField, DataType, Kind};

/// Sources of the crates without their tests, each without what follows its own tests.
fn sources(folder: &Path, all: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            if name != "tests" {
                sources(&path, all);
            }
        } else if name.ends_with(".rs") && name != "tests.rs" {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned();
            all.push((path, code));
        }
    }
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word)
        .any(|(at, _)| !is_part(text[..at].chars().next_back()) && !is_part(text[at + word.len()..].chars().next()))
}

/// The accessors in `named` as (name, body), whose use elsewhere is a use of the options in their bodies.
fn accessors(text: &str) -> Vec<(String, String)> {
    let bodies = text.split("\n    pub fn ").skip(1);
    bodies.map(|body| (body.split('(').next().unwrap().to_owned(), body.to_owned())).collect()
}

/// The names of constants by key, as the files of the table of options declare them.
fn constants(all: &[(PathBuf, String)]) -> Vec<(String, String)> {
    let tables = all.iter().filter(|(path, _)| path.to_str().unwrap().contains("/options/table/"));
    let declared = |text: &str| {
        let parts: Vec<&str> = text.split(" = (").collect();
        let pairs = parts.windows(2).filter_map(|pair| {
            let name = pair[0].rsplit(char::is_whitespace).next()?;
            let key = pair[1].split('"').nth(1)?;
            name.chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
                .then(|| (key.into(), name.into()))
        });
        pairs.collect::<Vec<(String, String)>>()
    };
    tables.flat_map(|(_, text)| declared(text)).collect()
}

#[test]
fn no_option_is_ignored_in_silence() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut all = Vec::new();
    for name in ["format", "core", "catalog", "linn", "sql", "cli"] {
        sources(&crates.join(name).join("src"), &mut all);
    }
    let constants = constants(&all);
    assert_eq!(constants.len(), OPTIONS.len());
    let is_options = |path: &Path| path.to_str().unwrap().contains("format/src/options/");
    let is_checks = |path: &Path| path.to_str().unwrap().contains("format/src/schema/validate/");
    let users: Vec<&str> =
        all.iter().filter(|(path, _)| !is_options(path) && !is_checks(path)).map(|(_, text)| text.as_str()).collect();
    let accessors: Vec<(String, String)> = all
        .iter()
        .filter(|(path, _)| path.to_str().unwrap().contains("format/src/options/named/"))
        .flat_map(|(_, text)| accessors(text))
        .collect();
    // Accessors call each other.
    let mut called: Vec<bool> =
        accessors.iter().map(|(name, _)| users.iter().any(|t| t.contains(&format!(".{name}(")))).collect();
    loop {
        let more: Vec<usize> = (0..accessors.len())
            .filter(|&i| !called[i])
            .filter(|&i| {
                let call = format!("self.{}(", accessors[i].0);
                accessors.iter().zip(&called).any(|((_, body), called)| *called && body.contains(&call))
            })
            .collect();
        if more.is_empty() {
            break;
        }
        more.into_iter().for_each(|i| called[i] = true);
    }
    let mut ignored = Vec::new();
    for (key, name) in &constants {
        let quoted = format!("{key:?}");
        let read = users.iter().any(|text| text.contains(&quoted) || has_word(text, name))
            || accessors.iter().zip(&called).any(|((_, body), called)| *called && has_word(body, name));
        if !read && option(key).unwrap().effect() == Effect::Works {
            ignored.push(key);
        }
    }
    assert!(ignored.is_empty(), "nothing reads these options, and no list of effect.rs has them: {ignored:?}");
}

#[test]
fn every_option_is_in_one_list() {
    let mut seen = std::collections::HashSet::new();
    let lists = [REFUSED, FOREIGN, INERT].into_iter().chain(BESIDE.iter().map(|(_, list)| *list));
    for def in lists.flatten() {
        assert!(seen.insert(def.key), "{} stands twice", def.key);
    }
    for (main, _) in BESIDE {
        assert!(!matches!(main.effect(), Effect::Beside(_) | Effect::Foreign), "{}", main.key);
    }
}

fn table(options: &[(&str, &str)]) -> crate::Result<TableSchema> {
    let int = || DataType { kind: Kind::Int, nullable: true };
    let new = NewTable {
        columns: vec![DataField::new(0, "k", int()), DataField::new(1, "v", int())],
        primary_keys: vec!["k".to_owned()],
        options: options.iter().copied().collect(),
        ..NewTable::default()
    };
    TableSchema::create(new, 0)
}

/// A value that is not the one that it has anyway.
fn other(def: &OptionDef) -> &'static str {
    match def.kind {
        OptionKind::Bool => "true",
        OptionKind::Choice(words) => words.iter().find(|word| def.default != Some(*word)).unwrap(),
        _ => "v",
    }
}

#[test]
fn tables_that_nobody_could_write_are_not_made() {
    let plain = table(&[("bucket", "1")]).unwrap();
    for def in REFUSED {
        let value = other(def);
        let options: Options = [(def.key, value)].into_iter().collect();
        let refusals = [
            options.check_writable().unwrap_err(),
            apply(&plain, &[SchemaChange::SetOption { key: def.key.to_owned(), value: value.to_owned() }], false, 1)
                .unwrap_err(),
        ];
        for error in refusals {
            assert!(error.kind() == ErrorKind::Unsupported && error.message().contains(def.key), "{error}");
            assert!(error.hint().is_some());
        }
        if let Some(default) = def.default {
            [(def.key, default)].into_iter().collect::<Options>().check_writable().unwrap();
        }
    }
    let error = table(&[("bucket", "1"), ("chain-table.enabled", "TRUE")]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    table(&[("bucket", "1"), ("chain-table.enabled", "false"), ("local-merge-buffer-size", "64 mb")]).unwrap();
}
