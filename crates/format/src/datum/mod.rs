//! A single value outside of a batch: predicate literals, partition values, min and max of statistics.

use bytes::Bytes;

mod array;
pub(crate) mod civil;
mod float;
mod order;
mod show;
pub(crate) mod text;

#[cfg(test)]
mod tests;

pub use array::{array_from_datums, datums_from_array};
pub use float::{Float, one_nan};
pub use order::compare_rows;

/// A non-null scalar. Which variant belongs to which [`Kind`](crate::types::Kind) is said at each variant.
#[derive(Debug, Clone, PartialEq)]
pub enum Datum {
    /// BOOLEAN.
    Boolean(bool),
    /// TINYINT.
    TinyInt(i8),
    /// SMALLINT.
    SmallInt(i16),
    /// INT.
    Int(i32),
    /// BIGINT.
    BigInt(i64),
    /// FLOAT.
    Float(f32),
    /// DOUBLE.
    Double(f64),
    /// DATE: days since 1970-01-01.
    Date(i32),
    /// TIME: milliseconds of the day.
    Time(i32),
    /// TIMESTAMP and TIMESTAMP WITH LOCAL TIME ZONE: milliseconds since the epoch and nanoseconds within the millisecond.
    Timestamp {
        /// Milliseconds since 1970-01-01T00:00:00.
        millis: i64,
        /// 0 to 999,999.
        nanos: i32,
    },
    /// DECIMAL: unscaled value; precision and scale are the column's.
    Decimal {
        /// Value × 10^scale.
        unscaled: i128,
        /// Digits in all.
        precision: u8,
        /// Digits behind the point.
        scale: u8,
    },
    /// CHAR, VARCHAR.
    String(String),
    /// BINARY, VARBINARY.
    Bytes(Bytes),
}
