//! `partial-update`: each column keeps its last non-null value, or follows its sequence group (spec: features.md B2).
//!
//! A sequence group replaces all its columns, nulls included, when a record's sequence tuple is not less than the one
//! seen so far; a record whose tuple is all null leaves the group alone. After a removal a later insert starts from
//! nothing (a single one stays as it is), just as if a compaction had dropped the removal in between. A retraction fills nothing in, and retractions
//! alone become one that takes back what all of them do, so that it does not matter which of them were merged before
//! they meet their row.

use std::cmp::Ordering;

use arrow_array::ArrayRef;
use linn_format::types::DataField;
use linn_format::{Error, Result};

use super::{DELETE, INSERT, MergeEngine, Settled, Verdict};
use crate::merge::beside::Columns;
use crate::merge::function::{Fold, Folds, Function, FunctionPlan, Unfolded};
use crate::merge::key::{KeyEncoder, Keys};
use crate::merge::source::{Cell, Nulls, Pick, Record, is_retract, retain};

/// One sequence group, as far as a merge reads it.
#[derive(Debug)]
pub(crate) struct GroupPlan {
    /// Sequence columns in the order they are compared, with their fields.
    pub(crate) sequence: Vec<(usize, DataField)>,
    /// Protected columns without a function.
    pub(crate) protected: Vec<usize>,
    /// Protected columns with a function.
    pub(crate) functions: Vec<FunctionPlan>,
    /// Whether a `-D` of this group removes the whole row.
    pub(crate) removes: bool,
}

/// What the engine needs to know of a table, fixed for a merge.
#[derive(Debug)]
pub(crate) struct PartialPlan {
    /// Columns outside of any group.
    pub(crate) plain: Vec<usize>,
    /// The groups that are read.
    pub(crate) groups: Vec<GroupPlan>,
    /// Whether the table has sequence groups at all.
    pub(crate) grouped: bool,
    /// `partial-update.remove-record-on-delete`.
    pub(crate) remove_on_delete: bool,
}

/// The engine of `merge-engine=partial-update`.
pub(crate) struct PartialUpdate {
    plain: Vec<Plain>,
    /// The additions of the keys since the last chunk, which the columns outside of any group follow; of a key with
    /// retractions only, the last of these.
    folds: Folds,
    groups: Vec<Group>,
    grouped: bool,
    remove_on_delete: bool,
}

struct Plain {
    column: usize,
    nulls: Nulls,
}

struct Group {
    sequence: Vec<usize>,
    sequence_nulls: Vec<Nulls>,
    encoder: KeyEncoder,
    keys: Vec<Keys>,
    protected: Vec<usize>,
    functions: Vec<Aggregated>,
    removes: bool,
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

impl PartialUpdate {
    /// An engine that follows a plan.
    pub(crate) fn new(plan: &PartialPlan) -> Result<Self> {
        let plain = plan.plain.iter().map(|&column| Plain { column, nulls: Nulls::default() }).collect();
        Ok(Self {
            plain,
            folds: Folds::default(),
            groups: plan.groups.iter().map(Group::new).collect::<Result<_>>()?,
            grouped: plan.grouped,
            remove_on_delete: plan.remove_on_delete,
        })
    }

    fn reset(&mut self) {
        self.folds.reopen();
        self.groups.iter_mut().for_each(Group::reset);
    }

    /// Retractions and nothing else: columns are those of the last one, functions gather what is taken back.
    fn take_together(&mut self, last: Pick) {
        self.folds.push(Fold::Retract(last));
        for group in &mut self.groups {
            group.value = Cell::Pick(last);
            group.folds.give_back();
            group.timely.give_back();
        }
    }

    fn add(&mut self, pick: Pick) {
        self.folds.push(Fold::Add(pick));
        self.groups.iter_mut().for_each(|g| g.add(pick));
    }

    /// Takes a retraction back; true when it removes the whole row.
    fn retract(&mut self, record: Record) -> Result<bool> {
        if self.grouped {
            return Ok(self.groups.iter_mut().any(|g| g.retract(record)));
        }
        if self.remove_on_delete {
            return Ok(record.kind == DELETE);
        }
        Err(Self::refusal())
    }

    /// The error of a retraction that no option says what to do about.
    pub(crate) fn refusal() -> Error {
        Error::invalid("merge engine partial-update cannot take -U and -D records").with_hint(
            "set 'ignore-delete' to leave them out, 'partial-update.remove-record-on-delete' to remove rows, or \
             define sequence groups",
        )
    }
}

impl Plain {
    /// The last value that is not null; of retractions alone the value of the last.
    fn settle(&self, folds: &Folds) -> Settled {
        let last = |steps: &[Fold]| {
            let stands = |step: &&Fold| matches!(step, Fold::Retract(_)) || !self.nulls.is_null(step.pick());
            steps.iter().rev().find(stands).map_or(Cell::Null, |step| Cell::Pick(step.pick()))
        };
        Settled { cells: folds.iter().map(last).collect(), computed: None }
    }
}

impl Aggregated {
    fn new(plan: &FunctionPlan) -> Result<Self> {
        Ok(Self { column: plan.column, function: plan.build()?, takes_back: plan.refusal().is_none() })
    }
}

impl Group {
    fn new(plan: &GroupPlan) -> Result<Self> {
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
            latest: None,
            value: Cell::Null,
            latests: Vec::new(),
            values: Vec::new(),
            folds: Folds::default(),
            timely: Folds::default(),
        })
    }

    fn reset(&mut self) {
        self.latest = None;
        self.value = Cell::Null;
        self.folds.reopen();
        self.timely.reopen();
    }

    /// Notes what the records of a key came to.
    fn close(&mut self) {
        self.latests.push(self.latest.map_or(Cell::Null, Cell::Pick));
        self.values.push(self.value);
        self.folds.close();
        self.timely.close();
    }

    fn push(&mut self, step: Fold) {
        self.folds.push(step);
        if self.removes {
            self.timely.push(step);
        }
    }

    /// A late delete of a group that removes rows is taken back by the functions that can; the others keep what they have, as
    /// nobody could have refused it when it was written.
    fn settle(&mut self, columns: Columns, settled: &mut Vec<Settled>) -> Result<(), Unfolded> {
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

    fn skips(&self, pick: Pick) -> bool {
        self.sequence_nulls.iter().all(|n| n.is_null(pick))
    }

    /// Whether the sequence tuple of a record is not less than the latest one.
    fn is_newer(&self, pick: Pick) -> bool {
        self.latest.is_none_or(|latest| {
            let new = &self.keys[pick.source as usize];
            let old = &self.keys[latest.source as usize];
            new.compare(pick.row as usize, old, latest.row as usize) != Ordering::Less
        })
    }

    fn add(&mut self, pick: Pick) {
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

    fn retract(&mut self, record: Record) -> bool {
        if self.skips(record.pick) {
            return false;
        }
        if self.is_newer(record.pick) {
            if self.removes && record.kind == DELETE {
                return true;
            }
            self.latest = Some(record.pick);
            self.value = Cell::Null;
        } else if self.removes && record.kind == DELETE {
            self.folds.push(Fold::Retract(record.pick));
            return false;
        }
        self.push(Fold::Retract(record.pick));
        false
    }
}

impl MergeEngine for PartialUpdate {
    fn selections(&self) -> Vec<Vec<usize>> {
        let mut selections: Vec<Vec<usize>> = self.plain.iter().map(|p| vec![p.column]).collect();
        for group in &self.groups {
            selections.push(group.sequence.clone());
            selections.push(group.protected.clone());
            selections.extend(group.functions.iter().map(|f| vec![f.column]));
        }
        selections
    }

    fn add_source(&mut self, columns: &[ArrayRef], rows: usize) -> Result<()> {
        for plain in &mut self.plain {
            plain.nulls.push(&columns[plain.column]);
        }
        for group in &mut self.groups {
            for (nulls, &column) in group.sequence_nulls.iter_mut().zip(&group.sequence) {
                nulls.push(&columns[column]);
            }
            group.keys.push(group.encoder.encode(columns, rows)?);
            for aggregated in &mut group.functions {
                aggregated.function.add_source(&columns[aggregated.column])?;
            }
        }
        Ok(())
    }

    fn retain_sources(&mut self, keep: &[usize]) {
        self.plain.iter_mut().for_each(|p| p.nulls.retain(keep));
        for group in &mut self.groups {
            group.sequence_nulls.iter_mut().for_each(|n| n.retain(keep));
            retain(&mut group.keys, keep);
            group.functions.iter_mut().for_each(|f| f.function.retain_sources(keep));
        }
    }

    fn merge(&mut self, group: &[Record]) -> Result<Option<Verdict>> {
        self.reset();
        let Some(&first) = group.first() else { return Ok(None) };
        let (mut base, mut inserted) = (first, false);
        let mut removed: Option<(usize, Record)> = None;
        for (at, &record) in group.iter().enumerate() {
            base = record;
            if !is_retract(record.kind) {
                self.add(record.pick);
                inserted = true;
            } else if self.retract(record)? {
                self.reset();
                (removed, inserted) = (Some((at, record)), false);
            }
        }
        match removed {
            // Alone it stays as it is, as if a compaction had dropped the removal before it came.
            Some((at, _)) if inserted && at + 2 == group.len() => {
                self.reset();
                return Ok(Some(Verdict { base, kind: base.kind, folded: None }));
            }
            _ if inserted => {}
            Some((_, base)) => return Ok(Some(Verdict { base, kind: DELETE, folded: None })),
            None => self.take_together(base.pick),
        }
        self.groups.iter_mut().for_each(Group::close);
        let folded = Some(self.folds.close());
        Ok(Some(Verdict { base, kind: if inserted { INSERT } else { DELETE }, folded }))
    }

    fn settle(&mut self, columns: Columns) -> Result<Vec<Settled>, Unfolded> {
        let folds = &self.folds;
        let mut settled = columns.map(&self.plain, |plain| Ok::<_, Unfolded>(plain.settle(folds)))?;
        self.groups.iter_mut().try_for_each(|group| group.settle(columns, &mut settled))?;
        self.folds.clear();
        Ok(settled)
    }
}
