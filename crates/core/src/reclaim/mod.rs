//! What becomes free when part of a table's history goes, and its removal (spec: features.md B14).
//!
//! What stays is read first; nothing is deleted when part of it cannot be read.

mod back;
mod candidates;
mod free;
mod gone;
pub(crate) mod guard;
mod removal;

pub(crate) use back::BACK;
pub(crate) use candidates::Candidates;
pub use free::{Share, reclaim};
pub(crate) use free::{free_tagged, freed};
pub(crate) use gone::{ExpiredSnapshot, Metadata, Parts};
pub use removal::{Removal, RemovedFile};
pub(crate) use removal::{at_once, clean_folders, delete_all};
