//! One thread that runs all tasks of a history: the seed says which ready task comes next, and time passes only when none is.
//!
//! Every task belongs to a process. A process that is killed loses all its tasks where they stand, as a program does.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};

use futures::future::BoxFuture;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Names a process of a history.
pub type ProcessId = u32;

/// Runs tasks in one thread, in an order that its seed decides.
#[derive(Clone)]
pub struct Executor(Arc<Mutex<State>>);

struct State {
    random: ChaCha8Rng,
    now: i64,
    next: u64,
    tasks: BTreeMap<u64, Task>,
    ready: Vec<u64>,
    woken: Arc<Mutex<VecDeque<u64>>>,
    timers: BTreeMap<(i64, u64), Waker>,
    dead: BTreeSet<ProcessId>,
    panics: Vec<String>,
    steps: u64,
    most_steps: u64,
}

/// Polls after which a run is taken to go round without end, where nothing else is said.
const STEPS: u64 = 20_000_000;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// What was waited for has come.
    Done,
    /// Nothing is left that could go on.
    Idle,
    /// The clock has passed the limit.
    Late,
    /// Tasks go on and on, and what is waited for does not come.
    Endless,
}

struct Task {
    process: ProcessId,
    /// Absent while it is being polled.
    future: Option<BoxFuture<'static, ()>>,
}

struct Ring {
    task: u64,
    woken: Arc<Mutex<VecDeque<u64>>>,
}

impl Wake for Ring {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.lock().unwrap().push_back(self.task);
    }
}

impl Executor {
    /// An executor without tasks whose clock shows `now` milliseconds.
    pub fn new(seed: u64, now: i64) -> Self {
        Self(Arc::new(Mutex::new(State {
            random: ChaCha8Rng::seed_from_u64(seed),
            now,
            next: 0,
            tasks: BTreeMap::new(),
            ready: Vec::new(),
            woken: Arc::default(),
            timers: BTreeMap::new(),
            dead: BTreeSet::new(),
            panics: Vec::new(),
            steps: 0,
            most_steps: STEPS,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Virtual milliseconds.
    pub fn now(&self) -> i64 {
        self.state().now
    }

    /// Adds a task to a process; a task of a dead process is dropped at once.
    pub fn spawn(&self, process: ProcessId, future: BoxFuture<'static, ()>) {
        let mut state = self.state();
        if state.dead.contains(&process) {
            drop(state);
            drop(future);
            return;
        }
        let id = state.next;
        state.next += 1;
        state.tasks.insert(id, Task { process, future: Some(future) });
        state.ready.push(id);
    }

    /// Ends a process: none of its tasks runs on.
    pub fn kill(&self, process: ProcessId) {
        let mut state = self.state();
        state.dead.insert(process);
        let ids: Vec<u64> = state.tasks.iter().filter(|(_, t)| t.process == process).map(|(id, _)| *id).collect();
        // The one that is being polled is dropped when it returns. Dropping may wake others, so the lock is given back first.
        let futures: Vec<_> =
            ids.iter().filter_map(|id| state.tasks.get_mut(id).and_then(|task| task.future.take())).collect();
        for id in ids {
            state.tasks.remove(&id);
        }
        drop(state);
        drop(futures);
    }

    /// Whether a process has something left to do.
    pub fn is_alive(&self, process: ProcessId) -> bool {
        self.state().tasks.values().any(|task| task.process == process)
    }

    /// Waits in virtual time; with 0 only lets others come first.
    pub fn sleep(&self, millis: u64) -> Sleep {
        Sleep { executor: self.clone(), until: None, millis, timer: None }
    }

    /// Polls so far.
    pub fn steps(&self) -> u64 {
        self.state().steps
    }

    /// After so many polls a run is taken to go round without end.
    pub fn limit_steps(&self, most: u64) {
        self.state().most_steps = most;
    }

    /// What tasks panicked with so far.
    pub fn take_panics(&self) -> Vec<String> {
        std::mem::take(&mut self.state().panics)
    }

    /// Runs tasks until `done` says so, nothing is left that could go on, the clock has passed `limit`, or there were too
    /// many steps to believe that there is an end.
    pub fn run(&self, limit: i64, mut done: impl FnMut() -> bool) -> End {
        loop {
            if done() {
                return End::Done;
            }
            let mut state = self.state();
            state.steps += 1;
            if state.steps > state.most_steps {
                return End::Endless;
            }
            let woken = Arc::clone(&state.woken);
            for id in woken.lock().unwrap().drain(..) {
                if state.tasks.contains_key(&id) && !state.ready.contains(&id) {
                    state.ready.push(id);
                }
            }
            if state.ready.is_empty() {
                let Some(((at, _), waker)) = state.timers.pop_first() else { return End::Idle };
                if at > limit {
                    return End::Late;
                }
                state.now = state.now.max(at);
                drop(state);
                waker.wake();
                continue;
            }
            let at = match state.ready.len() {
                1 => 0,
                len => state.random.random_range(0..len),
            };
            let id = state.ready.swap_remove(at);
            let Some(future) = state.tasks.get_mut(&id).and_then(|task| task.future.take()) else { continue };
            drop(state);
            self.poll(id, future, woken);
        }
    }

    fn poll(&self, id: u64, mut future: BoxFuture<'static, ()>, woken: Arc<Mutex<VecDeque<u64>>>) {
        let waker = Waker::from(Arc::new(Ring { task: id, woken }));
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut Context::from_waker(&waker))));
        let mut state = self.state();
        let ended = match polled {
            Ok(Poll::Pending) => false,
            Ok(Poll::Ready(())) => true,
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
                state.panics.push(text.unwrap_or_else(|| "a panic without a text".to_owned()));
                true
            }
        };
        match state.tasks.get_mut(&id) {
            Some(task) if !ended => {
                task.future = Some(future);
                return;
            }
            _ => state.tasks.remove(&id),
        };
        drop(state);
        drop(future);
    }
}

/// A wait in virtual time.
pub struct Sleep {
    executor: Executor,
    until: Option<i64>,
    millis: u64,
    /// Its one timer, while it waits.
    timer: Option<u64>,
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let (Some(until), Some(number)) = (self.until, self.timer) {
            let waker = self.executor.state().timers.remove(&(until, number));
            // Dropped without the lock: the last reference to a task may go with it.
            drop(waker);
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let executor = self.executor.clone();
        let mut state = executor.state();
        let now = state.now;
        match self.until {
            Some(until) if now >= until => return Poll::Ready(()),
            Some(_) => {}
            None if self.millis == 0 => {
                self.until = Some(now);
                drop(state);
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            None => self.until = Some(now.saturating_add(i64::try_from(self.millis).unwrap_or(i64::MAX))),
        }
        // Who polls it may be another one each time; another timer every time would be ever more of them.
        let until = self.until.unwrap_or(now);
        let number = *self.timer.get_or_insert_with(|| {
            state.next += 1;
            state.next
        });
        let before = state.timers.insert((until, number), context.waker().clone());
        drop(state);
        drop(before);
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(seed: u64) -> Vec<(u32, i64)> {
        let executor = Executor::new(seed, 0);
        let seen = Arc::new(Mutex::new(Vec::new()));
        for process in 0..6 {
            let (seen, own) = (Arc::clone(&seen), executor.clone());
            executor.spawn(
                process,
                Box::pin(async move {
                    for _ in 0..3 {
                        own.sleep(u64::from(process) % 2 * 5).await;
                        seen.lock().unwrap().push((process, own.now()));
                    }
                }),
            );
        }
        assert_eq!(executor.run(1000, || false), End::Idle);
        let seen = seen.lock().unwrap().clone();
        assert_eq!(seen.len(), 18);
        seen
    }

    #[test]
    fn the_seed_decides_the_order() {
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }

    #[test]
    fn a_killed_process_stops_and_a_panic_is_told() {
        let executor = Executor::new(1, 0);
        let seen = Arc::new(Mutex::new(0));
        let (own, count) = (executor.clone(), Arc::clone(&seen));
        executor.spawn(
            1,
            Box::pin(async move {
                *count.lock().unwrap() += 1;
                own.kill(1);
                own.sleep(1).await;
                *count.lock().unwrap() += 1;
            }),
        );
        executor.spawn(2, Box::pin(async { panic!("boo") }));
        assert_eq!(executor.run(1000, || false), End::Idle);
        assert_eq!(*seen.lock().unwrap(), 1);
        assert_eq!(executor.take_panics(), ["boo"]);
    }

    #[test]
    fn waits_that_are_polled_by_others_each_time_come_to_an_end() {
        use futures::StreamExt;
        let executor = Executor::new(1, 0);
        let own = executor.clone();
        let waits = async move {
            for _ in 0..20 {
                // Every poll comes with a waker that was not there before.
                let mut waits: Vec<_> = (1..30).map(|millis| Box::pin(own.sleep(millis))).collect();
                while !waits.is_empty() {
                    let mut polled: futures::stream::FuturesUnordered<_> = waits.drain(..).map(Turn::of).collect();
                    while let Some(left) = polled.next().await {
                        waits.extend(left);
                    }
                    own.sleep(1).await;
                }
            }
        };
        executor.spawn(1, Box::pin(waits));
        assert_eq!(executor.run(10_000, || false), End::Idle);
        assert!(executor.state().timers.is_empty() && executor.state().steps < 10_000);
    }

    /// Polls a wait once and gives it back if it is not over.
    struct Turn(Option<Pin<Box<Sleep>>>);

    impl Turn {
        fn of(wait: Pin<Box<Sleep>>) -> Self {
            Self(Some(wait))
        }
    }

    impl Future for Turn {
        type Output = Option<Pin<Box<Sleep>>>;

        fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
            let is_over = self.0.as_mut().is_none_or(|wait| wait.as_mut().poll(context).is_ready());
            Poll::Ready(if is_over { None } else { self.0.take() })
        }
    }

    #[test]
    fn what_goes_round_without_end_is_told() {
        let executor = Executor::new(1, 0);
        let own = executor.clone();
        executor.spawn(
            1,
            Box::pin(async move {
                while own.now() == 0 {
                    own.sleep(0).await;
                }
            }),
        );
        executor.state().steps = STEPS - 100;
        assert_eq!(executor.run(1000, || false), End::Endless);
    }
}
