//! Values in the compact forms of the format.

/// Decimals up to this precision are stored as a long in the slot.
pub(crate) const MAX_COMPACT_DECIMAL: u8 = 18;

/// Milliseconds and nanoseconds within the millisecond of a count of units.
pub(crate) fn split(value: i64, per_milli: i64) -> (i64, i32) {
    let rest = value.rem_euclid(per_milli) * (1_000_000 / per_milli);
    (value.div_euclid(per_milli), rest as i32)
}
