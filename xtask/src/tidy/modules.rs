//! The module graph within a crate: its top modules have no cycle, and where an order is given, each uses only those before it. Only
//! imports and paths count, not methods that a module adds to a type of another one. Tests may use everything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;
use serde::Deserialize;

use super::{Finding, code, scan};

/// One crate's top modules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Modules {
    /// Where its sources are.
    folder: String,
    /// Its top modules, each using only those before it; empty where any order without a cycle will do.
    #[serde(default)]
    order: Vec<String>,
}

/// Which module uses which, with the first place that does.
type Edges = BTreeMap<String, BTreeMap<String, (String, usize)>>;

pub(super) fn check(root: &Path, crates: &BTreeMap<String, Modules>) -> Result<Vec<Finding>> {
    let files = scan::files(root)?;
    let mut findings = Vec::new();
    for (name, modules) in crates {
        let prefix = format!("{}/", modules.folder);
        let sources: BTreeMap<&str, String> = files
            .iter()
            .filter(|file| file.starts_with(&prefix) && file.ends_with(".rs"))
            .filter_map(|file| Some((file.as_str(), scan::text(root, file).ok()??)))
            .collect();
        findings.extend(judge(name, modules, &sources));
    }
    Ok(findings)
}

fn judge(name: &str, modules: &Modules, sources: &BTreeMap<&str, String>) -> Vec<Finding> {
    let tests = code::test_files(sources);
    let sources = sources.iter().filter(|(file, _)| !tests.contains(**file));
    let sources: BTreeMap<&str, &str> = sources.map(|(file, text)| (*file, text.as_str())).collect();
    let tops: BTreeSet<String> = sources.keys().filter_map(|file| top(&modules.folder, file)).collect();
    let edges = edges(&modules.folder, &sources, &tops);
    let mut findings = listed(name, modules, &tops);
    let rank: BTreeMap<&str, usize> = modules.order.iter().enumerate().map(|(i, m)| (m.as_str(), i)).collect();
    for (from, uses) in &edges {
        for (to, (file, line)) in uses {
            let up = rank.get(from.as_str()).zip(rank.get(to.as_str())).is_some_and(|(from, to)| to > from);
            let what = match way(&edges, to, from) {
                _ if up => format!(
                    "`{from}` uses `{to}`, which comes after it in the order of {name} (xtask/layers.toml): move down what is \
                     used, or hand it in"
                ),
                Some(way) => format!("`{from}` uses `{to}`, which uses it in turn ({way}): break the cycle"),
                None => continue,
            };
            findings.push(Finding { file: file.clone(), line: *line, what });
        }
    }
    findings
}

/// Whether an order names the modules that there are.
fn listed(name: &str, modules: &Modules, tops: &BTreeSet<String>) -> Vec<Finding> {
    let finding = |what| Finding { file: "xtask/layers.toml".to_owned(), line: 1, what };
    if modules.order.is_empty() {
        return Vec::new();
    }
    let listed: BTreeSet<&String> = modules.order.iter().collect();
    let missing = tops.iter().filter(|top| !listed.contains(top));
    let missing = missing.map(|top| finding(format!("module `{top}` of {name} has no place in the order")));
    let gone = modules.order.iter().filter(|module| !tops.contains(*module));
    missing.chain(gone.map(|module| finding(format!("{name} has no module `{module}`: remove it")))).collect()
}

/// The top module that a file belongs to; `None` for the root of the crate.
fn top(folder: &str, file: &str) -> Option<String> {
    let path = file.strip_prefix(folder)?.trim_start_matches('/');
    let first = path.split('/').next()?.trim_end_matches(".rs");
    (!matches!(path, "lib.rs" | "main.rs") && !path.starts_with("bin/")).then(|| first.to_owned())
}

/// How many modules lie between the root of the crate and the items of a file.
fn depth(folder: &str, file: &str) -> usize {
    let path = file.strip_prefix(folder).unwrap_or(file).trim_start_matches('/');
    let names = path.split('/').count();
    if path.ends_with("/mod.rs") { names - 1 } else { names }
}

fn edges(folder: &str, sources: &BTreeMap<&str, &str>, tops: &BTreeSet<String>) -> Edges {
    let mut edges = Edges::new();
    for (file, text) in sources {
        let Some(from) = top(folder, file) else { continue };
        let plain = code::without_tests(&code::without_text(text));
        for (at, to) in used(&plain, depth(folder, file)) {
            if to == from || !tops.contains(&to) {
                continue;
            }
            let line = plain[..at].matches('\n').count() + 1;
            edges.entry(from.clone()).or_default().entry(to).or_insert_with(|| ((*file).to_owned(), line));
        }
    }
    edges
}

/// The names right below the root of the crate that a source of this depth uses, and where.
fn used(plain: &str, depth: usize) -> Vec<(usize, String)> {
    let root = "super::".repeat(depth);
    let mut found = Vec::new();
    for path in ["crate::", root.as_str()] {
        for (at, _) in plain.match_indices(path) {
            let joined = plain[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
            // In a list, `super::` may stand at the root of the file's module or anywhere: only whole paths count.
            if !joined {
                found.extend(firsts(&plain[at + path.len()..]).into_iter().map(|name| (at, name)));
            }
        }
    }
    found
}

/// The first names of a path or a list of paths.
fn firsts(rest: &str) -> Vec<String> {
    let word =
        |text: &str| text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let Some(list) = rest.strip_prefix('{') else { return vec![word(rest)] };
    let (mut depth, mut start, mut names) = (0usize, 0, Vec::new());
    for (i, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.push(word(&list[start..i]));
                start = i + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names
}

/// A way from one module to another along what they use, for display.
fn way(edges: &Edges, from: &str, to: &str) -> Option<String> {
    let mut came: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = std::collections::VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        if at == to {
            let mut way = vec![at];
            let mut at = at;
            while let Some(before) = came.get(at) {
                way.push(before);
                at = before;
            }
            way.reverse();
            return Some(way.join(" -> "));
        }
        for next in edges.get(at).into_iter().flat_map(|uses| uses.keys()) {
            if next != from && !came.contains_key(next.as_str()) {
                came.insert(next, at);
                queue.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;
