//! Which retractions come out of a merge: those that still mean something to records that may come later.

use linn_format::types::RowKind;

use super::source::is_retract;

/// Which retractions come out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retractions {
    /// All of them: older records may lie elsewhere.
    All,
    /// None: what comes out is what the table holds.
    None,
    /// Nothing older is left, and only what later records have to know stays.
    Lasting(Lasting),
}

/// The retractions that stay though nothing older is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lasting {
    /// `-U`, as values are owed.
    pub(crate) updates: bool,
    /// `-D`, for the same reason.
    pub(crate) deletes: bool,
    /// All with a sequence number above this one, as they order what comes late.
    pub(crate) after: i64,
}

impl Retractions {
    /// Whether a record comes out.
    #[inline]
    pub(crate) fn let_through(self, kind: i8, sequence: i64) -> bool {
        match self {
            _ if !is_retract(kind) => true,
            Self::All => true,
            Self::None => false,
            Self::Lasting(lasting) => {
                let owed = if kind == RowKind::Delete as i8 { lasting.deletes } else { lasting.updates };
                owed || sequence > lasting.after
            }
        }
    }
}
