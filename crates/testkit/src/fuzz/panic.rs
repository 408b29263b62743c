//! Panics under a fuzzer. It ends the process at the first panic, also where a decoder keeps those of a library from its caller;
//! here only what gets through counts.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook};

thread_local! {
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps what a panic says instead of ending the process.
pub fn hold_panics() {
    set_hook(Box::new(|panic| LAST.with_borrow_mut(|last| *last = panic.to_string())));
}

/// As [`check`](super::check), with panics held.
///
/// # Panics
/// As it.
pub fn check_held(target: &str, seed: u64, mutations: usize, run: impl Fn(&[u8])) {
    held(|| super::check(target, seed, mutations, run));
}

/// Runs the target of a name, and says what panicked where a panic gets through.
///
/// # Panics
/// As [`run`](super::run).
pub fn run_held(name: &str, bytes: &[u8]) {
    held(|| super::run(name, bytes));
}

fn held(work: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
        eprintln!("{}", LAST.take());
        resume_unwind(panic);
    }
}
