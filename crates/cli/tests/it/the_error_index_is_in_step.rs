//! The page of error codes in the book is the index that the binary prints.

use crate::run::Place;

const PAGE: &str = include_str!("../../../../docs/src/reference/errors.md");

#[test]
fn the_book_lists_the_codes_of_this_version() {
    let printed = Place::new().ok(&["-o", "markdown", "error", "list"]);
    let rows = |text: &str| -> Vec<Vec<String>> {
        let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
        text.lines().filter(|line| line.starts_with("| LINN-")).map(cells).collect()
    };
    assert!(rows(&printed).len() > 20, "{printed}");
    assert_eq!(rows(PAGE), rows(&printed), "write the table of the page anew: `linn -o markdown error list`");
}
