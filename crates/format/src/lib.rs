//! The Apache Paimon table format: bytes on disk to values in memory and back (spec: format.md).
//!
//! Nothing here performs I/O, reads a clock or draws a random number: files come in through
//! [`RangeReader`] and leave through [`std::io::Write`], and whoever calls decides where the bytes live.

mod checksum;
mod error;
#[cfg(test)]
mod fixture;
mod ids;
mod json;
mod murmur;

pub mod cast;
pub mod datum;
pub mod file;
pub mod hash;
pub mod index;
pub mod limit;
pub mod lookup;
pub mod manifest;
pub mod options;
pub mod partition;
pub mod predicate;
pub mod row;
pub mod schema;
pub mod snapshot;
pub mod stats;
pub mod suggest;
pub mod types;
pub mod vector;

pub use error::{Error, ErrorKind, Result, ResultExt};
pub use file::{BatchStream, RangeReader};
pub use ids::{SchemaId, SnapshotId};
