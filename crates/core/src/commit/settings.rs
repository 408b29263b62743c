//! The `commit.*` and `manifest.*` options that a commit follows.

use std::time::Duration;

use linn_format::manifest::Codec;
use linn_format::options::table::key::WRITE_SEQUENCE_NUMBER_INIT_MODE;
use linn_format::options::table::{commit, compaction, file, general};
use linn_format::options::{OptionDef, Options};
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
        for feature in [&general::ROW_TRACKING_ENABLED, &general::DATA_EVOLUTION_ENABLED] {
            if options.is_on(feature)? {
                return Err(Error::unsupported(format!("commits to tables with {}", feature.key)));
            }
        }
        Ok(Self {
            force_create_snapshot: options.commit_force_create_snapshot()?
                || options.get(&commit::SNAPSHOT_IGNORE_EMPTY_COMMIT)? == Some(false),
            discard_duplicate_files: options.is_on(&commit::COMMIT_DISCARD_DUPLICATE_FILES)?,
            max_retries: u32::try_from(count(options, &commit::COMMIT_MAX_RETRIES)?).unwrap_or(u32::MAX),
            min_retry_wait: options.commit_min_retry_wait()?,
            max_retry_wait: options.commit_max_retry_wait()?,
            timeout: options.commit_timeout()?,
            overwrite_upgrade: options.is_on(&compaction::OVERWRITE_UPGRADE)?,
            deletion_vectors: options.deletion_vectors_enabled()?,
            snapshot_ordering: options.snapshot_ordering()?,
            carries_sequence: options.require(&WRITE_SEQUENCE_NUMBER_INIT_MODE)? == "snapshot",
            last_safe: last_safe(options)?,
            manifests: ManifestSettings {
                codec: Codec::parse(
                    options.manifest_compression(),
                    options.require(&file::FILE_COMPRESSION_ZSTD_LEVEL)?,
                )?,
                target_size: options.manifest_target_size()?,
                full_threshold: options.manifest_full_compaction_size()?.max(1),
                merge_min_count: count(options, &commit::MANIFEST_MERGE_MIN_COUNT)?,
                drops_stats: options.manifest_delete_drops_stats()?,
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
    let id = options.get(&commit::COMMIT_STRICT_MODE_LAST_SAFE_SNAPSHOT)?;
    Ok(id.map(|id| (id >= 0).then_some(SnapshotId(id))))
}

fn count(options: &Options, def: &OptionDef<i32>) -> Result<usize> {
    let value = options.require(def)?;
    usize::try_from(value).map_err(|_| Error::invalid(format!("option {} cannot be {value}", def.key)))
}
