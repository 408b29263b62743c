//! One history: a table of some kind, actors that use it, faults, and at last a rest in which everything must be right.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::BoxFuture;
use linn_core::Schemas;
use rand::Rng;

use super::actor::{self, Actor, PATH};
use super::check;
use super::executor::End;
use super::fault::{Coverage, Fault, Rates};
use super::plant::{Hazard, Setup};
use super::shape::{Engine, Shape};
use super::story;
use super::violation::{Broken, Violation};
use super::world::{BEGIN, Process, World};

/// Longest time with faults, virtual milliseconds.
const STORM: i64 = 60 * 60_000;
/// A time in which everybody rests and files grow old.
const NIGHT: i64 = 3 * 60 * 60_000;
/// Longest time without faults until all work is done.
const CALM: i64 = 10 * 60_000;
/// After so long no answer of the store is late any more.
const LATE_MILLIS: u64 = 10_000;

/// How much happens in a history.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// Its name.
    pub name: &'static str,
    /// Writers.
    pub writers: usize,
    /// Commits of each.
    pub commits: i64,
    /// Compactors at the most.
    pub compactors: usize,
    /// Readers at the most.
    pub readers: usize,
    /// Polls of tasks after which a history is taken to go round without end: many times what one needs.
    pub steps: u64,
}

impl Scale {
    /// A history of a second or so without optimisation.
    pub const SMALL: Self = Self { name: "small", writers: 2, commits: 6, compactors: 1, readers: 1, steps: 500_000 };
    /// A history for campaigns.
    pub const LARGE: Self =
        Self { name: "large", writers: 4, commits: 40, compactors: 2, readers: 3, steps: 3_000_000 };
}

/// What came of a history.
#[derive(Debug)]
pub struct Outcome {
    /// Its seed.
    pub seed: u64,
    /// The table's kind.
    pub shape: Shape,
    /// Stands for everything that happened; equal for equal seeds.
    pub digest: u64,
    /// Operations of the store.
    pub effects: u64,
    /// Polls of tasks.
    pub steps: u64,
    /// What was broken.
    pub violations: Vec<Violation>,
    /// The faults that happened.
    pub coverage: Coverage,
    /// What the actors did.
    pub actions: BTreeMap<&'static str, u64>,
    /// The last things that happened.
    pub tail: Vec<String>,
    /// What the snapshots did, where something was broken.
    pub story: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Writer(usize),
    Compactor(usize),
    Reader,
    Deleter(usize),
    Incrementer(usize),
    Alterer,
    Tagger,
    Brancher,
    Follower,
    Expirer,
    Cleaner,
}

struct Slot {
    kind: Kind,
    process: Arc<Process>,
    restart_at: Option<i64>,
}

struct History {
    world: Arc<World>,
    shape: Arc<Shape>,
    rates: Rates,
    scale: Scale,
    skews: bool,
}

/// Runs the history of a seed, with the bugs that are planted in it.
///
/// # Panics
/// When the folder for spills cannot be made.
pub fn run(seed: u64, setup: &Setup, scale: Scale) -> Outcome {
    let spills = tempfile::tempdir().unwrap();
    let world = World::new(seed, setup.clone(), spills.path().to_owned());
    let mut shape = setup.shape(world.draw(Shape::draw));
    shape.follows = shape.may_be_followed() && world.draw(|random| random.random_bool(0.5));
    let mut rates = world.draw(Rates::draw);
    setup.favour(&mut rates);
    let skews = world.draw(|random| random.random_bool(0.3)) && world.knobs.skews;
    let history = History { world: Arc::clone(&world), shape: Arc::new(shape.clone()), rates, scale, skews };
    let done = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&done);
    let whole = async move {
        history.whole().await;
        flag.store(true, Ordering::SeqCst);
    };
    world.executor.spawn(0, Box::pin(whole));
    world.executor.limit_steps(scale.steps);
    let end = world.executor.run(BEGIN + 40 * NIGHT, || done.load(Ordering::SeqCst));
    if end != End::Done {
        world.violation(Broken::Stuck, format!("the history did not come to its end: {end:?}"));
    }
    for panic in world.executor.take_panics() {
        world.violation(Broken::Panic, format!("a panic: {panic}"));
    }
    let (digest, effects) = world.digest();
    let tail = world.tail();
    let record = std::mem::take(&mut *world.record());
    Outcome {
        seed,
        shape,
        digest,
        effects,
        steps: world.executor.steps(),
        violations: record.violations,
        coverage: record.coverage,
        actions: record.actions,
        tail,
        story: record.story,
    }
}

impl History {
    async fn whole(&self) {
        let own = self.world.process("supervisor", Rates::default(), 0);
        let actor = Actor { process: Arc::clone(&own), shape: Arc::clone(&self.shape) };
        let schema = match self.shape.schema(BEGIN) {
            Ok(schema) => schema,
            Err(e) => return self.world.violation(Broken::Failure, format!("{:?} is no table: {e:?}", self.shape)),
        };
        if let Err(e) = Schemas::at(own.env().storage, PATH).create(&schema).await {
            return self.world.violation(Broken::Failure, format!("no table: {e:?}"));
        }
        let kinds = self.kinds();
        let mut slots: Vec<Slot> = kinds.iter().map(|kind| self.start(*kind)).collect();
        self.world.set_faults(true);
        self.storm(&mut slots).await;
        self.world.set_faults(false);
        self.unblock();
        // A planted bug that has shown is all that was asked for; what is left of the table may keep everybody busy for long.
        if self.world.is_caught() {
            return;
        }
        if !self.calm(&mut slots).await {
            self.world.violation(Broken::Stuck, "the writers did not finish although nothing fails any more");
        }
        // Those too whose place others have taken, and who do not know.
        self.world.kill_others(&own);
        self.world.executor.sleep(LATE_MILLIS).await;
        if let Err(e) = self.rest(&actor, &kinds).await {
            self.world.violation(Broken::by_error(&e), format!("at rest: {e:?}"));
        }
        if self.world.is_broken()
            && let Ok(table) = actor.open().await
        {
            self.world.record().story = story::tell(&table).await.unwrap_or_else(|e| vec![format!("{e:?}")]);
        }
    }

    fn kinds(&self) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = (0..self.scale.writers).map(Kind::Writer).collect();
        let about = |hazards: &[Hazard]| self.world.setup.is_about(hazards);
        let chance = |of| self.world.draw(|random| random.random_bool(of));
        kinds.extend((0..self.scale.compactors).map(Kind::Compactor));
        kinds.extend((0..self.scale.readers).map(|_| Kind::Reader));
        if self.shape.engine == Engine::Append && self.shape.vectors {
            kinds.extend([Kind::Deleter(0), Kind::Deleter(1)]);
        }
        // Beside planted bugs they would only change which histories these show in.
        if actor::increment::fits(&self.shape) && !about(Hazard::ALL) {
            kinds.extend([Kind::Incrementer(0), Kind::Incrementer(1)]);
        }
        let eager = [Hazard::H7, Hazard::H8, Hazard::H9, Hazard::H16];
        let drawn = [
            (Kind::Follower, self.shape.follows),
            (Kind::Alterer, chance(0.5) || about(&[Hazard::H11])),
            (Kind::Tagger, chance(0.5) || about(&[Hazard::H16])),
            (Kind::Brancher, chance(0.3)),
            (Kind::Expirer, chance(0.5) || about(&eager)),
            (Kind::Cleaner, chance(0.4) || about(&[Hazard::H6])),
        ];
        kinds.extend(drawn.into_iter().filter(|(_, is_there)| *is_there).map(|(kind, _)| kind));
        kinds
    }

    fn start(&self, kind: Kind) -> Slot {
        let name = match kind {
            Kind::Writer(_) => actor::write::NAME,
            Kind::Compactor(_) => "compactor",
            Kind::Reader => "reader",
            Kind::Deleter(_) => "deleter",
            Kind::Incrementer(_) => "incrementer",
            Kind::Alterer => "alterer",
            Kind::Tagger => "tagger",
            Kind::Brancher => "brancher",
            Kind::Follower => "follower",
            Kind::Expirer => actor::expire::NAME,
            Kind::Cleaner => actor::clean::NAME,
        };
        let skew = if self.skews { self.world.draw(|random| random.random_range(-300_000..300_000)) } else { 0 };
        let mut rates = self.rates.clone();
        // Expiry that is cut off now and then is what its bugs are about.
        if kind == Kind::Expirer
            && let Some(share) = self.world.knobs.expirer_dies
        {
            rates.set(Fault::CrashBefore, share);
        }
        let process = self.world.process(name, rates, skew);
        let actor = Actor { process: Arc::clone(&process), shape: Arc::clone(&self.shape) };
        let commits = self.scale.commits;
        let work: BoxFuture<'static, ()> = match kind {
            Kind::Writer(number) => Box::pin(actor::write::run(actor, number, commits)),
            Kind::Compactor(number) => Box::pin(actor::compact::run(actor, number)),
            Kind::Reader => Box::pin(actor::read::run(actor)),
            Kind::Deleter(number) => Box::pin(actor::delete::run(actor, number)),
            Kind::Incrementer(number) => Box::pin(actor::increment::run(actor, number)),
            Kind::Alterer => Box::pin(actor::alter::run(actor)),
            Kind::Tagger => Box::pin(actor::tag::run(actor)),
            Kind::Brancher => Box::pin(actor::branch::run(actor)),
            Kind::Follower => Box::pin(actor::follow::run(actor)),
            Kind::Expirer => Box::pin(actor::expire::run(actor)),
            Kind::Cleaner => Box::pin(actor::clean::run(actor)),
        };
        self.world.executor.spawn(process.id, work);
        Slot { kind, process, restart_at: None }
    }

    fn is_done(&self, kind: Kind) -> bool {
        match kind {
            Kind::Writer(number) => actor::write::is_done(&self.world, number, self.scale.commits),
            _ => true,
        }
    }

    fn all_done(&self, slots: &[Slot]) -> bool {
        slots.iter().all(|slot| self.is_done(slot.kind))
    }

    /// Starts again what has died, after a while.
    fn revive(&self, slot: &mut Slot) {
        let now = self.world.executor.now();
        if self.world.executor.is_alive(slot.process.id)
            || (matches!(slot.kind, Kind::Writer(_)) && self.is_done(slot.kind))
        {
            return;
        }
        match slot.restart_at {
            None => slot.restart_at = Some(now + self.world.draw(|random| random.random_range(0..3_000))),
            Some(at) if now >= at => {
                self.world.action("restarts");
                *slot = self.start(slot.kind);
            }
            Some(_) => {}
        }
    }

    async fn storm(&self, slots: &mut [Slot]) {
        let [cuts, disks] = [0, 1].map(|_| self.world.draw(|random| random.random_bool(0.3)));
        let cuts = cuts || self.world.setup.is_about(&[Hazard::H18]);
        let disks = disks || self.world.setup.is_about(&[Hazard::H20]);
        let mut nights = self.world.draw(|random| random.random_range(0..3));
        let mut end = self.world.executor.now() + STORM;
        while !self.all_done(slots) && self.world.executor.now() < end && !self.world.is_caught() {
            self.world.executor.sleep(200).await;
            for slot in slots.iter_mut() {
                self.revive(slot);
                // Somebody thinks that it is dead. It will go on all the same.
                if slot.process.is_paused() && self.world.draw(|random| random.random_ratio(1, 20)) {
                    self.world.action("zombies");
                    slot.process.replace();
                    *slot = self.start(slot.kind);
                }
            }
            let event = self.world.draw(|random| random.random_range(0..200));
            if event < self.world.knobs.cuts && cuts {
                let processes: Vec<u32> = slots.iter().map(|slot| slot.process.id).collect();
                self.world.action("power cuts");
                self.world.power_cut(&processes).await;
            } else if event < 10 && disks {
                self.block();
            } else if event < 20 {
                self.unblock();
            } else if event == 21 && nights > 0 {
                nights -= 1;
                end += NIGHT;
                self.world.action("nights");
                self.world.sleep_over(NIGHT);
                self.world.executor.sleep(u64::try_from(NIGHT).unwrap_or(0)).await;
            } else if event == 20 && self.skews {
                let skew = self.world.draw(|random| random.random_range(-300_000..300_000));
                slots[0].process.skew(skew);
            }
        }
    }

    /// Without faults everything that was begun is finished.
    async fn calm(&self, slots: &mut [Slot]) -> bool {
        for slot in slots.iter_mut().filter(|slot| slot.process.is_paused()) {
            self.world.executor.kill(slot.process.id);
        }
        let end = self.world.executor.now() + CALM;
        while !self.all_done(slots) && !self.world.is_caught() {
            if self.world.executor.now() > end {
                return false;
            }
            self.world.executor.sleep(200).await;
            slots.iter_mut().for_each(|slot| self.revive(slot));
        }
        true
    }

    async fn rest(&self, actor: &Actor, kinds: &[Kind]) -> linn_format::Result<()> {
        actor::compact::once(actor, "compactor-last", true).await?;
        if self.shape.follows {
            actor::follow::at_rest(actor).await?;
        }
        if kinds.contains(&Kind::Expirer) {
            actor::expire::at_rest(actor).await?;
        }
        if kinds.contains(&Kind::Brancher) {
            actor::branch::at_rest(actor).await?;
        }
        actor::clean::at_rest(actor).await?;
        check::all(actor).await
    }

    /// The local disk takes no more files.
    fn block(&self) {
        let dir = self.world.spill_dir();
        if !dir.is_file() {
            std::fs::rename(&dir, kept(&dir)).ok();
            std::fs::write(&dir, b"full").unwrap();
            self.world.action("full disks");
        }
    }

    fn unblock(&self) {
        let dir = self.world.spill_dir();
        if dir.is_file() {
            std::fs::remove_file(&dir).unwrap();
            std::fs::rename(kept(&dir), &dir).ok();
        }
    }
}

fn kept(dir: &std::path::Path) -> PathBuf {
    dir.with_extension("kept")
}
