//! What a predicate can be over rows of which only minimum, maximum and null count are known.

use std::cmp::Ordering;

use super::fold::Node;
use super::{CompareOp, Predicate};
use crate::datum::Datum;
use crate::stats::ColumnRange;

/// Which answers some row may give.
#[derive(Clone, Copy)]
struct Can {
    yes: bool,
    no: bool,
}

impl Can {
    const ANY: Self = Self { yes: true, no: true };
    const NONE: Self = Self { yes: false, no: false };
}

impl Predicate {
    /// Whether some row may satisfy the predicate, when `range` tells what is known of each column by field id.
    ///
    /// False means that no row does; true means nothing.
    pub fn may_match(&self, range: impl Fn(i32) -> ColumnRange) -> bool {
        let leaf = |leaf: &Predicate, _| Ok(can(leaf, &range));
        let join = |node, parts: Vec<Can>| {
            Ok(match node {
                Node::And => Can { yes: parts.iter().all(|p| p.yes), no: parts.iter().any(|p| p.no) },
                Node::Or => Can { yes: parts.iter().any(|p| p.yes), no: parts.iter().all(|p| p.no) },
                Node::Not => parts.last().map_or(Can::ANY, |p| Can { yes: p.no, no: p.yes }),
            })
        };
        self.fold(leaf, join).map_or(true, |can| can.yes)
    }
}

fn can(leaf: &Predicate, range: &impl Fn(i32) -> ColumnRange) -> Can {
    let Some(id) = leaf.field_id() else {
        return match leaf {
            Predicate::Constant(value) => Can { yes: *value, no: !*value },
            _ => Can::ANY,
        };
    };
    let range = range(id);
    let all_null = range.null_count.is_some_and(|nulls| nulls >= range.row_count);
    let no_null = range.null_count == Some(0);
    if let Predicate::IsNull { negated, .. } = leaf {
        let null = Can { yes: !no_null, no: !all_null };
        return if *negated { Can { yes: null.no, no: null.yes } } else { null };
    }
    if all_null {
        return Can::NONE;
    }
    let (Some(min), Some(max)) = (&range.min, &range.max) else {
        return Can::ANY;
    };
    match leaf {
        Predicate::Compare { op, literal, .. } => compare(*op, literal, min, max),
        Predicate::In { literals, negated, .. } => {
            let equal = literals.iter().map(|literal| compare(CompareOp::Eq, literal, min, max));
            let any = equal.fold(Can { yes: false, no: true }, |a, b| Can { yes: a.yes || b.yes, no: a.no && b.no });
            if *negated { Can { yes: any.no, no: any.yes } } else { any }
        }
        Predicate::StartsWith { prefix, .. } => starts_with(prefix, min, max),
        _ => Can::ANY,
    }
}

fn compare(op: CompareOp, literal: &Datum, min: &Datum, max: &Datum) -> Can {
    let (Some(min), Some(max)) = (min.compare(literal), max.compare(literal)) else {
        return Can::ANY;
    };
    // Minimum and maximum may be truncated, but then they differ: both equal to the literal means that every value is.
    let equal = Can {
        yes: min != Ordering::Greater && max != Ordering::Less,
        no: min != Ordering::Equal || max != Ordering::Equal,
    };
    let less = Can { yes: min == Ordering::Less, no: max != Ordering::Less };
    let greater = Can { yes: max == Ordering::Greater, no: min != Ordering::Greater };
    let not = |can: Can| Can { yes: can.no, no: can.yes };
    match op {
        CompareOp::Eq => equal,
        CompareOp::NotEq => not(equal),
        CompareOp::Lt => less,
        CompareOp::GtEq => not(less),
        CompareOp::Gt => greater,
        CompareOp::LtEq => not(greater),
    }
}

fn starts_with(prefix: &str, min: &Datum, max: &Datum) -> Can {
    let (Datum::String(min), Datum::String(max)) = (min, max) else {
        return Can::ANY;
    };
    let below = min.as_str() <= prefix || min.starts_with(prefix);
    let above = max.as_str() >= prefix;
    Can { yes: below && above, no: !(min.starts_with(prefix) && max.starts_with(prefix)) }
}
