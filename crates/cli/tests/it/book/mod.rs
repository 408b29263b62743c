//! The book is true: every command and statement on its pages runs, in the order of the page, in an empty folder, and prints what
//! the page says. `page.rs` tells how pages are written.

mod page;
mod run;

use std::fs;
use std::path::{Path, PathBuf};

use page::Page;

/// Set, pages are written anew with what their blocks print now.
const UPDATE: &str = "LINN_UPDATE_BOOK";

fn book() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src")
}

fn pages(dir: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|end| end == "md") {
            found.push(path);
        }
    }
}

#[test]
fn every_block_of_every_page_runs_and_prints_what_the_page_says() {
    let mut paths = Vec::new();
    pages(&book(), &mut paths);
    let (mut ran, mut wrong) = (0, Vec::new());
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(book()).unwrap().display().to_string();
        let page = match Page::parse(&text) {
            Ok(page) => page,
            Err(why) => {
                wrong.push(format!("{name}: {why}"));
                continue;
            }
        };
        let place = run::Place::new();
        let mut outputs = Vec::new();
        for block in page.blocks() {
            ran += 1;
            match place.run(block) {
                Ok(output) => {
                    if let Some(why) = block.differs(&output) {
                        wrong.push(format!("{name}:{}: {why}\nprinted:\n{output}", block.line()));
                    }
                    outputs.push(output);
                }
                Err(why) => {
                    wrong.push(format!("{name}:{}: {why}", block.line()));
                    break;
                }
            }
        }
        if std::env::var_os(UPDATE).is_some() && outputs.len() == page.blocks().len() {
            fs::write(&path, page.with(&outputs)).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(ran >= 30, "the book shows too little: {ran} blocks");
}
