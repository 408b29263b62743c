//! File indexes: what a data file's index says of its rows, before the file is opened (spec: format.md C.13).
//!
//! An answer may keep rows that do not match, but never loses one that does: whatever an index cannot decide (a type
//! it does not know, a literal it cannot hold) keeps everything.

mod bitmap;
mod bloom;
mod bsi;
mod build;
mod bytes;
mod container;
mod dictionary;
mod evaluate;
mod hash;
mod key;
mod range;
mod slices;
mod spec;
mod visit;

#[cfg(test)]
mod tests;

pub use build::IndexWriter;
pub use container::{IndexFile, IndexPart};
pub use evaluate::{IndexResult, evaluate};
pub use spec::{IndexKind, IndexSpec};

/// Index type `bloom-filter`.
pub const BLOOM_FILTER: &str = "bloom-filter";
/// Index type `bitmap`.
pub const BITMAP: &str = "bitmap";
/// Index type `bsi`, a bit-sliced index.
pub const BSI: &str = "bsi";
/// Index type `range-bitmap`.
pub const RANGE_BITMAP: &str = "range-bitmap";
