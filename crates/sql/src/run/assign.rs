//! Values on their way into a column: a cast that keeps them is made, any other is an error with the column and the value. Who
//! wants to round or to cut says so by CAST. Only digits of a second that the column has not are cut by themselves.

use std::sync::Arc;

use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::array::{Array, ArrayRef, BooleanArray};
use datafusion::arrow::compute::kernels::cmp::distinct;
use datafusion::arrow::compute::{CastOptions, cast_with_options, filter, is_not_null};
use datafusion::arrow::datatypes::{DataType as Arrow, Field};
use datafusion::arrow::util::display::array_value_to_string;
use linn::format::types::DataField;
use linn::{Error, Result};

use super::second::without_finer;

/// Values that do not fit become errors.
const STRICT: CastOptions<'static> = CastOptions { safe: false, format_options: FORMAT };
/// Values that do not fit become null.
const LENIENT: CastOptions<'static> = CastOptions { safe: true, format_options: FORMAT };
const FORMAT: datafusion::arrow::util::display::FormatOptions<'static> =
    datafusion::arrow::util::display::FormatOptions::new();

/// A column as values of a field, whose Arrow type is `to`.
///
/// # Errors
/// `Invalid` with column and value when a value would change.
pub(super) fn assign(column: &ArrayRef, field: &DataField, to: &Arrow) -> Result<ArrayRef> {
    let from = column.data_type();
    if from == to {
        return Ok(Arc::clone(column));
    }
    let bare = field.data_type.clone().with_nullable(true);
    let named = |error: Error| error.with("column", &field.name);
    if !assignable(from, to) {
        let error = Error::invalid(format!("a value of type {} is not converted to {bare} implicitly", sql_type(from)));
        return Err(named(error).with_hint(format!("write CAST(… AS {bare})")));
    }
    let lost = |at: usize, values: &dyn Array| {
        let value = array_value_to_string(values, at).unwrap_or_default();
        let value = if is_text(values.data_type()) { format!("'{value}'") } else { value };
        named(Error::invalid(format!("value {value} does not fit {bare}")))
            .with_hint(format!("write CAST(… AS {bare}), or round(…), if losing digits is fine"))
    };
    let column = &without_finer(column, to)?;
    let cast = match cast_with_options(column, to, &STRICT) {
        Ok(cast) => cast,
        Err(e) => {
            let lenient = cast_with_options(column, to, &LENIENT).ok();
            let gone = |at: &usize| column.is_valid(*at) && lenient.as_ref().is_some_and(|cast| cast.is_null(*at));
            return Err(match (0..column.len()).find(gone) {
                Some(at) => lost(at, column),
                None => named(Error::invalid(format!("a value does not fit {bare}"))).with_source(e),
            });
        }
    };
    match changed(column, &cast)? {
        Some((at, values)) => Err(lost(at, &values)),
        None => Ok(cast),
    }
}

/// Whether values of a type are taken for a column of another at all.
fn assignable(from: &Arrow, to: &Arrow) -> bool {
    let number = |kind: &Arrow| kind.is_numeric();
    let time = |kind: &Arrow| kind.is_temporal();
    match (from, to) {
        // A number says no unit.
        (from, to) if number(from) && time(to) || time(from) && number(to) => false,
        (Arrow::Time32(_) | Arrow::Time64(_), Arrow::Timestamp(..) | Arrow::Date32) => false,
        (Arrow::Timestamp(..) | Arrow::Date32, Arrow::Time32(_) | Arrow::Time64(_)) => false,
        (from, to) => match (children(from), children(to)) {
            (Some(from), Some(to)) => {
                from.len() == to.len()
                    && to.iter().enumerate().all(|(at, to)| {
                        partner(&from, at, to).is_some_and(|from| assignable(from.data_type(), to.data_type()))
                    })
            }
            _ => true,
        },
    }
}

fn children(kind: &Arrow) -> Option<Vec<&Field>> {
    match kind {
        Arrow::List(item) | Arrow::LargeList(item) | Arrow::FixedSizeList(item, _) => Some(vec![item.as_ref()]),
        Arrow::Map(entries, _) => match entries.data_type() {
            Arrow::Struct(fields) => Some(fields.iter().map(AsRef::as_ref).collect()),
            _ => None,
        },
        Arrow::Struct(fields) => Some(fields.iter().map(AsRef::as_ref).collect()),
        _ => None,
    }
}

/// The field that goes to another: the one of its name, as the kernel casts, else that in its place.
pub(super) fn partner<'f>(from: &[&'f Field], at: usize, to: &Field) -> Option<&'f Field> {
    from.iter().find(|field| field.name() == to.name()).or_else(|| from.get(at)).copied()
}

/// The first value that a cast has changed, with the values among which it is.
fn changed(from: &ArrayRef, to: &ArrayRef) -> Result<Option<(usize, ArrayRef)>> {
    let nested: Vec<(ArrayRef, ArrayRef)> = match (from.data_type(), to.data_type()) {
        (from_type, to_type) if from_type == to_type => Vec::new(),
        (Arrow::List(_), Arrow::List(_)) => {
            vec![(Arc::clone(from.as_list::<i32>().values()), Arc::clone(to.as_list::<i32>().values()))]
        }
        (Arrow::FixedSizeList(..), Arrow::FixedSizeList(..)) => {
            vec![(Arc::clone(from.as_fixed_size_list().values()), Arc::clone(to.as_fixed_size_list().values()))]
        }
        (Arrow::List(_), Arrow::FixedSizeList(..)) | (Arrow::FixedSizeList(..), Arrow::List(_)) => {
            vec![(elements(from)?, elements(to)?)]
        }
        (Arrow::Map(..), Arrow::Map(..)) => {
            let (from, to) = (from.as_map(), to.as_map());
            vec![(Arc::clone(from.keys()), Arc::clone(to.keys())), (Arc::clone(from.values()), Arc::clone(to.values()))]
        }
        (Arrow::Struct(_), Arrow::Struct(fields)) => {
            let (from, to) = (from.as_struct(), to.as_struct());
            let pair = |(at, field): (usize, &Arc<Field>)| {
                let source = from.column_by_name(field.name()).or_else(|| from.columns().get(at))?;
                Some((Arc::clone(source), Arc::clone(to.columns().get(at)?)))
            };
            fields.iter().enumerate().filter_map(pair).collect()
        }
        _ => return Ok(leaf(from, to)?.map(|at| (at, Arc::clone(from)))),
    };
    for (from, to) in nested {
        // What lists and rows pass over stands in their children all the same, but was cast alike.
        if from.len() == to.len()
            && let Some(found) = changed(&from, &to)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The elements of the lists of any length or of one length that are not null.
fn elements(lists: &ArrayRef) -> Result<ArrayRef> {
    let lists = filter(lists, &is_not_null(lists)?)?;
    if let Some(lists) = lists.as_fixed_size_list_opt() {
        return Ok(Arc::clone(lists.values()));
    }
    let lists = lists.as_list::<i32>();
    let ends = lists.offsets().first().zip(lists.offsets().last());
    let (start, end) = ends.map_or((0, 0), |(start, end)| (*start as usize, *end as usize));
    Ok(lists.values().slice(start, end - start))
}

/// The place of the first value of a type without parts that a cast has changed.
fn leaf(from: &ArrayRef, to: &ArrayRef) -> Result<Option<usize>> {
    let valid = |at: &usize| from.is_valid(*at);
    let rows = || (0..from.len()).filter(valid);
    Ok(match (from.data_type(), to.data_type()) {
        // A float is the nearest that there is, but not infinite.
        (_, Arrow::Float32 | Arrow::Float64) => {
            let infinite = infinite(to);
            let meant = if is_text(from.data_type()) { texts(from, says_infinite)? } else { self::infinite(from) };
            rows().find(|at| infinite.value(*at) && !meant.value(*at))
        }
        (kind, Arrow::Decimal128(_, scale)) if is_text(kind) => {
            let scale = i64::from(*scale);
            let exact = texts(from, |text| fraction_digits(text) <= scale)?;
            rows().find(|at| !exact.value(*at))
        }
        (kind, Arrow::Date32) if is_text(kind) => {
            // A text with a time of day is cut by the kernel.
            let exact = texts(from, |text| !text.trim().contains([' ', 'T', ':']))?;
            rows().find(|at| !exact.value(*at))
        }
        (kind, _) if is_text(kind) => None,
        (_, kind) if is_text(kind) => None,
        (Arrow::Binary | Arrow::LargeBinary | Arrow::BinaryView | Arrow::Null | Arrow::Dictionary(..), _) => None,
        _ => {
            let back = cast_with_options(to, from.data_type(), &LENIENT)?;
            let changed = distinct(from, &back)?;
            rows().find(|at| changed.value(*at))
        }
    })
}

pub(super) fn is_text(kind: &Arrow) -> bool {
    matches!(kind, Arrow::Utf8 | Arrow::LargeUtf8 | Arrow::Utf8View)
}

/// Which texts something holds of.
fn texts(array: &ArrayRef, holds: impl Fn(&str) -> bool) -> Result<BooleanArray> {
    let array = cast_with_options(array, &Arrow::Utf8, &STRICT)?;
    Ok(array.as_string::<i32>().iter().map(|text| Some(text.is_some_and(&holds))).collect())
}

fn says_infinite(text: &str) -> bool {
    text.to_ascii_lowercase().contains("inf")
}

fn infinite(array: &ArrayRef) -> BooleanArray {
    use datafusion::arrow::datatypes::{Float32Type, Float64Type};
    match array.data_type() {
        Arrow::Float32 => {
            array.as_primitive::<Float32Type>().iter().map(|v| Some(v.is_some_and(f32::is_infinite))).collect()
        }
        Arrow::Float64 => {
            array.as_primitive::<Float64Type>().iter().map(|v| Some(v.is_some_and(f64::is_infinite))).collect()
        }
        _ => BooleanArray::from(vec![false; array.len()]),
    }
}

/// Digits behind the point that a number as text needs, its exponent counted in.
fn fraction_digits(text: &str) -> i64 {
    let text = text.trim();
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().unwrap_or(0)),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let places = match fraction.len() {
        // Zeros at the end of a whole number make room for a negative exponent.
        0 => -(whole.bytes().rev().take_while(|digit| *digit == b'0').count() as i64),
        digits => digits as i64,
    };
    if whole.bytes().chain(fraction.bytes()).all(|byte| !matches!(byte, b'1'..=b'9')) { 0 } else { places - exponent }
}

/// What a type of a query is called.
fn sql_type(kind: &Arrow) -> String {
    match kind {
        Arrow::Int8 | Arrow::Int16 | Arrow::Int32 => "INT".to_owned(),
        Arrow::Int64 | Arrow::UInt64 => "BIGINT".to_owned(),
        Arrow::Float32 => "FLOAT".to_owned(),
        Arrow::Float64 => "DOUBLE".to_owned(),
        Arrow::Decimal128(precision, scale) => format!("DECIMAL({precision}, {scale})"),
        Arrow::Date32 => "DATE".to_owned(),
        Arrow::Time32(_) | Arrow::Time64(_) => "TIME".to_owned(),
        Arrow::Timestamp(..) => "TIMESTAMP".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_that_a_text_needs() {
        for (text, expected) in [
            ("77.9", 1),
            ("77.900", 1),
            ("77", 0),
            ("1e-3", 3),
            ("1.5e1", 0),
            ("1200e-2", 0),
            ("0.000", 0),
            ("0e-9", 0),
        ] {
            assert_eq!(fraction_digits(text).max(0), expected, "{text}");
        }
    }
}
