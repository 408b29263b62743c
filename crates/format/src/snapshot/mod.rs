//! Snapshots, tags, consumers, hints: the small JSON and text files of a table (spec: format.md C.2, C.15).
//!
//! Fields are written in the reference's order, absent ones left out; unknown ones are ignored on reading, and explicit
//! nulls (older writers) count as absent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

mod consumer;
mod statistics;
mod success;
mod tag;

pub use consumer::{Consumer, format_hint, parse_hint};
pub use statistics::{ColStats, ColumnStatistics, Statistics};
pub use success::SuccessFile;
pub use tag::Tag;

use crate::{Error, Result, SchemaId, SnapshotId, json};

/// Layout version that is written.
pub const SNAPSHOT_VERSION: i32 = 3;
/// What Linn writes as `writerVersion`.
pub const WRITER_VERSION: &str = concat!("linn-", env!("CARGO_PKG_VERSION"));

/// What kind of change a snapshot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
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

impl CommitKind {
    /// The kind as it stands in the JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Append => "APPEND",
            Self::Compact => "COMPACT",
            Self::Overwrite => "OVERWRITE",
            Self::Analyze => "ANALYZE",
        }
    }
}

/// One state of a table. A long-lived changelog file has the same fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// Version of the layout, 3.
    #[serde(default)]
    pub version: i32,
    /// Unique id of this snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Its number.
    pub id: SnapshotId,
    /// Schema at the time of the commit.
    pub schema_id: SchemaId,
    /// Manifest list of everything before this commit.
    pub base_manifest_list: String,
    /// Its size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_manifest_list_size: Option<i64>,
    /// Manifest list of this commit's changes.
    pub delta_manifest_list: String,
    /// Its size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta_manifest_list_size: Option<i64>,
    /// Manifest list of this commit's changelog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changelog_manifest_list: Option<String>,
    /// Its size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changelog_manifest_list_size: Option<i64>,
    /// Index manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_manifest: Option<String>,
    /// Who committed; with the identifier it names the commit.
    pub commit_user: String,
    /// Software that wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writer_version: Option<String>,
    /// Identifier of the commit, unique for the user; `i64::MAX` for batch jobs.
    pub commit_identifier: i64,
    /// Kind of change.
    pub commit_kind: CommitKind,
    /// Milliseconds since the epoch.
    pub time_millis: i64,
    /// Physical rows of all live files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_record_count: Option<i64>,
    /// Physical rows added by this commit, less those removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta_record_count: Option<i64>,
    /// Rows of its changelog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changelog_record_count: Option<i64>,
    /// Watermark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watermark: Option<i64>,
    /// Statistics file name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistics: Option<String>,
    /// Free properties.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<BTreeMap<String, String>>,
    /// Next row id of a row-tracking table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_row_id: Option<i64>,
    /// Name of the operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
}

impl Snapshot {
    /// Parses a snapshot or changelog file.
    ///
    /// # Errors
    /// `Corrupt` when it is not JSON, or a field that every snapshot has is missing or of another type.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        let snapshot: Self =
            serde_json::from_slice(bytes).map_err(|e| Error::corrupt("not a snapshot").with_source(e))?;
        if snapshot.id < SnapshotId::FIRST {
            return Err(Error::corrupt(format!("snapshot id {} is not positive", snapshot.id)));
        }
        Ok(snapshot)
    }

    /// The bytes of a snapshot or changelog file.
    ///
    /// # Errors
    /// None in practice; `Internal` if a value did not serialise.
    pub fn to_json(&self) -> Result<Vec<u8>> {
        json::to_vec(self)
    }
}

#[cfg(test)]
mod tests;
