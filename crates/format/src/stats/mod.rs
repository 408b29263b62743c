//! Column statistics of files and manifests (spec: format.md C.5).
//!
//! A minimum is never greater and a maximum never less than any value; what cannot be bounded is null, which means unknown.

use crate::row::BinaryRow;

mod collect;
mod evolve;
mod mode;
mod simple;

#[cfg(test)]
mod tests;

pub use collect::{ColumnStats, StatsCollector};
pub use evolve::{FileStats, evolve};
pub use mode::StatsMode;

use crate::datum::Datum;

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

/// What is known of one column of some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnRange {
    /// No value is less; `None` is unknown.
    pub min: Option<Datum>,
    /// No value is greater; `None` is unknown.
    pub max: Option<Datum>,
    /// Nulls; `None` is unknown.
    pub null_count: Option<i64>,
    /// Rows.
    pub row_count: i64,
}

impl ColumnRange {
    /// Nothing is known.
    pub fn unknown() -> Self {
        Self { min: None, max: None, null_count: None, row_count: i64::MAX }
    }

    /// Every row is null.
    pub fn all_null(row_count: i64) -> Self {
        Self { min: None, max: None, null_count: Some(row_count), row_count }
    }

    /// Every row has this value: a partition.
    pub fn constant(value: Option<Datum>) -> Self {
        match value {
            Some(value) => Self { min: Some(value.clone()), max: Some(value), null_count: Some(0), row_count: 1 },
            None => Self::all_null(1),
        }
    }
}
