//! Branches: other histories of a table, over the same data files (spec: format.md C.1, features.md B14).
//!
//! A branch is a folder of schemas, snapshots and tags. It exists when it has a schema. Files of its data lie with those of the
//! table, so nothing is copied when it is made, and nothing but metadata goes when it is deleted.

mod fallback;
mod forward;
mod merge;
mod store;
#[cfg(test)]
mod tests;

pub use fallback::Layer;
pub use merge::Merged;
pub use store::{Branch, Branches};
