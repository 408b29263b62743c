//! How many buckets a partition gets when its first rows are placed. Pure.

use linn_format::options::Options;
use linn_format::{Error, Result};

/// What there is to place in a partition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Load {
    /// Rows in the waiting files.
    pub(crate) rows: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
}

/// Who places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
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
pub(crate) fn choose(options: &Options, load: Load, by: By) -> Result<i32> {
    if let Some(count) = options.postpone_default_bucket_num()? {
        return Ok(count);
    }
    let needed = needed(options, load)?;
    let count = match by {
        By::Compaction => needed,
        By::Batch => rounded(needed, options.postpone_max_fixed_buckets()?),
    };
    i32::try_from(count).map_err(|_| {
        let key = match options.postpone_target_row_num_per_bucket() {
            Ok(Some(_)) => "postpone.target-row-num-per-bucket",
            _ => "postpone.target-size-per-bucket",
        };
        Error::invalid(format!("a partition would get {count} buckets")).with_hint(format!("raise {key}"))
    })
}

/// The larger number of buckets that a partition gets when one batch job has added so much to its `count` buckets; `None`
/// while it bears that.
///
/// # Errors
/// `Invalid` for bad option values.
pub(crate) fn enlarge(options: &Options, load: Load, count: i32) -> Result<Option<i32>> {
    let needed = needed(options, load)?;
    let borne = u64::from(count.unsigned_abs()).saturating_mul(options.postpone_rescale_load_factor()?);
    let larger = i32::try_from(rounded(needed, options.postpone_max_fixed_buckets()?)).unwrap_or(i32::MAX);
    Ok((needed > borne && larger > count).then_some(larger))
}

/// The buckets that a load fills.
fn needed(options: &Options, load: Load) -> Result<u64> {
    let (load, target) = match options.postpone_target_row_num_per_bucket()? {
        Some(rows) => (load.rows, rows),
        None => (load.bytes, options.postpone_target_size_per_bucket()?),
    };
    Ok(load.div_ceil(target).max(1))
}

fn rounded(needed: u64, most: u64) -> u64 {
    needed.min(most).next_power_of_two().min(most)
}

#[cfg(test)]
mod tests {
    use linn_format::options::Options;

    use super::{By, Load, choose, enlarge};

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

    #[test]
    fn what_is_much_too_small_is_enlarged() {
        let rows = |count, rows, more: &[(&str, &str)]| {
            let options = [("postpone.target-row-num-per-bucket", "10"), ("postpone.default-bucket-num", "1")];
            let options = options.iter().chain(more).copied().collect::<Options>();
            enlarge(&options, Load { rows, bytes: 0 }, count).unwrap()
        };
        assert_eq!(rows(1, 320, &[]), None);
        assert_eq!(rows(1, 321, &[]), Some(64));
        assert_eq!(rows(2, 321, &[]), None);
        let factor = ("postpone.batch-write-fixed-bucket.rescale-load-factor", "1");
        assert_eq!(rows(2, 20, &[factor]), None);
        assert_eq!(rows(2, 21, &[factor]), Some(4));
        // No more than the most, and never fewer than there are.
        let most = ("postpone.batch-write-fixed-bucket.max-parallelism", "3");
        assert_eq!(rows(2, 100, &[factor, most]), Some(3));
        assert_eq!(rows(3, 100, &[factor, most]), None);
        assert_eq!(rows(4, 100, &[factor, most]), None);
    }
}
