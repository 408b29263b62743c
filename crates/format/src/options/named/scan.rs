//! Scans: where they start, how they are cut into splits (spec: features.md B11).

use std::time::Duration;

use crate::Result;
use crate::options::table::{index, scan};
use crate::options::{Options, ScanMode};

impl Options {
    /// Where a scan starts; `default` is resolved by the other scan options.
    ///
    /// # Errors
    /// `Invalid` for another word.
    pub fn scan_mode(&self) -> Result<ScanMode> {
        let mode = self.word(&scan::SCAN_MODE, ScanMode::from_word)?;
        Ok(match mode {
            ScanMode::Full => ScanMode::LatestFull,
            ScanMode::Default if self.is_set(&scan::SCAN_TIMESTAMP_MILLIS) || self.is_set(&scan::SCAN_TIMESTAMP) => {
                ScanMode::FromTimestamp
            }
            ScanMode::Default
                if self.is_set(&scan::SCAN_SNAPSHOT_ID)
                    || self.is_set(&scan::SCAN_TAG_NAME)
                    || self.is_set(&scan::SCAN_WATERMARK)
                    || self.is_set(&scan::SCAN_VERSION) =>
            {
                ScanMode::FromSnapshot
            }
            ScanMode::Default if self.is_set(&scan::SCAN_FILE_CREATION_TIME_MILLIS) => ScanMode::FromFileCreationTime,
            ScanMode::Default if self.is_set(&scan::SCAN_CREATION_TIME_MILLIS) => ScanMode::FromCreationTimestamp,
            ScanMode::Default
                if self.is_set(&scan::INCREMENTAL_BETWEEN)
                    || self.is_set(&scan::INCREMENTAL_BETWEEN_TIMESTAMP)
                    || self.is_set(&scan::INCREMENTAL_TO_AUTO_TAG) =>
            {
                ScanMode::Incremental
            }
            ScanMode::Default => ScanMode::LatestFull,
            other => other,
        })
    }

    /// Whether `linn.read.wide-timestamps` asks for timestamps of more than six digits as text.
    ///
    /// # Errors
    /// `Invalid` for another word.
    pub fn wide_timestamps_as_text(&self) -> Result<bool> {
        Ok(self.require(&scan::LINN_READ_WIDE_TIMESTAMPS)? == "text")
    }

    /// `scan.snapshot-id`.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn scan_snapshot_id(&self) -> Result<Option<i64>> {
        self.get(&scan::SCAN_SNAPSHOT_ID)
    }

    /// `scan.tag-name`.
    pub fn scan_tag_name(&self) -> Option<&str> {
        self.text(&scan::SCAN_TAG_NAME)
    }

    /// `scan.timestamp-millis`.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn scan_timestamp_millis(&self) -> Result<Option<i64>> {
        self.get(&scan::SCAN_TIMESTAMP_MILLIS)
    }

    /// `scan.timestamp`: a local date and time as text.
    pub fn scan_timestamp(&self) -> Option<&str> {
        self.text(&scan::SCAN_TIMESTAMP)
    }

    /// `scan.watermark`.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn scan_watermark(&self) -> Result<Option<i64>> {
        self.get(&scan::SCAN_WATERMARK)
    }

    /// `scan.plan-auto-tag-for-read.time-retained`: for how long the snapshot of a batch read is tagged, where it is.
    ///
    /// # Errors
    /// `Invalid` for text that is no time.
    pub fn scan_read_tag_time(&self) -> Result<Option<Duration>> {
        self.get(&scan::SCAN_PLAN_AUTO_TAG_FOR_READ_TIME_RETAINED)
    }

    /// `scan.ignore-lost-files`.
    ///
    /// # Errors
    /// `Invalid` for text that is neither true nor false.
    pub fn scan_ignore_lost_files(&self) -> Result<bool> {
        self.is_on(&scan::SCAN_IGNORE_LOST_FILES)
    }

    /// `scan.ignore-corrupt-files`.
    ///
    /// # Errors
    /// `Invalid` for text that is neither true nor false.
    pub fn scan_ignore_corrupt_files(&self) -> Result<bool> {
        self.is_on(&scan::SCAN_IGNORE_CORRUPT_FILES)
    }

    /// `scan.version`: a tag name or a snapshot id.
    pub fn scan_version(&self) -> Option<&str> {
        self.text(&scan::SCAN_VERSION)
    }

    /// `scan.file-creation-time-millis`.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn scan_file_creation_millis(&self) -> Result<Option<i64>> {
        self.get(&scan::SCAN_FILE_CREATION_TIME_MILLIS)
    }

    /// `incremental-between`: start (exclusive) and end (inclusive) as ids or tags.
    pub fn incremental_between(&self) -> Option<&str> {
        self.text(&scan::INCREMENTAL_BETWEEN)
    }

    /// `incremental-between-timestamp`: start (exclusive) and end (inclusive).
    pub fn incremental_between_timestamp(&self) -> Option<&str> {
        self.text(&scan::INCREMENTAL_BETWEEN_TIMESTAMP)
    }

    /// Bytes that a split is filled to.
    ///
    /// # Errors
    /// `Invalid` for text that is no size.
    pub fn split_target_size(&self) -> Result<u64> {
        self.require(&scan::SOURCE_SPLIT_TARGET_SIZE)
    }

    /// Bytes that opening one file counts for.
    ///
    /// # Errors
    /// `Invalid` for text that is no size.
    pub fn split_open_file_cost(&self) -> Result<u64> {
        self.require(&scan::SOURCE_SPLIT_OPEN_FILE_COST)
    }

    /// Whether file indexes are consulted.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn file_index_read(&self) -> Result<bool> {
        self.is_on(&index::FILE_INDEX_READ_ENABLED)
    }

    /// Size up to which a file index is embedded in the manifest.
    ///
    /// # Errors
    /// `Invalid` for text that is no size.
    pub fn file_index_in_manifest_size(&self) -> Result<u64> {
        self.require(&index::FILE_INDEX_IN_MANIFEST_THRESHOLD)
    }

    /// The `file-index.<type>.columns` options as (type, columns), in key order.
    pub fn file_index_columns(&self) -> Vec<(&str, Vec<&str>)> {
        let columns = self.iter().filter_map(|(key, value)| {
            let kind = key.strip_prefix("file-index.")?.strip_suffix(".columns")?;
            Some((kind, crate::options::parse_list(value)))
        });
        columns.collect()
    }
}
