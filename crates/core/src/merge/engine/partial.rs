//! `partial-update`: each column keeps its last non-null value, or follows its sequence group (spec: features.md B2).
//!
//! After a removal a later insert starts from nothing (a single one stays as it is), just as if a compaction had dropped the
//! removal in between. Where a sequence group removes the row, its order counts: what belongs before the removal stays
//! removed, however late it comes. A retraction fills nothing in, and retractions alone become one that takes back what all
//! of them do, so that it does not matter which of them were merged before they meet their row.

use arrow_array::ArrayRef;
use linn_format::{Error, Result};

use super::apart::{Apart, ApartPlan, Sequence};
use super::group::{Group, GroupPlan};
use super::{DELETE, Extent, INSERT, MergeEngine, Settled, Verdict, kind_of_retractions};
use crate::merge::beside::Columns;
use crate::merge::function::{Fold, FoldError, Folds};
use crate::merge::source::{Cell, Nulls, Pick, Record, is_retract};

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
    /// The user sequence.
    pub(crate) sequence: Sequence,
}

impl PartialPlan {
    /// Whether what is taken back before there is a row is remembered.
    pub(crate) fn has_debts(&self) -> bool {
        self.groups.iter().flat_map(|group| &group.functions).any(|plan| plan.algebra().has_debts())
    }
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
    /// Where records stay apart; `None` where everything takes part.
    apart: Option<Apart>,
    /// Where the slices of a key begin; only there to be used again.
    starts: Vec<usize>,
    /// The records of a key that others do not cover; only there to be used again.
    uncovered: Vec<Record>,
    /// Whether a record may cover another.
    covers: bool,
}

/// Rows of a key at most that stay apart only as one of them may be late: of more in one commit the oldest become one.
const APART_IN_ORDER: usize = 32;

/// Newer records of a key at most that are asked whether they cover an older one.
const COVERING: usize = 8;

struct Plain {
    column: usize,
    nulls: Nulls,
}

/// The slice of a key's records that is open.
#[derive(Default)]
struct Slice {
    newest: Option<Record>,
    /// Slices of the key that begin where they do only as a record may be late.
    late: usize,
    adds: bool,
    /// Whether it has retractions that no addition does the same as.
    takes: bool,
}

/// The removal that the records of a key go on from, if any.
#[derive(Default)]
struct Removed {
    by: Option<Record>,
    /// Records that counted since then, and the last of them.
    since: usize,
    last: Option<Record>,
}

impl PartialUpdate {
    /// An engine that follows a plan.
    pub(crate) fn new(plan: &PartialPlan, extent: Extent) -> Result<Self> {
        let plain = plan.plain.iter().map(|&column| Plain { column, nulls: Nulls::default() }).collect();
        // Without a user sequence nothing comes between the records of a slice, and the last value is the last.
        let sequence = if extent == Extent::Part { plan.sequence.clone() } else { Sequence::new() };
        let plain_columns = plan.plain.iter().map(|&column| (column, false));
        let filled = if sequence.is_empty() { Vec::new() } else { plain_columns.collect() };
        let apart = ApartPlan { filled, sequence, ..ApartPlan::default() };
        Ok(Self {
            plain,
            folds: Folds::default(),
            groups: plan
                .groups
                .iter()
                .map(|group| Group::new(group, extent != Extent::Whole))
                .collect::<Result<_>>()?,
            grouped: plan.grouped,
            remove_on_delete: plan.remove_on_delete,
            apart: if extent == Extent::Whole { None } else { Some(Apart::new(&apart)?) },
            starts: Vec::new(),
            uncovered: Vec::new(),
            covers: plan.groups.iter().any(|g| g.removes) && plan.groups.iter().all(|g| g.functions.is_empty()),
        })
    }

    fn reset(&mut self) {
        self.folds.reopen();
        self.groups.iter_mut().for_each(Group::reset);
    }

    fn add(&mut self, pick: Pick) {
        self.folds.push(Fold::Add(pick));
        self.groups.iter_mut().for_each(|g| g.add(pick));
    }

    /// Whether a retraction removes the whole row.
    fn is_removal(&self, record: Record) -> Result<bool> {
        if self.grouped {
            return Ok(self.groups.iter().any(|group| group.is_removal(record)));
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

    /// Leaves out additions that cannot be told from the result, whatever older records there are: a newer one has all of
    /// their columns, in their order or later. Where groups remove rows, few records could be one otherwise.
    fn leave_covered_out(&self, records: &[Record], uncovered: &mut Vec<Record>) {
        uncovered.clear();
        let mut stretch = 0;
        for &record in records.iter().rev() {
            let newer = uncovered.get(stretch..).unwrap_or_default();
            if is_retract(record.kind) {
                stretch = uncovered.len() + 1;
            } else if newer.iter().rev().take(COVERING).any(|newer| self.is_covered(record.pick, newer.pick)) {
                continue;
            }
            uncovered.push(record);
        }
        uncovered.reverse();
    }

    fn is_covered(&self, pick: Pick, by: Pick) -> bool {
        self.groups.iter().all(|group| group.is_covered(pick, by))
            && self.plain.iter().all(|plain| plain.nulls.is_null(pick) || !plain.nulls.is_null(by))
    }

    /// The row is gone; what comes later is compared with what removed it.
    fn remove(&mut self, removal: Record) {
        self.reset();
        self.groups.iter_mut().for_each(|group| group.start_after(removal.pick));
    }

    /// The row that records come to.
    fn fold(&mut self, records: &[Record]) -> Result<Option<Verdict>> {
        let Some(&last) = records.last() else { return Ok(None) };
        if records.len() == 1 {
            return Ok(Some(Verdict::as_is(last)));
        }
        self.reset();
        let (mut inserted, mut removed) = (false, Removed::default());
        for &record in records {
            let gone = removed.by.filter(|_| !inserted);
            if is_retract(record.kind) {
                if self.is_removal(record)? {
                    self.remove(record);
                    (inserted, removed) = (false, Removed { by: Some(record), ..Removed::default() });
                    continue;
                }
                // Of a row that is gone nothing can be taken back.
                if gone.is_some() {
                    continue;
                }
                self.groups.iter_mut().for_each(|group| group.retract(record));
            } else {
                if gone.is_some_and(|by| self.groups.iter().any(|g| g.is_before(record.pick, by.pick))) {
                    continue;
                }
                self.add(record.pick);
                inserted = true;
            }
            removed.since += 1;
            removed.last = Some(record);
        }
        Ok(Some(self.verdict(records, last, inserted, &removed)))
    }

    /// What the records that were folded came to.
    fn verdict(&mut self, records: &[Record], last: Record, inserted: bool, removed: &Removed) -> Verdict {
        let mut base = last;
        match (removed.by, removed.last) {
            (Some(by), _) if !inserted => return Verdict::as_is(by),
            (Some(by), Some(one)) => {
                base = one;
                if removed.since == 1 && self.groups.iter().all(|group| group.goes_on(one.pick, by.pick)) {
                    // Alone it stays as it is, as if a compaction had dropped the removal before it came.
                    self.reset();
                    return Verdict::as_is(one);
                }
            }
            _ => {}
        }
        if !inserted {
            // Retractions and nothing else.
            self.folds.reopen();
            self.folds.push(Fold::Retract(base.pick));
            self.groups.iter_mut().for_each(|group| group.take_together(base.pick));
        }
        self.groups.iter_mut().for_each(Group::close);
        let kind = if inserted { INSERT } else { kind_of_retractions(records) };
        Verdict { base, kind, folded: Some(self.folds.close()) }
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

/// Whether a record can be one with those of a slice, the oldest of which it would precede: begins a slice with `begins`.
fn bind(groups: &mut [Group], slice: &mut Slice, record: Record, begins: bool) -> bool {
    let retracts = is_retract(record.kind);
    let takes = retracts && !groups.iter().all(|group| group.is_as_addition(record.pick));
    if begins {
        *slice = Slice { newest: Some(record), late: slice.late, ..Slice::default() };
        groups.iter_mut().for_each(Group::begin);
    } else {
        let apart = if retracts { takes && slice.adds } else { slice.takes };
        if apart || !slice.newest.is_some_and(|newest| stays_as_one(groups, record, newest)) {
            return false;
        }
        let in_order = slice.late + 1 < APART_IN_ORDER;
        if !groups.iter().all(|group| group.joins(record, in_order)) {
            slice.late += usize::from(groups.iter().all(|group| group.joins(record, false)));
            return false;
        }
    }
    slice.adds |= !retracts;
    slice.takes |= takes;
    groups.iter_mut().for_each(|group| group.join(record));
    true
}

/// Whether a record that removes the row, wherever that lies, removes both of two records or none.
fn stays_as_one(groups: &[Group], record: Record, newest: Record) -> bool {
    let mut removing = groups.iter().filter(|group| group.removes).peekable();
    if removing.peek().is_none() {
        return true;
    }
    !is_retract(record.kind)
        && !is_retract(newest.kind)
        && removing.all(|group| group.is_same(record.pick, newest.pick))
}

impl MergeEngine for PartialUpdate {
    fn selections(&self) -> Vec<Vec<usize>> {
        let plain = self.plain.iter().map(|p| vec![p.column]);
        plain.chain(self.groups.iter().flat_map(Group::selections)).collect()
    }

    fn add_source(&mut self, columns: &[ArrayRef], rows: usize) -> Result<()> {
        for plain in &mut self.plain {
            plain.nulls.push(&columns[plain.column]);
        }
        if let Some(apart) = &mut self.apart {
            apart.add_source(columns, rows)?;
        }
        self.groups.iter_mut().try_for_each(|group| group.add_source(columns, rows))
    }

    fn retain_sources(&mut self, keep: &[usize]) {
        self.plain.iter_mut().for_each(|p| p.nulls.retain(keep));
        if let Some(apart) = &mut self.apart {
            apart.retain_sources(keep);
        }
        self.groups.iter_mut().for_each(|group| group.retain_sources(keep));
    }

    fn merge(&mut self, group: &[Record], merged: &mut Vec<Verdict>) -> Result<()> {
        if self.apart.is_none() {
            merged.extend(self.fold(group)?);
            return Ok(());
        }
        let removes = !self.grouped && self.remove_on_delete;
        let removed = group.iter().rposition(|record| removes && record.kind == DELETE);
        merged.extend(removed.and_then(|at| group.get(at)).map(|&record| Verdict::as_is(record)));
        let live = &group[removed.map_or(0, |at| at + 1)..];
        let mut uncovered = std::mem::take(&mut self.uncovered);
        if self.covers {
            self.leave_covered_out(live, &mut uncovered);
        }
        let live = if self.covers { uncovered.as_slice() } else { live };
        let Some(apart) = &mut self.apart else { return Ok(()) };
        let (mut starts, mut slice) = (std::mem::take(&mut self.starts), Slice::default());
        let groups = &mut self.groups;
        let bound = groups.iter().any(Group::binds_additions);
        apart.starts(live, &mut starts, bound, |record, begins| bind(groups, &mut slice, record, begins));
        for (at, &start) in starts.iter().enumerate() {
            let end = starts.get(at + 1).copied().unwrap_or(live.len());
            merged.extend(self.fold(&live[start..end])?);
        }
        self.starts = starts;
        self.uncovered = uncovered;
        Ok(())
    }

    fn settle(&mut self, columns: Columns) -> Result<Vec<Settled>, FoldError> {
        let folds = &self.folds;
        let mut settled = columns.map(&self.plain, |plain| Ok::<_, FoldError>(plain.settle(folds)))?;
        self.groups.iter_mut().try_for_each(|group| group.settle(columns, &mut settled))?;
        self.folds.clear();
        Ok(settled)
    }
}
