//! What the line editor asks: completion, colours of what is typed, colours of the prompt.

use std::borrow::Cow;

use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::{Context, Helper as Role, Hinter, Validator};

use super::highlight::highlight;
use super::meta::{self, COMMANDS};
use super::names::{Names, Shared, current};
use super::{complete, entry};
use crate::theme::{self, Theme};

/// The editor's other half.
#[derive(Default, Role, Hinter, Validator)]
pub(super) struct Helper {
    /// What can be completed.
    pub(super) names: Shared,
    /// Lines of the statement that were entered before this one.
    pub(super) before: String,
    files: FilenameCompleter,
}

impl Helper {
    /// A helper over names.
    pub(super) fn new(names: Shared) -> Self {
        Self { names, ..Self::default() }
    }

    fn theme() -> Theme {
        theme::stdout()
    }
}

impl Completer for Helper {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, context: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let line = line.get(..at).unwrap_or(line);
        let pairs = |found: Vec<String>| {
            found.into_iter().map(|text| Pair { display: text.clone(), replacement: text }).collect::<Vec<_>>()
        };
        if !self.before.is_empty() || !entry::is_command(line) {
            let (start, found) = complete::complete(&current(&self.names), &self.before, line);
            return Ok((start, pairs(found)));
        }
        let Some((name, _)) = line.split_once(char::is_whitespace) else {
            let all = COMMANDS.iter().flat_map(|meta| [&[meta.name], meta.others].concat());
            let mut found: Vec<String> = all.filter(|known| known.starts_with(line)).map(str::to_owned).collect();
            found.sort_unstable();
            return Ok((0, pairs(found)));
        };
        let name = meta::find(name).map_or("", |meta| meta.name);
        if matches!(name, "\\i" | "\\o" | "\\e") {
            return self.files.complete(line, at, context);
        }
        let start = line.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let word = line.get(start..).unwrap_or_default();
        Ok((start, pairs(arguments(name, &current(&self.names), word))))
    }
}

/// What a command may take.
fn arguments(name: &str, names: &Names, word: &str) -> Vec<String> {
    let fixed = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let all = match name {
        "\\d" | "\\copy" => {
            return complete::complete(names, "DESCRIBE ", word).1;
        }
        "\\c" => names.tables.keys().cloned().collect(),
        "\\x" | "\\timing" | "\\pager" => fixed(&["on", "off"]),
        "\\f" => fixed(&["csv", "json", "markdown", "ndjson", "table", "tsv", "vertical"]),
        "\\theme" => theme::THEMES.iter().map(|(name, _)| (*name).to_owned()).collect(),
        _ => Vec::new(),
    };
    all.into_iter().filter(|candidate| candidate.starts_with(word)).collect()
}

impl Highlighter for Helper {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        match Self::theme() {
            Theme::None => line.into(),
            theme => highlight(line, theme).into(),
        }
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Self::theme().paint(theme::Role::Prompt, prompt)
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        Self::theme() != Theme::None && kind != CmdKind::MoveCursor
    }
}
