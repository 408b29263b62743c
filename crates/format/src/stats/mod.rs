//! Column statistics of files and manifests (spec: format.md C.5).

use crate::row::BinaryRow;

/// Minimum, maximum and null count per column, as stored in manifests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleStats {
    /// Minimum per column; null where unknown.
    pub min: BinaryRow,
    /// Maximum per column; null where unknown.
    pub max: BinaryRow,
    /// Null count per column; `None` where unknown.
    pub null_counts: Vec<Option<i64>>,
}
