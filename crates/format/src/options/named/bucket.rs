//! Ordered, dynamic and postponed buckets, keys across partitions.

use std::time::Duration;

use crate::options::table::bucket;
use crate::options::{OptionDef, Options};
use crate::{Error, Result};

impl Options {
    /// Whether the rows of a bucket of an append table keep their order.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn bucket_append_ordered(&self) -> Result<bool> {
        self.is_on(&bucket::BUCKET_APPEND_ORDERED)
    }

    /// Keys of a dynamic bucket after which it takes no new ones.
    ///
    /// # Errors
    /// `Invalid` unless it is above 0.
    pub fn dynamic_bucket_target_row_num(&self) -> Result<u64> {
        self.above_zero(&bucket::DYNAMIC_BUCKET_TARGET_ROW_NUM, self.require(&bucket::DYNAMIC_BUCKET_TARGET_ROW_NUM)?)
    }

    /// Buckets that a partition with dynamic buckets starts with.
    ///
    /// # Errors
    /// `Invalid` unless it is above 0.
    pub fn dynamic_bucket_initial_buckets(&self) -> Result<Option<i32>> {
        self.number_above_zero(&bucket::DYNAMIC_BUCKET_INITIAL_BUCKETS)
    }

    /// Among how many assigners the keys of a table with dynamic buckets are spread.
    ///
    /// # Errors
    /// `Invalid` unless it is above 0.
    pub fn dynamic_bucket_assigner_parallelism(&self) -> Result<Option<i32>> {
        self.number_above_zero(&bucket::DYNAMIC_BUCKET_ASSIGNER_PARALLELISM)
    }

    /// Most dynamic buckets of a partition; `None` for as many as it takes.
    ///
    /// # Errors
    /// `Invalid` unless it is −1 or above 0.
    pub fn dynamic_bucket_max_buckets(&self) -> Result<Option<i32>> {
        match self.require(&bucket::DYNAMIC_BUCKET_MAX_BUCKETS)? {
            -1 => Ok(None),
            max if max > 0 => Ok(Some(max)),
            max => Err(Error::invalid(format!("option \"dynamic-bucket.max-buckets\" cannot be {max}"))
                .with_hint("set it to a number above 0, or to -1 for no limit")),
        }
    }

    /// Whether batch jobs write to the real buckets of a table with postponed buckets.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn postpone_batch_write_fixed_bucket(&self) -> Result<bool> {
        self.is_on(&bucket::POSTPONE_BATCH_WRITE_FIXED_BUCKET)
    }

    /// Most buckets that a batch job gives a partition.
    ///
    /// # Errors
    /// `Invalid` unless it is above 0.
    pub fn postpone_max_fixed_buckets(&self) -> Result<u64> {
        let def = &bucket::POSTPONE_BATCH_WRITE_FIXED_BUCKET_MAX_PARALLELISM;
        self.above_zero(def, i64::from(self.require(def)?))
    }

    /// How many times the buckets of a partition that one batch job needs may be those that it has.
    ///
    /// # Errors
    /// `Invalid` unless it is above 0.
    pub fn postpone_rescale_load_factor(&self) -> Result<u64> {
        let def = &bucket::POSTPONE_BATCH_WRITE_FIXED_BUCKET_RESCALE_LOAD_FACTOR;
        self.above_zero(def, i64::from(self.require(def)?))
    }

    /// Whether batch reads show rows that wait for a bucket.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn postpone_merge_on_read(&self) -> Result<bool> {
        self.is_on(&bucket::POSTPONE_MERGE_ON_READ)
    }

    /// Buckets that a partition gets whose rows were postponed; `None` for as many as they need.
    ///
    /// # Errors
    /// `Invalid` unless it is above 0.
    pub fn postpone_default_bucket_num(&self) -> Result<Option<i32>> {
        self.number_above_zero(&bucket::POSTPONE_DEFAULT_BUCKET_NUM)
    }

    /// Rows that a bucket is planned for when postponed rows get theirs.
    ///
    /// # Errors
    /// `Invalid` unless it is above 0.
    pub fn postpone_target_row_num_per_bucket(&self) -> Result<Option<u64>> {
        let def = &bucket::POSTPONE_TARGET_ROW_NUM_PER_BUCKET;
        self.get(def)?.map(|rows| self.above_zero(def, rows)).transpose()
    }

    /// Bytes that a bucket is planned for when postponed rows get theirs.
    ///
    /// # Errors
    /// `Invalid` unless it is above 0.
    pub fn postpone_target_size_per_bucket(&self) -> Result<u64> {
        let def = &bucket::POSTPONE_TARGET_SIZE_PER_BUCKET;
        self.above_zero(def, i64::try_from(self.require(def)?).unwrap_or(i64::MAX))
    }

    /// How long a key is known to have been written; `None` for ever.
    ///
    /// # Errors
    /// `Invalid` for text that is no time.
    pub fn cross_partition_index_ttl(&self) -> Result<Option<Duration>> {
        self.get(&bucket::CROSS_PARTITION_UPSERT_INDEX_TTL)
    }

    /// How many splits are read at once to learn which keys a table has.
    ///
    /// # Errors
    /// `Invalid` unless it is above 0.
    pub fn cross_partition_bootstrap_parallelism(&self) -> Result<usize> {
        let def = &bucket::CROSS_PARTITION_UPSERT_BOOTSTRAP_PARALLELISM;
        let threads = self.above_zero(def, i64::from(self.require(def)?))?;
        Ok(usize::try_from(threads).unwrap_or(1))
    }

    fn number_above_zero(&self, def: &OptionDef<i32>) -> Result<Option<i32>> {
        let Some(number) = self.get(def)? else { return Ok(None) };
        self.above_zero(def, i64::from(number))?;
        Ok(Some(number))
    }

    fn above_zero<T: ?Sized>(&self, def: &OptionDef<T>, number: i64) -> Result<u64> {
        u64::try_from(number)
            .ok()
            .filter(|number| *number > 0)
            .ok_or_else(|| Error::invalid(format!("option {:?} must be above 0, not {number}", def.key)))
    }
}
