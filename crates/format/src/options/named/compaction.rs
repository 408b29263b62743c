//! Levels and compaction of primary-key tables, compaction of append tables (spec: features.md B5, B7).

use std::time::Duration;

use crate::options::parse::invalid_value;
use crate::options::table::{compaction, lookup, write};
use crate::options::{ChangelogProducer, OptionDef, Options};
use crate::{Error, Result};

impl Options {
    /// Whether writers leave compaction and expiry to others.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn write_only(&self) -> Result<bool> {
        self.is_on(&compaction::WRITE_ONLY)
    }

    /// Number of sorted runs that starts a compaction.
    ///
    /// # Errors
    /// `Invalid` for text that is no positive number.
    pub fn compaction_trigger(&self) -> Result<usize> {
        self.positive(&compaction::NUM_SORTED_RUN_COMPACTION_TRIGGER)
    }

    /// Number of sorted runs at which writers wait: the trigger and three by default, never below the trigger.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn stop_trigger(&self) -> Result<usize> {
        let trigger = self.compaction_trigger()?;
        let stop = self.positive_opt(&compaction::NUM_SORTED_RUN_STOP_TRIGGER)?;
        Ok(stop.unwrap_or(trigger.saturating_add(3)).max(trigger))
    }

    /// Number of levels: the compaction trigger and one by default.
    ///
    /// # Errors
    /// `Invalid` for text that is no positive number.
    pub fn num_levels(&self) -> Result<usize> {
        let levels = self.positive_opt(&compaction::NUM_LEVELS)?;
        Ok(levels.unwrap_or(self.compaction_trigger()?.saturating_add(1)))
    }

    /// Percent by which the next run may be larger and still join a compaction.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn size_ratio(&self) -> Result<i32> {
        self.require(&compaction::COMPACTION_SIZE_RATIO)
    }

    /// Percent of extra space at which everything is compacted.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn max_size_amplification(&self) -> Result<i32> {
        self.require(&compaction::COMPACTION_MAX_SIZE_AMPLIFICATION_PERCENT)
    }

    /// How often a full compaction is due, where set.
    ///
    /// # Errors
    /// `Invalid` for text that is no time.
    pub fn optimization_interval(&self) -> Result<Option<Duration>> {
        self.get(&compaction::COMPACTION_OPTIMIZATION_INTERVAL)
    }

    /// Total size below which compactions are full, where set.
    ///
    /// # Errors
    /// `Invalid` for text that is no size.
    pub fn total_size_threshold(&self) -> Result<Option<u64>> {
        self.get(&compaction::COMPACTION_TOTAL_SIZE_THRESHOLD)
    }

    /// Size outside of the last level above which a compaction is full, where set.
    ///
    /// # Errors
    /// `Invalid` for text that is no size.
    pub fn incremental_size_threshold(&self) -> Result<Option<u64>> {
        self.get(&compaction::COMPACTION_INCREMENTAL_SIZE_THRESHOLD)
    }

    /// Share of the target file size below which a file counts as small.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn small_file_ratio(&self) -> Result<f64> {
        self.require(&compaction::COMPACTION_SMALL_FILE_RATIO)
    }

    /// Size below which a file joins a compaction.
    ///
    /// # Errors
    /// `Invalid` for text that is no size or number.
    pub fn small_file_size(&self, has_primary_key: bool) -> Result<u64> {
        // Saturates at the ends, as a float to integer conversion does; sizes stay far below 2^53.
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Ok((self.target_file_size(has_primary_key)? as f64 * self.small_file_ratio()?) as u64)
    }

    /// Number of small files of an append table that starts a compaction.
    ///
    /// # Errors
    /// `Invalid` for text that is no positive number.
    pub fn compaction_min_files(&self) -> Result<usize> {
        self.positive(&compaction::COMPACTION_MIN_FILE_NUM)
    }

    /// Share of deleted rows at which a file of an append table is rewritten.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn delete_ratio_threshold(&self) -> Result<f64> {
        self.require(&compaction::COMPACTION_DELETE_RATIO_THRESHOLD)
    }

    /// Whether a compaction always takes all of level 0.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn force_up_level_0(&self) -> Result<bool> {
        self.is_on(&compaction::COMPACTION_FORCE_UP_LEVEL_0)
    }

    /// Whether lookup compaction takes level 0 at once (`RADICAL`) rather than in its turn (`GENTLE`).
    ///
    /// # Errors
    /// `Invalid` for another word.
    pub fn lookup_compact_radical(&self) -> Result<bool> {
        Ok(self.require(&lookup::LOOKUP_COMPACT)? == "RADICAL")
    }

    /// Flushes after which a gentle lookup compaction is forced: twice the trigger by default, never below it.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn lookup_compact_max_interval(&self) -> Result<usize> {
        let trigger = self.compaction_trigger()?;
        let interval = self.positive_opt(&lookup::LOOKUP_COMPACT_MAX_INTERVAL)?;
        Ok(interval.unwrap_or(trigger.saturating_mul(2)).max(trigger))
    }

    /// Bytes of lookup files that are kept on local disk.
    ///
    /// # Errors
    /// `Invalid` for text that is no size.
    pub fn lookup_cache_disk(&self) -> Result<u64> {
        self.require(&lookup::LOOKUP_CACHE_MAX_DISK_SIZE)
    }

    /// How long a lookup file is kept that is not used.
    ///
    /// # Errors
    /// `Invalid` for text that is no time.
    pub fn lookup_cache_retention(&self) -> Result<Duration> {
        self.require(&lookup::LOOKUP_CACHE_FILE_RETENTION)
    }

    /// Compression of lookup files.
    pub fn lookup_compression(&self) -> &str {
        self.text(&lookup::LOOKUP_CACHE_SPILL_COMPRESSION).unwrap_or("zstd")
    }

    /// Bytes of a block of a lookup file.
    ///
    /// # Errors
    /// `Invalid` for text that is no size.
    pub fn cache_page_size(&self) -> Result<u64> {
        self.require(&lookup::CACHE_PAGE_SIZE)
    }

    /// Rate of false positives of the bloom filters of lookup files; `None` when they have none.
    ///
    /// # Errors
    /// `Invalid` for a bad value, or a rate that is not between 0 and 1.
    pub fn lookup_bloom_fpp(&self) -> Result<Option<f64>> {
        if !self.is_on(&lookup::LOOKUP_CACHE_BLOOM_FILTER_ENABLED)? {
            return Ok(None);
        }
        let fpp = self.require(&lookup::LOOKUP_CACHE_BLOOM_FILTER_FPP)?;
        match fpp > 0.0 && fpp < 1.0 {
            true => Ok(Some(fpp)),
            false => Err(Error::invalid(format!("\"lookup.cache.bloom.filter.fpp\" = {fpp} is not between 0 and 1"))),
        }
    }

    /// The level from which on new files get a lookup file beside them; `None` when none does.
    ///
    /// # Errors
    /// `Invalid` for a bad value.
    pub fn lookup_remote_level(&self) -> Result<Option<i32>> {
        match self.is_on(&lookup::LOOKUP_REMOTE_FILE_ENABLED)? {
            true => self.require(&lookup::LOOKUP_REMOTE_FILE_LEVEL_THRESHOLD).map(Some),
            false => Ok(None),
        }
    }

    /// zstd level of files on local disk.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn spill_zstd_level(&self) -> Result<i32> {
        self.require(&write::SPILL_COMPRESSION_ZSTD_LEVEL)
    }

    /// Commits between full compactions, where set; 1 when the changelog producer needs them and nothing is set.
    ///
    /// # Errors
    /// `Invalid` for text that is no positive number.
    pub fn full_compaction_commits(&self) -> Result<Option<usize>> {
        let set = self.positive_opt(&compaction::FULL_COMPACTION_DELTA_COMMITS)?;
        let needed = self.changelog_producer()? == ChangelogProducer::FullCompaction;
        Ok(set.or(needed.then_some(1)))
    }

    /// Bytes a second that compactions may read and write, where they are limited.
    ///
    /// # Errors
    /// `Invalid` for text that is no size, and for none at all.
    pub fn compaction_io_limit(&self) -> Result<Option<u64>> {
        let def = &compaction::LINN_COMPACTION_IO_LIMIT;
        match self.get(def)? {
            Some(0) => Err(invalid_value(def.key, "0", &Error::invalid("expected at least one byte"))),
            limit => Ok(limit),
        }
    }

    /// How long deletes stay that order what comes late, in milliseconds.
    ///
    /// # Errors
    /// `Invalid` for text that is no duration.
    pub fn delete_retention_millis(&self) -> Result<i64> {
        let time = self.require(&compaction::LINN_DELETE_RETENTION_TIME)?;
        Ok(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
    }

    /// A number that must be at least 1, with a default.
    pub(super) fn positive(&self, def: &OptionDef<i32>) -> Result<usize> {
        let value = self.positive_opt(def)?;
        value.ok_or_else(|| Error::invalid(format!("option {:?} is not set and has no default", def.key)))
    }

    /// A number that must be at least 1.
    pub(super) fn positive_opt(&self, def: &OptionDef<i32>) -> Result<Option<usize>> {
        match self.get(def)? {
            None => Ok(None),
            Some(value) => match usize::try_from(value) {
                Ok(value) if value >= 1 => Ok(Some(value)),
                _ => Err(invalid_value(def.key, &value.to_string(), &Error::invalid("expected at least 1"))),
            },
        }
    }
}
