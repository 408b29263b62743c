//! How many buckets a partition gets when its first rows are placed. Pure.

use linn_format::options::Options;
use linn_format::{Error, Result};

/// What there is to place in a partition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Load {
    /// Rows in the waiting files.
    pub(super) rows: u64,
    /// Their bytes.
    pub(super) bytes: u64,
}

/// Who places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// A compaction.
    Compaction,
    /// A batch job that places its own rows: rounded up to a power of two, so that a partition written in parts of
    /// about the same size does not get an odd number.
    Batch,
}

/// The number of buckets of a partition that has none.
///
/// # Errors
/// `Invalid` for bad option values, or when there would be too many buckets.
pub(super) fn choose(options: &Options, load: Load, by: By) -> Result<i32> {
    if let Some(count) = options.postpone_default_bucket_num()? {
        return Ok(count);
    }
    let (load, target, key) = match options.postpone_target_row_num_per_bucket()? {
        Some(rows) => (load.rows, rows, "postpone.target-row-num-per-bucket"),
        None => (load.bytes, options.postpone_target_size_per_bucket()?, "postpone.target-size-per-bucket"),
    };
    let needed = load.div_ceil(target).max(1);
    let most = options.postpone_max_fixed_buckets()?;
    let count = match by {
        By::Compaction => needed,
        By::Batch => needed.min(most).next_power_of_two().min(most),
    };
    i32::try_from(count)
        .map_err(|_| Error::invalid(format!("a partition would get {count} buckets")).with_hint(format!("raise {key}")))
}

#[cfg(test)]
mod tests {
    use linn_format::options::Options;

    use super::{By, Load, choose};

    fn check(options: &[(&str, &str)], rows: u64, bytes: u64, expected: (i32, i32)) {
        let options = options.iter().copied().collect::<Options>();
        let load = Load { rows, bytes };
        let both = (choose(&options, load, By::Compaction).unwrap(), choose(&options, load, By::Batch).unwrap());
        assert_eq!(both, expected, "{rows} rows, {bytes} bytes");
    }

    #[test]
    fn the_load_decides() {
        check(&[], 10, 0, (1, 1));
        check(&[], 10, 1 << 30, (1, 1));
        check(&[], 10, (4 << 30) + 1, (5, 8));
        let rows = [("postpone.target-row-num-per-bucket", "10")];
        check(&rows, 30, 1 << 40, (3, 4));
        check(&rows, 31, 0, (4, 4));
        let capped = [rows[0], ("postpone.batch-write-fixed-bucket.max-parallelism", "6")];
        check(&capped, 1000, 0, (100, 6));
        check(&[rows[0], ("postpone.default-bucket-num", "7")], 1000, 0, (7, 7));
    }
}
