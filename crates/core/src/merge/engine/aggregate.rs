//! `aggregation`: every column has a function that folds the values of a key (spec: features.md B3).
//!
//! With `aggregation.remove-record-on-delete` a `-D` ends what was before it: a later record starts from nothing, just
//! as if a compaction had dropped the `-D` in between (cases: M1). Retractions alone are no row: they become one that takes
//! back what all of them do.

use arrow_array::ArrayRef;
use linn_format::Result;

use super::apart::{Apart, ApartPlan, Sequence};
use super::{DELETE, Extent, INSERT, MergeEngine, Settled, Verdict, kind_of_retractions};
use crate::merge::beside::Columns;
use crate::merge::function::{Fold, FoldError, Folds, Function, FunctionPlan};
use crate::merge::source::{Record, is_retract};

/// What the engine needs to know of a table, fixed for a merge.
#[derive(Debug)]
pub(crate) struct AggregatePlan {
    /// The function of each aggregated column.
    pub(crate) functions: Vec<FunctionPlan>,
    /// `aggregation.remove-record-on-delete`.
    pub(crate) remove_on_delete: bool,
    /// The user sequence.
    pub(crate) sequence: Sequence,
}

impl AggregatePlan {
    /// Whether what is taken back before there is a row is remembered.
    pub(crate) fn has_debts(&self) -> bool {
        self.functions.iter().any(|plan| plan.algebra().has_debts())
    }
}

/// The engine of `merge-engine=aggregation`.
pub(crate) struct Aggregate {
    functions: Vec<Aggregated>,
    remove_on_delete: bool,
    /// Of the keys since the last chunk; of a key with retractions only what they take back together.
    folds: Folds,
    /// The same, but of a key with retractions only the last of these, for functions whose retractions do not become one.
    /// Empty where there are no such functions.
    lasts: Folds,
    has_lasts: bool,
    has_debts: bool,
    /// Where records stay apart; `None` where everything takes part.
    apart: Option<Apart>,
    /// Where the slices of a key begin; only there to be used again.
    starts: Vec<usize>,
}

struct Aggregated {
    column: usize,
    function: Box<dyn Function>,
    /// Whether several retractions become one.
    unites: bool,
}

impl Aggregate {
    /// An engine that follows a plan.
    pub(crate) fn new(plan: &AggregatePlan, extent: Extent) -> Result<Self> {
        let aggregated = |plan: &FunctionPlan| {
            Ok(Aggregated { column: plan.column, function: plan.build()?, unites: plan.algebra().unites_retractions() })
        };
        let apart = match extent {
            Extent::Whole => None,
            Extent::Part => Some(Apart::new(&ApartPlan::of(&plan.functions, plan.sequence.clone()))?),
            Extent::Newest => Some(Apart::new(&ApartPlan::of(&plan.functions, Sequence::new()))?),
        };
        Ok(Self {
            functions: plan.functions.iter().map(aggregated).collect::<Result<_>>()?,
            remove_on_delete: plan.remove_on_delete,
            folds: Folds::default(),
            lasts: Folds::default(),
            has_lasts: !plan.functions.iter().all(|plan| plan.algebra().unites_retractions()),
            has_debts: plan.has_debts(),
            apart,
            starts: Vec::new(),
        })
    }

    /// The row that records come to.
    fn fold(&mut self, records: &[Record]) -> Option<Verdict> {
        let &base = records.last()?;
        if records.len() == 1 {
            return Some(Verdict::as_is(base));
        }
        let together = records.iter().all(|record| is_retract(record.kind));
        let step = |record: &Record| match is_retract(record.kind) && !together {
            true => Fold::Retract(record.pick),
            false => Fold::Add(record.pick),
        };
        records.iter().for_each(|record| self.folds.push(step(record)));
        if self.has_lasts {
            let from = if together { records.len() - 1 } else { 0 };
            records.iter().skip(from).for_each(|record| self.lasts.push(step(record)));
            self.lasts.close();
        }
        let kind = if together { kind_of_retractions(records) } else { INSERT };
        Some(Verdict { base, kind, folded: Some(self.folds.close()) })
    }
}

impl MergeEngine for Aggregate {
    fn selections(&self) -> Vec<Vec<usize>> {
        self.functions.iter().map(|aggregated| vec![aggregated.column]).collect()
    }

    fn add_source(&mut self, columns: &[ArrayRef], rows: usize) -> Result<()> {
        for aggregated in &mut self.functions {
            aggregated.function.add_source(&columns[aggregated.column])?;
        }
        self.apart.as_mut().map_or(Ok(()), |apart| apart.add_source(columns, rows))
    }

    fn retain_sources(&mut self, keep: &[usize]) {
        self.functions.iter_mut().for_each(|aggregated| aggregated.function.retain_sources(keep));
        if let Some(apart) = &mut self.apart {
            apart.retain_sources(keep);
        }
    }

    fn merge(&mut self, group: &[Record], merged: &mut Vec<Verdict>) -> Result<()> {
        let removes = |record: &Record| self.remove_on_delete && record.kind == DELETE;
        let removed = group.iter().rposition(removes);
        let mut live = &group[removed.map_or(0, |at| at + 1)..];
        if self.apart.is_none() && !self.has_debts {
            // What is taken back before there is a row is nothing, unless it is owed.
            let first = live.iter().position(|record| !is_retract(record.kind));
            live = &live[first.unwrap_or(live.len().saturating_sub(1))..];
        }
        let Some(apart) = &mut self.apart else {
            let removal = removed.filter(|_| live.is_empty()).and_then(|at| group.get(at));
            merged.extend(removal.map(|&record| Verdict::as_is(record)));
            merged.extend(self.fold(live));
            return Ok(());
        };
        merged.extend(removed.and_then(|at| group.get(at)).map(|&record| Verdict::as_is(record)));
        let mut starts = std::mem::take(&mut self.starts);
        apart.starts(live, &mut starts, false, |_, _| true);
        for (at, &start) in starts.iter().enumerate() {
            let end = starts.get(at + 1).copied().unwrap_or(live.len());
            merged.extend(self.fold(&live[start..end]));
        }
        self.starts = starts;
        Ok(())
    }

    fn settle(&mut self, columns: Columns) -> Result<Vec<Settled>, FoldError> {
        let (folds, lasts) = (&self.folds, &self.lasts);
        let settled = columns.map(&mut self.functions, |aggregated| {
            aggregated.function.settle(if aggregated.unites { folds } else { lasts })
        });
        self.folds.clear();
        self.lasts.clear();
        settled
    }
}
