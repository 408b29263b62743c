//! `sim`: builds the simulator and runs seeds of it, or a campaign that writes its page under `docs/reliability`.

use std::process::Command;

use anyhow::Result;

use crate::{exec, place};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// One seed
    #[arg(long)]
    seed: Option<u64>,
    /// Several seeds, as A..B
    #[arg(long, value_name = "A..B", conflicts_with = "seed")]
    seeds: Option<String>,
    /// Bugs to plant, such as H7 or H1,H2: a seed that catches one fails
    #[arg(long, value_name = "BUGS")]
    plant: Option<String>,
    /// Histories made for these bugs, without them
    #[arg(long, value_name = "BUGS")]
    stage: Option<String>,
    /// Say of each planted bug, or of those of `--plant`, how it is caught
    #[arg(long)]
    trials: bool,
    /// Cut every effect of the pieces of work whose names contain this
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    cuts: Option<String>,
    /// More actors and longer histories; a campaign runs both kinds without it
    #[arg(long)]
    large: bool,
    /// Run seeds for a while, then all planted bugs, crash cuts and decoders, and write the page of it
    #[arg(long)]
    campaign: bool,
    /// How long a campaign runs seeds
    #[arg(long, default_value_t = 1800, requires = "campaign")]
    seconds: u64,
    /// Build with optimisation, which takes its time once
    #[arg(long)]
    release: bool,
    /// Write the corpora of the fuzz targets anew
    #[arg(long, conflicts_with_all = ["campaign", "seed", "seeds"])]
    corpora: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let mut build = exec::cargo()?;
    build.args(["build", "--locked", "--workspace", "--bin", "sim"]);
    if args.release {
        build.arg("--release");
    }
    exec::run(&mut build)?;
    let profile = if args.release { "release" } else { "debug" };
    let mut sim = Command::new(place::target()?.join(profile).join("sim"));
    sim.current_dir(place::root());
    if args.corpora {
        return exec::run(sim.args(["--corpora", "tests/fuzz/corpus"]));
    }
    if let Some(seed) = args.seed {
        sim.args(["--seed", &seed.to_string()]);
    }
    if let Some(seeds) = &args.seeds {
        sim.args(["--seeds", seeds]);
    }
    if let Some(plant) = &args.plant {
        sim.args(["--plant", plant]);
    }
    if let Some(stage) = &args.stage {
        sim.args(["--stage", stage]);
    }
    if args.trials {
        sim.arg("--trials");
    }
    if let Some(name) = &args.cuts {
        sim.args(["--cuts", name]);
    }
    if args.large {
        sim.arg("--large");
    }
    if args.campaign {
        let date = exec::output(Command::new("date").arg("+%F"))?.trim().to_owned();
        let commit =
            exec::output(Command::new("git").args(["rev-parse", "--short", "HEAD"]).current_dir(place::root()))?;
        let out = format!("docs/reliability/campaign-{date}.md");
        if args.seeds.is_none() {
            sim.args(["--seeds", "0..1000000"]);
        }
        sim.args(["--campaign", "--seconds", &args.seconds.to_string(), "--out", &out]);
        sim.args(["--date", &date, "--commit", commit.trim()]);
    }
    exec::run(&mut sim)
}
