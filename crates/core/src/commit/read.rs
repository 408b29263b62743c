//! Reading what a change is judged by: the latest snapshot, the files of the buckets that change, and what others have committed.
//!
//! Nothing is read when nothing can be wrong: rows are only added, to partitions whose bucket count is known.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use linn_format::manifest::{DELETION_VECTORS_INDEX, EntryBatch, IndexManifestEntry, ManifestMeta};
use linn_format::options::table::compaction::PK_CLUSTERING_OVERRIDE;
use linn_format::schema::Bucketing;
use linn_format::snapshot::{CommitKind, Snapshot};
use linn_format::types::DataType;
use linn_format::{Result, SnapshotId};

use super::attempt::State;
use super::base::{self, BaseFiles};
use super::change::Change;
use super::conflict::{self, Simple};
use super::judge::{Checks, FileCheck, VectorCheck};
use super::phase::{Phase, Provider};
use super::scope::Scope;
use super::settings::Settings;
use super::{isolation, restore, strict};

/// Partitions whose bucket count is known to be right.
const CHECKED_PARTITIONS: usize = 1000;

/// What a commit is built on and judged by.
#[derive(Debug, Default)]
pub(super) struct Base<'p> {
    /// The snapshot that the new one follows; `None` in an empty table.
    pub(super) latest: Option<Arc<Snapshot>>,
    /// Its manifests.
    pub(super) manifests: Vec<ManifestMeta>,
    /// Its index manifest.
    pub(super) index: Option<String>,
    /// The lines of that, where they matter.
    pub(super) lines: Vec<IndexManifestEntry>,
    /// The change on this base. Owned when it is of this base only.
    pub(super) change: Cow<'p, Change>,
    /// Its entries.
    pub(super) delta: Vec<Simple>,
    /// What the table holds in the buckets and partitions that change.
    pub(super) files: BaseFiles,
    /// What others have committed that rules the change out.
    pub(super) ruled_out: Option<String>,
}

impl State {
    /// Reads what a phase is judged by when it follows `latest`.
    pub(super) async fn read<'p>(
        &mut self,
        user: &str,
        settings: &Settings,
        phase: &'p Phase,
        latest: Option<Arc<Snapshot>>,
    ) -> Result<Base<'p>> {
        let manifests = match &latest {
            Some(latest) => self.files.manifests_of(latest).await?,
            None => Vec::new(),
        };
        let index = latest.as_ref().and_then(|latest| latest.index_manifest.clone());
        let lines = match &index {
            Some(name) if phase.wants_index(settings) => self.files.index(name).await?,
            _ => Vec::new(),
        };
        let change = match &phase.provider {
            Provider::Fixed(change) => Cow::Borrowed(change),
            Provider::Overwrite { target, added } => {
                Cow::Owned(target.change(&self.files, &manifests, &lines, added).await?)
            }
            Provider::Restore(target) => Cow::Owned(restore::change(&self.files, &manifests, target).await?),
        };
        let mut base = Base { latest, manifests, index, lines, change, ..Base::default() };
        if !matches!(phase.provider, Provider::Restore(_)) {
            self.read_files(settings, phase, &mut base).await?;
        }
        base.ruled_out = self.ruled_out(user, settings, phase, &base).await?;
        Ok(base)
    }

    /// What is checked of a phase.
    pub(super) fn checks(&self, settings: &Settings, phase: &Phase) -> Result<Checks> {
        let (unaware, table) = (self.is_unaware()?, phase.check || discards(settings, phase));
        Ok(Checks {
            files: match phase.provider {
                Provider::Restore(_) => FileCheck::Nothing,
                Provider::Fixed(_) | Provider::Overwrite { .. } if table => FileCheck::Table,
                Provider::Fixed(_) | Provider::Overwrite { .. } => FileCheck::Itself,
            },
            may_rescale: phase.kind == CommitKind::Overwrite,
            vectors: match settings.deletion_vectors {
                true if unaware => VectorCheck::Files,
                true => VectorCheck::Buckets,
                false => VectorCheck::None,
            },
            key_types: self.key_types()?,
            unaware,
        })
    }

    /// Reads the files of the buckets that change, and leaves out of the change what the table has already where that is asked for.
    async fn read_files(&self, settings: &Settings, phase: &Phase, base: &mut Base<'_>) -> Result<()> {
        let batch = EntryBatch::from_entries(&base.change.entries)?;
        base.delta = (0..batch.len()).map(|i| Simple::of(&batch, i)).collect();
        // A change that contradicts itself is refused whatever the table holds.
        let Ok(written) = conflict::written_buckets(&base.delta) else { return Ok(()) };
        let checks = self.checks(settings, phase)?;
        let check = checks.files == FileCheck::Table;
        let unchecked = written.iter().filter(|(partition, count)| self.checked_buckets.get(*partition) != Some(count));
        let unchecked: Vec<Box<[u8]>> =
            if checks.may_rescale { Vec::new() } else { unchecked.map(|(partition, _)| partition.clone()).collect() };
        if !base.manifests.is_empty() && (check || !unchecked.is_empty()) {
            let mut wanted: HashSet<(Box<[u8]>, Option<i32>)> =
                unchecked.into_iter().map(|partition| (partition, None)).collect();
            if check {
                wanted.extend(base.delta.iter().map(|entry| (entry.key.partition.clone(), Some(entry.key.bucket))));
                wanted.extend(vector_buckets(&base.change));
            }
            // Vectors are held against all files of their buckets.
            let scope = match checks.vectors {
                VectorCheck::None => Scope::of(&batch, checks.key_types)?,
                VectorCheck::Buckets | VectorCheck::Files => Scope::Buckets,
            };
            base.files = base::read(&self.files, &base.manifests, &wanted, &scope).await?;
        }
        if discards(settings, phase) {
            base.discard_duplicates();
        }
        if check && checks.vectors == VectorCheck::Files {
            base.files.files = conflict::pair_base(std::mem::take(&mut base.files.files), &base.lines)?;
        }
        Ok(())
    }

    /// What others have committed that rules a change out.
    async fn ruled_out(
        &mut self,
        user: &str,
        settings: &Settings,
        phase: &Phase,
        base: &Base<'_>,
    ) -> Result<Option<String>> {
        let (table, snapshots) = (self.files.table(), &self.snapshots);
        if let Some(latest) = &base.latest {
            if let Some(why) = self.alone.check(table, snapshots, user, &phase.alone, latest.id).await? {
                return Ok(Some(why));
            }
            if let Some(safe) = safe(settings, phase, self.last_own)
                && let Some(why) =
                    strict::check(table, snapshots, user, safe, latest.id, phase.kind, &base.change).await?
            {
                return Ok(Some(why));
            }
        }
        let overwrites = matches!(phase.provider, Provider::Overwrite { .. });
        isolation::check(table, snapshots, &phase.reads, base.latest.as_deref(), &base.change, overwrites).await
    }

    fn is_unaware(&self) -> Result<bool> {
        Ok(self.table().schema().bucketing()? == Bucketing::Unaware)
    }

    /// Keeps in mind the bucket counts that a change was found right with.
    pub(super) fn remember_buckets(&mut self, written: HashMap<Box<[u8]>, i32>) {
        if self.checked_buckets.len() + written.len() > CHECKED_PARTITIONS {
            self.checked_buckets.clear();
        }
        self.checked_buckets.extend(written);
    }

    /// Types of the trimmed primary key, unless keys may overlap in this table.
    fn key_types(&self) -> Result<Option<Vec<DataType>>> {
        let schema = self.table().schema();
        if schema.primary_keys.is_empty() || self.table().options().is_on(&PK_CLUSTERING_OVERRIDE)? {
            return Ok(None);
        }
        Ok(Some(schema.trimmed_primary_keys().into_iter().map(|field| field.data_type.clone()).collect()))
    }
}

impl Base<'_> {
    /// Leaves out the entries of files that the table has.
    fn discard_duplicates(&mut self) {
        let fresh: Vec<bool> = self.delta.iter().map(|entry| !self.files.files.contains_key(&entry.key)).collect();
        if !fresh.contains(&false) {
            return;
        }
        let mut flags = fresh.iter();
        self.change.to_mut().entries.retain(|_| flags.next().copied().unwrap_or(true));
        let mut flags = fresh.iter();
        self.delta.retain(|_| flags.next().copied().unwrap_or(true));
    }
}

/// Whether files that the table has are left out of a change.
fn discards(settings: &Settings, phase: &Phase) -> bool {
    settings.discard_duplicate_files && phase.kind == CommitKind::Append
}

/// The last snapshot of others that a phase may build upon, if that matters; `own` is the newest one of this committer.
fn safe(settings: &Settings, phase: &Phase, own: Option<SnapshotId>) -> Option<SnapshotId> {
    let by_option = settings.last_safe.and_then(|first| own.max(first));
    [by_option, phase.since].into_iter().flatten().min()
}

/// The buckets whose deletion vectors change.
fn vector_buckets(change: &Change) -> impl Iterator<Item = (Box<[u8]>, Option<i32>)> {
    let vectors = change.index.iter().filter(|entry| entry.index_type == DELETION_VECTORS_INDEX);
    vectors.map(|entry| (entry.partition.to_serialized().to_vec().into_boxed_slice(), Some(entry.bucket)))
}
