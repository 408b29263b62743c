//! `aggregation`: every column has a function that folds the values of a key (spec: features.md B3).
//!
//! With `aggregation.remove-record-on-delete` a `-D` ends what was before it: a later record starts from nothing, just
//! as if a compaction had dropped the `-D` in between (cases: M1).

use arrow_array::ArrayRef;
use linn_format::Result;

use super::{DELETE, INSERT, MergeEngine, Verdict};
use crate::merge::function::{Fold, Function, FunctionPlan};
use crate::merge::source::{Cell, Record, is_retract};

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
    folds: Vec<Fold>,
}

impl Aggregate {
    /// An engine that follows a plan.
    pub(crate) fn new(plan: &AggregatePlan) -> Result<Self> {
        Ok(Self {
            columns: plan.functions.iter().map(|f| f.column).collect(),
            functions: plan.functions.iter().map(FunctionPlan::build).collect::<Result<_>>()?,
            remove_on_delete: plan.remove_on_delete,
            folds: Vec::new(),
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

    fn merge(&mut self, group: &[Record], cells: &mut Vec<(usize, Cell)>) -> Result<Option<Verdict>> {
        let Some(&base) = group.last() else { return Ok(None) };
        if self.remove_on_delete && base.kind == DELETE {
            return Ok(Some(Verdict { base, kind: DELETE }));
        }
        let removed = group.iter().rposition(|r| self.remove_on_delete && r.kind == DELETE);
        let live = &group[removed.map_or(0, |at| at + 1)..];
        if removed.is_some()
            && let [one] = live
        {
            // Alone it stays as it is, as if a compaction had dropped the delete before it came.
            cells.extend((0..self.functions.len()).map(|selection| (selection, Cell::Pick(one.pick))));
            return Ok(Some(Verdict { base: *one, kind: one.kind }));
        }
        self.folds.clear();
        self.folds.extend(live.iter().map(
            |r| {
                if is_retract(r.kind) { Fold::Retract(r.pick) } else { Fold::Add(r.pick) }
            },
        ));
        for (selection, function) in self.functions.iter_mut().enumerate() {
            cells.push((selection, function.fold(&self.folds)?));
        }
        Ok(Some(Verdict { base, kind: INSERT }))
    }

    fn computed(&mut self, column: usize) -> Result<Option<ArrayRef>> {
        match self.columns.iter().position(|&c| c == column) {
            Some(at) => self.functions[at].computed(),
            None => Ok(None),
        }
    }
}
