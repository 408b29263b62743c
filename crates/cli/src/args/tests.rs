//! Rules that every command keeps.

use clap::{Command, CommandFactory};

use super::Cli;

/// Commands that take nothing away which cannot be had back: they read, or add, or commit a snapshot that can be gone back
/// behind. Whatever is not named here says with `--dry-run` what it would do, and does it only with `--yes` or when asked.
const HARMLESS: &[&str] = &[
    "branch create",
    "branch list",
    "branch merge",
    "branch rename",
    "changelog list",
    "check",
    "compact plan",
    "compact run",
    "completions",
    "config show",
    "consumer list",
    "db create",
    "db list",
    "doctor",
    "error explain",
    "error list",
    "files list",
    "files picture",
    "files tree",
    "get",
    "init",
    "man",
    "manifest compact",
    "option explain",
    "option list",
    "partition list",
    "partition mark-done",
    "snapshot diff",
    "snapshot list",
    "snapshot show",
    "sql",
    "table alter",
    "table analyze",
    "table create",
    "table delete",
    "table diff",
    "table explain",
    "table export",
    "table import",
    "table list",
    "table read",
    "table show",
    "table tail",
    "table upsert",
    "tag create",
    "tag list",
    "tag rename",
    "top",
];

/// The commands that do something, with their names from the first word on.
fn leaves(command: &Command, name: &str, found: &mut Vec<(String, Command)>) {
    for sub in command.get_subcommands() {
        let name = format!("{name} {}", sub.get_name()).trim_start().to_owned();
        if sub.has_subcommands() {
            leaves(sub, &name, found);
        } else {
            found.push((name, sub.clone()));
        }
    }
}

#[test]
fn what_cannot_be_undone_shows_its_plan_and_asks() {
    let cli = Cli::command();
    cli.clone().debug_assert();
    let mut all = Vec::new();
    leaves(&cli, "", &mut all);
    assert!(all.len() > HARMLESS.len(), "{}", all.len());
    for (name, command) in &all {
        let has = |flag: &str| command.get_arguments().any(|arg| arg.get_long() == Some(flag));
        let asks = has("dry-run") && has("yes");
        assert!(asks != HARMLESS.contains(&name.as_str()), "linn {name}: --dry-run and --yes, or harmless");
        assert!(asks || !has("yes"), "linn {name}: --yes without --dry-run");
    }
    let unknown: Vec<_> = HARMLESS.iter().filter(|name| !all.iter().any(|(known, _)| known == *name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn every_command_and_flag_is_explained() {
    let mut all = Vec::new();
    leaves(&Cli::command(), "", &mut all);
    for (name, command) in &all {
        assert!(command.get_about().is_some(), "linn {name}");
        for arg in command.get_arguments() {
            assert!(arg.get_help().is_some(), "linn {name}: {}", arg.get_id());
        }
    }
}
