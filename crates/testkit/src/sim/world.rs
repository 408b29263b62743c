//! What all processes of a history share: the files that are really there, the time, the seed, and the record of what
//! happened, which the checks go by.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use futures::FutureExt;
use futures::future::BoxFuture;
use linn_core::seam::{SeededIds, Storage};
use linn_core::storage::Memory;
use linn_core::{Clock, Env, Pool, Spawn};
use linn_format::snapshot::Snapshot;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::cut::Cut;
use super::executor::{Executor, ProcessId};
use super::fault::{Coverage, Fault, Op, Place, Rates};
use super::follow::Told;
use super::plant::{Hazard, Knobs, Setup};
use super::row::Row;
use super::store::Store;
use super::violation::{Broken, Violation};

/// When histories begin, milliseconds since the epoch.
pub const BEGIN: i64 = 1_700_000_000_000;

/// After so long without a commit it is quiet.
const QUIET_MILLIS: i64 = 30_000;

/// What one commit was to bring into the table.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The rows in the order in which they were written.
    pub rows: Vec<Row>,
    /// The partition that they replace, if any.
    pub replaces: Option<i32>,
    /// When it was handed to the committer first.
    pub dispatched: Option<i64>,
    /// When it was acknowledged.
    pub acknowledged: Option<i64>,
    /// What the rows say in `w` that it deletes by their place.
    pub deletes: BTreeSet<String>,
}

impl Entry {
    /// Rows that are to be committed, perhaps in place of a partition.
    pub fn of(rows: Vec<Row>, replaces: Option<i32>) -> Self {
        Self { rows, replaces, dispatched: None, acknowledged: None, deletes: BTreeSet::new() }
    }

    /// Whether it changes nothing, so that no snapshot need be made.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.deletes.is_empty() && self.replaces.is_none()
    }
}

/// The record of a history.
#[derive(Default, Clone)]
pub struct Record {
    /// Commits by user and identifier.
    pub ledger: BTreeMap<(String, i64), Entry>,
    /// Which commit made a data file.
    pub files: BTreeMap<String, (String, i64)>,
    /// Every snapshot that was created, by its number, with its bytes.
    pub snapshots: BTreeMap<i64, Arc<Snapshot>>,
    /// When the last of them was created.
    pub committed: Option<i64>,
    /// Snapshots that maintenance has taken away.
    pub expired: BTreeSet<i64>,
    /// What must not be.
    pub violations: Vec<Violation>,
    /// What a follower has been told and keeps.
    pub told: Option<Told>,
    /// The partition that maintenance drops, where it does.
    pub dropped: Option<i32>,
    /// Snapshots whose expiry was begun, where the planted maintenance keeps a list of them.
    pub expiring: Vec<Arc<Snapshot>>,
    /// What the snapshots did, once something is broken.
    pub story: Vec<String>,
    /// How often which fault happened.
    pub coverage: Coverage,
    /// Operations of each kind of actor, for the report.
    pub actions: BTreeMap<&'static str, u64>,
    /// Exclusive creations under way.
    pub(super) creating: BTreeMap<String, u32>,
    /// What a power cut would take away, oldest first: when it was written, where, and what was there before.
    pub(super) unsynced: Vec<(i64, String, Option<bytes::Bytes>)>,
    hash: DefaultHasher,
    effects: u64,
    /// The last lines of the trace, for who looks for the reason of a failure.
    tail: std::collections::VecDeque<String>,
}

/// A history's world.
pub struct World {
    /// Runs everything.
    pub executor: Executor,
    /// The files that are there.
    pub disk: Memory,
    /// What the history is about, and the bugs that are planted.
    pub setup: Setup,
    /// What follows of it.
    pub knobs: Knobs,
    /// Until when everybody rests.
    night: AtomicI64,
    /// Whether faults happen.
    faults: AtomicBool,
    /// Where spills go.
    spills: PathBuf,
    random: Mutex<ChaCha8Rng>,
    record: Mutex<Record>,
    next_process: AtomicU64,
    verbose: bool,
}

impl World {
    /// A world without a table. Spills go below `spills`.
    pub fn new(seed: u64, setup: Setup, spills: PathBuf) -> Arc<Self> {
        let executor = Executor::new(seed, BEGIN);
        let clock = Arc::new(Wall { executor: executor.clone(), skew: AtomicI64::new(0) });
        Arc::new(Self {
            disk: Memory::new(clock),
            executor,
            knobs: setup.knobs(),
            setup,
            night: AtomicI64::new(0),
            faults: AtomicBool::new(false),
            spills,
            random: Mutex::new(ChaCha8Rng::seed_from_u64(seed ^ 0x5EED)),
            record: Mutex::default(),
            next_process: AtomicU64::new(1),
            verbose: std::env::var_os("LINN_SIM_TRACE").is_some(),
        })
    }

    /// A world that goes on from where this one stands, on its own.
    pub fn fork(&self) -> Arc<Self> {
        let executor = Executor::new(7, self.executor.now());
        let disk = Memory::new(Arc::new(Wall { executor: executor.clone(), skew: AtomicI64::new(0) }));
        for path in self.disk.paths() {
            let bytes = self.disk.read(&path, None).now_or_never().unwrap().unwrap();
            disk.put(&path, bytes).now_or_never().unwrap().unwrap();
        }
        Arc::new(Self {
            executor,
            disk,
            setup: self.setup.clone(),
            knobs: self.knobs,
            night: AtomicI64::new(0),
            faults: AtomicBool::new(self.faults()),
            spills: self.spills.clone(),
            random: Mutex::new(self.random.lock().unwrap().clone()),
            record: Mutex::new(self.record().clone()),
            next_process: AtomicU64::new(self.next_process.load(Ordering::SeqCst)),
            verbose: self.verbose,
        })
    }

    /// The record of what happened.
    pub fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap()
    }

    /// Draws from the seed.
    pub fn draw<T>(&self, of: impl FnOnce(&mut ChaCha8Rng) -> T) -> T {
        of(&mut self.random.lock().unwrap())
    }

    /// Whether this bug is planted.
    pub fn has(&self, hazard: Hazard) -> bool {
        self.setup.plants.contains(&hazard)
    }

    /// Lets faults happen, or no more.
    pub fn set_faults(&self, on: bool) {
        self.faults.store(on, Ordering::SeqCst);
    }

    /// Whether faults happen.
    pub fn faults(&self) -> bool {
        self.faults.load(Ordering::SeqCst)
    }

    /// Notes what must not be.
    pub fn violation(&self, broken: Broken, what: impl Into<String>) {
        let violation = Violation { broken, what: what.into() };
        self.trace(0, "violation", &violation.to_string(), 0, "");
        self.record().violations.push(violation);
    }

    /// Lets everybody rest for so long.
    pub fn sleep_over(&self, millis: i64) {
        self.night.store(self.executor.now() + millis, Ordering::SeqCst);
    }

    /// Whether nothing has been committed for a while.
    pub fn is_quiet(&self) -> bool {
        self.record().committed.is_some_and(|at| self.executor.now() - at > QUIET_MILLIS)
    }

    /// How long everybody rests from now on.
    pub fn night(&self) -> Option<u64> {
        u64::try_from(self.night.load(Ordering::SeqCst) - self.executor.now()).ok().filter(|left| *left > 0)
    }

    /// Whether something is what must not be.
    pub fn is_broken(&self) -> bool {
        !self.record().violations.is_empty()
    }

    /// Whether a promise is broken that a planted bug breaks.
    pub fn is_caught(&self) -> bool {
        let fits = |broken| self.setup.plants.iter().any(|hazard| hazard.breaks().contains(&broken));
        self.record().violations.iter().any(|violation| fits(violation.broken))
    }

    /// Counts an action of an actor.
    pub fn action(&self, name: &'static str) {
        *self.record().actions.entry(name).or_default() += 1;
    }

    /// Notes an effect or an answer: what two runs of a seed must agree on.
    pub fn trace(&self, process: ProcessId, what: &str, path: &str, content: u64, answer: &str) {
        let now = self.executor.now();
        let mut record = self.record();
        (process, what, path, content, answer, now).hash(&mut record.hash);
        record.effects += 1;
        let line = || format!("{} p{process} {what} {path} {content:x} {answer}", now - BEGIN);
        if self.verbose {
            eprintln!("{}", line());
        }
        if record.tail.len() == 40 {
            record.tail.pop_front();
        }
        record.tail.push_back(line());
    }

    /// A number that stands for everything that happened, and how much that was.
    pub fn digest(&self) -> (u64, u64) {
        let record = self.record();
        (record.hash.finish(), record.effects)
    }

    /// The last things that happened.
    pub fn tail(&self) -> Vec<String> {
        self.record().tail.iter().cloned().collect()
    }

    /// A new process.
    pub fn process(self: &Arc<Self>, name: &'static str, rates: Rates, skew: i64) -> Arc<Process> {
        let id = u32::try_from(self.next_process.fetch_add(1, Ordering::SeqCst)).unwrap();
        Arc::new(Process {
            id,
            name,
            world: Arc::clone(self),
            rates,
            clock: Arc::new(Wall { executor: self.executor.clone(), skew: AtomicI64::new(skew) }),
            latency: self.knobs.latency.unwrap_or_else(|| self.draw(|random| [0, 5, 40][random.random_range(0..3)])),
            replaced: AtomicBool::new(false),
            paused: AtomicBool::new(false),
            was_paused: AtomicBool::new(false),
            cut: Mutex::default(),
            outage_until: AtomicI64::new(0),
            lied: AtomicBool::new(false),
            ids: Arc::new(SeededIds::new(self.draw(|random| random.random()))),
        })
    }

    /// Ends every process but one.
    pub fn kill_others(&self, own: &Process) {
        let all = 1..u32::try_from(self.next_process.load(Ordering::SeqCst)).unwrap();
        all.filter(|id| *id != own.id).for_each(|id| self.executor.kill(id));
    }

    /// The folder for spills of a process.
    pub fn spill_dir(&self) -> PathBuf {
        self.spills.join("spill")
    }

    /// Cuts the power: every process ends, and what a store has not made safe is gone.
    pub async fn power_cut(&self, processes: &[ProcessId]) {
        for process in processes {
            self.executor.kill(*process);
        }
        let unsynced = std::mem::take(&mut self.record().unsynced);
        for (_, path, before) in unsynced.into_iter().rev() {
            let undone = match before {
                Some(bytes) => self.disk.put(&path, bytes).await,
                None => self.disk.delete(&path).await,
            };
            undone.unwrap();
        }
        self.trace(0, "power cut", "", processes.len() as u64, "");
    }
}

/// Virtual time, off by some milliseconds.
pub struct Wall {
    executor: Executor,
    skew: AtomicI64,
}

impl std::fmt::Debug for Wall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Wall({:?})", self.skew)
    }
}

#[async_trait]
impl Clock for Wall {
    fn now_millis(&self) -> i64 {
        self.executor.now() + self.skew.load(Ordering::SeqCst)
    }

    async fn sleep(&self, millis: u64) {
        self.executor.sleep(millis).await;
    }
}

/// One process: its view of the store and the clock, and whether it is still wanted.
pub struct Process {
    /// Its number.
    pub id: ProcessId,
    /// What kind of actor it runs.
    pub name: &'static str,
    /// Where it lives.
    pub world: Arc<World>,
    /// The faults that it meets.
    pub rates: Rates,
    clock: Arc<Wall>,
    /// Most milliseconds that an answer of the store takes.
    pub(super) latency: u64,
    replaced: AtomicBool,
    paused: AtomicBool,
    was_paused: AtomicBool,
    /// After how many more effects which cut comes.
    cut: Mutex<Option<(u64, Cut)>>,
    outage_until: AtomicI64,
    lied: AtomicBool,
    ids: Arc<SeededIds>,
}

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.name, self.id)
    }
}

impl Process {
    /// The seams as this process has them.
    pub fn env(self: &Arc<Self>) -> Env {
        Env::new(
            Arc::new(Store::new(Arc::clone(self))),
            self.clock.clone(),
            self.ids.clone(),
            Arc::new(Tasks(Arc::clone(self))),
            self.world.spill_dir(),
        )
    }

    /// The fault that an operation meets. Some begin a time in which the store cannot be reached at all.
    pub(super) fn roll(&self, op: Op, place: Place) -> Option<Fault> {
        let now = self.world.executor.now();
        if !self.world.faults() {
            return None;
        }
        let is_out = now < self.outage_until.load(Ordering::SeqCst);
        let fault = match is_out {
            true => Some(Fault::Before),
            false => self.world.draw(|random| self.rates.roll(random, op, place)),
        }?;
        // Longer than the history that expiry keeps nobody stands still.
        if fault == Fault::Pause && self.was_paused.swap(true, Ordering::SeqCst) {
            return None;
        }
        self.world.record().coverage.count(op, place, fault);
        // What meets such a time does not make it longer: whoever tries often enough would never see its end.
        if is_out {
            return Some(fault);
        }
        let (often, least) = self.world.knobs.outages;
        let millis = self.world.draw(|random| match random.random_ratio(1, often) {
            true => random.random_range(least..10_000),
            false => 0,
        });
        // What says that nothing happened although it did can only be told by looking.
        if millis > 0 && ((fault.is_ambiguous() && fault != Fault::AfterAsBefore) || fault == Fault::Before) {
            self.outage_until.fetch_max(now + millis, Ordering::SeqCst);
        }
        Some(fault)
    }

    /// Jumps the clock.
    pub fn skew(&self, millis: i64) {
        self.clock.skew.store(millis, Ordering::SeqCst);
    }

    /// Cuts the effect that comes after so many others.
    pub fn cut_at(&self, effects: u64, cut: Cut) {
        *self.cut.lock().unwrap() = Some((effects, cut));
    }

    /// Whether the cut has been made.
    pub fn is_cut(&self) -> bool {
        self.cut.lock().unwrap().is_none()
    }

    /// The cut of the effect that comes now, if it is its turn.
    pub(super) fn take_cut(&self) -> Option<Cut> {
        let mut cut = self.cut.lock().unwrap();
        match cut.take() {
            Some((0, now)) => Some(now),
            Some((effects, later)) => {
                *cut = Some((effects - 1, later));
                None
            }
            None => None,
        }
    }

    /// It stands still, or goes on.
    pub(super) fn set_paused(&self, paused: bool) {
        self.paused.store(paused, Ordering::SeqCst);
    }

    /// Whether it stands still.
    pub fn is_paused(&self) -> bool {
        self.paused.load(Ordering::SeqCst)
    }

    /// Somebody else does its work from now on; it does not know yet.
    pub fn replace(&self) {
        self.replaced.store(true, Ordering::SeqCst);
    }

    /// Whether somebody else does its work.
    pub fn is_replaced(&self) -> bool {
        self.replaced.load(Ordering::SeqCst)
    }

    /// The store has given it bytes that are not those of the file.
    pub(super) fn lie(&self) {
        self.lied.store(true, Ordering::SeqCst);
    }

    /// Whether the store has ever given it wrong bytes.
    pub fn was_lied_to(&self) -> bool {
        self.lied.load(Ordering::SeqCst)
    }
}

/// Tasks of a process.
#[derive(Debug)]
struct Tasks(Arc<Process>);

impl Spawn for Tasks {
    fn spawn(&self, _pool: Pool, task: BoxFuture<'static, ()>) {
        self.0.world.executor.spawn(self.0.id, task);
    }

    fn parallelism(&self, _pool: Pool) -> usize {
        2
    }
}
