//! Timestamps of seven to nine digits in years that nanoseconds of 64 bits do not reach: they go to the table as text, which writers
//! take beside nanoseconds (decision 0003).

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{Field, Schema};
use linn::Result;
use linn::format::file::resolve::Resolution;
use linn::format::types::{DataField, arrow_field, has_nanos, spelled, widened};

use super::super::Unknown;
use super::{Misfit, convert};

/// Converts a column to the type of `arrow`, or to one with text for timestamps of nanoseconds where these do not hold a value.
/// What stands in the result for a misfit is of no use.
///
/// # Errors
/// `Unsupported` when there is no way from the one type to the other.
pub(crate) fn convert_all(
    column: &ArrayRef,
    field: &DataField,
    arrow: &Field,
    unknown: Unknown,
) -> Result<(ArrayRef, Vec<Misfit>)> {
    let near = convert(column, field, arrow, unknown)?;
    if near.1.is_empty() || !has_nanos(std::slice::from_ref(field)) {
        return Ok(near);
    }
    let (wide, text) = (widened(std::slice::from_ref(field)), spelled(std::slice::from_ref(field)));
    let [field] = wide.as_slice() else { return Ok(near) };
    let arrow = arrow_field(field)?.with_nullable(true);
    let (column, misfits) = convert(column, field, &arrow, unknown)?;
    if misfits.len() >= near.1.len() {
        return Ok(near);
    }
    let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![arrow])), vec![column])?;
    Ok((Arc::clone(Resolution::new(&text, &wide)?.apply(&batch)?.column(0)), misfits))
}
