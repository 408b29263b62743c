//! `reference`: writes the table of options in the book anew, as `linn option list` prints it. A test of the command line
//! holds that it is in step.

use std::process::Command;

use anyhow::{Context, Result};

use crate::{exec, place};

const PAGE: &str = "docs/src/reference/options.md";
/// What stands before the table; all that follows is the table.
const MARK: &str = "The list of this version:\n\n";

pub(crate) fn run() -> Result<()> {
    exec::run(exec::cargo()?.args(["build", "--locked", "--workspace", "--bin", "linn"]))?;
    let linn = place::target()?.join("debug/linn");
    let printed = exec::output(Command::new(linn).args(["-o", "markdown", "option", "list"]))?;
    let path = place::root().join(PAGE);
    let page = std::fs::read_to_string(&path).with_context(|| format!("cannot read {PAGE}"))?;
    let (before, _) = page.split_once(MARK).with_context(|| format!("{PAGE} has no line {:?}", MARK.trim()))?;
    let table: String = printed.lines().map(|line| narrow(line) + "\n").collect();
    std::fs::write(&path, format!("{before}{MARK}{table}")).with_context(|| format!("cannot write {PAGE}"))?;
    println!("{PAGE} has {} options", table.lines().count().saturating_sub(2));
    Ok(())
}

/// A line of a Markdown table without the spaces and dashes that only align it.
fn narrow(line: &str) -> String {
    let cell = |cell: &str| match cell.trim() {
        "" => " ".to_owned(),
        rule if rule.bytes().all(|b| b == b'-') => "---".to_owned(),
        text => format!(" {text} "),
    };
    // A bar inside of a cell is escaped.
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|').replace("\\|", "\u{1}");
    format!("|{}|", inner.split('|').map(cell).collect::<Vec<_>>().join("|")).replace('\u{1}', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_lose_what_aligns_them() {
        assert_eq!(narrow("| key    | a \\| b |    |"), "| key | a \\| b | |");
        assert_eq!(narrow("|--------|--------|----|"), "|---|---|---|");
    }
}
