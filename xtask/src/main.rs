//! Development commands, run as `cargo xtask NAME`: what CI does and what a developer does are the same commands.

// Clocks and sleeping are banned from the engine, not from the tool that runs its tests.
#![allow(clippy::disallowed_methods)]

mod bench;
mod demo;
mod exec;
mod install;
mod interop;
mod place;
mod reference;
mod service;
mod sim;
mod test;
mod tidy;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Development commands of Linn")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check the crate graph, the habits of the source and the links of the documents
    Tidy,
    /// Print all texts that users see
    Texts,
    /// Install what the tests need, start the services, run all tests (interop included)
    Test(test::Args),
    /// Run only the tests against the Java and Python implementations
    Interop(interop::Args),
    /// Run a command with the test services up and their environment set
    With(test::WithArgs),
    /// Write the table of options in the book anew
    Reference,
    /// Show the main job on real data
    Demo(demo::Args),
    /// Build and run a benchmark in release mode
    Bench(bench::Args),
    /// Run simulated histories of a table with faults, one seed, many, or a campaign
    Sim(sim::Args),
}

fn main() -> Result<()> {
    match Args::parse().command {
        Command::Tidy => tidy::run(),
        Command::Texts => tidy::print_texts(),
        Command::Test(args) => test::run(&args),
        Command::Interop(args) => interop::run(&args),
        Command::With(args) => test::with(&args),
        Command::Reference => reference::run(),
        Command::Demo(args) => demo::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Sim(args) => sim::run(&args),
    }
}
