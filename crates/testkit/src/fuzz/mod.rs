//! Decoders under bytes that nobody wrote: the same functions run in `tests/fuzz` under a fuzzer, and here over the corpora
//! and mutations of them. Invariant: whatever the bytes, a decoder returns a value or an error, and never panics.

mod corpus;
mod panic;
mod seed;
mod target;

pub use corpus::{check, corpus};
pub use panic::{check_held, hold_panics, run_held};
pub use seed::seeds;
pub use target::{TARGETS, Target, run};
