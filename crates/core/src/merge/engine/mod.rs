//! Merge engines: what becomes of a group of records with one key (spec: features.md B2).
//!
//! An engine writes selections, not rows: which source row the merged row is based on, and for which columns the
//! value comes from another row, is null, or was computed. A key with a single record never reaches the engine: the
//! record stays as it is, row kind included (cases: M13).
//!
//! Where older records may lie elsewhere a group may come to several rows, which mean with any older and any newer records
//! what the group means ([`apart`]).

mod aggregate;
mod apart;
mod bond;
mod deduplicate;
mod first;
mod group;
mod partial;

use arrow_array::ArrayRef;
use linn_format::Result;
use linn_format::types::RowKind;

pub(crate) use aggregate::{Aggregate, AggregatePlan};
pub(crate) use apart::Sequence;
pub(crate) use deduplicate::Deduplicate;
pub(crate) use first::FirstRow;
pub(crate) use group::GroupPlan;
pub(crate) use partial::{PartialPlan, PartialUpdate};

use super::beside::Columns;
use super::function::{Computed, FoldError};
use super::source::{Cell, Record};

/// What an engine decides about the row of a key; the cells of its selections come later, with those of many keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The record whose columns stand where no selection says otherwise, and whose sequence number the row gets.
    pub(crate) base: Record,
    /// Row kind of the merged row.
    pub(crate) kind: i8,
    /// Number of the key among those whose cells [`MergeEngine::settle`] gives; `None` when the base stands as it is.
    pub(crate) folded: Option<u32>,
}

impl Verdict {
    /// A record that stands as it is.
    pub(crate) fn as_is(base: Record) -> Self {
        Self { base, kind: base.kind, folded: None }
    }
}

/// What a merge sees of the records of its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All that are older than the newest one that takes part.
    Whole,
    /// Some; older ones may lie elsewhere, and others may come between them by their user sequence.
    Part,
    /// Some; older ones may lie elsewhere, and what comes between them is taken for older than all of them.
    Newest,
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

    /// Merges at least two records in order (user sequence, sequence number, run: oldest first) and appends the rows that
    /// they come to, oldest first. Of [`Extent::Whole`] there is one at the most.
    fn merge(&mut self, group: &[Record], merged: &mut Vec<Verdict>) -> Result<()>;

    /// The cells of the keys that were folded since the last call, of each selection. They are made column by column, so
    /// that what differs from column to column is decided once for many keys.
    fn settle(&mut self, _columns: Columns) -> Result<Vec<Settled>, FoldError> {
        Ok(Vec::new())
    }
}

/// What one selection came to.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// Where the value of each folded key comes from.
    pub(crate) cells: Vec<Cell>,
    /// The values of [`Cell::Computed`], of a selection of one column.
    pub(crate) computed: Option<Computed>,
}

/// The kind of the row that is made of several retractions: a `-D` only where all are, as it may remove the row.
pub(crate) fn kind_of_retractions(records: &[Record]) -> i8 {
    if records.iter().all(|record| record.kind == DELETE) { DELETE } else { UPDATE_BEFORE }
}

pub(crate) const INSERT: i8 = RowKind::Insert as i8;
pub(crate) const UPDATE_BEFORE: i8 = RowKind::UpdateBefore as i8;
pub(crate) const DELETE: i8 = RowKind::Delete as i8;
