//! Consumer files and the `LATEST` / `EARLIEST` hints (spec: format.md C.1, C.15).

use serde::{Deserialize, Serialize};

use crate::{Error, Result, SnapshotId, json};

/// How far a named reader has come: it holds this snapshot and all later ones from expiry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Consumer {
    /// The snapshot it will read next.
    pub next_snapshot: SnapshotId,
}

impl Consumer {
    /// Parses a consumer file.
    ///
    /// # Errors
    /// `Corrupt` when it is not JSON with a `nextSnapshot`; an empty file is one that is being written, so read again.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        serde_json::from_slice(bytes).map_err(|e| Error::corrupt("not a consumer").with_source(e))
    }

    /// The bytes of a consumer file.
    ///
    /// # Errors
    /// None in practice; `Internal` if a value did not serialise.
    pub fn to_json(&self) -> Result<Vec<u8>> {
        json::to_vec(self)
    }
}

/// The snapshot id in a hint file; `None` when the text is not a number, which counts as no hint.
pub fn parse_hint(bytes: &[u8]) -> Option<SnapshotId> {
    std::str::from_utf8(bytes).ok()?.trim().parse().ok().map(SnapshotId)
}

/// The bytes of a hint file.
pub fn format_hint(id: SnapshotId) -> Vec<u8> {
    id.to_string().into_bytes()
}
