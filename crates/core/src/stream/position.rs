//! Where a reader of changes stands: what it saves and goes on from.
//!
//! A position is after what was delivered with it. Within a snapshot it names the split by its first file and counts rows, so
//! that going on elsewhere, with another filter, is an error rather than a gap.

use std::fmt;
use std::str::FromStr;

use linn_format::{Error, Result, SnapshotId};
use serde::{Deserialize, Serialize};

/// A place in a table's history of changes. Its text is JSON.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Position {
    /// The snapshot that is read next, or that is being read.
    pub next_snapshot: SnapshotId,
    /// What of the snapshot is being read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) within: Option<Within>,
}

/// A place within a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Within {
    pub(super) part: Part,
    /// The first file of the split that is being read; none before the first split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) split: Option<String>,
    /// Rows of the split that were delivered.
    #[serde(default)]
    pub(super) rows: u64,
}

/// What is read of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Part {
    /// All its rows.
    Rows,
    /// What it changed.
    Changes,
}

impl Position {
    /// Before the changes of a snapshot.
    pub fn at(next: SnapshotId) -> Self {
        Self { next_snapshot: next, within: None }
    }

    /// What a consumer may record here: the snapshot whose changes are not all delivered. None while the rows of the first
    /// snapshot are being delivered: who starts again from a snapshot's changes would never have them.
    pub fn for_consumer(&self) -> Option<SnapshotId> {
        match &self.within {
            Some(Within { part: Part::Rows, .. }) => None,
            _ => Some(self.next_snapshot),
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl FromStr for Position {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let position: Self = serde_json::from_str(text)
            .map_err(|e| Error::invalid(format!("{text:?} is not the position of a reader")).with_source(e))?;
        if position.next_snapshot < SnapshotId::FIRST {
            return Err(Error::invalid(format!("{text:?} is before the first snapshot")));
        }
        Ok(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_become_text_and_back() {
        let within = Within { part: Part::Changes, split: Some("data-1".into()), rows: 7 };
        let position = Position { next_snapshot: SnapshotId(3), within: Some(within) };
        let text = position.to_string();
        assert_eq!(text, r#"{"nextSnapshot":3,"within":{"part":"changes","split":"data-1","rows":7}}"#);
        assert_eq!(text.parse::<Position>().unwrap(), position);
        let start = Position::at(SnapshotId(9));
        assert_eq!(start.to_string(), r#"{"nextSnapshot":9}"#);
        assert_eq!(start.to_string().parse::<Position>().unwrap(), start);
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "7", "{}", r#"{"nextSnapshot":0}"#, r#"{"nextSnapshot":1,"x":2}"#, r#"{"nextSnapshot":"1"}"#] {
            assert!(text.parse::<Position>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_consumer_records_what_is_not_delivered() {
        let at = |part| Position { next_snapshot: SnapshotId(3), within: Some(Within { part, split: None, rows: 0 }) };
        assert_eq!(at(Part::Rows).for_consumer(), None);
        assert_eq!(at(Part::Changes).for_consumer(), Some(SnapshotId(3)));
        assert_eq!(Position::at(SnapshotId(4)).for_consumer(), Some(SnapshotId(4)));
    }
}
