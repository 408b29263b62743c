//! How the rows of a table get their buckets (spec: features.md B6; format.md C.8): what the option `bucket` means.

use crate::Result;

use super::TableSchema;

/// How rows get their buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bucketing {
    /// A hash of the bucket key gives one of so many buckets. Writers refuse a number below 1.
    Fixed(i32),
    /// There is one bucket, number 0, and it says nothing: an append table with `bucket=-1`.
    Unaware,
    /// A key keeps the bucket that it was given first: a primary-key table with `bucket=-1`.
    Dynamic,
    /// Rows wait in bucket [`Bucketing::POSTPONED`] until they are placed; each partition has its own number of buckets: `bucket=-2`.
    Postponed,
}

impl Bucketing {
    /// The number of the bucket in which rows wait, and the bucket count of its files.
    pub const POSTPONED: i32 = -2;
    /// The bucket count of files whose bucket does not follow from a number of buckets.
    pub const NONE: i32 = -1;

    /// What a number means in a table with or without a primary key.
    pub fn of(bucket: i32, primary_key: bool) -> Self {
        match bucket {
            Self::POSTPONED => Self::Postponed,
            Self::NONE if primary_key => Self::Dynamic,
            Self::NONE => Self::Unaware,
            count => Self::Fixed(count),
        }
    }

    /// The number that stands for it in the option `bucket` and as the bucket count of files.
    pub fn number(self) -> i32 {
        match self {
            Self::Fixed(count) => count,
            Self::Unaware | Self::Dynamic => Self::NONE,
            Self::Postponed => Self::POSTPONED,
        }
    }
}

impl TableSchema {
    /// How rows of this table get their buckets.
    ///
    /// # Errors
    /// `Invalid` when the option `bucket` is not a number.
    pub fn bucketing(&self) -> Result<Bucketing> {
        Ok(Bucketing::of(self.options.bucket()?, self.is_primary_key_table()))
    }
}

#[cfg(test)]
mod tests {
    use super::Bucketing;

    #[test]
    fn numbers_come_back() {
        for (number, keyed, bucketing) in [
            (4, true, Bucketing::Fixed(4)),
            (1, false, Bucketing::Fixed(1)),
            (-1, true, Bucketing::Dynamic),
            (-1, false, Bucketing::Unaware),
            (-2, true, Bucketing::Postponed),
        ] {
            assert_eq!(Bucketing::of(number, keyed), bucketing);
            assert_eq!(bucketing.number(), number);
        }
    }
}
