//! Planning a read: snapshot → manifests → splits (spec: features.md B8, B9; format.md C.4).
//!
//! Files are left out on what manifests say of them, in order of cost: partition, bucket and level on whole manifests
//! and then on columns of entries, key and value statistics on the entries left, embedded file indexes last. A value
//! filter never separates records of one key that a merge must see together.

mod bucket;
mod change;
mod difference;
mod files;
mod filter;
mod group;
mod increment;
mod load;
mod pack;
mod partition;
mod pin;
mod plan;
mod protect;
mod prune;
mod select;
mod touch;
mod vector;
mod waiting;

#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use crate::file::DeletionFile;
pub use crate::table::{Count, ScanCounts};
pub use files::Files;
pub use load::BucketLoad;
pub use protect::READ_TAG_PREFIX;
pub use prune::PartitionTally;
pub(crate) use waiting::{Waiting, known_counts, waiting};

use linn_format::SnapshotId;
use linn_format::file::DataFileMeta;
use linn_format::predicate::Predicate;
use linn_format::row::BinaryRow;
use linn_format::snapshot::Snapshot;

use crate::table::Table;

/// A unit of reading: some files of one bucket, or those of a partition.
#[derive(Debug, Clone)]
pub struct Split {
    /// Snapshot that was planned.
    pub snapshot_id: SnapshotId,
    /// Partition.
    pub partition: BinaryRow,
    /// Bucket; -2 where rows wait for one.
    pub bucket: i32,
    /// Bucket count of the partition.
    pub total_buckets: i32,
    /// Files, for merge trees whole overlapping sections.
    pub files: Files,
    /// Deletion vector of each file, parallel to `files`; empty when there are none.
    pub deletion_files: Vec<Option<DeletionFile>>,
    /// Whether the files can be read one after the other without merging.
    pub raw_convertible: bool,
    /// What the files hold.
    pub content: Content,
}

/// What the files of a split hold.
#[derive(Debug, Clone, Default)]
pub enum Content {
    /// The rows of the table.
    #[default]
    Rows,
    /// The rows of a partition in which rows wait for a bucket: the bucket of each file, parallel to the files.
    Partition(Vec<i32>),
    /// Changes as they were written, in the order in which they were made.
    Changes,
    /// Rows that came in the place of others.
    Replaced(Arc<Before>),
    /// Two states of some buckets, which are compared. The files of the split are those of the later one.
    Compared(Arc<Sides>),
}

/// Two states of the same rows: splits of rows, each of one bucket, of which a row is in one.
#[derive(Debug, Clone, Default)]
pub struct Sides {
    /// The earlier state.
    pub before: Vec<Split>,
    /// The later state.
    pub after: Vec<Split>,
}

/// The files that a bucket had before.
#[derive(Debug, Clone, Default)]
pub struct Before {
    /// Files.
    pub files: Vec<Arc<DataFileMeta>>,
    /// Deletion vector of each file, parallel to `files`; empty when there are none.
    pub deletion_files: Vec<Option<DeletionFile>>,
}

impl Split {
    /// Physical rows.
    pub fn row_count(&self) -> i64 {
        self.files.rows()
    }

    /// Rows that a read returns, when that is known without reading: physical rows less those deleted.
    pub fn merged_row_count(&self) -> Option<i64> {
        if !self.raw_convertible || !matches!(self.content, Content::Rows) {
            return None;
        }
        let deleted: Option<i64> = self.deletion_files.iter().flatten().map(|d| d.meta.cardinality).sum();
        Some(self.row_count() - deleted?)
    }
}

/// The splits of one snapshot.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Snapshot that was planned; `None` for an empty table.
    pub snapshot_id: Option<SnapshotId>,
    /// Splits in partition, bucket, key order.
    pub splits: Vec<Split>,
}

/// What to plan; see [`Table::scan`].
#[derive(Debug, Clone)]
pub struct Scan {
    table: Table,
    snapshot: Option<Arc<Snapshot>>,
    filter: Predicate,
    partitions: Option<Vec<BinaryRow>>,
    tally: Option<Arc<PartitionTally>>,
    buckets: Option<Vec<i32>>,
    limit: Option<u64>,
    every_level: bool,
    statistics: bool,
    /// Whether changes of different snapshots are in different splits.
    by_snapshot: bool,
    /// Whether a stream begins with it.
    begins_stream: bool,
    /// Only files made at this time or later, milliseconds since the epoch.
    made_since: Option<i64>,
}

impl Table {
    /// Starts planning a read: of everything, at the snapshot that the options travel to, else the latest.
    pub fn scan(&self) -> Scan {
        Scan {
            table: self.clone(),
            snapshot: None,
            filter: Predicate::Constant(true),
            partitions: None,
            tally: None,
            buckets: None,
            limit: None,
            every_level: false,
            statistics: false,
            by_snapshot: false,
            begins_stream: false,
            made_since: None,
        }
    }
}

impl Scan {
    /// Only rows that may satisfy this as well. Files are left out by it, rows are not.
    #[must_use]
    pub fn filter(mut self, filter: Predicate) -> Self {
        self.filter = Predicate::and([self.filter, filter]);
        self
    }

    /// Only these partitions.
    #[must_use]
    pub fn partitions(mut self, partitions: Vec<BinaryRow>) -> Self {
        self.partitions = Some(partitions);
        self
    }

    /// Notes which partitions the filter leaves.
    #[must_use]
    pub fn tally(mut self, tally: Arc<PartitionTally>) -> Self {
        self.tally = Some(tally);
        self
    }

    /// Only these buckets.
    #[must_use]
    pub fn buckets(mut self, buckets: Vec<i32>) -> Self {
        self.buckets = Some(buckets);
        self
    }

    /// Enough splits for so many rows, where that can be told; the reader still has to stop at the limit.
    #[must_use]
    pub fn limit(mut self, rows: u64) -> Self {
        self.limit = Some(rows);
        self
    }

    /// This snapshot, whatever the options say.
    #[must_use]
    pub fn snapshot(mut self, snapshot: Arc<Snapshot>) -> Self {
        self.snapshot = Some(snapshot);
        self
    }

    /// Files with their value statistics, which are left out otherwise unless the filter needs them.
    #[must_use]
    pub fn with_statistics(mut self) -> Self {
        self.statistics = true;
        self
    }

    /// Also files of level 0 where batch reads leave them out (tables with deletion vectors, first-row): compaction and
    /// lookups need them.
    #[must_use]
    pub fn every_level(mut self) -> Self {
        self.every_level = true;
        self
    }

    /// The rows that a stream of changes begins with: those whose changes the changelog will not tell, and those that wait
    /// for a bucket, as changes, last.
    #[must_use]
    pub(crate) fn begins_stream(mut self) -> Self {
        self.begins_stream = true;
        self
    }

    /// Changes of different snapshots in different splits, each with its snapshot.
    #[must_use]
    pub fn by_snapshot(mut self) -> Self {
        self.by_snapshot = true;
        self
    }

    /// Only files made at this time or later, milliseconds since the epoch.
    #[must_use]
    pub(crate) fn made_since(mut self, millis: Option<i64>) -> Self {
        self.made_since = millis;
        self
    }
}
