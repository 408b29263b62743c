//! A campaign: many histories, all bugs, all cuts, all decoders, and the page that says what came of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::cut::{self, Report};
use super::fault::{Coverage, Fault, Op, Place};
use super::plant::{Hazard, Setup, Trial, trial};
use super::run::{Outcome, Scale, run};
use crate::fuzz;

/// Every so many seeds are run twice.
const TWICE: u64 = 20;
/// Seeds that are tried for each planted bug.
const PLANT_SEEDS: u64 = 300;

/// What a campaign has found.
#[derive(Debug, Default)]
pub struct Campaign {
    histories: Vec<Histories>,
    twice: u64,
    failed: BTreeMap<(&'static str, u64), String>,
    unequal: Vec<(&'static str, u64)>,
    coverage: Coverage,
    actions: BTreeMap<&'static str, u64>,
    trials: Vec<Trial>,
    cuts: Vec<Report>,
    decoders: usize,
    mutations: usize,
    seconds: u64,
}

/// Histories of one scale.
#[derive(Debug)]
struct Histories {
    scale: Scale,
    seeds: std::ops::Range<u64>,
    effects: u64,
}

impl Campaign {
    /// Runs histories of these seeds until the time is over, which the scales share, then the bugs, the cuts and the decoders. Says
    /// on stderr how far it is.
    pub fn run(seeds: &std::ops::Range<u64>, time: Duration, scales: &[Scale]) -> Self {
        let begin = Instant::now();
        let mut campaign = Self::default();
        for (share, scale) in (1..).zip(scales) {
            let until = time * share / u32::try_from(scales.len()).unwrap();
            let mut histories = Histories { scale: *scale, seeds: seeds.start..seeds.start, effects: 0 };
            while begin.elapsed() < until && histories.seeds.end < seeds.end {
                histories.effects += campaign.one(histories.seeds.end, *scale);
                histories.seeds.end += 1;
                if histories.seeds.end.is_multiple_of(50) {
                    eprintln!("sim: {} seeds {:?}, {} failed", scale.name, histories.seeds, campaign.failed.len());
                }
            }
            campaign.histories.push(histories);
        }
        for hazard in Hazard::ALL {
            let trial = trial(*hazard, 0..PLANT_SEEDS);
            eprintln!("sim: {hazard}: {:?} {:?}", trial.caught, trial.unsound);
            campaign.trials.push(trial);
        }
        campaign.cuts = cut::scenarios().iter().map(cut::Scenario::run).collect();
        campaign.mutations = 2_000;
        // What decoders keep of panics of libraries is nobody's to read.
        fuzz::hold_panics();
        for target in fuzz::TARGETS {
            fuzz::check_held(target.name, 99, campaign.mutations, target.run);
            campaign.decoders += 1;
        }
        drop(std::panic::take_hook());
        campaign.seconds = begin.elapsed().as_secs();
        campaign
    }

    fn one(&mut self, seed: u64, scale: Scale) -> u64 {
        let Outcome { digest, effects, violations, coverage, actions, shape, .. } = run(seed, &Setup::default(), scale);
        self.coverage.add(&coverage);
        for (action, count) in actions {
            *self.actions.entry(action).or_default() += count;
        }
        if seed.is_multiple_of(TWICE) || !violations.is_empty() {
            self.twice += 1;
            if run(seed, &Setup::default(), scale).digest != digest {
                self.unequal.push((scale.name, seed));
            }
        }
        if let Some(first) = violations.first() {
            eprintln!("sim: {} seed {seed} failed: {shape:?}: {first}", scale.name);
            self.failed.insert((scale.name, seed), first.to_string().lines().next().unwrap_or_default().to_owned());
        }
        effects
    }

    /// Whether everything held.
    pub fn is_clean(&self) -> bool {
        self.failed.is_empty()
            && self.unequal.is_empty()
            && self.trials.iter().all(Trial::is_good)
            && self.cuts.iter().all(|report| report.violations.is_empty())
    }

    /// The page.
    pub fn page(&self, date: &str, commit: &str) -> String {
        let mut page = String::new();
        let action = |name: &str| self.actions.get(name).copied().unwrap_or(0);
        let all: u64 = self.actions.values().sum();
        let cuts: u64 = self.cuts.iter().map(|report| report.cuts).sum();
        let broken: usize = self.cuts.iter().map(|report| report.violations.len()).sum();
        let good = self.trials.iter().filter(|trial| trial.is_good());
        let mut tries: Vec<u64> = good.filter_map(|trial| trial.caught.as_ref()).map(|(seed, _)| seed + 1).collect();
        tries.sort_unstable();
        let median = tries.get(tries.len() / 2).copied().unwrap_or(0);
        let (reached, cells) = self.cells();
        let _ = writeln!(page, "# Campaign of {date}\n");
        let _ = writeln!(
            page,
            "Commit `{commit}`; {} s on one core. Written by `cargo xtask sim --campaign`; the figures are those of the \
             reliability plan.\n",
            self.seconds
        );
        let _ = writeln!(page, "| figure | value |\n|---|---|");
        let histories = self.histories.iter().map(|Histories { scale, seeds, effects }| {
            let count = seeds.end - seeds.start;
            format!("{count} {} (seeds {} to {}) × {}", scale.name, seeds.start, seeds.end, effects / count.max(1))
        });
        let rows = [
            ("F1 histories × store operations", histories.collect::<Vec<_>>().join("; ")),
            ("F1 actions of actors", all.to_string()),
            (
                "F2 commits attempted / acknowledged",
                format!("{} / {}", action("commits attempted"), action("commits acknowledged")),
            ),
            ("F2 rows written", action("rows written").to_string()),
            (
                "F3 faults, of them ambiguous",
                format!("{} / {}", self.coverage.total(|_| true), self.coverage.total(Fault::is_ambiguous)),
            ),
            (
                "F4 crashes, restarts, zombies",
                format!("{} / {} / {}", self.coverage.total(Fault::is_crash), action("restarts"), action("zombies")),
            ),
            ("F5 crash cuts (scenarios, cuts, broken)", format!("{} / {cuts} / {broken}", self.cuts.len())),
            ("F8 histories that broke a promise", self.failed.len().to_string()),
            ("F9 run twice, unequal", format!("{} / {}", self.twice, self.unequal.len())),
            ("F10 cells of the fault table hit 100 times", format!("{reached} of {cells}")),
            (
                "F11 planted bugs caught, median of seeds",
                format!("{} of {} / {median}", tries.len(), Hazard::ALL.len()),
            ),
            ("F12 decoders × mutations", format!("{} × {}", self.decoders, self.mutations)),
        ];
        for (figure, value) in rows {
            let _ = writeln!(page, "| {figure} | {value} |");
        }
        let _ = writeln!(page, "\n## What the actors did\n\n| action | times |\n|---|---|");
        for (name, count) in &self.actions {
            let _ = writeln!(page, "| {name} | {count} |");
        }
        self.failures(&mut page);
        self.plants(&mut page);
        let _ = writeln!(page, "\n## Crash cuts\n\n| work | effects | cuts | broken |\n|---|---|---|---|");
        for Report { name, effects, cuts, violations, .. } in &self.cuts {
            let _ = writeln!(page, "| {name} | {effects} | {cuts} | {} |", violations.len());
        }
        self.faults(&mut page);
        page
    }

    fn failures(&self, page: &mut String) {
        let _ = writeln!(page, "\n## Seeds that failed\n");
        if self.failed.is_empty() && self.unequal.is_empty() {
            let _ = writeln!(page, "None.");
        }
        for ((scale, seed), what) in &self.failed {
            let _ = writeln!(page, "- {scale} {seed}: {what}");
        }
        for (scale, seed) in &self.unequal {
            let _ = writeln!(page, "- {scale} {seed}: not the same history twice");
        }
    }

    fn plants(&self, page: &mut String) {
        let _ =
            writeln!(page, "\n## Planted bugs\n\n| bug | what it does | first seed | caught as |\n|---|---|---|---|");
        for Trial { hazard, caught, unsound } in &self.trials {
            let (seed, what) = match (caught, unsound.first()) {
                (_, Some(unsound)) => ("–".to_owned(), format!("not clean without it: {unsound}")),
                (Some((seed, what)), None) => (seed.to_string(), what.to_string()),
                (None, None) => ("–".to_owned(), "not caught".to_owned()),
            };
            let what: String = what.chars().take(120).map(|c| if c == '|' { '/' } else { c }).collect();
            let _ = writeln!(page, "| {hazard} | {} | {seed} | {what} |", hazard.text());
        }
    }

    /// Cells of the fault table that were hit often enough, and all that can be hit.
    fn cells(&self) -> (usize, usize) {
        let seen: Vec<_> = self.coverage.cells().collect();
        let often = seen.iter().filter(|(.., count)| *count >= 100).count();
        // What no history ever asks of a place is not reachable.
        let asked: BTreeSet<(Op, Place)> = seen.iter().map(|(op, place, ..)| (*op, *place)).collect();
        let all =
            asked.iter().map(|(op, place)| Fault::ALL.iter().filter(|fault| fault.fits(*op, *place)).count()).sum();
        (often, all)
    }

    fn faults(&self, page: &mut String) {
        let _ = write!(page, "\n## Faults by operation and place\n\n| operation | place |");
        for fault in Fault::ALL {
            let _ = write!(page, " {fault:?} |");
        }
        let _ = writeln!(page, "\n|---|---|{}", "---|".repeat(Fault::ALL.len()));
        let mut table: BTreeMap<(Op, Place), BTreeMap<Fault, u64>> = BTreeMap::new();
        for (op, place, fault, count) in self.coverage.cells() {
            table.entry((op, place)).or_default().insert(fault, count);
        }
        for ((op, place), counts) in table {
            let _ = write!(page, "| {op:?} | {place:?} |");
            for fault in Fault::ALL {
                let cell = match (fault.fits(op, place), counts.get(&fault)) {
                    (_, Some(count)) => count.to_string(),
                    (true, None) => "0".to_owned(),
                    (false, None) => String::new(),
                };
                let _ = write!(page, " {cell} |");
            }
            let _ = writeln!(page);
        }
    }
}
