//! Branches: other histories of a table, over the same data files (spec: format.md C.1, features.md B14).
//!
//! A branch is a folder of schemas, snapshots and tags. Files of its data lie with those of the table, so nothing is copied when
//! it is made, and nothing but metadata goes when it is deleted.
//!
//! Invariant: a branch is made when it has the schema of its snapshots, which is brought after them and goes before them; schemas
//! that it lacks below that are the table's. What was cut off before is listed, so that it can be deleted or made again, but it is
//! no table: nobody reads it, and maintenance spares what is there of it without asking that anything be there.

mod apply;
mod fallback;
mod forward;
mod keyed;
mod loss;
mod merge;
mod rename;
mod start;
mod store;
#[cfg(test)]
mod tests;

pub use fallback::Layer;
pub use keyed::{KeyChanges, KeyCounts, Prefer};
pub use loss::Loss;
pub use merge::Merged;
pub use store::{Branch, Branches};
