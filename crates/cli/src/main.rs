//! `linn`: tables from the command line. Results go to standard output, everything else to standard error.

mod args;
mod command;
mod config;
mod context;
mod error;
mod import;
mod interrupt;
mod output;
mod post;
mod progress;
mod repl;
mod say;
mod theme;

use std::io::IsTerminal;

use anyhow::Context as _;
use clap::{ColorChoice, CommandFactory, FromArgMatches};
use tracing_subscriber::EnvFilter;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() {
    let cli = parsed();
    theme::set_up(cli.global.no_color);
    say::set_quiet(cli.global.quiet);
    trace(cli.global.verbose);
    let code = match run(cli) {
        Ok(()) => 0,
        Err(_) if output::is_broken() => 0,
        Err(error) => {
            error::report(&error);
            error::code(&error)
        }
    };
    std::process::exit(code);
}

/// The command line; ends the program for `--help` and for what is no command.
fn parsed() -> args::Cli {
    // Help is written while the flags are read.
    let plain = std::env::args_os().any(|arg| arg == "--no-color");
    let command = args::Cli::command().color(if plain { ColorChoice::Never } else { ColorChoice::Auto });
    let matches = command.get_matches();
    args::Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.exit())
}

fn run(cli: args::Cli) -> anyhow::Result<()> {
    // Only the first call in a process can succeed, and this is it.
    rustls::crypto::ring::default_provider().install_default().ok();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the program's threads")?;
    let done = runtime.block_on(command::run(cli, repl::sql));
    // A thread may still wait for input that nobody wants any more.
    runtime.shutdown_background();
    Ok(done?)
}

/// Messages of the libraries: warnings, and with -v more; `RUST_LOG` wins.
fn trace(verbose: u8) {
    let level = match verbose {
        // What the stores' library tries again says whole backtraces; what fails in the end is the error.
        0 => "warn,opendal=error",
        1 => "warn,linn=info,linn_core=info,linn_sql=info,linn_catalog=info",
        2 => "info,linn=debug,linn_core=debug,linn_sql=debug,linn_catalog=debug",
        _ => "debug,linn=trace,linn_core=trace",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    let colour = std::io::stderr().is_terminal() && !theme::is_off();
    let messages = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colour);
    match verbose {
        0 => messages.without_time().with_target(false).init(),
        _ => messages.init(),
    }
}
