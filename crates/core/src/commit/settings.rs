//! The `commit.*` and `manifest.*` options that a commit follows.

use std::time::Duration;

use linn_format::manifest::Codec;
use linn_format::options::table::commit::{MANIFEST_DELETE_FILE_DROP_STATS, SNAPSHOT_IGNORE_EMPTY_COMMIT};
use linn_format::options::table::key::WRITE_SEQUENCE_NUMBER_INIT_MODE;
use linn_format::options::{Options, parse_duration, parse_memory};
use linn_format::{Error, Result, SnapshotId};

use crate::table::Table;

/// Options of commits, read.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    /// Whether commits without changes make a snapshot all the same.
    pub(super) force_create_snapshot: bool,
    pub(super) discard_duplicate_files: bool,
    pub(super) max_retries: u32,
    pub(super) min_retry_wait: Duration,
    pub(super) max_retry_wait: Duration,
    pub(super) timeout: Option<Duration>,
    pub(super) overwrite_upgrade: bool,
    pub(super) deletion_vectors: bool,
    /// Whether new files are ordered by the snapshot that adds them, which is put in place of their sequence numbers.
    pub(super) snapshot_ordering: bool,
    /// The last snapshot of others that the first commit may build upon; `Some(None)` for any.
    pub(super) last_safe: Option<Option<SnapshotId>>,
    /// Whether the largest sequence number of the table is carried from snapshot to snapshot, for writers that begin with
    /// it (`write.sequence-number-init-mode`).
    pub(super) carries_sequence: bool,
    pub(super) manifests: ManifestSettings,
}

/// Options of manifests, read.
#[derive(Debug, Clone, Copy)]
pub(super) struct ManifestSettings {
    pub(super) codec: Codec,
    pub(super) target_size: u64,
    pub(super) full_threshold: u64,
    pub(super) merge_min_count: usize,
    /// Whether entries that remove a file leave out the statistics of its values.
    pub(super) drops_stats: bool,
}

impl Settings {
    pub(super) fn of(table: &Table) -> Result<Self> {
        let options = table.options();
        options.check_writable()?;
        for feature in ["row-tracking.enabled", "data-evolution.enabled"] {
            if flag(options, feature, false)? {
                return Err(Error::unsupported(format!("feature {feature} on commit")));
            }
        }
        Ok(Self {
            force_create_snapshot: flag(options, "commit.force-create-snapshot", false)?
                || options.bool_opt(&SNAPSHOT_IGNORE_EMPTY_COMMIT)? == Some(false),
            discard_duplicate_files: flag(options, "commit.discard-duplicate-files", false)?,
            max_retries: number(options, "commit.max-retries", 10)?,
            min_retry_wait: duration(options, "commit.min-retry-wait")?.unwrap_or(Duration::from_millis(10)),
            max_retry_wait: duration(options, "commit.max-retry-wait")?.unwrap_or(Duration::from_secs(10)),
            timeout: duration(options, "commit.timeout")?,
            overwrite_upgrade: flag(options, "overwrite-upgrade", true)?,
            deletion_vectors: flag(options, "deletion-vectors.enabled", false)?,
            snapshot_ordering: options.snapshot_ordering()?,
            carries_sequence: options.choice(&WRITE_SEQUENCE_NUMBER_INIT_MODE)? == "snapshot",
            last_safe: last_safe(options)?,
            manifests: ManifestSettings {
                codec: Codec::parse(
                    options.get("manifest.compression").unwrap_or("zstd"),
                    number(options, "file.compression.zstd-level", 1)?,
                )?,
                target_size: memory(options, "manifest.target-file-size", 8 << 20)?,
                full_threshold: memory(options, "manifest.full-compaction-threshold-size", 16 << 20)?.max(1),
                merge_min_count: number(options, "manifest.merge-min-count", 30)?,
                drops_stats: options.bool(&MANIFEST_DELETE_FILE_DROP_STATS)?,
            },
        })
    }

    /// How long to wait before try number `tries` + 1: doubling, with a fifth of jitter so that those who lost the same race
    /// do not meet again.
    pub(super) fn wait(&self, tries: u32, jitter: f64) -> u64 {
        let doubled = self.min_retry_wait.saturating_mul(2_u32.saturating_pow(tries.min(30)));
        let wait = doubled.min(self.max_retry_wait).as_secs_f64() * 1000.0;
        (wait * (1.0 + 0.2 * jitter)) as u64
    }
}

fn last_safe(options: &Options) -> Result<Option<Option<SnapshotId>>> {
    const KEY: &str = "commit.strict-mode.last-safe-snapshot";
    let Some(text) = options.get(KEY) else { return Ok(None) };
    let id: i64 = text.trim().parse().map_err(|_| bad(KEY, text))?;
    Ok(Some((id >= 0).then_some(SnapshotId(id))))
}

fn bad(key: &str, value: &str) -> Error {
    Error::invalid(format!("option {key} cannot be {value:?}"))
}

fn flag(options: &Options, key: &str, default: bool) -> Result<bool> {
    match options.get(key) {
        None => Ok(default),
        Some(value) => value.trim().to_ascii_lowercase().parse().map_err(|_| bad(key, value)),
    }
}

fn number<T: std::str::FromStr>(options: &Options, key: &str, default: T) -> Result<T> {
    options.get(key).map_or(Ok(default), |value| value.trim().parse().map_err(|_| bad(key, value)))
}

fn duration(options: &Options, key: &'static str) -> Result<Option<Duration>> {
    options.get(key).map(parse_duration).transpose().map_err(|e| e.with("option", key))
}

fn memory(options: &Options, key: &'static str, default: u64) -> Result<u64> {
    options.get(key).map_or(Ok(default), parse_memory).map_err(|e| e.with("option", key))
}
