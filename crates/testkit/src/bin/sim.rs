//! The simulator as a program; `cargo xtask sim` runs it. Prints a line of JSON for every seed.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use linn_testkit::fuzz;
use linn_testkit::sim::campaign::Campaign;
use linn_testkit::sim::{Hazard, Outcome, Scale, plant, run};

const USAGE: &str = "usage: sim [--seed N | --seeds A..B] [--plant H1,H2] [--large]
       sim --campaign --seconds S --date D --commit C --out FILE [--seeds A..B] [--large]
       sim --corpora DIR";

struct Args {
    seeds: std::ops::Range<u64>,
    plants: BTreeSet<Hazard>,
    scale: Scale,
    campaign: bool,
    seconds: u64,
    date: String,
    commit: String,
    out: Option<String>,
    corpora: Option<String>,
}

fn parse() -> Result<Args, String> {
    let mut args = Args {
        seeds: 0..100,
        plants: BTreeSet::new(),
        scale: Scale::SMALL,
        campaign: false,
        seconds: 600,
        date: String::new(),
        commit: String::new(),
        out: None,
        corpora: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        let number = |text: &str| text.parse::<u64>().map_err(|e| format!("{text}: {e}"));
        match word.as_str() {
            "--seed" => {
                let seed = number(&value()?)?;
                args.seeds = seed..seed + 1;
            }
            "--seeds" => {
                let range = value()?;
                let (from, to) = range.split_once("..").ok_or("--seeds needs A..B")?;
                args.seeds = number(from)?..number(to)?;
            }
            "--plant" => args.plants = plant::parse(&value()?).map_err(|e| e.to_string())?,
            "--large" => args.scale = Scale::LARGE,
            "--campaign" => args.campaign = true,
            "--seconds" => args.seconds = number(&value()?)?,
            "--date" => args.date = value()?,
            "--commit" => args.commit = value()?,
            "--out" => args.out = Some(value()?),
            "--corpora" => args.corpora = Some(value()?),
            _ => return Err(format!("{word} is not known")),
        }
    }
    Ok(args)
}

fn main() -> ExitCode {
    let args = match parse() {
        Ok(args) => args,
        Err(why) => {
            eprintln!("{why}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let clean = match (&args.corpora, args.campaign) {
        (Some(dir), _) => corpora(Path::new(dir)),
        (None, true) => campaign(&args),
        (None, false) => args.seeds.clone().filter(|&seed| !one(seed, &args)).count() == 0,
    };
    if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn one(seed: u64, args: &Args) -> bool {
    let Outcome { shape, digest, effects, violations, actions, tail, .. } = run(seed, &args.plants, args.scale);
    let line = serde_json::json!({
        "seed": seed,
        "shape": format!("{shape:?}"),
        "digest": format!("{digest:016x}"),
        "effects": effects,
        "actions": actions,
        "violations": violations,
    });
    println!("{line}");
    if !violations.is_empty() {
        eprintln!("the last things that happened in seed {seed}:\n  {}", tail.join("\n  "));
    }
    violations.is_empty()
}

fn campaign(args: &Args) -> bool {
    let campaign = Campaign::run(args.seeds.clone(), Duration::from_secs(args.seconds), args.scale);
    let page = campaign.page(&args.date, &args.commit);
    match &args.out {
        Some(path) => std::fs::write(path, page).unwrap(),
        None => println!("{page}"),
    }
    campaign.is_clean()
}

/// Writes the corpora of the fuzz targets; files that are there and not made here stay.
fn corpora(dir: &Path) -> bool {
    for (target, inputs) in fuzz::seeds() {
        let dir = dir.join(target);
        std::fs::create_dir_all(&dir).unwrap();
        for (name, bytes) in inputs {
            std::fs::write(dir.join(name), bytes).unwrap();
        }
    }
    true
}
