//! Exhaustive crash cuts: every effect of a piece of work is cut once before it, once after it, and once it is done but its
//! caller hears of an error. Then another process does the work again, and everything must be right (spec: reliability.md §4).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use linn_core::Schemas;
use linn_format::{Error, Result};

use super::actor::{self, Actor, PATH};
use super::check;
use super::fault::Rates;
use super::row::{Row, Values};
use super::shape::{Engine, Producer, Shape};
use super::world::{BEGIN, Entry, Process, World};

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

/// A piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    /// A commit of rows, with the compaction that it brings.
    Write,
    /// A commit that replaces a partition.
    Replace,
    /// A full compaction as a job of its own.
    Compact,
    /// Deletion of rows by their place.
    Delete,
    /// A change of the schema.
    Alter,
    /// Another number of buckets.
    Rescale,
    /// A tag.
    Tag,
}

/// A piece of work on a kind of table.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    shape: Shape,
    act: Act,
}

/// All pieces of work that are cut.
pub fn scenarios() -> Vec<Scenario> {
    let last = || Shape::of(Engine::Last);
    let all = [
        ("append", Shape::of(Engine::Append), Act::Write),
        ("upsert", last().with("num-sorted-run.compaction-trigger", "2"), Act::Write),
        ("sequence", Shape::of(Engine::BySequence), Act::Write),
        ("partial-update", Shape::of(Engine::Partial), Act::Write),
        ("aggregation", Shape::of(Engine::Sum), Act::Write),
        ("first-row", Shape::of(Engine::First), Act::Write),
        ("compaction", last().with("write-only", "true"), Act::Compact),
        ("append-compaction", Shape::of(Engine::Append).with("compaction.min.file-num", "2"), Act::Compact),
        ("deletion-vectors", last().with_vectors(), Act::Write),
        ("deletion", Shape::of(Engine::Append).with_vectors(), Act::Delete),
        ("lookup-changelog", last().with_producer(Producer::Lookup), Act::Write),
        ("full-changelog", last().with_producer(Producer::Full), Act::Compact),
        ("overwrite", last(), Act::Replace),
        ("schema-change", last(), Act::Alter),
        ("rescale", last(), Act::Rescale),
        ("tag", last(), Act::Tag),
    ];
    all.into_iter().map(|(name, shape, act)| Scenario { name, shape, act }).collect()
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
}

/// Commits before the work begins.
const BEFORE: i64 = 2;

impl Scenario {
    /// Cuts the work at every effect in every way.
    pub fn run(&self) -> Report {
        let shape = Arc::new(self.shape.clone());
        let prepared = World::new(1, BTreeSet::new(), std::env::temp_dir());
        self.entries(&prepared);
        let actor = process(&prepared, &shape);
        let ready = drive(&actor, self.prepare(actor.clone()));
        let mut report =
            Report { name: self.name, effects: 0, cuts: 0, violations: prepared.record().violations.clone() };
        if !ready {
            report.violations.push("the table was not made ready".to_owned());
            return report;
        }
        for effect in 0.. {
            for cut in Cut::ALL {
                let world = prepared.fork();
                let actor = process(&world, &shape);
                actor.process.cut_at(effect, cut);
                let first = drive(&actor, self.act(actor.clone()));
                if !actor.process.is_cut() {
                    report.effects = effect;
                    return report;
                }
                report.cuts += 1;
                if first == (cut != Cut::Unclear) {
                    world.violation(if first { "a dead process finished" } else { "an error was not survived" });
                }
                self.recover(&world, &shape);
                let broken = std::mem::take(&mut world.record().violations);
                let tail = world.tail().join("\n  ");
                report.violations.extend(
                    broken.into_iter().map(|what| format!("{}: effect {effect} {cut:?}: {what}\n  {tail}", self.name)),
                );
                if report.violations.len() > 5 {
                    return report;
                }
            }
        }
        report
    }

    /// Another process does it again, then writes once more; all promises are checked.
    fn recover(&self, world: &Arc<World>, shape: &Arc<Shape>) {
        let actor = process(world, shape);
        let this = self.clone();
        let own = actor.clone();
        let work = async move {
            this.act(own.clone()).await;
            actor::write::run(own.clone(), 0, BEFORE + 2).await;
            // What took compactions from the work may leave something to do.
            let rest = async {
                actor::compact::once(&own, "compactor-last", true).await?;
                check::all(&own).await
            };
            if let Err(e) = rest.await {
                own.world().violation(format!("at rest: {e:?}"));
            }
        };
        if !drive(&actor, work) {
            world.violation("recovery did not come to an end");
        }
        for panic in world.executor.take_panics() {
            world.violation(format!("a panic: {panic}"));
        }
    }

    /// What the writer's commits bring: upserts of a few keys, with a deletion where the table takes one.
    fn entries(&self, world: &World) {
        let mut record = world.record();
        for identifier in 1..=BEFORE + 2 {
            let rows = (0..6).map(|i| {
                let k = i32::try_from((identifier * 3 + i) % 9).unwrap_or(0);
                let number = identifier * 100 + i;
                let a = (i % 3 != 0).then_some(number);
                let values = Values { s: Some(number), a, b: Some(-number), w: Some(format!("writer-0.{number}")) };
                let kind = if self.shape.takes_deletes() && i == 5 { 3 } else { 0 };
                Row { p: i32::from(i > 3), k, values, kind }
            });
            let replaces = (self.act == Act::Replace && identifier == BEFORE + 1).then_some(0);
            let rows = rows.filter(|row| replaces.is_none_or(|p| p == row.p)).collect();
            let entry = Entry { rows, replaces, dispatched: None, acknowledged: None, deletes: BTreeSet::new() };
            record.ledger.insert((actor::write::user(0), identifier), entry);
        }
    }

    fn prepare(&self, actor: Actor) -> impl Future<Output = ()> + Send + 'static {
        let shape = self.shape.clone();
        async move {
            let schema = shape.schema(BEGIN);
            let made = match schema {
                Ok(schema) => Schemas::at(actor.process.env().storage, PATH).create(&schema).await,
                Err(e) => Err(e),
            };
            match made {
                Ok(()) => actor::write::run(actor, 0, BEFORE).await,
                Err(e) => actor.world().violation(format!("no table: {e:?}")),
            }
        }
    }

    /// Does the work, again until it is done.
    fn act(&self, actor: Actor) -> futures::future::BoxFuture<'static, ()> {
        let act = self.act;
        Box::pin(async move {
            for _ in 0..20 {
                match once(act, &actor).await {
                    Ok(()) => return,
                    Err(e) => actor.judge("the work", &e),
                }
                actor.rest(100).await;
            }
            actor.world().violation("the work is not done after 20 tries");
        })
    }
}

async fn once(act: Act, actor: &Actor) -> Result<()> {
    match act {
        Act::Write | Act::Replace => actor::write::run(actor.clone(), 0, BEFORE + 1).await,
        Act::Compact => drop(actor::compact::once(actor, "compactor", true).await?),
        Act::Delete => drop(actor::delete::once(actor, 0).await?),
        Act::Alter => actor::alter::once(actor).await?,
        Act::Tag => actor::tag::once(actor).await?,
        Act::Rescale => match actor.open().await?.rescale("rescaler", Some(3), None).await? {
            linn_core::CommitOutcome::Committed(_) => {}
            other => return Err(Error::unavailable(format!("not rescaled: {other:?}"))),
        },
    }
    Ok(())
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
    let limit = executor.now() + 3_600_000;
    executor.run(limit, || done.load(Ordering::SeqCst))
}

/// A small table of a kind, with some commits, as it lies on disk.
///
/// # Panics
/// When the table cannot be made.
pub fn table(shape: &Shape) -> Arc<World> {
    let scenario = Scenario { name: "table", shape: shape.clone(), act: Act::Write };
    let world = World::new(1, BTreeSet::new(), std::env::temp_dir());
    scenario.entries(&world);
    let actor = process(&world, &Arc::new(shape.clone()));
    assert!(drive(&actor, scenario.prepare(actor.clone())), "{shape:?}: {:?}", world.record().violations);
    assert!(drive(&actor, scenario.act(actor.clone())), "{shape:?}: {:?}", world.record().violations);
    world
}
