//! The manifests of a table as readers see them: read in parallel through a cache, deletions cancelled (spec: format.md C.4).
//!
//! Manifests are immutable and named by uuid, so what was read once stays right.

mod deleted;
mod live;
mod parallel;
mod store;

pub use crate::table::ManifestCache;
pub use deleted::Deleted;
pub use live::{LiveFiles, Selection};
pub(crate) use parallel::run;
pub(crate) use store::ListName;
pub use store::Manifests;

#[cfg(test)]
pub(crate) mod tests;
