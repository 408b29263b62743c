//! Which records can be one as far as a sequence group sees, where older ones are not known.
//!
//! An older record may come before, between or after the records of a slice in the group's order. The merged record has the
//! greatest of their sequences, is late or not as a whole, and adds or takes back as a whole. It stands for all of them where
//!
//! - columns that are replaced, or joined in any order, are all that the additions have; or of those that are joined in order
//!   each has one value at the most, all at the greatest sequence, while the other records only move the sequence on;
//! - retractions are among each other, and at most one has a value that must be taken back alone; or beside additions each of
//!   them does to every column of its groups what an addition would do.

use std::cmp::Ordering;

use arrow_array::ArrayRef;

use crate::merge::function::{Algebra, FunctionPlan, Taking};
use crate::merge::source::{Nulls, Pick, is_retract};

/// The columns of a group that have functions, and what the open slice holds of them.
pub(super) struct Bonds {
    columns: Vec<Bound>,
    /// Whether the order of additions counts.
    ordered: bool,
    /// Whether retractions stay apart from each other.
    alone: bool,
    /// A record of the slice with the greatest sequence.
    greatest: Option<Pick>,
    /// Whether a record of the slice has values that are joined in order.
    has_values: bool,
    /// Whether a record of the slice takes values back.
    retracts: bool,
}

struct Bound {
    column: usize,
    algebra: Algebra,
    nulls: Nulls,
    /// Whether a record of the slice has a value that is joined in order.
    has_value: bool,
}

impl Bonds {
    pub(super) fn of(functions: &[FunctionPlan]) -> Self {
        let bound = |f: &FunctionPlan| Bound {
            column: f.column,
            algebra: f.algebra(),
            nulls: Nulls::default(),
            has_value: false,
        };
        let columns: Vec<Bound> = functions.iter().map(bound).collect();
        Self {
            ordered: columns.iter().any(|bound| bound.algebra.depends_on_order()),
            alone: columns.iter().any(|bound| bound.algebra.taking == Taking::Alone),
            columns,
            greatest: None,
            has_values: false,
            retracts: false,
        }
    }

    pub(super) fn add_source(&mut self, columns: &[ArrayRef]) {
        self.columns.iter_mut().for_each(|bound| bound.nulls.push(&columns[bound.column]));
    }

    pub(super) fn retain_sources(&mut self, keep: &[usize]) {
        self.columns.iter_mut().for_each(|bound| bound.nulls.retain(keep));
    }

    /// Whether additions may have to stay apart.
    pub(super) fn binds_additions(&self) -> bool {
        self.ordered
    }

    /// Whether a retraction does to all columns what an addition would do.
    pub(super) fn is_as_addition(&self, pick: Pick) -> bool {
        self.columns.iter().all(|bound| bound.algebra.is_as_addition(bound.nulls.is_null(pick)))
    }

    /// A slice begins.
    pub(super) fn begin(&mut self) {
        self.greatest = None;
        self.has_values = false;
        self.retracts = false;
        self.columns.iter_mut().for_each(|bound| bound.has_value = false);
    }

    /// Whether a record that the group sees may be one with those of the slice but for its order.
    pub(super) fn joins(&self, kind: i8) -> bool {
        !(self.alone && self.retracts && is_retract(kind))
    }

    /// Whether the order does not matter if a record is one with those of the slice, which are `compare`d by their sequences.
    pub(super) fn joins_in_order(&self, pick: Pick, kind: i8, compare: impl Fn(Pick, Pick) -> Ordering) -> bool {
        let Some(greatest) = self.greatest.filter(|_| self.ordered) else { return true };
        let order = compare(pick, greatest);
        if !self.columns.iter().any(|bound| bound.is_value(pick, kind)) {
            return !self.has_values || order.is_le();
        }
        if !self.has_values {
            return order.is_ge();
        }
        order.is_eq() && !self.columns.iter().any(|bound| bound.has_value && bound.is_value(pick, kind))
    }

    /// A record that the group sees is in the slice.
    pub(super) fn join(&mut self, pick: Pick, kind: i8, compare: impl Fn(Pick, Pick) -> Ordering) {
        self.retracts |= is_retract(kind);
        if !self.ordered {
            return;
        }
        if self.greatest.is_none_or(|greatest| compare(pick, greatest).is_gt()) {
            self.greatest = Some(pick);
        }
        for bound in &mut self.columns {
            bound.has_value |= bound.is_value(pick, kind);
            self.has_values |= bound.has_value;
        }
    }
}

impl Bound {
    /// Whether a record has a value that is joined in order.
    fn is_value(&self, pick: Pick, kind: i8) -> bool {
        let counts = !self.algebra.leaves_nulls_out() || !self.nulls.is_null(pick);
        !is_retract(kind) && self.algebra.depends_on_order() && counts
    }
}
