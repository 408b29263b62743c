//! `tidy`: rules that the compiler does not hold. Each finding is one line, `file:line: what, and what to do`.

mod book;
mod code;
mod graph;
mod manifest;
mod modules;
mod scan;
mod source;
mod texts;

use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};
use serde::Deserialize;

use crate::place;

/// One broken rule at one place.
struct Finding {
    file: String,
    line: usize,
    what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

/// `xtask/layers.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    /// Crate name to what it may use.
    crates: std::collections::BTreeMap<String, graph::Layer>,
    /// Crate name to the order of its top modules.
    modules: std::collections::BTreeMap<String, modules::Modules>,
    source: source::Rules,
    texts: texts::Rules,
}

pub(crate) fn run() -> Result<()> {
    let root = place::root();
    let rules = rules(&root)?;
    let mut findings = graph::check(&root, &rules.crates)?;
    findings.extend(modules::check(&root, &rules.modules)?);
    findings.extend(manifest::check(&root)?);
    findings.extend(book::check(&root)?);
    findings.extend(source::check(&root, &rules.source)?);
    findings.extend(texts::check(&root, &rules.texts)?);
    findings.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("tidy: {} findings", findings.len());
    }
    println!("tidy: nothing to say");
    Ok(())
}

/// Prints every text that users see, with its place.
pub(crate) fn print_texts() -> Result<()> {
    let root = place::root();
    for texts::Text { file, line, text } in texts::all(&root, &rules(&root)?.texts)? {
        println!("{file}:{line}: {text}");
    }
    Ok(())
}

fn rules(root: &Path) -> Result<Rules> {
    Ok(toml::from_str(&std::fs::read_to_string(root.join("xtask/layers.toml"))?)?)
}
