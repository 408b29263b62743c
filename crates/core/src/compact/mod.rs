//! Compaction of merge trees: which files go into which level, and how.

mod levels;
mod pick;

pub use levels::{Levels, Run};
pub use pick::{Choice, EarlyFull, Moment, OffPeak, Policy, Reason, drops_deletes, pick_full};
