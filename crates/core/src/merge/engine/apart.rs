//! Which records of a key may become one where older ones are not known, and newer ones may come between them.
//!
//! A merged record says "add this", or "take this back", to whatever is older. It cannot say "forget what is older, then add
//! this", nor "this is of sequence 1, and that of sequence 5". Records that would have to say so stay apart, in runs of their
//! own: the merge of all of them, oldest first, is the answer whatever was merged before. Slices are found from the newest
//! record on, so that each is as long as it can be.

use arrow_array::ArrayRef;
use linn_format::Result;
use linn_format::types::DataField;

use crate::merge::function::{Adding, Algebra, FunctionPlan, Taking};
use crate::merge::key::{KeyEncoder, Keys};
use crate::merge::source::{Nulls, Pick, Record, is_retract, retain};

/// Records of a key at most that stay apart for what may come between them; where there are more, the oldest become one.
const APART_IN_ORDER: usize = 4;

/// Columns of a user sequence, by position among the read columns, with their fields.
pub(crate) type Sequence = Vec<(usize, DataField)>;

/// What keeps the records of a table apart.
#[derive(Debug, Default)]
pub(crate) struct ApartPlan {
    /// Columns whose last value that is not null stands, and whether a retraction clears it.
    pub(crate) filled: Vec<(usize, bool)>,
    /// The user sequence, by which records may come between others; empty where there is none.
    pub(crate) sequence: Sequence,
    /// Whether values depend on their order in the user sequence.
    pub(crate) late: bool,
    /// Whether additions and retractions stay apart.
    pub(crate) turns: bool,
    /// Whether every retraction stays alone.
    pub(crate) lone_retractions: bool,
    /// Whether every record does.
    pub(crate) lone: bool,
}

impl ApartPlan {
    /// Of a table whose columns are aggregated.
    pub(crate) fn of(functions: &[FunctionPlan], sequence: Sequence) -> Self {
        let columns: Vec<(usize, Algebra)> = functions.iter().map(|f| (f.column, f.algebra())).collect();
        let any = |holds: &dyn Fn(Algebra) -> bool| columns.iter().any(|(_, algebra)| holds(*algebra));
        let clears = |algebra: Algebra| algebra.taking == Taking::ClearsByValue;
        let fills = |algebra: Algebra| algebra.adding == Adding::Fills;
        let matters = |algebra: Algebra| if sequence.is_empty() { clears(algebra) } else { fills(algebra) };
        let filled = columns.iter().filter(|(_, algebra)| matters(*algebra));
        Self {
            filled: filled.map(|(column, algebra)| (*column, clears(*algebra))).collect(),
            late: !sequence.is_empty() && any(&|algebra| algebra.depends_on_order() && !fills(algebra)),
            sequence,
            turns: any(&|algebra| matches!(algebra.taking, Taking::InTurn | Taking::Alone)),
            lone_retractions: any(&|algebra| algebra.taking == Taking::Alone),
            lone: any(&|algebra| algebra.adding == Adding::Lone),
        }
    }
}

/// Finds the slices.
pub(crate) struct Apart {
    filled: Vec<Filled>,
    order: Option<UserOrder>,
    late: bool,
    turns: bool,
    lone_retractions: bool,
    lone: bool,
    slice: Slice,
    /// Slices of the key that begin where they do for the sake of their order.
    ordered: usize,
}

/// What the open slice holds.
#[derive(Default)]
struct Slice {
    adds: bool,
    retracts: bool,
    /// A column is cleared in it, and has no value after that.
    clears: bool,
}

struct Filled {
    column: usize,
    /// Whether a retraction clears it.
    clears: bool,
    nulls: Nulls,
    /// Whether a newer record of the slice has a value.
    here: bool,
    /// Whether a newer record of the key has one.
    later: bool,
}

impl Filled {
    /// Whether a record changes the column.
    fn counts(&self, record: Record) -> bool {
        (self.clears || !is_retract(record.kind)) && !self.nulls.is_null(record.pick)
    }
}

struct UserOrder {
    encoder: KeyEncoder,
    keys: Vec<Keys>,
}

impl UserOrder {
    fn of(sequence: &Sequence) -> Result<Option<Self>> {
        if sequence.is_empty() {
            return Ok(None);
        }
        let fields: Vec<&DataField> = sequence.iter().map(|(_, field)| field).collect();
        let encoder = KeyEncoder::new(sequence.iter().map(|(column, _)| *column).collect(), &fields, false)?;
        Ok(Some(Self { encoder, keys: Vec::new() }))
    }

    fn is_same(&self, a: Pick, b: Pick) -> bool {
        match (self.keys.get(a.source as usize), self.keys.get(b.source as usize)) {
            (Some(x), Some(y)) => x.compare(a.row as usize, y, b.row as usize).is_eq(),
            _ => false,
        }
    }
}

impl Apart {
    /// By a plan.
    ///
    /// # Errors
    /// `Unsupported` for a sequence of a type that has no order.
    pub(crate) fn new(plan: &ApartPlan) -> Result<Self> {
        let nulls = Nulls::default;
        let filled =
            |&(column, clears): &(usize, bool)| Filled { column, clears, nulls: nulls(), here: false, later: false };
        Ok(Self {
            filled: plan.filled.iter().map(filled).collect(),
            order: UserOrder::of(&plan.sequence)?,
            late: plan.late,
            turns: plan.turns,
            lone_retractions: plan.lone_retractions,
            lone: plan.lone,
            slice: Slice::default(),
            ordered: 0,
        })
    }

    /// A source was appended.
    pub(crate) fn add_source(&mut self, columns: &[ArrayRef], rows: usize) -> Result<()> {
        for filled in &mut self.filled {
            filled.nulls.push(&columns[filled.column]);
        }
        if let Some(order) = &mut self.order {
            order.keys.push(order.encoder.encode(columns, rows)?);
        }
        Ok(())
    }

    /// Only the sources at `keep` (ascending) remain, renumbered.
    pub(crate) fn retain_sources(&mut self, keep: &[usize]) {
        self.filled.iter_mut().for_each(|filled| filled.nulls.retain(keep));
        if let Some(order) = &mut self.order {
            retain(&mut order.keys, keep);
        }
    }

    /// Where the slices begin, ascending. Where additions are `bound` too, or any retraction is among them, `more` says beside
    /// this whether a record joins the slice of those that follow it (`true`: it begins one).
    pub(crate) fn starts(
        &mut self,
        records: &[Record],
        starts: &mut Vec<usize>,
        bound: bool,
        mut more: impl FnMut(Record, bool) -> bool,
    ) {
        starts.clear();
        if !bound && !self.lone && self.order.is_none() && records.iter().all(|record| !is_retract(record.kind)) {
            starts.extend((!records.is_empty()).then_some(0));
            return;
        }
        self.ordered = 0;
        self.filled.iter_mut().for_each(|filled| filled.later = false);
        let mut next: Option<Record> = None;
        for (at, &record) in records.iter().enumerate().rev() {
            let joins = next.is_some_and(|next| self.joins(record, next) && more(record, false));
            if !joins {
                if at + 1 < records.len() {
                    starts.push(at + 1);
                }
                self.slice = Slice::default();
                self.filled.iter_mut().for_each(|filled| filled.here = false);
                more(record, true);
            }
            self.take(record);
            next = Some(record);
        }
        if !records.is_empty() {
            starts.push(0);
        }
        starts.reverse();
    }

    fn take(&mut self, record: Record) {
        let back = is_retract(record.kind);
        self.slice.adds |= !back;
        self.slice.retracts |= back;
        for filled in self.filled.iter_mut().filter(|filled| filled.counts(record)) {
            self.slice.clears |= back && !filled.here;
            filled.here = true;
            filled.later = true;
        }
    }

    /// Whether a record becomes one with those of the slice, the oldest of which is `next`.
    fn joins(&mut self, record: Record, next: Record) -> bool {
        let back = is_retract(record.kind);
        let mixes = if back { self.slice.adds } else { self.slice.retracts };
        if self.lone || self.turns && mixes || self.lone_retractions && back || !back && self.slice.clears {
            return false;
        }
        let mut filled = self.filled.iter().filter(|filled| filled.counts(record));
        let same = self.order.as_ref().is_none_or(|order| order.is_same(record.pick, next.pick));
        if same || self.ordered + 1 >= APART_IN_ORDER {
            return filled.all(|filled| !back || filled.here || !self.slice.adds);
        }
        let retracts = (back || self.slice.retracts) && (self.turns || !self.filled.is_empty());
        let joins = !self.late && !retracts && filled.all(|filled| filled.later);
        self.ordered += usize::from(!joins);
        joins
    }
}
