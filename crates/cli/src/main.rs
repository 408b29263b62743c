//! `linn`: tables from the command line. Results go to standard output, everything else to standard error.

mod args;
mod command;
mod config;
mod context;
mod exit;
mod import;
mod interrupt;
mod output;
mod progress;
mod repl;

use std::io::IsTerminal;

use anyhow::Context as _;
use clap::Parser;
use tracing_subscriber::EnvFilter;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() {
    let cli = args::Cli::parse();
    trace(cli.global.verbose);
    let code = match run(cli) {
        Ok(()) => 0,
        Err(_) if output::is_broken() => 0,
        Err(error) => {
            exit::report(&error);
            exit::code(&error)
        }
    };
    std::process::exit(code);
}

fn run(cli: args::Cli) -> anyhow::Result<()> {
    // Only the first call in a process can succeed, and this is it.
    rustls::crypto::ring::default_provider().install_default().ok();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("the threads of the program cannot be started")?;
    let done = runtime.block_on(command::run(cli));
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
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let messages = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colour);
    match verbose {
        0 => messages.without_time().with_target(false).init(),
        _ => messages.init(),
    }
}
