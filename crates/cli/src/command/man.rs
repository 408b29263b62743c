//! `linn man`: a man page for every command, made of the same table as the help.

use std::path::Path;

use clap::CommandFactory;
use linn::{Error, Result};

use crate::args::Cli;
use crate::output::count;
use crate::say::say;

pub(super) fn run(folder: &Path) -> Result<()> {
    let failed = |e: std::io::Error| {
        Error::unavailable("man pages cannot be written").with("folder", folder.display()).with_source(e)
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    let mut pages = Vec::new();
    collect(&root, "linn", &mut pages);
    for (name, page) in &pages {
        std::fs::write(folder.join(format!("{name}.1")), page).map_err(failed)?;
    }
    say!("Wrote {} to {}.", count(pages.len(), "man page"), folder.display());
    Ok(())
}

/// The pages of a command and of those below it, by name: `linn-table-import`.
fn collect(command: &clap::Command, name: &str, pages: &mut Vec<(String, Vec<u8>)>) {
    let page = clap_mangen::Man::new(command.clone());
    let mut text = Vec::new();
    // Writing to memory does not fail.
    if page.render(&mut text).is_ok() {
        pages.push((name.to_owned(), text));
    }
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        collect(sub, &format!("{name}-{}", sub.get_name()), pages);
    }
}
