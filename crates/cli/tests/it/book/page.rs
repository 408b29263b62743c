//! A page and its blocks.
//!
//! - Blocks fenced as `bash` and `sql` are run. A comment `<!-- bash … -->` or `<!-- sql … -->` is run too and not shown.
//! - A block fenced as `text` right behind one that is run is what that prints. A line `…` stands for any lines, `…` in a line for
//!   any text of that line.
//! - Blocks with `syntax` behind their language show a grammar and are not run; nor are those of other languages.

/// One that is run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    line: usize,
    language: Language,
    code: String,
    expected: Option<Expected>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Bash,
    Sql,
}

/// What a block prints, and the lines of the page that say so.
#[derive(Debug, PartialEq, Eq)]
struct Expected {
    lines: Vec<String>,
    from: usize,
}

impl Block {
    /// Counted from one.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    pub(super) fn language(&self) -> Language {
        self.language
    }

    pub(super) fn code(&self) -> &str {
        &self.code
    }

    /// Why this output is not what the page says.
    pub(super) fn differs(&self, output: &str) -> Option<String> {
        let expected = self.expected.as_ref()?;
        let printed: Vec<&str> = output.lines().map(str::trim_end).collect();
        (!same(&expected.lines, &printed)).then(|| format!("the page says:\n{}", expected.lines.join("\n")))
    }
}

fn same(expected: &[String], printed: &[&str]) -> bool {
    match (expected.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((wanted, rest)), _) if wanted.trim() == "…" => (0..=printed.len()).any(|at| same(rest, &printed[at..])),
        (Some((wanted, rest)), Some((line, others))) => fits(wanted.trim_end(), line) && same(rest, others),
        _ => false,
    }
}

/// Whether a line is the wanted one, whose `…` stand for any text.
fn fits(wanted: &str, line: &str) -> bool {
    let mut parts = wanted.split('…');
    let Some(mut rest) = parts.next().and_then(|first| line.strip_prefix(first)) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

/// A page.
#[derive(Debug)]
pub(super) struct Page {
    lines: Vec<String>,
    blocks: Vec<Block>,
}

impl Page {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut blocks: Vec<Block> = Vec::new();
        // Whether nothing but blank lines came since the last block that is run.
        let mut right_behind = false;
        let mut at = 0;
        while at < lines.len() {
            let (opening, closing) = (lines[at].as_str(), at + 1);
            let hidden = match opening {
                "<!-- bash" => Some(Language::Bash),
                "<!-- sql" => Some(Language::Sql),
                _ => None,
            };
            let fence = opening.strip_prefix("```");
            if hidden.is_none() && fence.is_none() {
                right_behind &= opening.is_empty();
                at += 1;
                continue;
            }
            let end = if hidden.is_some() { "-->" } else { "```" };
            let length = lines[closing..].iter().position(|line| line == end).ok_or(format!("{closing}: no {end}"))?;
            let code = &lines[closing..closing + length];
            let language = match (hidden, fence) {
                (Some(language), _) => Some(language),
                (None, Some("bash")) => Some(Language::Bash),
                (None, Some("sql")) => Some(Language::Sql),
                (None, Some("text")) => {
                    if let (true, Some(block)) = (right_behind, blocks.last_mut()) {
                        block.expected = Some(Expected { lines: code.to_vec(), from: closing });
                    }
                    None
                }
                (None, Some("bash syntax" | "sql syntax" | "toml" | "json" | "rust,ignore" | "python")) => None,
                (None, other) => return Err(format!("{closing}: a block of {:?}", other.unwrap_or_default())),
            };
            right_behind = language.is_some();
            if let Some(language) = language {
                blocks.push(Block { line: closing, language, code: code.join("\n"), expected: None });
            }
            at = closing + length + 1;
        }
        Ok(Self { lines, blocks })
    }

    pub(super) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The page with what its blocks printed, where it differs from what the page says.
    pub(super) fn with(&self, outputs: &[String]) -> String {
        let mut lines = self.lines.clone();
        for (block, output) in self.blocks.iter().zip(outputs).rev() {
            let Some(expected) = &block.expected else { continue };
            if block.differs(output).is_some() {
                let printed = output.lines().map(|line| line.trim_end().to_owned());
                lines.splice(expected.from..expected.from + expected.lines.len(), printed);
            }
        }
        lines.join("\n") + "\n"
    }
}

#[test]
fn blocks_are_told_apart() {
    let page = Page::parse("a\n```bash\nx\n```\n\n```text\n1\n```\n<!-- sql\ny\n-->\n\nb\n\n```text\n2\n```\n").unwrap();
    let [first, second] = page.blocks() else { panic!("{page:?}") };
    assert_eq!((first.code(), first.language(), first.line()), ("x", Language::Bash, 2));
    assert_eq!(first.differs("1\n"), None);
    assert!(first.differs("2\n").is_some());
    assert_eq!((second.code(), second.language()), ("y", Language::Sql));
    // Text with words in between is no output.
    assert_eq!(second.differs("anything"), None);
    assert!(page.with(&["3\n".into(), String::new()]).contains("```text\n3\n```\n<!-- sql"));
    assert!(Page::parse("```\nx\n```\n").is_err());
    assert!(Page::parse("```bash\nx\n").is_err());
}

#[test]
fn dots_stand_for_anything() {
    assert!(fits("a … c", "a b c") && fits("…", "") && fits("a…", "abc") && !fits("a…d", "abc") && !fits("a", "ab"));
    let expected = ["a", "…", "z"].map(str::to_owned);
    assert!(same(&expected, &["a", "z"]) && same(&expected, &["a", "b", "c", "z"]) && !same(&expected, &["a", "b"]));
}
