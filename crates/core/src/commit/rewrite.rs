//! Snapshots that only change which manifests a table has: their full compaction, and going on without manifests that are
//! lost (spec: format.md C.17; features.md B14).

use linn_format::manifest::{FileKind, ManifestMeta};
use linn_format::snapshot::{CommitKind, SNAPSHOT_VERSION, Snapshot, WRITER_VERSION};
use linn_format::{Error, ErrorKind, Result, SnapshotId};

use super::BATCH_IDENTIFIER;
use super::base::{Entries, for_each};
use super::files::Files;
use super::merge::merge;
use super::publish::publish;
use super::settings::{ManifestSettings, Settings};
use crate::seam::{Attempt, Published};
use crate::snapshot::Snapshots;
use crate::table::Table;

/// The manifests of a snapshot before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The snapshot that was made; none when there was nothing to do.
    pub snapshot: Option<SnapshotId>,
    /// Names of the manifests that are not used any more.
    pub before: Vec<String>,
    /// Manifests that came instead.
    pub after: usize,
}

/// What a rewrite makes of the manifests of the latest snapshot.
struct Change {
    kind: CommitKind,
    manifests: Vec<ManifestMeta>,
    total: Option<i64>,
    written: Vec<String>,
}

/// What is done to the manifests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rewrite {
    Merge,
    LeaveOutLost,
}

/// Merges all manifests of a table as far as that leaves fewer of them or fewer entries. The snapshot holds the same files.
///
/// # Errors
/// `Unavailable` when others kept coming first, `UnknownOutcome` when it is not known whether the snapshot is there, and what
/// reading manifests yields.
pub async fn compact_manifests(table: &Table) -> Result<Rewritten> {
    rewrite(table, Rewrite::Merge).await
}

/// Goes on without the manifests that are gone; the rows of the files that they named are lost to the table.
///
/// # Errors
/// As [`compact_manifests`].
pub async fn remove_lost_manifests(table: &Table) -> Result<Rewritten> {
    rewrite(table, Rewrite::LeaveOutLost).await
}

/// The manifests of a table in numbers, from which one can tell what their compaction is worth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ManifestCounts {
    /// How many there are.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Entries that remove data files; compaction leaves them out with what they remove.
    pub removals: i64,
    /// Manifests with such entries.
    pub removing: usize,
    /// Manifests below `manifest.target-file-size`; compaction joins them.
    pub small: usize,
    /// The value of that option in bytes.
    pub target: u64,
}

/// Counts the manifests of the latest snapshot; `None` when there is none.
///
/// # Errors
/// What reading the snapshot's lists yields.
pub async fn count_manifests(table: &Table) -> Result<Option<ManifestCounts>> {
    let target = Settings::of(table)?.manifests.target_size;
    let Some(latest) = Snapshots::new(table).latest().await? else { return Ok(None) };
    let mut counts = ManifestCounts { target, ..ManifestCounts::default() };
    for manifest in Files::new(table).manifests_of(&latest).await? {
        let bytes = u64::try_from(manifest.file_size).unwrap_or(0);
        counts.files += 1;
        counts.bytes = counts.bytes.saturating_add(bytes);
        counts.removals = counts.removals.saturating_add(manifest.num_deleted_files);
        counts.removing += usize::from(manifest.num_deleted_files > 0);
        counts.small += usize::from(bytes < target);
    }
    Ok(Some(counts))
}

/// The manifests of the latest snapshot that are gone: [`remove_lost_manifests`] goes on without them.
///
/// # Errors
/// `Unavailable` when it is not certain that one is gone, and what reading the snapshot's lists yields.
pub async fn lost_manifests(table: &Table) -> Result<Vec<ManifestMeta>> {
    let Some(latest) = Snapshots::new(table).latest().await? else { return Ok(Vec::new()) };
    let mut all = Files::new(table).manifests_of(&latest).await?;
    let there = there(table, all.clone()).await?;
    all.retain(|manifest| !there.contains(manifest));
    Ok(all)
}

impl Rewrite {
    async fn change(
        self,
        files: &Files,
        settings: &Settings,
        latest: &Snapshot,
        manifests: Vec<ManifestMeta>,
    ) -> Result<Change> {
        match self {
            Self::Merge => {
                let full = ManifestSettings { full_threshold: 1, merge_min_count: 1, ..settings.manifests };
                let merged = merge(files, manifests, latest.schema_id, full).await?;
                let manifests = merged.after().to_vec();
                let total = latest.total_record_count;
                Ok(Change { kind: CommitKind::Compact, manifests, total, written: merged.written })
            }
            Self::LeaveOutLost => {
                let there = there(files.table(), manifests).await?;
                let total = Some(rows(files, &there).await?);
                Ok(Change { kind: CommitKind::Overwrite, manifests: there, total, written: Vec::new() })
            }
        }
    }
}

/// Those of the manifests that are there.
async fn there(table: &Table, manifests: Vec<ManifestMeta>) -> Result<Vec<ManifestMeta>> {
    let mut there = Vec::new();
    for manifest in manifests {
        match table.storage().stat(&table.manifest_path(&manifest.file_name)).await {
            Ok(_) => there.push(manifest),
            Err(e) if e.kind() == ErrorKind::NotFound => {
                tracing::warn!(table = table.name(), manifest = manifest.file_name, "a lost manifest is left out");
            }
            Err(e) => return Err(e),
        }
    }
    Ok(there)
}

async fn rows(files: &Files, manifests: &[ManifestMeta]) -> Result<i64> {
    let mut total = 0_i64;
    for_each(files, manifests, Entries::Identities, |batch| {
        for i in 0..batch.len() {
            let rows = batch.row_count(i);
            total = match batch.kind(i) {
                FileKind::Add => total.saturating_add(rows),
                FileKind::Delete => total.saturating_sub(rows),
            };
        }
        Ok(())
    })
    .await?;
    Ok(total)
}

async fn rewrite(table: &Table, what: Rewrite) -> Result<Rewritten> {
    let settings = Settings::of(table)?;
    let (files, snapshots) = (Files::new(table), Snapshots::new(table));
    for tries in 0..=settings.max_retries {
        let Some(latest) = snapshots.latest().await? else {
            return Ok(Rewritten { snapshot: None, before: Vec::new(), after: 0 });
        };
        let before = files.manifests_of(&latest).await?;
        let change = what.change(&files, &settings, &latest, before.clone()).await?;
        let gone = |manifest: &&ManifestMeta| !change.manifests.contains(manifest);
        let names: Vec<String> = before.iter().filter(gone).map(|manifest| manifest.file_name.clone()).collect();
        if names.is_empty() {
            files.remove(change.written).await;
            return Ok(Rewritten { snapshot: None, before: names, after: 0 });
        }
        let after = change.manifests.iter().filter(|manifest| !before.contains(manifest)).count();
        let base = files.write_list(change.manifests, settings.manifests).await?;
        let delta = files.write_list(Vec::new(), settings.manifests).await?;
        let env = table.env();
        let snapshot = Snapshot {
            version: SNAPSHOT_VERSION,
            uuid: Some(env.ids.uuid()),
            id: latest.id.next(),
            base_manifest_list: base.name.clone(),
            base_manifest_list_size: Some(base.size),
            delta_manifest_list: delta.name.clone(),
            delta_manifest_list_size: Some(delta.size),
            changelog_manifest_list: None,
            changelog_manifest_list_size: None,
            commit_user: env.ids.uuid(),
            writer_version: Some(WRITER_VERSION.to_owned()),
            commit_identifier: BATCH_IDENTIFIER,
            commit_kind: change.kind,
            time_millis: env.clock.now_millis(),
            total_record_count: change.total,
            delta_record_count: Some(0),
            changelog_record_count: None,
            operation: None,
            ..(*latest).clone()
        };
        match publish(table, &snapshots, &snapshot, Attempt::First).await? {
            Published::Done => {
                snapshots.hint_latest(snapshot.id).await;
                return Ok(Rewritten { snapshot: Some(snapshot.id), before: names, after });
            }
            Published::Taken => {
                files.remove(change.written.into_iter().chain([base.name, delta.name])).await;
                env.clock.sleep(settings.wait(tries, env.ids.jitter())).await;
            }
            Published::Failed(e) => {
                files.remove(change.written.into_iter().chain([base.name, delta.name])).await;
                return Err(e);
            }
            Published::Uncertain(e) => {
                let error =
                    Error::unknown_outcome(format!("snapshot {} may or may not have been committed", snapshot.id));
                return Err(error.with("table", table.name()).with_source(e));
            }
        }
    }
    Err(Error::unavailable("other commits kept coming first").with("table", table.name()))
}
