//! Casts between column types, following the reference's rules (spec: features.md B10).
//!
//! Integers wrap, floats saturate, decimals round half up and become null when they do not fit, text that cannot be read is an
//! error. Timestamps with local time zone are seen in UTC.

mod matrix;
mod nested;
mod number;
pub(crate) mod parse;
mod string;
mod time;
mod widen;

#[cfg(test)]
mod tests;

pub use matrix::can_cast;

pub(crate) use crate::datum::text;
pub(crate) use widen::{is_widening, narrow, widen};

use arrow_array::{Array, ArrayRef};

use crate::types::{DataType, Kind};
use crate::{Error, Result};
use matrix::Family;

/// The array in another type. Nested types cast only to strings; their fields are cast one by one by whoever maps them.
///
/// # Errors
/// `Unsupported` when there is no rule, `Invalid` when the array is not of type `from` or a value cannot be read.
pub fn cast(array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
    use Family::{Boolean, Decimal, Float, Integer, Time, Timestamp};
    if from.kind == to.kind {
        return Ok(array.clone());
    }
    if !matrix::has_rule(&from.kind, &to.kind) {
        return Err(Error::unsupported(format!("a cast from {:?} to {:?}", from.kind, to.kind)));
    }
    match (Family::of(&from.kind), Family::of(&to.kind)) {
        (_, Family::String) => string::to_string(array, from, to),
        (Family::String, Family::Binary) | (Family::Binary, Family::Binary) => string::to_binary(array, from, to),
        (Family::String, _) => string::from_string(array, from, to),
        (Integer | Float | Decimal, Boolean | Integer | Float | Decimal) | (Boolean, _) => {
            number::cast(array, from, to)
        }
        (Family::Date | Time | Timestamp, _) | (Integer, Timestamp) => time::cast(array, from, to),
        _ => Err(Error::unsupported(format!("a cast from {:?} to {:?}", from.kind, to.kind))),
    }
}

/// The error for an array that is not in the Arrow type of its column.
fn wrong(array: &dyn Array, kind: &Kind) -> Error {
    Error::invalid(format!("arrow array of {} for a column of kind {kind:?}", array.data_type()))
}
