//! Every page of the book is a transcript: its blocks are run, page by page, and print what the page says.
//!
//! A page is run in an empty folder, its blocks in their order. `bash` blocks are scripts; `sql` blocks are statements, run in the
//! database that the last `USE` named. A `text` block right behind a block is what that printed on standard output, or on
//! standard error where the block is marked `fails`; `…` in it is any text, and alone on a line any lines. Comments of the form
//! `<!-- bash … -->` and `<!-- sql … -->` are run too: they make what the page takes for granted. Blocks marked `syntax` show
//! forms of statements or need a service, and are not run.

use std::path::{Path, PathBuf};

use crate::readme_tour::bash;

const BOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src");

/// A block of a page.
#[derive(Debug, PartialEq)]
struct Block {
    line: usize,
    kind: String,
    marks: Vec<String>,
    text: String,
    /// What it prints, where the page says that.
    printed: Option<String>,
}

impl Block {
    fn new(line: usize, info: &str) -> Self {
        let mut words = info.split([' ', ',']).map(str::to_owned);
        let kind = words.next().unwrap_or_default();
        Self { line, kind, marks: words.collect(), text: String::new(), printed: None }
    }

    fn is(&self, mark: &str) -> bool {
        self.marks.iter().any(|one| one == mark)
    }

    fn runs(&self) -> bool {
        matches!(self.kind.as_str(), "bash" | "sh" | "sql") && !self.is("syntax")
    }
}

/// The blocks of a page, those in comments too.
fn blocks(page: &str) -> Vec<Block> {
    let mut all: Vec<Block> = Vec::new();
    let mut open: Option<(Block, &str)> = None;
    // Whether only blank lines were between.
    let mut right_behind = false;
    for (at, line) in page.lines().enumerate() {
        match open.take() {
            Some((block, end)) if line.trim_end() == end => {
                match all.last_mut() {
                    Some(last) if block.kind == "text" && right_behind && last.runs() => {
                        last.printed = Some(block.text)
                    }
                    _ => all.push(block),
                }
                right_behind = true;
            }
            Some((mut block, end)) => {
                block.text.push_str(line);
                block.text.push('\n');
                open = Some((block, end));
            }
            None => {
                let hidden = ["<!-- bash", "<!-- sql"].contains(&line.trim_end());
                if let Some(info) = line.strip_prefix("```") {
                    open = Some((Block::new(at + 1, info.trim()), "```"));
                } else if hidden {
                    open = Some((Block::new(at + 1, line.trim_start_matches("<!-- ").trim()), "-->"));
                } else if !line.trim().is_empty() {
                    right_behind = false;
                }
            }
        }
    }
    assert!(open.is_none(), "a block does not end");
    all
}

/// Whether a line is one that a page shows; `…` is any text.
fn line_is(shown: &str, line: &str) -> bool {
    let mut parts = shown.trim_end().split('…');
    let Some(mut rest) = line.trim_end().strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.split_once(part) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Whether lines are those that a page shows.
fn lines_are(shown: &[&str], lines: &[&str]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((&"…", rest)) => (0..=lines.len()).any(|skipped| lines_are(rest, &lines[skipped..])),
        Some((first, rest)) => {
            lines.split_first().is_some_and(|(line, behind)| line_is(first, line) && lines_are(rest, behind))
        }
    }
}

/// Runs a page, and says what is not as it shows.
fn wrong(page: &Path) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let mut database = "default".to_owned();
    let mut wrong = Vec::new();
    for block in blocks(&std::fs::read_to_string(page).unwrap()).iter().filter(|block| block.runs()) {
        let run = if block.kind == "sql" {
            let file = dir.path().join("block.sql");
            std::fs::write(&file, &block.text).unwrap();
            let run = bash(&format!("linn sql --database {database} --file block.sql"), dir.path());
            std::fs::remove_file(&file).unwrap();
            run
        } else {
            bash(&block.text, dir.path())
        };
        let mut uses = block.text.lines().filter_map(|line| line.strip_prefix("USE ")?.strip_suffix(';'));
        database = uses.next_back().map_or(database, str::to_owned);
        let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        let at = format!("{}:{}", page.file_name().unwrap_or_default().to_string_lossy(), block.line);
        if run.status.success() == block.is("fails") {
            wrong.push(format!("{at}: {}\n{}\n{out}{err}", run.status, block.text));
            continue;
        }
        let printed = if block.is("fails") { &err } else { &out };
        let lines: Vec<&str> = printed.lines().collect();
        if let Some(shown) = &block.printed
            && !lines_are(&shown.lines().collect::<Vec<_>>(), &lines)
        {
            wrong.push(format!("{at}: shows\n{shown}but prints\n{printed}"));
        }
    }
    wrong
}

fn check(page: &str) {
    let wrong = wrong(&Path::new(BOOK).join(page));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

macro_rules! pages {
    ($($name:ident $page:literal)*) => {
        const PAGES: &[&str] = &[$($page),*];
        $(#[test] fn $name() { check($page); })*
    };
}

pages! {
    introduction "introduction.md"
    quick_start "quick-start.md"
    limits "limits.md"
    tables "guide/tables.md"
    merge_engines "guide/merge.md"
    import_and_export "guide/import.md"
    sql "guide/sql.md"
    sessions "guide/session.md"
    configuration "guide/configuration.md"
    storage "guide/storage.md"
    buckets "guide/buckets.md"
    compaction "guide/compaction.md"
    deletion_vectors "guide/deletion-vectors.md"
    file_indexes "guide/indexes.md"
    changelogs "guide/changelog.md"
    changes "guide/changes.md"
    history "guide/history.md"
    system_tables "guide/system-tables.md"
    maintenance "guide/maintenance.md"
    other_engines "guide/interop.md"
    exit_codes "reference/exit.md"
    errors "reference/errors.md"
    options "reference/options.md"
}

/// The pages under a folder that have blocks to run.
fn found(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found(&path, all);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            all.push(path);
        }
    }
}

#[test]
fn no_page_is_left_out() {
    let mut all = Vec::new();
    found(Path::new(BOOK), &mut all);
    let left_out = all.iter().filter(|path| {
        let name = path.strip_prefix(BOOK).unwrap().to_string_lossy();
        !PAGES.contains(&name.as_ref()) && blocks(&std::fs::read_to_string(path).unwrap()).iter().any(Block::runs)
    });
    assert_eq!(left_out.collect::<Vec<_>>(), Vec::<&PathBuf>::new());
}

#[test]
fn what_a_page_shows_is_compared() {
    let page = "```bash\nlinn -o csv sql -c 'SELECT 1 AS a'\n```\n\n```text\na\n2\n```\n";
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("page.md");
    std::fs::write(&path, page).unwrap();
    assert_eq!(wrong(&path), ["page.md:1: shows\na\n2\nbut prints\na\n1\n"]);
    std::fs::write(&path, page.replace("2\n", "…\n")).unwrap();
    assert_eq!(wrong(&path), Vec::<String>::new());
    std::fs::write(&path, page.replace("```bash", "```bash,fails")).unwrap();
    assert_eq!(wrong(&path).len(), 1);
    assert!(line_is("a … b …", "a x b y") && !line_is("a … b", "a x b y") && line_is("…%", "7%"));
    assert!(lines_are(&["a", "…", "c"], &["a", "b", "b", "c"]) && !lines_are(&["a", "…"], &["b"]));
}
