//! `interop`: the tests where other implementations read what Linn wrote and the reverse.

use anyhow::Result;

use crate::{exec, test};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only the tests whose name contains this
    #[arg(long)]
    only: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let services = test::Services::start(test::Needs::Everything)?;
    let mut cargo = exec::cargo()?;
    // The whole workspace is selected, or shared dependencies would be compiled again with other features.
    cargo.args(["test", "--workspace", "--locked", "--test", "interop", "--"]);
    cargo.args(&args.only).args(["--nocapture", "--test-threads=1"]);
    exec::run(services.apply(&mut cargo))
}
