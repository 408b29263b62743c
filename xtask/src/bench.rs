//! `bench`: runs `linn-bench` in release mode; its stdout is one JSON line per measurement.

use anyhow::Result;

use crate::exec;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Which benchmark: ingest, merge-read, compact, plan …
    name: String,
    /// Passed on to the benchmark
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    exec::run(
        exec::cargo()?
            .args(["run", "--release", "--locked", "--quiet", "-p", "linn-bench", "--"])
            .arg(&args.name)
            .args(&args.rest),
    )
}
