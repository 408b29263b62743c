//! `demo`: the main job on real data, told step by step with the `linn` binary that a user would run.

use std::process::Command;

use anyhow::Result;

use crate::{exec, place};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where the warehouse is made (default: a folder in the build directory, made anew)
    #[arg(long)]
    warehouse: Option<std::path::PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    exec::run(exec::cargo()?.args(["build", "--locked", "--workspace", "--bin", "linn"]))?;
    let target = place::target()?;
    let warehouse = match &args.warehouse {
        Some(dir) => dir.clone(),
        None => target.join("demo"),
    };
    exec::fresh(&warehouse)?;
    exec::run(
        Command::new("bash")
            .arg(place::root().join("tests/demo/demo.sh"))
            .env("LINN", target.join("debug/linn"))
            .env("LINN_DATA", place::root().join("tests/data/nycflights13"))
            .env("LINN_DEMO_WAREHOUSE", &warehouse),
    )
}
