//! Expiry of snapshots, partitions and consumers, and the marks of finished partitions.

use std::time::Duration;

use crate::Result;
use crate::options::Options;
use crate::options::table::{changelog, commit, compaction, file, partition};

impl Options {
    /// How many operations on files run at once, where set.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn file_operation_threads(&self) -> Result<Option<i32>> {
        self.get(&file::FILE_OPERATION_THREAD_NUM)
    }

    /// Whether expiry removes folders that it empties.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn snapshot_clean_empty_directories(&self) -> Result<bool> {
        self.is_on(&commit::SNAPSHOT_CLEAN_EMPTY_DIRECTORIES)
    }

    /// Whether expiry runs beside the commits rather than within them.
    ///
    /// # Errors
    /// `Invalid` for another word.
    pub fn snapshot_expire_async(&self) -> Result<bool> {
        Ok(self.require(&commit::SNAPSHOT_EXPIRE_EXECUTION_MODE)? == "async")
    }

    /// Whether consumers hold changelogs only, not snapshots.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn consumer_changelog_only(&self) -> Result<bool> {
        self.is_on(&changelog::CONSUMER_CHANGELOG_ONLY)
    }

    /// How long a consumer may stand still, where limited.
    ///
    /// # Errors
    /// `Invalid` for text that is no time.
    pub fn consumer_expiration_time(&self) -> Result<Option<Duration>> {
        self.get(&changelog::CONSUMER_EXPIRATION_TIME)
    }

    /// The age at which partitions expire, where they do.
    ///
    /// # Errors
    /// `Invalid` for text that is no time.
    pub fn partition_expiration_time(&self) -> Result<Option<Duration>> {
        self.get(&partition::PARTITION_EXPIRATION_TIME)
    }

    /// What tells the age of a partition: `values-time`, `update-time` or the name of another strategy.
    pub fn partition_expiration_strategy(&self) -> &str {
        self.text(&partition::PARTITION_EXPIRATION_STRATEGY).unwrap_or("values-time")
    }

    /// Whether partitions that are past their age are not compacted any more.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn skips_expired_partitions(&self) -> Result<bool> {
        self.is_on(&compaction::COMPACTION_SKIP_EXPIRED_PARTITIONS)
    }

    /// How often partitions are looked at.
    ///
    /// # Errors
    /// `Invalid` for text that is no time.
    pub fn partition_expiration_interval(&self) -> Result<Duration> {
        self.require(&partition::PARTITION_EXPIRATION_CHECK_INTERVAL)
    }

    /// Most partitions that expire in one run.
    ///
    /// # Errors
    /// `Invalid` for text that is no positive number.
    pub fn partition_expiration_max(&self) -> Result<usize> {
        self.positive(&partition::PARTITION_EXPIRATION_MAX_NUM)
    }

    /// Most partitions that expire in one commit, where limited.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn partition_expiration_batch(&self) -> Result<Option<i32>> {
        self.get(&partition::PARTITION_EXPIRATION_BATCH_SIZE)
    }

    /// Whether the end of a batch looks at the partitions whatever the interval.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn end_input_expires_partitions(&self) -> Result<bool> {
        self.is_on(&commit::END_INPUT_CHECK_PARTITION_EXPIRE)
    }

    /// How times are written in partition values, where set.
    pub fn partition_timestamp_formatter(&self) -> Option<&str> {
        self.text(&partition::PARTITION_TIMESTAMP_FORMATTER)
    }

    /// How partition columns form a time, where set.
    pub fn partition_timestamp_pattern(&self) -> Option<&str> {
        self.text(&partition::PARTITION_TIMESTAMP_PATTERN)
    }

    /// What is done to mark a partition done, in order.
    pub fn partition_mark_done_actions(&self) -> Vec<&str> {
        self.list(&partition::PARTITION_MARK_DONE_ACTION)
    }

    /// The server that is told of partitions that are done, where set.
    pub fn partition_mark_done_url(&self) -> Option<&str> {
        self.text(&partition::PARTITION_MARK_DONE_ACTION_HTTP_URL).filter(|url| !url.trim().is_empty())
    }

    /// What it is told beside.
    pub fn partition_mark_done_params(&self) -> Option<&str> {
        self.text(&partition::PARTITION_MARK_DONE_ACTION_HTTP_PARAMS)
    }
}
