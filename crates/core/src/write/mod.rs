//! Writing: from batches of rows to the files of a commit.
//!
//! Rows are checked, split by partition and bucket, and buffered; all buffers share one memory budget. A flush sorts and
//! merges a buffer (and what of it was spilled to local disk) into files of level 0. Invariant: what a writer returns
//! for a commit holds every row written before, exactly once.

mod absent;
mod bucket;
mod budget;
mod check;
mod due;
mod gather;
mod open;
mod restore;
mod route;
mod routing;
mod settings;
mod spill;
mod table;
mod writer;

#[cfg(test)]
mod tests;

pub use crate::postpone::Growth;
pub use budget::MemoryBudget;
pub(crate) use budget::Share;
pub(crate) use restore::Kept;
pub(crate) use route::{Columns, Partitions};
pub(crate) use settings::spill_compression;
pub(crate) use spill::Spill;
pub use writer::TableWriter;
#[cfg(test)]
pub(crate) use writer::{Buckets, OpenBucket};
