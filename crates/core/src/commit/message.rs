//! What a writer hands to the committer for one bucket.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use linn_format::SnapshotId;
use linn_format::file::DataFileMeta;
use linn_format::manifest::IndexManifestEntry;
use linn_format::row::BinaryRow;

/// The changes of one writer to one bucket. Paths are those of the table's layout.
#[derive(Debug, Clone)]
pub struct CommitMessage {
    /// Partition.
    pub partition: BinaryRow,
    /// Bucket.
    pub bucket: i32,
    /// Bucket count of the table when it was written; −1 for unaware append tables.
    pub total_buckets: i32,
    /// New files from new rows.
    pub new_files: Vec<Arc<DataFileMeta>>,
    /// Files that a DELETE or UPDATE replaced.
    pub deleted_files: Vec<Arc<DataFileMeta>>,
    /// Changelog of the new rows.
    pub changelog_files: Vec<Arc<DataFileMeta>>,
    /// Files that compaction took in.
    pub compact_before: Vec<Arc<DataFileMeta>>,
    /// Files that compaction made (or took over to another level).
    pub compact_after: Vec<Arc<DataFileMeta>>,
    /// Changelog that compaction made.
    pub compact_changelog: Vec<Arc<DataFileMeta>>,
    /// Index files added and removed together with the new rows.
    pub index_changes: Vec<IndexManifestEntry>,
    /// Names of the hash index files of the partition that the rows were given their buckets by, in order. The commit is
    /// refused when the partition has others by then: a key could be in two buckets. `None` for other tables.
    pub hash_base: Option<Arc<[String]>>,
    /// The last snapshot that the maker of the message had seen, when the commit must be refused if another user has since
    /// compacted or overwritten the same partitions, or, when this replaces rows, written to them.
    pub made_at: Option<SnapshotId>,
    /// A snapshot since which no other user may have added or replaced rows of the partition, or, where the primary key
    /// lacks partition columns, of the table: the writer keeps in mind where keys are. 0 for an empty table.
    pub alone_since: Option<SnapshotId>,
    /// The partitions that go, where the rows replace those that they are in and the writer looked for their keys in all others.
    pub replaces: Option<Arc<HashSet<BinaryRow>>>,
    /// Index files added and removed by compaction.
    pub compact_index_changes: Vec<IndexManifestEntry>,
    /// Names of all files above level 0 that the bucket had before the compaction, when the result depends on them all
    /// (deletion vectors): the compaction is lost when the bucket has others meanwhile.
    pub compact_basis: Option<BTreeSet<String>>,
}

impl CommitMessage {
    /// A message without changes.
    pub fn new(partition: BinaryRow, bucket: i32, total_buckets: i32) -> Self {
        Self {
            partition,
            bucket,
            total_buckets,
            new_files: Vec::new(),
            deleted_files: Vec::new(),
            changelog_files: Vec::new(),
            compact_before: Vec::new(),
            compact_after: Vec::new(),
            compact_changelog: Vec::new(),
            index_changes: Vec::new(),
            hash_base: None,
            made_at: None,
            alone_since: None,
            replaces: None,
            compact_index_changes: Vec::new(),
            compact_basis: None,
        }
    }

    /// What compaction did, without the new rows: what [`Committer::abort`](super::Committer::abort) gives up when a
    /// compaction was lost.
    #[must_use]
    pub fn compaction(self) -> Self {
        Self {
            new_files: Vec::new(),
            deleted_files: Vec::new(),
            changelog_files: Vec::new(),
            index_changes: Vec::new(),
            ..self
        }
    }

    /// Notes the basis of the compaction, when there is one, from the files above level 0 that the bucket has after it.
    pub(crate) fn compact_basis_from(&mut self, now: &[Arc<DataFileMeta>]) {
        if self.compact_before.is_empty() && self.compact_after.is_empty() {
            return;
        }
        let same = |a: &DataFileMeta, b: &DataFileMeta| a.file_name == b.file_name && a.level == b.level;
        let stayed = now.iter().filter(|file| !self.compact_after.iter().any(|made| same(made, file)));
        let taken = self.compact_before.iter().filter(|file| file.level > 0);
        self.compact_basis = Some(stayed.chain(taken).map(|file| file.file_name.clone()).collect());
    }
}
