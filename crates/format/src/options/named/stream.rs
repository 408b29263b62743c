//! Streaming and incremental reads (spec: features.md B11).

use std::time::Duration;

use crate::Result;
use crate::options::table::{changelog, scan};
use crate::options::{ConsumerMode, IncrementalSource, Options};

impl Options {
    /// How often a streaming read looks for snapshots that it is not told of.
    ///
    /// # Errors
    /// `Invalid` for text that is no time.
    pub fn discovery_interval(&self) -> Result<Duration> {
        self.require(&scan::CONTINUOUS_DISCOVERY_INTERVAL)
    }

    /// How long a streaming read stays behind the clock.
    ///
    /// # Errors
    /// `Invalid` for text that is no time.
    pub fn streaming_read_delay(&self) -> Result<Option<Duration>> {
        self.get(&changelog::STREAMING_READ_SNAPSHOT_DELAY)
    }

    /// The watermark after which a streaming read ends.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn scan_bounded_watermark(&self) -> Result<Option<i64>> {
        self.get(&scan::SCAN_BOUNDED_WATERMARK)
    }

    /// `scan.creation-time-millis`.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn scan_creation_millis(&self) -> Result<Option<i64>> {
        self.get(&scan::SCAN_CREATION_TIME_MILLIS)
    }

    /// The only bucket that is read.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn scan_bucket(&self) -> Result<Option<i32>> {
        self.get(&scan::SCAN_BUCKET)
    }

    /// Whether streaming reads of a primary-key table show what overwrites replace.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn streaming_read_overwrite(&self) -> Result<bool> {
        self.is_on(&changelog::STREAMING_READ_OVERWRITE)
    }

    /// Whether streaming reads of a table without a primary key show what overwrites add.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn streaming_read_append_overwrite(&self) -> Result<bool> {
        self.is_on(&changelog::STREAMING_READ_APPEND_OVERWRITE)
    }

    /// What changes between two points are read from.
    ///
    /// # Errors
    /// `Invalid` for another word.
    pub fn incremental_source(&self) -> Result<IncrementalSource> {
        self.word(&scan::INCREMENTAL_BETWEEN_SCAN_MODE, IncrementalSource::from_word)
    }

    /// `incremental-to-auto-tag`: the later one of two automatic tags.
    pub fn incremental_to_auto_tag(&self) -> Option<&str> {
        self.text(&scan::INCREMENTAL_TO_AUTO_TAG)
    }

    /// Whether two tags stand for the snapshots between them rather than for two states to compare.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn incremental_tag_to_snapshot(&self) -> Result<bool> {
        self.is_on(&scan::INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT)
    }

    /// The name under which a streaming read records its progress.
    pub fn consumer_id(&self) -> Option<&str> {
        self.text(&changelog::CONSUMER_ID).map(str::trim).filter(|id| !id.is_empty())
    }

    /// How the readers of one consumer go on.
    ///
    /// # Errors
    /// `Invalid` for another word.
    pub fn consumer_mode(&self) -> Result<ConsumerMode> {
        self.word(&changelog::CONSUMER_MODE, ConsumerMode::from_word)
    }

    /// Whether a streaming read starts without the progress recorded for its consumer.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn consumer_ignore_progress(&self) -> Result<bool> {
        self.is_on(&changelog::CONSUMER_IGNORE_PROGRESS)
    }

    /// Whether the audit log and the binlog show sequence numbers.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn read_sequence_numbers(&self) -> Result<bool> {
        self.is_on(&scan::TABLE_READ_SEQUENCE_NUMBER_ENABLED)
    }

    /// Whether the audit log and the binlog show the snapshot of each change.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn read_snapshot_ids(&self) -> Result<bool> {
        self.is_on(&scan::LINN_READ_SNAPSHOT_ID)
    }

    /// Whether the audit log and the binlog show when each change was committed.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn read_commit_times(&self) -> Result<bool> {
        self.is_on(&scan::LINN_READ_COMMIT_TIME)
    }
}
