//! The simulator as a program; `cargo xtask sim` runs it. Prints a line of JSON for every seed.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use linn_testkit::fuzz;
use linn_testkit::sim::campaign::Campaign;
use linn_testkit::sim::{Hazard, Outcome, Scale, Setup, cut, plant, run};

const USAGE: &str = "usage: sim [--seed N | --seeds A..B] [--stage H1,H2] [--plant H1,H2] [--large]
       sim --trials [--seeds A..B] [--plant H1,H2]
       sim --campaign --seconds S --date D --commit C --out FILE [--seeds A..B] [--large]
       sim --cuts [NAME]
       sim --corpora DIR";

struct Args {
    seeds: std::ops::Range<u64>,
    plants: BTreeSet<Hazard>,
    stage: BTreeSet<Hazard>,
    trials: bool,
    scale: Scale,
    campaign: bool,
    seconds: u64,
    date: String,
    commit: String,
    out: Option<String>,
    corpora: Option<String>,
    /// The scenarios whose names contain this are cut.
    cuts: Option<String>,
}

fn parse() -> Result<Args, String> {
    let mut args = Args {
        seeds: 0..100,
        plants: BTreeSet::new(),
        stage: BTreeSet::new(),
        trials: false,
        scale: Scale::SMALL,
        campaign: false,
        seconds: 600,
        date: String::new(),
        commit: String::new(),
        out: None,
        corpora: None,
        cuts: None,
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
            "--cuts" => args.cuts = Some(value().unwrap_or_default()),
            "--stage" => args.stage = plant::parse(&value()?).map_err(|e| e.to_string())?,
            "--trials" => args.trials = true,
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
    let clean = match (&args.corpora, &args.cuts, args.campaign) {
        _ if args.trials => trials(&args),
        (Some(dir), ..) => corpora(Path::new(dir)),
        (None, Some(name), _) => cuts(name),
        (None, None, true) => campaign(&args),
        (None, None, false) => args.seeds.clone().filter(|&seed| !one(seed, &args)).count() == 0,
    };
    if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn one(seed: u64, args: &Args) -> bool {
    let mut setup = Setup { stage: args.stage.clone(), plants: args.plants.clone() };
    setup.stage.extend(&args.plants);
    let Outcome { shape, digest, effects, steps, violations, actions, tail, story, .. } = run(seed, &setup, args.scale);
    let line = serde_json::json!({
        "seed": seed,
        "shape": format!("{shape:?}"),
        "digest": format!("{digest:016x}"),
        "effects": effects,
        "steps": steps,
        "actions": actions,
        "violations": violations.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    println!("{line}");
    if !violations.is_empty() {
        eprintln!("the last things that happened in seed {seed}:\n  {}", tail.join("\n  "));
        eprintln!("what its snapshots did:\n  {}", story.join("\n  "));
    }
    violations.is_empty()
}

/// Tries the planted bugs, all or some.
fn trials(args: &Args) -> bool {
    let mut good = true;
    for hazard in Hazard::ALL.iter().filter(|hazard| args.plants.is_empty() || args.plants.contains(hazard)) {
        let trial = plant::trial(*hazard, args.seeds.clone());
        let caught = trial.caught.as_ref().map(|(seed, violation)| format!("seed {seed}: {violation}"));
        let caught: String = caught.unwrap_or_else(|| "not caught".to_owned()).chars().take(300).collect();
        println!("{hazard}: {caught}");
        trial.unsound.iter().for_each(|violation| println!("  without it: {violation}"));
        good &= trial.is_good();
    }
    good
}

/// Cuts scenarios at every effect.
fn cuts(name: &str) -> bool {
    let mut clean = true;
    for scenario in cut::scenarios().iter().filter(|scenario| scenario.name.contains(name)) {
        let report = scenario.run();
        println!("{}: {} effects, {} cuts", report.name, report.effects, report.cuts);
        report.violations.iter().for_each(|violation| println!("  {violation}"));
        report.tail.iter().for_each(|line| println!("    {line}"));
        clean &= report.violations.is_empty();
    }
    clean
}

fn campaign(args: &Args) -> bool {
    let scales: &[Scale] =
        if args.scale.name == Scale::LARGE.name { &[Scale::LARGE] } else { &[Scale::SMALL, Scale::LARGE] };
    let campaign = Campaign::run(&args.seeds, Duration::from_secs(args.seconds), scales);
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
