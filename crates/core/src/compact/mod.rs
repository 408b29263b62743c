//! Compaction of merge trees: which files go into which level, and how.
//!
//! Picks and plans are pure; runs happen on the compaction pool. Invariant: a compaction never changes what a read of
//! the bucket returns.

mod aside;
mod bucket;
mod changes;
mod expire;
mod levels;
mod pick;
mod plan;
mod retain;
mod run;
mod source;
mod table;

pub(crate) use bucket::{Compactor, Settings};
pub use levels::{Levels, Run};
pub use pick::{Choice, EarlyFull, Moment, OffPeak, Policy, Reason, drops_deletes, pick_full};
pub use plan::{Limits, Promotion, Step, plan};
pub(crate) use run::{Compacted, Task};
pub(crate) use table::{TableFiles, limited};
