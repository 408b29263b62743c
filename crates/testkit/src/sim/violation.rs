//! What must not be, and which promise it breaks (spec: reliability.md §3).

use std::fmt;

use linn_core::invariants::{Finding, Rule};
use linn_format::{Error, ErrorKind};

/// A promise that was not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Broken {
    /// What was acknowledged, or a snapshot, is not there (P1).
    Lost,
    /// A commit is there more than once (P4).
    Doubled,
    /// Commits are in another order than they were acknowledged in, or nobody made one (P3).
    Order,
    /// A read returns other rows than were committed (P5).
    Rows,
    /// Changes do not fold to the table (P6).
    Changelog,
    /// Something that is needed is gone (P7).
    Dangling,
    /// Something that nobody needs stays (P8).
    Leak,
    /// Bytes are damaged (P9).
    Damage,
    /// Work does not come to its end, or cannot go on (P10).
    Stuck,
    /// An error that no fault explains.
    Failure,
    /// A panic.
    Panic,
    /// The table breaks another rule that its state shows.
    State,
}

/// One thing that must not be.
#[derive(Debug, Clone)]
pub struct Violation {
    /// Which promise it breaks.
    pub broken: Broken,
    /// What it is.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.broken, self.what)
    }
}

impl Broken {
    /// What an error says that no fault explains.
    pub fn by_error(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound => Self::Dangling,
            ErrorKind::Corrupt => Self::Damage,
            _ => Self::Failure,
        }
    }

    /// What a finding of the invariants says.
    pub fn by_finding(finding: &Finding) -> Self {
        match finding.rule {
            Rule::Reachable => Self::Dangling,
            Rule::Once => Self::Doubled,
            Rule::Readable | Rule::Rows => Self::Damage,
            _ => Self::State,
        }
    }
}
