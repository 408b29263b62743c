//! Sequence groups of `partial-update`: columns that follow others (spec: features.md B2).
//!
//! A group replaces all its columns, nulls included, when a record's sequence tuple is not less than the one seen so far; a
//! record whose tuple is all null leaves the group alone.

use std::cmp::Ordering;

use arrow_array::ArrayRef;
use linn_format::Result;
use linn_format::types::DataField;

use super::apart::Sequence;
use super::{DELETE, Settled};
use crate::merge::beside::Columns;
use crate::merge::function::{Fold, Folds, Function, FunctionPlan, Taking, Unfolded};
use crate::merge::key::{KeyEncoder, Keys};
use crate::merge::source::{Cell, Nulls, Pick, Record, is_retract, retain};

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
    bonds: Bonds,
    /// The newest record of the open slice that has the group.
    touched: Option<Record>,
    /// The record that the sequence columns come from; none when they are null.
    latest: Option<Pick>,
    value: Cell,
    /// Both, of the keys since the last chunk.
    latests: Vec<Cell>,
    values: Vec<Cell>,
    /// What the functions fold, of these keys.
    folds: Folds,
    /// The same without deletes that came too late to remove the row; empty where none removes one.
    timely: Folds,
}

struct Aggregated {
    column: usize,
    function: Box<dyn Function>,
    takes_back: bool,
}

/// What the functions of a group keep apart where older records are not known.
struct Bonds {
    /// Records whose order counts, as one that is late goes before all that were seen.
    order: bool,
    /// Additions and retractions.
    turns: bool,
    /// Retractions from each other.
    retractions: bool,
    /// All records.
    all: bool,
}

impl Bonds {
    fn of(functions: &[FunctionPlan]) -> Self {
        let any = |holds: &dyn Fn(&FunctionPlan) -> bool| functions.iter().any(holds);
        // A retraction clears the last value, however late it comes.
        let clears = |f: &FunctionPlan| matches!(f.function.as_str(), "last_value" | "last_non_null_value");
        let turns = |f: &FunctionPlan| f.taking() != Taking::Free || clears(f) && !f.options.ignore_retract;
        Self {
            order: any(&|f| f.depends_on_order()),
            turns: any(&turns),
            retractions: any(&|f| f.taking() == Taking::Alone),
            all: any(&FunctionPlan::is_lone),
        }
    }
}

impl Aggregated {
    fn new(plan: &FunctionPlan) -> Result<Self> {
        Ok(Self { column: plan.column, function: plan.build()?, takes_back: plan.refusal().is_none() })
    }
}

impl Group {
    pub(super) fn new(plan: &GroupPlan) -> Result<Self> {
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
            bonds: Bonds::of(&plan.functions),
            touched: None,
            latest: None,
            value: Cell::Null,
            latests: Vec::new(),
            values: Vec::new(),
            folds: Folds::default(),
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
        self.keys.push(self.encoder.encode(columns, rows)?);
        self.functions.iter_mut().try_for_each(|f| f.function.add_source(&columns[f.column]))
    }

    pub(super) fn retain_sources(&mut self, keep: &[usize]) {
        self.sequence_nulls.iter_mut().for_each(|nulls| nulls.retain(keep));
        retain(&mut self.keys, keep);
        self.functions.iter_mut().for_each(|f| f.function.retain_sources(keep));
    }

    pub(super) fn reset(&mut self) {
        self.latest = None;
        self.value = Cell::Null;
        self.folds.reopen();
        self.timely.reopen();
    }

    /// Notes what the records of a key came to.
    pub(super) fn close(&mut self) {
        self.latests.push(self.latest.map_or(Cell::Null, Cell::Pick));
        self.values.push(self.value);
        self.folds.close();
        self.timely.close();
    }

    /// Retractions and nothing else: columns are those of the last one, functions gather what is taken back.
    pub(super) fn take_together(&mut self, last: Pick) {
        self.value = Cell::Pick(last);
        self.folds.give_back();
        self.timely.give_back();
    }

    fn push(&mut self, step: Fold) {
        self.folds.push(step);
        if self.removes {
            self.timely.push(step);
        }
    }

    /// A late delete of a group that removes rows is taken back by the functions that can; the others keep what they have, as
    /// nobody could have refused it when it was written.
    pub(super) fn settle(&mut self, columns: Columns, settled: &mut Vec<Settled>) -> Result<(), Unfolded> {
        let picked = [std::mem::take(&mut self.latests), std::mem::take(&mut self.values)];
        settled.extend(picked.map(|cells| Settled { cells, computed: None }));
        let (removes, folds, timely) = (self.removes, &self.folds, &self.timely);
        settled.extend(columns.map(&mut self.functions, |aggregated| {
            let all = aggregated.takes_back || !removes;
            aggregated.function.settle(if all { folds } else { timely })
        })?);
        self.folds.clear();
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
            self.folds.push(Fold::Retract(record.pick));
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
        self.removes || self.bonds.all || self.bonds.order
    }

    /// A slice begins with this record, its newest.
    pub(super) fn begin(&mut self, record: Record) {
        self.touched = (!self.skips(record.pick)).then_some(record);
    }

    /// Whether a record can be one with those of the open slice, which follow it; with `in_order` only where their order
    /// does not count.
    pub(super) fn joins(&self, record: Record, in_order: bool) -> bool {
        let Some(touched) = self.touched.filter(|_| !self.skips(record.pick)) else { return true };
        let (bonds, back) = (&self.bonds, is_retract(record.kind));
        let turns = back != is_retract(touched.kind);
        !(bonds.all || bonds.turns && turns || bonds.retractions && back || bonds.order && in_order)
    }

    /// The record joined the slice.
    pub(super) fn join(&mut self, record: Record) {
        if self.touched.is_none() {
            self.begin(record);
        }
    }

    /// Whether nothing of an addition is left in the group, and in whether there is a row, once another follows it.
    pub(super) fn is_covered(&self, pick: Pick, by: Pick) -> bool {
        match (self.skips(pick), self.skips(by)) {
            (false, false) => self.compare(by, pick).is_ge(),
            (false, true) => false,
            (true, skips) => skips || !self.removes,
        }
    }

    /// Whether two records are before and after the same removals of the group.
    pub(super) fn is_same(&self, a: Pick, b: Pick) -> bool {
        match (self.skips(a), self.skips(b)) {
            (false, false) => self.compare(a, b).is_eq(),
            (a, b) => a == b,
        }
    }
}
