//! `aggregation`: every column has a function that folds the values of a key (spec: features.md B3).
//!
//! With `aggregation.remove-record-on-delete` a `-D` ends what was before it: a later record starts from nothing, just
//! as if a compaction had dropped the `-D` in between (cases: M1).

use arrow_array::ArrayRef;
use linn_format::Result;

use super::{DELETE, INSERT, MergeEngine, Settled, Verdict};
use crate::merge::beside::Columns;
use crate::merge::function::{Fold, Folds, Function, FunctionPlan, Unfolded};
use crate::merge::source::{Record, is_retract};

/// What the engine needs to know of a table, fixed for a merge.
#[derive(Debug)]
pub(crate) struct AggregatePlan {
    /// The function of each aggregated column.
    pub(crate) functions: Vec<FunctionPlan>,
    /// `aggregation.remove-record-on-delete`.
    pub(crate) remove_on_delete: bool,
}

/// The engine of `merge-engine=aggregation`.
pub(crate) struct Aggregate {
    columns: Vec<usize>,
    functions: Vec<Box<dyn Function>>,
    remove_on_delete: bool,
    /// Of the keys since the last chunk.
    folds: Folds,
}

impl Aggregate {
    /// An engine that follows a plan.
    pub(crate) fn new(plan: &AggregatePlan) -> Result<Self> {
        Ok(Self {
            columns: plan.functions.iter().map(|f| f.column).collect(),
            functions: plan.functions.iter().map(FunctionPlan::build).collect::<Result<_>>()?,
            remove_on_delete: plan.remove_on_delete,
            folds: Folds::default(),
        })
    }
}

impl MergeEngine for Aggregate {
    fn selections(&self) -> Vec<Vec<usize>> {
        self.columns.iter().map(|&c| vec![c]).collect()
    }

    fn add_source(&mut self, columns: &[ArrayRef], _rows: usize) -> Result<()> {
        for (function, &column) in self.functions.iter_mut().zip(&self.columns) {
            function.add_source(&columns[column])?;
        }
        Ok(())
    }

    fn retain_sources(&mut self, keep: &[usize]) {
        self.functions.iter_mut().for_each(|f| f.retain_sources(keep));
    }

    fn merge(&mut self, group: &[Record]) -> Result<Option<Verdict>> {
        let Some(&base) = group.last() else { return Ok(None) };
        if self.remove_on_delete && base.kind == DELETE {
            return Ok(Some(Verdict { base, kind: DELETE, folded: None }));
        }
        let removed = group.iter().rposition(|r| self.remove_on_delete && r.kind == DELETE);
        let live = &group[removed.map_or(0, |at| at + 1)..];
        if removed.is_some()
            && let [one] = live
        {
            // Alone it stays as it is, as if a compaction had dropped the delete before it came.
            return Ok(Some(Verdict { base: *one, kind: one.kind, folded: None }));
        }
        for record in live {
            let pick = record.pick;
            self.folds.push(if is_retract(record.kind) { Fold::Retract(pick) } else { Fold::Add(pick) });
        }
        Ok(Some(Verdict { base, kind: INSERT, folded: Some(self.folds.close()) }))
    }

    fn settle(&mut self, columns: Columns) -> Result<Vec<Settled>, Unfolded> {
        let folds = &self.folds;
        let settled = columns.map(&mut self.functions, |function| function.settle(folds));
        self.folds.clear();
        settled
    }
}
