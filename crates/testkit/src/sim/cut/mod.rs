//! Exhaustive crash cuts: every effect of a piece of work is cut once before it, once after it, and once it is done but its
//! caller hears of an error. Then another process does the work again, and everything must be right (spec: reliability.md §4).

mod act;
mod scenario;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use act::Act;
pub use scenario::{Scenario, scenarios};

use super::actor::{self, Actor};
use super::check;
use super::executor::End;
use super::fault::Rates;
use super::plant::Setup;
use super::row::{Row, Values};
use super::shape::Shape;
use super::violation::{Broken, Violation};
use super::world::{Entry, Process, World};

/// How an effect is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The process dies before it.
    Before,
    /// The process dies after it.
    After,
    /// It happens, and the caller is told that nobody knows.
    Unclear,
}

impl Cut {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Before, Self::After, Self::Unclear];
}

/// What came of cutting a scenario everywhere.
#[derive(Debug)]
pub struct Report {
    /// The scenario.
    pub name: &'static str,
    /// Effects of its work.
    pub effects: u64,
    /// Cuts that were made.
    pub cuts: u64,
    /// What was broken, with the cut.
    pub violations: Vec<String>,
    /// The last things that happened where something was broken last.
    pub tail: Vec<String>,
}

/// Violations after which a scenario is given up.
const MANY: usize = 5;
/// Commits before the work begins.
const BEFORE: i64 = 2;
/// Longest virtual time of a piece of work: cleaning waits until files are old.
const LIMIT_MILLIS: i64 = 10 * 24 * 60 * 60_000;

impl Scenario {
    /// Cuts the work at every effect in every way.
    pub fn run(&self) -> Report {
        let shape = Arc::new(self.shape.clone());
        let prepared = World::new(1, Setup::default(), std::env::temp_dir());
        self.entries(&prepared);
        let actor = process(&prepared, &shape);
        let ready = drive(&actor, act::prepare(self.clone(), actor.clone()));
        let violations = prepared.record().violations.iter().map(ToString::to_string).collect();
        let mut report = Report { name: self.name, effects: 0, cuts: 0, violations, tail: Vec::new() };
        if !ready {
            report.violations.push("the table was not made ready".to_owned());
        }
        for effect in 0.. {
            for cut in Cut::ALL {
                if report.violations.len() > MANY {
                    return report;
                }
                let world = prepared.fork();
                let actor = process(&world, &shape);
                actor.process.cut_at(effect, cut);
                let done = drive(&actor, act::work(self.clone(), actor.clone()));
                if !actor.process.is_cut() {
                    report.effects = effect;
                    return report;
                }
                report.cuts += 1;
                if done == (cut != Cut::Unclear) {
                    let what = if done { "a dead process finished" } else { "an error was not survived" };
                    world.violation(Broken::Stuck, what);
                }
                self.recover(&world, &shape);
                let broken = std::mem::take(&mut world.record().violations);
                let told = |what: &Violation| format!("{}: effect {effect} {cut:?}: {what}", self.name);
                report.violations.extend(broken.iter().map(told));
                if !broken.is_empty() {
                    report.tail = world.tail();
                }
            }
        }
        report
    }

    /// Another process does it again, then writes once more; all promises are checked.
    fn recover(&self, world: &Arc<World>, shape: &Arc<Shape>) {
        let actor = process(world, shape);
        let (this, own) = (self.clone(), actor.clone());
        let work = async move {
            act::work(this.clone(), own.clone()).await;
            actor::write::run(own.clone(), 0, BEFORE + 2).await;
            let rest = async {
                // What took compactions from the work may leave something to do.
                actor::compact::once(&own, "compactor-last", true).await?;
                act::after(&this, &own).await?;
                actor::clean::at_rest(&own).await?;
                check::all(&own).await
            };
            if let Err(e) = rest.await {
                own.world().violation(Broken::by_error(&e), format!("at rest: {e:?}"));
            }
        };
        if !drive(&actor, work) {
            world.violation(Broken::Stuck, "recovery did not come to an end");
        }
        for panic in world.executor.take_panics() {
            world.violation(Broken::Panic, format!("a panic: {panic}"));
        }
    }

    /// What the commits bring: upserts of a few keys, with a deletion where the table takes one.
    fn entries(&self, world: &World) {
        let mut record = world.record();
        for identifier in 1..=BEFORE + 2 {
            let replaces = (self.act == Act::Replace && identifier == BEFORE + 1).then_some(0);
            let mut rows = self.rows(0, identifier);
            rows.retain(|row| replaces.is_none_or(|p| p == row.p));
            record.ledger.insert((actor::write::user(0), identifier), Entry::of(rows, replaces));
        }
        if self.act == Act::Forward {
            record.ledger.insert((actor::write::user(1), 1), Entry::of(self.rows(1, 1), None));
        }
        if self.act == Act::DropPartition {
            record.dropped = Some(0);
        }
    }

    fn rows(&self, writer: i64, identifier: i64) -> Vec<Row> {
        let rows = (0..6).map(|i| {
            let k = i32::try_from((identifier * 3 + i) % 9).unwrap_or(0);
            let number = identifier * 100 + i + writer * 10_000;
            let a = (i % 3 != 0).then_some(number);
            let values = Values { s: Some(number), a, b: Some(-number), w: Some(format!("writer-{writer}.{number}")) };
            let kind = if self.shape.takes_deletes() && i == 5 { 3 } else { 0 };
            Row { p: i32::from(i > 3), k, values, kind }
        });
        rows.collect()
    }
}

fn process(world: &Arc<World>, shape: &Arc<Shape>) -> Actor {
    let process: Arc<Process> = world.process("worker", Rates::default(), 0);
    Actor { process, shape: Arc::clone(shape) }
}

/// Runs work in a process until it is done or the process is dead; whether it is done.
fn drive(actor: &Actor, work: impl Future<Output = ()> + Send + 'static) -> bool {
    let done = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&done);
    let executor = actor.world().executor.clone();
    let whole = async move {
        work.await;
        flag.store(true, Ordering::SeqCst);
    };
    executor.spawn(actor.process.id, Box::pin(whole));
    let limit = executor.now() + LIMIT_MILLIS;
    executor.run(limit, || done.load(Ordering::SeqCst)) == End::Done
}

/// A small table of a kind, with some commits, as it lies on disk.
///
/// # Panics
/// When the table cannot be made.
pub fn table(shape: &Shape) -> Arc<World> {
    let scenario = Scenario { name: "table", shape: shape.clone(), act: Act::Write };
    let world = World::new(1, Setup::default(), std::env::temp_dir());
    scenario.entries(&world);
    let actor = process(&world, &Arc::new(shape.clone()));
    let done = [
        drive(&actor, act::prepare(scenario.clone(), actor.clone())),
        drive(&actor, act::work(scenario.clone(), actor.clone())),
    ];
    assert!(done == [true, true], "{shape:?}: {:?}", world.record().violations);
    world
}
