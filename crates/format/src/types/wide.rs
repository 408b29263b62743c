//! Timestamps of seven to nine digits in 128 bits (decision 0003).
//!
//! Arrow's nanoseconds end in 2262; the format's do not. Where nothing may be lost (writing, compaction, reading as
//! text) such columns are carried as seconds with nine decimals, which order as the instants do and hold all of them.

use arrow_schema::DataType as Arrow;

use super::{DataField, DataType, Kind};
use crate::{Error, Result};

/// The Arrow type of wide timestamps: seconds since the epoch, with nanoseconds behind the point.
pub(crate) const WIDE_TIMESTAMP: Arrow = Arrow::Decimal128(38, 9);
/// Nanoseconds of a second.
pub const NANOS_OF_SECOND: i128 = 1_000_000_000;
const NANOS_OF_MILLI: i128 = 1_000_000;

/// Whether a column of the fields holds, at any depth, timestamps of more than six digits.
pub fn has_nanos(fields: &[DataField]) -> bool {
    fields.iter().any(|field| nanos_in(&field.data_type))
}

fn nanos_in(data_type: &DataType) -> bool {
    match &data_type.kind {
        Kind::Timestamp(p) | Kind::LocalZonedTimestamp(p) => *p > 6,
        Kind::WideTimestamp { .. } => true,
        Kind::Array(element) | Kind::Multiset(element) | Kind::Vector { element, .. } => nanos_in(element),
        Kind::Map(key, value) => nanos_in(key) || nanos_in(value),
        Kind::Row(fields) => has_nanos(fields),
        _ => false,
    }
}

/// The fields with [`Kind::WideTimestamp`] for every timestamp of more than six digits, at any depth.
pub fn widened(fields: &[DataField]) -> Vec<DataField> {
    replaced(fields, &|kind| match kind {
        Kind::Timestamp(p) if *p > 6 => Some(Kind::WideTimestamp { precision: *p, zoned: false }),
        Kind::LocalZonedTimestamp(p) if *p > 6 => Some(Kind::WideTimestamp { precision: *p, zoned: true }),
        _ => None,
    })
}

/// The fields with `STRING` for every timestamp of more than six digits, at any depth: how they are shown as text.
pub fn spelled(fields: &[DataField]) -> Vec<DataField> {
    replaced(&widened(fields), &|kind| match kind {
        Kind::WideTimestamp { .. } => Some(DataType::string().kind),
        _ => None,
    })
}

/// The fields as a schema has them.
pub fn narrowed(fields: &[DataField]) -> Vec<DataField> {
    replaced(fields, &|kind| match kind {
        Kind::WideTimestamp { precision, zoned: false } => Some(Kind::Timestamp(*precision)),
        Kind::WideTimestamp { precision, zoned: true } => Some(Kind::LocalZonedTimestamp(*precision)),
        _ => None,
    })
}

fn replaced(fields: &[DataField], with: &impl Fn(&Kind) -> Option<Kind>) -> Vec<DataField> {
    let field = |f: &DataField| DataField { data_type: replace(&f.data_type, with), ..f.clone() };
    fields.iter().map(field).collect()
}

fn replace(data_type: &DataType, with: &impl Fn(&Kind) -> Option<Kind>) -> DataType {
    let inner = |t: &DataType| Box::new(replace(t, with));
    let kind = match &data_type.kind {
        Kind::Array(element) => Kind::Array(inner(element)),
        Kind::Multiset(element) => Kind::Multiset(inner(element)),
        Kind::Vector { element, length } => Kind::Vector { element: inner(element), length: *length },
        Kind::Map(key, value) => Kind::Map(inner(key), inner(value)),
        Kind::Row(fields) => Kind::Row(replaced(fields, with)),
        leaf => with(leaf).unwrap_or_else(|| leaf.clone()),
    };
    DataType { kind, nullable: data_type.nullable }
}

/// Nanoseconds since the epoch.
pub(crate) fn wide_of(millis: i64, nanos: i32) -> i128 {
    i128::from(millis) * NANOS_OF_MILLI + i128::from(nanos)
}

/// Milliseconds, and nanoseconds within the millisecond.
///
/// # Errors
/// `Corrupt` for an instant whose milliseconds do not fit 64 bits, which the format cannot mean.
pub(crate) fn split_wide(nanos: i128) -> Result<(i64, i32)> {
    match i64::try_from(nanos.div_euclid(NANOS_OF_MILLI)) {
        // Below a million.
        Ok(millis) => Ok((millis, nanos.rem_euclid(NANOS_OF_MILLI) as i32)),
        Err(_) => Err(Error::corrupt(format!("a timestamp of {nanos} nanoseconds is out of range"))),
    }
}
