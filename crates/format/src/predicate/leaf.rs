//! One comparison over one column.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, Scalar};
use arrow_buffer::BooleanBuffer;
use arrow_ord::cmp;

use super::evaluate::Answers;
use super::{CompareOp, Predicate, list};
use crate::datum::{Datum, array_from_datums, one_nan};
use crate::types::{DataType, Kind};
use crate::{Error, Result};

pub(super) fn evaluate(leaf: &Predicate, column: &ArrayRef, data_type: &DataType) -> Result<Answers> {
    match leaf {
        Predicate::Compare { op, literal, .. } => {
            let Some(op) = beside(*op, literal, &data_type.kind) else {
                let all = if *op == CompareOp::NotEq { BooleanBuffer::new_set } else { BooleanBuffer::new_unset };
                return Ok(Answers::of(&all(column.len()), column.nulls()));
            };
            let literal = Scalar::new(one_nan(&array_from_datums(&[Some(literal.clone())], data_type)?)?);
            Ok(answers(&compare(op, &one_nan(column)?, &literal)?))
        }
        Predicate::In { literals, negated, .. } => {
            let literals: Vec<Datum> = literals.iter().filter(|l| !is_between(l, &data_type.kind)).cloned().collect();
            let found = list::contains(column, &list_array(&literals, data_type)?, data_type)?;
            let found = if *negated { !&found } else { found };
            Ok(Answers::of(&found, column.nulls()))
        }
        Predicate::IsNull { negated, .. } => {
            let valid = match column.logical_nulls() {
                Some(nulls) => nulls.into_inner(),
                None => BooleanBuffer::new_set(column.len()),
            };
            Ok(Answers::of(&if *negated { valid } else { !&valid }, None))
        }
        Predicate::StartsWith { prefix, .. } => {
            let strings = column.as_string_opt::<i32>();
            let strings =
                strings.ok_or_else(|| Error::invalid(format!("LIKE on a column of {}", column.data_type())))?;
            let prefix = prefix.as_bytes();
            let starts =
                BooleanBuffer::collect_bool(strings.len(), |row| strings.value(row).as_bytes().starts_with(prefix));
            Ok(Answers::of(&starts, column.nulls()))
        }
        _ => Err(Error::internal("an inner node was evaluated as a leaf")),
    }
}

/// Whether a literal lies between the values that the column can hold: a timestamp of more digits. As one of the column's it is
/// the value before it.
fn is_between(literal: &Datum, kind: &Kind) -> bool {
    match (literal, kind) {
        (Datum::Timestamp { nanos, .. }, Kind::Timestamp(0..=3) | Kind::LocalZonedTimestamp(0..=3)) => *nanos != 0,
        (Datum::Timestamp { nanos, .. }, Kind::Timestamp(4..=6) | Kind::LocalZonedTimestamp(4..=6)) => {
            nanos % 1_000 != 0
        }
        _ => false,
    }
}

/// How values compare with the one before the literal, where that is between values; `None` where all compare alike.
fn beside(op: CompareOp, literal: &Datum, kind: &Kind) -> Option<CompareOp> {
    if !is_between(literal, kind) {
        return Some(op);
    }
    match op {
        CompareOp::Eq | CompareOp::NotEq => None,
        CompareOp::Lt | CompareOp::LtEq => Some(CompareOp::LtEq),
        CompareOp::Gt | CompareOp::GtEq => Some(CompareOp::Gt),
    }
}

fn list_array(literals: &[Datum], data_type: &DataType) -> Result<ArrayRef> {
    let literals: Vec<_> = literals.iter().cloned().map(Some).collect();
    array_from_datums(&literals, data_type)
}

fn compare(op: CompareOp, column: &ArrayRef, literal: &Scalar<ArrayRef>) -> Result<BooleanArray> {
    let kernel = match op {
        CompareOp::Eq => cmp::eq,
        CompareOp::NotEq => cmp::neq,
        CompareOp::Lt => cmp::lt,
        CompareOp::LtEq => cmp::lt_eq,
        CompareOp::Gt => cmp::gt,
        CompareOp::GtEq => cmp::gt_eq,
    };
    kernel(column, literal).map_err(|e| Error::invalid("the literal does not fit the column").with_source(e))
}

fn answers(values: &BooleanArray) -> Answers {
    Answers::of(values.values(), values.nulls())
}
