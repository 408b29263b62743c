//! Timestamps as seconds since 2015 and a part of a second.

use super::ints::Ints;
use crate::{Error, Result};

/// The second that the format counts from, since 1970.
const BASE: i64 = 1_420_070_400;
const NANOS: i128 = 1_000_000_000;
/// Parts of a second that the format takes for none when it rounds times before 1970 (ORC-763).
const ROUNDED: i64 = 999_999;

/// Seconds since 1970 and nanoseconds in them, of values that count `units` a second.
pub(super) fn moments<V: Copy + Into<i128>>(values: &[V], units: i128) -> impl Iterator<Item = (i128, i64)> {
    values.iter().map(move |value| {
        let value: i128 = (*value).into();
        // Less than a billion.
        (value.div_euclid(units), (value.rem_euclid(units) * (NANOS / units)) as i64)
    })
}

/// Timestamps on their way into runs.
pub(super) struct Times {
    seconds: Ints,
    nanos: Ints,
}

impl Default for Times {
    fn default() -> Self {
        Self { seconds: Ints::signed(), nanos: Ints::unsigned() }
    }
}

impl Times {
    /// Appends moments.
    ///
    /// # Errors
    /// `Unsupported` for those within the second before 1970, which the format cannot tell from the second after, and
    /// for seconds beyond 64 bits.
    pub(super) fn extend(&mut self, moments: impl Iterator<Item = (i128, i64)>) -> Result<()> {
        for (second, nanos) in moments {
            let early = nanos > ROUNDED;
            if second == -1 && early {
                return Err(refused("timestamps within the second before 1970"));
            }
            // Readers take a second off again.
            let second = second + i128::from(second < 0 && early) - i128::from(BASE);
            self.seconds.extend([i64::try_from(second).map_err(|_| refused("timestamps beyond 64 bits of seconds"))?]);
            self.nanos.extend([shortened(nanos)]);
        }
        Ok(())
    }

    pub(super) fn size(&self) -> usize {
        self.seconds.size() + self.nanos.size()
    }

    /// The runs of seconds and of parts of seconds; none are left.
    pub(super) fn finish(&mut self) -> (Vec<u8>, Vec<u8>) {
        (self.seconds.finish(), self.nanos.finish())
    }
}

/// Nanoseconds without the zeros they end with, if these are two at least; the lowest three bits count them, less one.
fn shortened(nanos: i64) -> i64 {
    if nanos == 0 || nanos % 100 != 0 {
        return nanos << 3;
    }
    let (mut digits, mut zeros) = (nanos / 100, 1);
    while digits % 10 == 0 {
        digits /= 10;
        zeros += 1;
    }
    digits << 3 | zeros
}

#[cold]
fn refused(what: &str) -> Error {
    Error::unsupported(format!("writing {what} to orc files")).with_hint("use parquet or avro as file.format")
}
