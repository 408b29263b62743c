//! Writing: from batches of rows to the files of a commit.
//!
//! Rows are checked, split by partition and bucket, and buffered; all buffers share one memory budget. A flush sorts and
//! merges a buffer (and what of it was spilled to local disk) into files of level 0. Invariant: what a writer returns
//! for a commit holds every row written before, exactly once.

mod absent;
mod bucket;
mod check;
mod due;
mod gather;
mod open;
mod pool;
pub(crate) mod postpone;
mod restore;
mod routing;
mod settings;
mod table;
mod writer;

#[cfg(test)]
mod tests;

pub use crate::spill::MemoryBudget;
pub use writer::TableWriter;
#[cfg(test)]
pub(crate) use writer::{Buckets, OpenBucket};
