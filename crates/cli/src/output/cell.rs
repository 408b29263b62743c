//! The values of a column as text.

use std::fmt::Write;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type, TimeUnit};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use linn::Result;

use super::time;

/// Times within nested values as people and SQL write them.
const TIMESTAMP: Option<&str> = Some("%Y-%m-%d %H:%M:%S%.f");
const ZONED: Option<&str> = Some("%Y-%m-%d %H:%M:%S%.f%:z");

/// Writes the values of one column.
pub(super) struct Cells<'a> {
    column: &'a ArrayRef,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Date(PrimitiveArray<Int64Type>),
    Timestamp { units: PrimitiveArray<Int64Type>, per_second: i64, separator: char, zone: &'static str },
    Float { values: PrimitiveArray<Float64Type>, finite: ArrayFormatter<'a> },
    Other(ArrayFormatter<'a>),
}

/// How instants are spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// A blank between date and time, and the offset of a zone.
    People,
    /// `T` between date and time, and `Z` for a zone.
    Iso,
}

impl<'a> Cells<'a> {
    /// The values of this column.
    ///
    /// # Errors
    /// Those of Arrow, for types without text.
    pub(super) fn new(column: &'a ArrayRef, spelling: Spelling) -> Result<Self> {
        let options = FormatOptions::default()
            .with_timestamp_format(TIMESTAMP)
            .with_datetime_format(TIMESTAMP)
            .with_timestamp_tz_format(ZONED);
        let formatter = || ArrayFormatter::try_new(column.as_ref(), &options);
        let kind = match column.data_type() {
            DataType::Date32 => {
                let days = cast(&cast(column, &DataType::Int32)?, &DataType::Int64)?;
                Kind::Date(days.as_primitive::<Int64Type>().clone())
            }
            DataType::Timestamp(unit, zone) if is_utc(zone.as_deref()) => {
                let units = cast(column, &DataType::Int64)?.as_primitive::<Int64Type>().clone();
                let zone = match (zone, spelling) {
                    (None, _) => "",
                    (Some(_), Spelling::People) => "+00:00",
                    (Some(_), Spelling::Iso) => "Z",
                };
                let separator = if spelling == Spelling::People { ' ' } else { 'T' };
                Kind::Timestamp { units, per_second: per_second(*unit), separator, zone }
            }
            DataType::Float16 | DataType::Float32 | DataType::Float64 => {
                let values = cast(column, &DataType::Float64)?.as_primitive::<Float64Type>().clone();
                Kind::Float { values, finite: formatter()? }
            }
            _ => Kind::Other(formatter()?),
        };
        Ok(Self { column, kind })
    }

    /// Writes a value; false, and nothing, for null.
    pub(super) fn write(&self, row: usize, out: &mut String) -> bool {
        if self.column.is_null(row) || matches!(self.column.data_type(), DataType::Null) {
            return false;
        }
        // Writing to a String cannot fail.
        let _ = match &self.kind {
            Kind::Date(days) => {
                time::date(days.value(row), out);
                Ok(())
            }
            Kind::Timestamp { units, per_second, separator, zone } => {
                time::timestamp(units.value(row), *per_second, *separator, out);
                out.write_str(zone)
            }
            Kind::Float { values, finite } => match values.value(row) {
                f64::INFINITY => out.write_str("Infinity"),
                f64::NEG_INFINITY => out.write_str("-Infinity"),
                _ => write!(out, "{}", finite.value(row)),
            },
            Kind::Other(formatter) => write!(out, "{}", formatter.value(row)),
        };
        true
    }

    /// A value, or else the text for null.
    pub(super) fn text(&self, row: usize, null: &str) -> String {
        let mut out = String::new();
        if !self.write(row, &mut out) {
            out.push_str(null);
        }
        out
    }
}

/// Whether instants are in UTC or in no zone.
pub(super) fn is_utc(zone: Option<&str>) -> bool {
    zone.is_none_or(|zone| matches!(zone, "UTC" | "+00:00" | "Z" | "Etc/UTC"))
}

/// Units of a second.
pub(super) fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}
