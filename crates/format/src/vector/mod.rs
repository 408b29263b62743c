//! Deletion vectors: which rows of a data file are deleted (spec: format.md C.11).
//!
//! An index file is a version byte and vectors back to back; where each lies is said by the index manifest. There are
//! two encodings, told apart by their magic: 32-bit bitmaps and 64-bit ones. Checksums are verified on every read.

mod codec;
mod write;

#[cfg(test)]
mod tests;

pub use codec::{parse, range, read};
pub use write::{DeletionVectorWriter, VectorKind, write};
