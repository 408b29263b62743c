//! Filters that are pushed down: over partitions, statistics, file indexes, row groups, and rows.
//!
//! A predicate is over columns of one schema, named by field id so that it survives renames. Evaluation has three
//! answers like SQL; a row is kept only when the answer is true.

//!
//! Every walk over a predicate uses an explicit stack, and [`Predicate::and`] and [`Predicate::or`] flatten, so that filters
//! with very many terms cost heap, not stack.

mod computed;
mod evaluate;
mod fold;
mod leaf;
mod list;
mod prune;
mod rewrite;

#[cfg(test)]
mod carried;
#[cfg(test)]
mod tests;

pub use computed::{Compute, Computed};

use crate::datum::Datum;

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `=`
    Eq,
    /// `<>`
    NotEq,
    /// `<`
    Lt,
    /// `<=`
    LtEq,
    /// `>`
    Gt,
    /// `>=`
    GtEq,
}

/// A filter over the columns of one schema.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Predicate {
    /// Always true or always false.
    Constant(bool),
    /// `column op literal`.
    Compare {
        /// Field id of the column.
        field_id: i32,
        /// Operator.
        op: CompareOp,
        /// Literal of the column's type.
        literal: Datum,
    },
    /// `column IN (literals)`, or NOT IN when `negated`.
    In {
        /// Field id of the column.
        field_id: i32,
        /// Literals of the column's type; none is null.
        literals: Vec<Datum>,
        /// NOT IN.
        negated: bool,
    },
    /// `column IS NULL`, or IS NOT NULL when `negated`.
    IsNull {
        /// Field id of the column.
        field_id: i32,
        /// IS NOT NULL.
        negated: bool,
    },
    /// `column LIKE 'prefix%'`.
    StartsWith {
        /// Field id of the column.
        field_id: i32,
        /// The prefix.
        prefix: String,
    },
    /// What a query engine computes. Only partitions and rows are judged by it, statistics and indexes are not.
    Computed(Computed),
    /// All of them.
    And(Vec<Predicate>),
    /// Any of them.
    Or(Vec<Predicate>),
    /// Not the one inside (three-valued).
    Not(Box<Predicate>),
}
