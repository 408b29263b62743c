//! Maintenance: what makes room without losing anything (spec: features.md B14; reliability.md P7, P8).
//!
//! Everything here decides first and deletes afterwards, and deletes nothing when something that stays cannot be read.
//! Files that a run leaves behind, because it was cut off or the store failed, are for orphan cleaning.

mod candidates;
mod changelog;
mod contents;
mod gone;
mod guard;
mod lost;
mod mark;
mod orphan;
mod partition;
mod purge;
mod reclaim;
mod removal;
mod report;
mod retain;
mod snapshot;
mod time;
mod upkeep;

pub use changelog::ChangelogExpiry;
pub use contents::{Contents, contents};
pub use lost::{LostFile, earliest_to_repair, lost_files, remove_lost, repair_earliest};
pub(crate) use mark::mark;
pub use mark::{idle_partitions, mark_done, mark_partitions};
pub use orphan::{Orphans, orphans, remove_orphans};
pub(crate) use partition::worth_compacting;
pub use partition::{PartitionSummary, drop_partitions, expired_partitions, partitions};
pub use purge::purge;
pub use reclaim::{Share, reclaim};
pub(crate) use reclaim::{free_rolled_back, free_tagged};
pub use removal::{Doomed, Removal};
pub use report::{HttpPost, Post};
pub use retain::{Reach, Retention, parse_time};
pub use snapshot::{Expired, SnapshotExpiry};
pub(crate) use upkeep::Upkeep;

#[cfg(test)]
mod tests;
