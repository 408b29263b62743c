//! Snapshots, tags, consumers: the small JSON files of a table (spec: format.md C.2, C.15).

use std::collections::BTreeMap;

use crate::{SchemaId, SnapshotId};

/// What kind of change a snapshot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CommitKind {
    /// New files.
    Append,
    /// Files replaced by others with the same rows.
    Compact,
    /// Files replaced by others with other rows.
    Overwrite,
    /// New statistics.
    Analyze,
}

/// One state of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Version of the layout, 3.
    pub version: i32,
    /// Unique id of this snapshot.
    pub uuid: Option<String>,
    /// Its number.
    pub id: SnapshotId,
    /// Schema at the time of the commit.
    pub schema_id: SchemaId,
    /// Manifest list of everything before this commit.
    pub base_manifest_list: String,
    /// Its size in bytes.
    pub base_manifest_list_size: Option<i64>,
    /// Manifest list of this commit's changes.
    pub delta_manifest_list: String,
    /// Its size in bytes.
    pub delta_manifest_list_size: Option<i64>,
    /// Manifest list of this commit's changelog.
    pub changelog_manifest_list: Option<String>,
    /// Its size in bytes.
    pub changelog_manifest_list_size: Option<i64>,
    /// Index manifest.
    pub index_manifest: Option<String>,
    /// Who committed; with the identifier it names the commit.
    pub commit_user: String,
    /// Software that wrote it.
    pub writer_version: Option<String>,
    /// Identifier of the commit, unique for the user; `i64::MAX` for batch jobs.
    pub commit_identifier: i64,
    /// Kind of change.
    pub commit_kind: CommitKind,
    /// Milliseconds since the epoch.
    pub time_millis: i64,
    /// Physical rows of all live files.
    pub total_record_count: Option<i64>,
    /// Physical rows added by this commit, less those removed.
    pub delta_record_count: Option<i64>,
    /// Rows of its changelog.
    pub changelog_record_count: Option<i64>,
    /// Watermark.
    pub watermark: Option<i64>,
    /// Statistics file name.
    pub statistics: Option<String>,
    /// Free properties.
    pub properties: Option<BTreeMap<String, String>>,
    /// Next row id of a row-tracking table.
    pub next_row_id: Option<i64>,
    /// Name of the operation.
    pub operation: Option<String>,
}
