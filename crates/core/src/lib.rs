//! A table and its life: storage, snapshots, commits, the merge tree, reading, maintenance.
//!
//! Effects come in through the seams of [`Env`] only, so that a whole history can be replayed in one thread.

mod alter;
pub mod analyze;
pub mod append;
mod assign;
pub mod branch;
pub mod catalog;
pub mod commit;
pub mod compact;
pub mod file;
#[cfg(test)]
mod fixture;
pub mod invariants;
pub mod job;
mod lookup;
pub mod maintain;
pub mod manifest;
pub mod merge;
mod open;
mod partition;
pub mod read;
mod reclaim;
pub mod rollback;
pub mod scan;
pub mod schema;
pub mod seam;
pub mod snapshot;
mod spill;
pub mod storage;
pub mod stream;
pub mod system;
pub mod table;
pub mod tag;
pub mod vector;
pub mod write;

pub use commit::{Commit, CommitMessage, CommitOutcome, Committer};
pub use scan::{Plan, Split};
pub use schema::Schemas;
pub use seam::{Clock, Env, Ids, Pool, Spawn, Storage};
pub use snapshot::{Changelogs, Snapshots, Tags};
pub use table::Table;
