//! The table of options in the book is the one that the binary prints.

use crate::run::Place;

const PAGE: &str = include_str!("../../../../docs/src/reference/options.md");

/// The cells of the lines of a Markdown table, without the rule below its head.
fn table(text: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| {
        let line = line.replace("\\|", "\u{1}");
        line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>()
    };
    let rule = |row: &Vec<String>| row.iter().all(|cell| cell.starts_with("---"));
    text.lines().filter(|line| line.starts_with('|')).map(cells).filter(|row| !rule(row)).collect()
}

#[test]
fn the_book_lists_the_options_of_this_version() {
    let (listed, printed) = (table(PAGE), table(&Place::new().ok(&["-o", "markdown", "option", "list"])));
    assert!(printed.len() > 300, "{} options", printed.len());
    let wrong: Vec<_> = printed.iter().filter(|row| !listed.contains(row)).collect();
    assert!(wrong.is_empty(), "not in the book, or otherwise; run `cargo xtask reference`: {wrong:#?}");
    let old: Vec<_> = listed.iter().filter(|row| !printed.contains(row)).collect();
    assert!(old.is_empty(), "in the book, but no option any more; run `cargo xtask reference`: {old:#?}");
}
