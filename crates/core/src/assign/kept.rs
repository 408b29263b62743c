//! What of a table stays when new rows are committed.

use linn_format::Result;
use linn_format::row::BinaryRow;

use crate::commit::Target;

/// What stays of a table when the rows that are written are committed.
#[derive(Debug, Clone)]
pub(crate) enum Kept {
    /// All of it.
    All,
    /// Nothing.
    Nothing,
    /// What is not replaced.
    Outside(Target),
}

impl Kept {
    /// Whether a partition stays.
    pub(crate) fn has(&self, partition: &BinaryRow) -> Result<bool> {
        match self {
            Self::All => Ok(true),
            Self::Nothing => Ok(false),
            Self::Outside(target) => Ok(!target.holds(partition)?),
        }
    }

    /// Whether nothing stays.
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }
}
