//! Merge engines: what becomes of a group of records with one key (spec: features.md B2).
//!
//! An engine writes selections, not rows: which source row the merged row is based on, and for which columns the
//! value comes from another row, is null, or was computed. A key with a single record never reaches the engine: the
//! record stays as it is, row kind included (cases: M13).

mod aggregate;
mod deduplicate;
mod first;
mod partial;

use arrow_array::ArrayRef;
use linn_format::Result;
use linn_format::types::RowKind;

pub(crate) use aggregate::{Aggregate, AggregatePlan};
pub(crate) use deduplicate::Deduplicate;
pub(crate) use first::FirstRow;
pub(crate) use partial::{GroupPlan, PartialPlan, PartialUpdate};

use super::source::{Cell, Record};

/// What an engine decides about the row of a key; the cells of its selections are handed over apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The record whose columns stand where no selection says otherwise, and whose sequence number the row gets.
    pub(crate) base: Record,
    /// Row kind of the merged row.
    pub(crate) kind: i8,
}

/// Merges groups of records with equal keys.
pub(crate) trait MergeEngine: Send {
    /// The columns of each selection, by position among the read columns. Columns in no selection follow the base.
    fn selections(&self) -> Vec<Vec<usize>> {
        Vec::new()
    }

    /// A source was appended; picks may name it from now on.
    fn add_source(&mut self, _columns: &[ArrayRef], _rows: usize) -> Result<()> {
        Ok(())
    }

    /// Only the sources at `keep` (ascending) remain, renumbered.
    fn retain_sources(&mut self, _keep: &[usize]) {}

    /// Merges at least two records in order (user sequence, sequence number, run: oldest first); `cells` takes where
    /// the values of selections come from, for those that may differ from the base. `None` when no row remains.
    fn merge(&mut self, group: &[Record], cells: &mut Vec<(usize, Cell)>) -> Result<Option<Verdict>>;

    /// The values computed for a column since the last call, in the order of [`Cell::Computed`].
    fn computed(&mut self, _column: usize) -> Result<Option<ArrayRef>> {
        Ok(None)
    }
}

pub(crate) const INSERT: i8 = RowKind::Insert as i8;
pub(crate) const DELETE: i8 = RowKind::Delete as i8;
