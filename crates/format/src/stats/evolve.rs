//! Statistics of a file, seen by a later schema of its table.

use super::{ColumnRange, SimpleStats};
use crate::cast::{is_widening, widen};
use crate::datum::Datum;
use crate::row::BinaryRow;
use crate::types::{DataField, Kind};
use crate::{Error, Result};

/// The statistics of one file with what is needed to understand them.
#[derive(Debug, Clone, Copy)]
pub struct FileStats<'a> {
    /// As stored.
    pub stats: &'a SimpleStats,
    /// Fields of the schema that the file was written with, or those of them that the file holds.
    pub fields: &'a [DataField],
    /// Names of the columns in `stats`; `None` means all of `fields` in order.
    pub columns: Option<&'a [String]>,
    /// Rows of the file.
    pub row_count: i64,
}

/// What is known of the column `field` of the table's schema in a file.
///
/// A column that the file lacks is null in every row. When the type has changed, bounds are kept where the cast keeps the order
/// of values, else they are unknown.
///
/// # Errors
/// `Corrupt` when the statistics do not fit the fields.
pub fn evolve(file: FileStats<'_>, field: &DataField) -> Result<ColumnRange> {
    let Some(of_file) = file.fields.iter().find(|f| f.id == field.id) else {
        return Ok(ColumnRange::all_null(file.row_count));
    };
    let unknown = ColumnRange { min: None, max: None, null_count: None, row_count: file.row_count };
    let at = match file.columns {
        Some(columns) => columns.iter().position(|name| *name == of_file.name),
        None => file.fields.iter().position(|f| f.id == field.id),
    };
    // An empty row of statistics means that none were kept.
    let Some(at) = at.filter(|_| file.stats.min.arity() > 0 || !file.stats.null_counts.is_empty()) else {
        return Ok(unknown);
    };
    let null_count = file.stats.null_counts.get(at).copied().flatten();
    if null_count.is_some_and(|n| n < 0) {
        return Err(Error::corrupt(format!("null count {null_count:?} of column {:?}", of_file.name)));
    }
    let widening = is_widening(&of_file.data_type.kind, &field.data_type.kind);
    // Another cast can make nulls of values, but no values of nulls. What changes inside of a value keeps the value.
    let (from, to) = (&of_file.data_type.kind, &field.data_type.kind);
    let kept = widening || (!is_scalar(to) && std::mem::discriminant(from) == std::mem::discriminant(to));
    let null_count = null_count.filter(|n| kept || *n == file.row_count);
    let bound = |row: &BinaryRow| -> Result<Option<Datum>> {
        if !widening || row.arity() <= at || !is_scalar(&of_file.data_type.kind) {
            return Ok(None);
        }
        let found = row.datum(at, &of_file.data_type)?;
        Ok(if from == to { found } else { found.and_then(|v| widen(&v, to)) })
    };
    let (min, max) = (bound(&file.stats.min)?, bound(&file.stats.max)?);
    let (min, max) = match (min, max) {
        (Some(min), Some(max)) => (Some(as_read(min, from, false)), Some(as_read(max, from, true))),
        _ => (None, None),
    };
    // A decimal beyond the new type is read as null.
    let null_count = null_count.filter(|n| from == to || max.is_some() || *n == file.row_count || !is_decimal(to));
    Ok(ColumnRange { min, max, null_count, row_count: file.row_count })
}

/// A bound of the values as they are read: without the digits that the column cannot hold, and of CHAR without the blanks at the
/// end that some formats drop.
fn as_read(bound: Datum, kind: &Kind, upper: bool) -> Datum {
    match (bound, kind) {
        (Datum::Timestamp { millis, nanos }, Kind::Timestamp(4..=6) | Kind::LocalZonedTimestamp(4..=6)) => {
            let up = if upper { 999 } else { 0 };
            match (nanos + up) / 1_000 * 1_000 {
                1_000_000 => Datum::Timestamp { millis: millis.saturating_add(1), nanos: 0 },
                nanos => Datum::Timestamp { millis, nanos },
            }
        }
        (Datum::Timestamp { millis, nanos }, Kind::Timestamp(0..=3) | Kind::LocalZonedTimestamp(0..=3)) => {
            Datum::Timestamp { millis: millis.saturating_add(i64::from(upper && nanos > 0)), nanos: 0 }
        }
        // What is less than a blank may have stood behind blanks of a value that is less without them.
        (Datum::String(text), Kind::Char(_)) if !upper => {
            let end = text.find(|c: char| c < ' ').unwrap_or(text.len());
            Datum::String(text.get(..end).unwrap_or_default().trim_end_matches(' ').to_owned())
        }
        (bound, _) => bound,
    }
}

fn is_decimal(kind: &Kind) -> bool {
    matches!(kind, Kind::Decimal { .. })
}

fn is_scalar(kind: &Kind) -> bool {
    !matches!(
        kind,
        Kind::Array(_) | Kind::Multiset(_) | Kind::Map(..) | Kind::Row(_) | Kind::Variant | Kind::Vector { .. }
    )
}
