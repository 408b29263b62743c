//! Sequence groups of `partial-update`: columns that follow others (spec: features.md B2).
//!
//! A group replaces all its columns, nulls included, when a record's sequence tuple is not less than the one seen so far; a
//! record whose tuple is all null leaves the group alone.

use std::cmp::Ordering;

use arrow_array::ArrayRef;
use linn_format::Result;
use linn_format::types::DataField;

use super::apart::Sequence;
use super::bond::Bonds;
use super::{DELETE, Settled};
use crate::merge::beside::Columns;
use crate::merge::function::{Fold, FoldError, Folds, Function, FunctionPlan};
use crate::merge::key::{KeyEncoder, Keys};
use crate::merge::source::{Cell, Nulls, Pick, Record, retain};

/// One sequence group, as far as a merge reads it.
#[derive(Debug)]
pub(crate) struct GroupPlan {
    /// Sequence columns in the order they are compared, with their fields.
    pub(crate) sequence: Sequence,
    /// Protected columns without a function.
    pub(crate) protected: Vec<usize>,
    /// Protected columns with a function.
    pub(crate) functions: Vec<FunctionPlan>,
    /// Whether a `-D` of this group removes the whole row.
    pub(crate) removes: bool,
}

/// A group while records are merged.
pub(super) struct Group {
    sequence: Vec<usize>,
    sequence_nulls: Vec<Nulls>,
    encoder: KeyEncoder,
    keys: Vec<Keys>,
    protected: Vec<usize>,
    functions: Vec<Aggregated>,
    pub(super) removes: bool,
    /// Where records stay apart; `None` where everything takes part.
    bonds: Option<Bonds>,
    /// The nulls of the protected columns, where records may be left out.
    protected_nulls: Vec<Nulls>,
    /// The record that the sequence columns come from; none when they are null.
    latest: Option<Pick>,
    value: Cell,
    /// Both, of the keys since the last chunk.
    latests: Vec<Cell>,
    values: Vec<Cell>,
    /// What the functions fold, of these keys.
    folds: Folds,
    /// The same, but of a key with retractions only the last of these, for functions whose retractions do not become one.
    /// Empty where there are no such functions.
    lasts: Folds,
    has_lasts: bool,
    /// The same without deletes that came too late to remove the row; empty where none removes one.
    timely: Folds,
}

struct Aggregated {
    column: usize,
    function: Box<dyn Function>,
    takes_back: bool,
    /// Whether several retractions become one.
    unites: bool,
}

impl Aggregated {
    fn new(plan: &FunctionPlan) -> Result<Self> {
        let unites = plan.algebra().unites_retractions();
        Ok(Self { column: plan.column, function: plan.build()?, takes_back: plan.refusal().is_none(), unites })
    }
}

impl Group {
    /// By a plan; with `apart` older records may lie elsewhere.
    pub(super) fn new(plan: &GroupPlan, apart: bool) -> Result<Self> {
        let covers = apart && plan.functions.is_empty();
        let sequence: Vec<usize> = plan.sequence.iter().map(|(c, _)| *c).collect();
        let fields: Vec<&DataField> = plan.sequence.iter().map(|(_, f)| f).collect();
        Ok(Self {
            encoder: KeyEncoder::new(sequence.clone(), &fields, false)?,
            sequence_nulls: sequence.iter().map(|_| Nulls::default()).collect(),
            sequence,
            keys: Vec::new(),
            protected: plan.protected.clone(),
            functions: plan.functions.iter().map(Aggregated::new).collect::<Result<_>>()?,
            removes: plan.removes,
            bonds: apart.then(|| Bonds::of(&plan.functions)),
            protected_nulls: plan.protected.iter().filter(|_| covers).map(|_| Nulls::default()).collect(),
            latest: None,
            value: Cell::Null,
            latests: Vec::new(),
            values: Vec::new(),
            folds: Folds::default(),
            lasts: Folds::default(),
            has_lasts: !plan.functions.iter().all(|plan| plan.algebra().unites_retractions()),
            timely: Folds::default(),
        })
    }

    /// The columns of its selections: those of the sequence, the protected ones, and each that has a function.
    pub(super) fn selections(&self) -> impl Iterator<Item = Vec<usize>> {
        let functions = self.functions.iter().map(|aggregated| vec![aggregated.column]);
        [self.sequence.clone(), self.protected.clone()].into_iter().chain(functions)
    }

    pub(super) fn add_source(&mut self, columns: &[ArrayRef], rows: usize) -> Result<()> {
        for (nulls, &column) in self.sequence_nulls.iter_mut().zip(&self.sequence) {
            nulls.push(&columns[column]);
        }
        for (nulls, &column) in self.protected_nulls.iter_mut().zip(&self.protected) {
            nulls.push(&columns[column]);
        }
        if let Some(bonds) = &mut self.bonds {
            bonds.add_source(columns);
        }
        self.keys.push(self.encoder.encode(columns, rows)?);
        self.functions.iter_mut().try_for_each(|f| f.function.add_source(&columns[f.column]))
    }

    pub(super) fn retain_sources(&mut self, keep: &[usize]) {
        self.sequence_nulls.iter_mut().for_each(|nulls| nulls.retain(keep));
        self.protected_nulls.iter_mut().for_each(|nulls| nulls.retain(keep));
        if let Some(bonds) = &mut self.bonds {
            bonds.retain_sources(keep);
        }
        retain(&mut self.keys, keep);
        self.functions.iter_mut().for_each(|f| f.function.retain_sources(keep));
    }

    pub(super) fn reset(&mut self) {
        self.latest = None;
        self.value = Cell::Null;
        self.folds.reopen();
        self.lasts.reopen();
        self.timely.reopen();
    }

    /// Notes what the records of a key came to.
    pub(super) fn close(&mut self) {
        self.latests.push(self.latest.map_or(Cell::Null, Cell::Pick));
        self.values.push(self.value);
        self.folds.close();
        self.lasts.close();
        self.timely.close();
    }

    /// Retractions and nothing else: columns are those of the last one, functions gather what is taken back.
    pub(super) fn take_together(&mut self, last: Pick) {
        self.value = Cell::Pick(last);
        self.folds.give_back();
        self.lasts.give_last_back();
        self.timely.give_back();
    }

    fn push(&mut self, step: Fold) {
        self.push_late(step);
        if self.removes {
            self.timely.push(step);
        }
    }

    /// The step of a delete that came too late to remove the row.
    fn push_late(&mut self, step: Fold) {
        self.folds.push(step);
        if self.has_lasts {
            self.lasts.push(step);
        }
    }

    /// A late delete of a group that removes rows is taken back by the functions that can; the others keep what they have, as
    /// nobody could have refused it when it was written.
    pub(super) fn settle(&mut self, columns: Columns, settled: &mut Vec<Settled>) -> Result<(), FoldError> {
        let picked = [std::mem::take(&mut self.latests), std::mem::take(&mut self.values)];
        settled.extend(picked.map(|cells| Settled { cells, computed: None }));
        let (removes, folds, lasts, timely) = (self.removes, &self.folds, &self.lasts, &self.timely);
        settled.extend(columns.map(&mut self.functions, |aggregated| {
            let all = aggregated.takes_back || !removes;
            aggregated.function.settle(match (all, aggregated.unites) {
                (false, _) => timely,
                (true, true) => folds,
                (true, false) => lasts,
            })
        })?);
        self.folds.clear();
        self.lasts.clear();
        self.timely.clear();
        Ok(())
    }

    /// Whether a record has nothing for the group.
    pub(super) fn skips(&self, pick: Pick) -> bool {
        self.sequence_nulls.iter().all(|n| n.is_null(pick))
    }

    /// The order of two records by the group's sequence.
    pub(super) fn compare(&self, a: Pick, b: Pick) -> Ordering {
        self.keys[a.source as usize].compare(a.row as usize, &self.keys[b.source as usize], b.row as usize)
    }

    /// Whether the sequence tuple of a record is not less than the latest one.
    fn is_newer(&self, pick: Pick) -> bool {
        self.latest.is_none_or(|latest| self.compare(pick, latest).is_ge())
    }

    pub(super) fn add(&mut self, pick: Pick) {
        if self.skips(pick) {
            return;
        }
        if self.is_newer(pick) {
            self.latest = Some(pick);
            self.value = Cell::Pick(pick);
            self.push(Fold::Add(pick));
        } else {
            self.push(Fold::AddLate(pick));
        }
    }

    /// Whether a retraction removes the whole row.
    pub(super) fn is_removal(&self, record: Record) -> bool {
        self.removes && record.kind == DELETE && !self.skips(record.pick) && self.is_newer(record.pick)
    }

    /// Takes a retraction back that removes nothing.
    pub(super) fn retract(&mut self, record: Record) {
        if self.skips(record.pick) {
            return;
        }
        if self.is_newer(record.pick) {
            self.latest = Some(record.pick);
            self.value = Cell::Null;
        } else if self.removes && record.kind == DELETE {
            self.push_late(Fold::Retract(record.pick));
            return;
        }
        self.push(Fold::Retract(record.pick));
    }

    /// The row was removed by a record, whose sequence is what later ones are compared with.
    pub(super) fn start_after(&mut self, removal: Pick) {
        self.latest = (!self.skips(removal)).then_some(removal);
    }

    /// Whether a record belongs before the one that removed the row, however late it comes.
    pub(super) fn is_before(&self, pick: Pick, removal: Pick) -> bool {
        self.removes && !self.skips(pick) && !self.skips(removal) && self.compare(pick, removal).is_lt()
    }

    /// Whether additions may have to stay apart.
    pub(super) fn binds_additions(&self) -> bool {
        self.removes || self.bonds.as_ref().is_some_and(Bonds::binds_additions)
    }

    /// Whether a retraction does to the group what an addition would do.
    pub(super) fn is_as_addition(&self, pick: Pick) -> bool {
        self.skips(pick) || self.bonds.as_ref().is_none_or(|bonds| bonds.is_as_addition(pick))
    }

    /// A slice begins.
    pub(super) fn begin(&mut self) {
        if let Some(bonds) = &mut self.bonds {
            bonds.begin();
        }
    }

    /// Whether a record can be one with those of the open slice, which follow it; with `in_order` only where their order
    /// does not count.
    pub(super) fn joins(&self, record: Record, in_order: bool) -> bool {
        let Some(bonds) = self.bonds.as_ref().filter(|_| !self.skips(record.pick)) else { return true };
        let compare = |a, b| self.compare(a, b);
        bonds.joins(record.kind) && (!in_order || bonds.joins_in_order(record.pick, record.kind, compare))
    }

    /// The record joined the slice.
    pub(super) fn join(&mut self, record: Record) {
        let Some(mut bonds) = self.bonds.take() else { return };
        if !self.skips(record.pick) {
            bonds.join(record.pick, record.kind, |a, b| self.compare(a, b));
        }
        self.bonds = Some(bonds);
    }

    /// Whether nothing of an addition is left in the group, and in whether there is a row, once another follows it. Alone that
    /// one stays as it is, so that it must not have values that it would lose beside others.
    pub(super) fn is_covered(&self, pick: Pick, by: Pick) -> bool {
        if self.skips(by) && !self.protected_nulls.iter().all(|nulls| nulls.is_null(by)) {
            return false;
        }
        match (self.skips(pick), self.skips(by)) {
            (false, false) => self.compare(by, pick).is_ge(),
            (false, true) => false,
            (true, skips) => skips || !self.removes,
        }
    }

    /// Whether a record that comes after the one that removed the row has all that the group knows since then.
    pub(super) fn goes_on(&self, pick: Pick, removal: Pick) -> bool {
        self.skips(removal) || !self.skips(pick) && self.compare(pick, removal).is_ge()
    }

    /// Whether two records are before and after the same removals of the group.
    pub(super) fn is_same(&self, a: Pick, b: Pick) -> bool {
        match (self.skips(a), self.skips(b)) {
            (false, false) => self.compare(a, b).is_eq(),
            (a, b) => a == b,
        }
    }
}
