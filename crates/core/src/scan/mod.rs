//! Planning a read: snapshot → manifests → splits.

use std::sync::Arc;

use linn_format::SnapshotId;
use linn_format::file::DataFileMeta;
use linn_format::manifest::DeletionVectorMeta;
use linn_format::row::BinaryRow;

/// A deletion vector and the index file it lies in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletionFile {
    /// Path of the index file, relative to the store's root.
    pub path: String,
    /// Where in it.
    pub meta: DeletionVectorMeta,
}

/// A unit of reading: some files of one bucket.
#[derive(Debug, Clone)]
pub struct Split {
    /// Snapshot that was planned.
    pub snapshot_id: SnapshotId,
    /// Partition.
    pub partition: BinaryRow,
    /// Bucket.
    pub bucket: i32,
    /// Bucket count of the partition.
    pub total_buckets: i32,
    /// Files, for merge trees whole overlapping sections.
    pub files: Vec<Arc<DataFileMeta>>,
    /// Deletion vector of each file, parallel to `files`; empty when there are none.
    pub deletion_files: Vec<Option<DeletionFile>>,
    /// Whether the files can be read one after the other without merging.
    pub raw_convertible: bool,
}

impl Split {
    /// Physical rows.
    pub fn row_count(&self) -> i64 {
        self.files.iter().map(|f| f.row_count).sum()
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
