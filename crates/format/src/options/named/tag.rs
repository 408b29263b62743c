//! Tags that make themselves, and how long tags are kept.

use std::time::Duration;

use crate::options::table::{commit, write};
use crate::options::{Options, TagCreation, TagFormatter, TagPeriod};
use crate::{Error, Result};

impl Options {
    /// What makes tags by themselves.
    ///
    /// # Errors
    /// `Invalid` for another word.
    pub fn tag_creation(&self) -> Result<TagCreation> {
        self.word(&commit::TAG_AUTOMATIC_CREATION, TagCreation::from_word)
    }

    /// How often tags make themselves.
    ///
    /// # Errors
    /// `Invalid` for another word.
    pub fn tag_period(&self) -> Result<TagPeriod> {
        self.word(&commit::TAG_CREATION_PERIOD, TagPeriod::from_word)
    }

    /// The period as a time, which goes before the word.
    ///
    /// # Errors
    /// `Invalid` for text that is no time, or none above zero.
    pub fn tag_period_duration(&self) -> Result<Option<Duration>> {
        match self.get(&commit::TAG_CREATION_PERIOD_DURATION)? {
            Some(period) if period.as_millis() == 0 => {
                Err(Error::invalid("option \"tag.creation-period-duration\" must be at least a millisecond"))
            }
            period => Ok(period),
        }
    }

    /// How tags that make themselves are named.
    ///
    /// # Errors
    /// `Invalid` for another word.
    pub fn tag_formatter(&self) -> Result<TagFormatter> {
        self.word(&commit::TAG_PERIOD_FORMATTER, TagFormatter::from_word)
    }

    /// How long after a period its tag is made.
    ///
    /// # Errors
    /// `Invalid` for text that is no time.
    pub fn tag_delay(&self) -> Result<Duration> {
        self.require(&commit::TAG_CREATION_DELAY)
    }

    /// Whether tags of periods without a commit are made later.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn tag_completion(&self) -> Result<bool> {
        self.is_on(&commit::TAG_AUTOMATIC_COMPLETION)
    }

    /// Most tags that made themselves.
    ///
    /// # Errors
    /// `Invalid` for text that is no number, or none above zero.
    pub fn tag_num_retained_max(&self) -> Result<Option<usize>> {
        match self.get(&commit::TAG_NUM_RETAINED_MAX)? {
            None => Ok(None),
            Some(max) => match usize::try_from(max) {
                Ok(max) if max > 0 => Ok(Some(max)),
                _ => Err(Error::invalid(format!("option \"tag.num-retained-max\" cannot be {max}"))
                    .with_hint("set it to a number above 0")),
            },
        }
    }

    /// How long tags are kept that are made without saying so.
    ///
    /// # Errors
    /// `Invalid` for text that is no time.
    pub fn tag_default_time_retained(&self) -> Result<Option<Duration>> {
        self.get(&commit::TAG_DEFAULT_TIME_RETAINED)
    }

    /// Whether commits remove tags whose time is over.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn tag_time_expire(&self) -> Result<bool> {
        self.is_on(&commit::TAG_TIME_EXPIRE_ENABLED)
    }

    /// Whether a file beside the tags marks each of them, for jobs that wait for it.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn tag_success_file(&self) -> Result<bool> {
        self.is_on(&commit::TAG_CREATE_SUCCESS_FILE)
    }

    /// How long a watermark may stand still before a commit without rows makes a snapshot, where set.
    ///
    /// # Errors
    /// `Invalid` for text that is no time.
    pub fn watermark_idle_timeout(&self) -> Result<Option<Duration>> {
        self.get(&commit::SNAPSHOT_WATERMARK_IDLE_TIMEOUT)
    }

    /// The name of the tag of a batch job, where set.
    pub fn tag_batch_name(&self) -> Option<&str> {
        self.text(&commit::TAG_BATCH_CUSTOMIZED_NAME)
    }

    /// The time zone of processing time; the machine's unless set.
    pub fn process_time_zone(&self) -> Option<&str> {
        self.text(&write::SINK_PROCESS_TIME_ZONE)
    }

    /// The time zone of watermarks.
    pub fn watermark_time_zone(&self) -> &str {
        self.text(&write::SINK_WATERMARK_TIME_ZONE).unwrap_or("UTC")
    }
}
