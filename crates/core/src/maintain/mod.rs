//! Maintenance: what makes room without losing anything (spec: features.md B14; reliability.md P7, P8).
//!
//! Everything here decides first and deletes afterwards, and deletes nothing when something that stays cannot be read.
//! Files that a run leaves behind, because it was cut off or the store failed, are for orphan cleaning.

mod changelog;
mod contents;
mod drop;
mod lost;
mod mark;
mod orphan;
mod purge;
mod report;
mod retain;
mod snapshot;
mod upkeep;

pub use crate::partition::{PartitionSummary, expired_partitions, partitions};
pub use crate::reclaim::{Removal, RemovedFile, Share, reclaim};
pub use changelog::ChangelogExpiry;
pub use contents::{Contents, contents};
pub use drop::drop_partitions;
pub use lost::{LostFile, earliest_to_repair, lost_files, remove_lost, repair_earliest};
pub use mark::{idle_partitions, mark_done, mark_partitions};
pub use orphan::{Orphans, orphans, remove_orphans};
pub use purge::purge;
pub use retain::{Reach, Retention, parse_time};
pub use snapshot::{Expired, SnapshotExpiry};
pub(crate) use upkeep::Upkeep;

#[cfg(test)]
mod tests;
