//! Commits: from messages to a published snapshot (spec: format.md C.17).

mod message;

pub use message::CommitMessage;

use linn_format::SnapshotId;

/// How a commit ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitOutcome {
    /// It is in these snapshots, in order; none when there was nothing to commit.
    Committed(Vec<SnapshotId>),
    /// Another commit ruled it out; nothing of it is in the table.
    Conflict(String),
    /// It may or may not be in the table; nothing was deleted. Committing again with the same user and identifier
    /// finds out and finishes it.
    Unknown(String),
}
