//! Manifests, commits, retention of snapshots, changelogs and tags.

use std::time::Duration;

use crate::options::table::{changelog, commit};
use crate::options::{Isolation, Options};
use crate::{Error, Result};

impl Options {
    /// Compression of manifests and manifest lists.
    pub fn manifest_compression(&self) -> &str {
        self.text(&commit::MANIFEST_COMPRESSION).unwrap_or("zstd")
    }

    /// Size that manifests are merged towards.
    ///
    /// # Errors
    /// `Invalid` for text that is no size.
    pub fn manifest_target_size(&self) -> Result<u64> {
        self.require(&commit::MANIFEST_TARGET_FILE_SIZE)
    }

    /// Number of small manifests that starts a merge of the last group.
    ///
    /// # Errors
    /// `Invalid` for text that is no positive number.
    pub fn manifest_merge_min_count(&self) -> Result<usize> {
        self.positive(&commit::MANIFEST_MERGE_MIN_COUNT)
    }

    /// Size of changed manifests that starts a full rewrite.
    ///
    /// # Errors
    /// `Invalid` for text that is no size.
    pub fn manifest_full_compaction_size(&self) -> Result<u64> {
        self.require(&commit::MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE)
    }

    /// Whether DELETE entries of manifests leave out statistics.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn manifest_delete_drops_stats(&self) -> Result<bool> {
        self.is_on(&commit::MANIFEST_DELETE_FILE_DROP_STATS)
    }

    /// How often a commit is retried.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn commit_max_retries(&self) -> Result<i32> {
        self.require(&commit::COMMIT_MAX_RETRIES)
    }

    /// Shortest wait between two tries of a commit.
    ///
    /// # Errors
    /// `Invalid` for text that is no time.
    pub fn commit_min_retry_wait(&self) -> Result<Duration> {
        self.require(&commit::COMMIT_MIN_RETRY_WAIT)
    }

    /// Longest wait between two tries of a commit.
    ///
    /// # Errors
    /// `Invalid` for text that is no time.
    pub fn commit_max_retry_wait(&self) -> Result<Duration> {
        self.require(&commit::COMMIT_MAX_RETRY_WAIT)
    }

    /// How long a commit is tried, where limited.
    ///
    /// # Errors
    /// `Invalid` for text that is no time.
    pub fn commit_timeout(&self) -> Result<Option<Duration>> {
        self.get(&commit::COMMIT_TIMEOUT)
    }

    /// Which commits of others rule out the commit of a statement that reads the table it writes.
    ///
    /// # Errors
    /// `Invalid` for another word.
    pub fn isolation(&self) -> Result<Isolation> {
        let word = self.require(&commit::LINN_ISOLATION_LEVEL)?;
        Isolation::from_word(word).ok_or_else(|| Error::internal("an isolation level without a name"))
    }

    /// Whether a commit waits for a compaction.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn commit_force_compact(&self) -> Result<bool> {
        self.is_on(&commit::COMMIT_FORCE_COMPACT)
    }

    /// Whether a streaming commit without data makes a snapshot.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn commit_force_create_snapshot(&self) -> Result<bool> {
        self.is_on(&commit::COMMIT_FORCE_CREATE_SNAPSHOT)
    }

    /// Prefix of commit users, where set.
    pub fn commit_user_prefix(&self) -> Option<&str> {
        self.text(&commit::COMMIT_USER_PREFIX)
    }

    /// Fewest snapshots to keep.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn snapshot_retain_min(&self) -> Result<i32> {
        self.require(&commit::SNAPSHOT_NUM_RETAINED_MIN)
    }

    /// Most snapshots to keep.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn snapshot_retain_max(&self) -> Result<i32> {
        self.require(&commit::SNAPSHOT_NUM_RETAINED_MAX)
    }

    /// How long snapshots are kept.
    ///
    /// # Errors
    /// `Invalid` for text that is no time.
    pub fn snapshot_retain_time(&self) -> Result<Duration> {
        self.require(&commit::SNAPSHOT_TIME_RETAINED)
    }

    /// Most snapshots that one run of expiry removes.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn snapshot_expire_limit(&self) -> Result<i32> {
        self.require(&commit::SNAPSHOT_EXPIRE_LIMIT)
    }

    /// Fewest changelogs to keep; the snapshots' number unless set.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn changelog_retain_min(&self) -> Result<i32> {
        self.get(&changelog::CHANGELOG_NUM_RETAINED_MIN)?.map_or_else(|| self.snapshot_retain_min(), Ok)
    }

    /// Most changelogs to keep; the snapshots' number unless set.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn changelog_retain_max(&self) -> Result<i32> {
        self.get(&changelog::CHANGELOG_NUM_RETAINED_MAX)?.map_or_else(|| self.snapshot_retain_max(), Ok)
    }

    /// How long changelogs are kept; the snapshots' time unless set.
    ///
    /// # Errors
    /// `Invalid` for text that is no time.
    pub fn changelog_retain_time(&self) -> Result<Duration> {
        self.get(&changelog::CHANGELOG_TIME_RETAINED)?.map_or_else(|| self.snapshot_retain_time(), Ok)
    }

    /// Whether changelogs outlive their snapshots.
    ///
    /// # Errors
    /// `Invalid` for a bad value of one of the retention options.
    pub fn changelog_decoupled(&self) -> Result<bool> {
        Ok(self.changelog_retain_max()? > self.snapshot_retain_max()?
            || self.changelog_retain_time()? > self.snapshot_retain_time()?
            || self.changelog_retain_min()? > self.snapshot_retain_min()?)
    }
}
