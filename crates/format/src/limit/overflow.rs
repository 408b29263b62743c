//! Finite numbers that became infinite when they were converted.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType as Arrow;

/// The rows whose value is infinite in `to`, and a finite number in the column `from` that it was converted from.
pub fn overflow(from: &ArrayRef, to: &ArrayRef) -> Vec<usize> {
    let infinite: Box<dyn Fn(usize) -> bool> = match to.data_type() {
        Arrow::Float32 => {
            let Some(values) = to.as_primitive_opt::<Float32Type>() else { return Vec::new() };
            Box::new(|row| values.is_valid(row) && values.value(row).is_infinite())
        }
        Arrow::Float64 => {
            let Some(values) = to.as_primitive_opt::<Float64Type>() else { return Vec::new() };
            Box::new(|row| values.is_valid(row) && values.value(row).is_infinite())
        }
        _ => return Vec::new(),
    };
    let rows = (0..to.len().min(from.len())).filter(|row| infinite(*row));
    rows.filter(|row| is_finite(from, *row)).collect()
}

fn is_finite(from: &ArrayRef, row: usize) -> bool {
    // The word for infinity has no digit.
    let has_digit = |text: &str| text.bytes().any(|byte| byte.is_ascii_digit());
    match from.data_type() {
        Arrow::Float32 => from.as_primitive::<Float32Type>().value(row).is_finite(),
        Arrow::Float64 => from.as_primitive::<Float64Type>().value(row).is_finite(),
        Arrow::Utf8 => has_digit(from.as_string::<i32>().value(row)),
        Arrow::LargeUtf8 => has_digit(from.as_string::<i64>().value(row)),
        Arrow::Utf8View => has_digit(from.as_string_view().value(row)),
        other => other.is_numeric(),
    }
}
