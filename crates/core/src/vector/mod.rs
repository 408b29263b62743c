//! Keeping deletion vectors: which rows of a table's files are deleted, and the index files that say so (spec: format.md
//! C.11, features.md B6).
//!
//! Vectors change in whole index files: a change names the index files that it replaces and those that take their place,
//! so that a commit can tell whether it was made on the state that it meets. In tables with buckets a bucket has one
//! index file; without, an index file holds the vectors of any files of a partition.

mod bucket;
mod file;

pub(crate) use bucket::BucketVectors;
pub(crate) use file::{delete, is_unaware, vector_lines, write};

#[cfg(test)]
mod tests;
