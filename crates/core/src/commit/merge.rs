//! Merging manifests while committing, so that the list of a table stays short (spec: format.md C.4).
//!
//! The result describes the same files: a merge never changes what a snapshot holds. Entries that cancel each other within
//! the merged manifests are gone afterwards; a removal whose addition lies outside stays.

use std::collections::{HashMap, HashSet};

use linn_format::manifest::{FileKind, ManifestEntry, ManifestMeta};
use linn_format::{Result, SchemaId};

use super::base::{Entries, for_each};
use super::conflict::{Key, Simple};
use super::files::Files;
use super::settings::ManifestSettings;

/// Manifests before and after a merge; kept over the tries of one commit, because those before mostly stand at the
/// beginning of the next try's list too.
#[derive(Debug, Clone, Default)]
pub(super) struct Merged {
    before: Vec<ManifestMeta>,
    after: Vec<ManifestMeta>,
    /// Names of the manifests that the merge wrote.
    pub(super) written: Vec<String>,
}

impl Merged {
    /// What this merge makes of another list, if it begins with what was merged.
    pub(super) fn reuse(&self, manifests: &[ManifestMeta]) -> Option<Vec<ManifestMeta>> {
        let rest = manifests.strip_prefix(self.before.as_slice())?;
        Some(self.after.iter().chain(rest).cloned().collect())
    }

    pub(super) fn after(&self) -> &[ManifestMeta] {
        &self.after
    }
}

/// Merges the manifests of a table as far as the options ask for.
pub(super) async fn merge(
    files: &Files,
    manifests: Vec<ManifestMeta>,
    schema_id: SchemaId,
    settings: ManifestSettings,
) -> Result<Merged> {
    let mut merged = Merged { before: manifests, ..Merged::default() };
    let result = if full_is_due(&merged.before, settings) {
        full(files, &mut merged, schema_id, settings).await
    } else {
        minor(files, &mut merged, schema_id, settings).await
    };
    if result.is_err() {
        files.remove(std::mem::take(&mut merged.written)).await;
    }
    result.map(|()| merged)
}

fn must_change(manifest: &ManifestMeta, settings: ManifestSettings) -> bool {
    manifest.num_deleted_files > 0 || size(manifest) < settings.target_size
}

fn size(manifest: &ManifestMeta) -> u64 {
    u64::try_from(manifest.file_size).unwrap_or(0)
}

fn full_is_due(manifests: &[ManifestMeta], settings: ManifestSettings) -> bool {
    let changing = manifests.iter().filter(|manifest| must_change(manifest, settings));
    let (count, bytes) =
        changing.fold((0, 0_u64), |(n, bytes), manifest| (n + 1, bytes.saturating_add(size(manifest))));
    bytes >= settings.full_threshold && count > 1
}

/// Rewrites everything that is small or removes files, and large manifests that lose entries by it.
async fn full(files: &Files, merged: &mut Merged, schema_id: SchemaId, settings: ManifestSettings) -> Result<()> {
    let mut removed: HashSet<Key> = HashSet::new();
    let removing: Vec<ManifestMeta> = merged.before.iter().filter(|m| m.num_deleted_files > 0).cloned().collect();
    for_each(files, &removing, Entries::Whole, |batch| {
        let gone = (0..batch.len()).filter(|i| batch.kind(*i) == FileKind::Delete);
        removed.extend(gone.map(|i| Simple::of(batch, i).key));
        Ok(())
    })
    .await?;
    let mut rewritten: Vec<ManifestEntry> = Vec::new();
    for manifest in &merged.before {
        if !must_change(manifest, settings) && removed.is_empty() {
            merged.after.push(manifest.clone());
            continue;
        }
        let batch = files.manifest(manifest).await?;
        let stays = |i: &usize| {
            batch.kind(*i) == FileKind::Add && (removed.is_empty() || !removed.contains(&Simple::of(&batch, *i).key))
        };
        let staying: Vec<usize> = (0..batch.len()).filter(stays).collect();
        if !must_change(manifest, settings) && staying.len() == batch.len() {
            merged.after.push(manifest.clone());
            continue;
        }
        for i in staying {
            rewritten.push(batch.entry(i)?);
        }
    }
    append(files, merged, &rewritten, schema_id, settings).await
}

/// Joins neighbours until they reach the target size; what is left at the end is joined only when there are many.
async fn minor(files: &Files, merged: &mut Merged, schema_id: SchemaId, settings: ManifestSettings) -> Result<()> {
    let (mut group, mut bytes) = (Vec::new(), 0_u64);
    for manifest in merged.before.clone() {
        bytes = bytes.saturating_add(size(&manifest));
        group.push(manifest);
        if bytes >= settings.target_size {
            join(files, merged, std::mem::take(&mut group), schema_id, settings).await?;
            bytes = 0;
        }
    }
    if group.len() >= settings.merge_min_count.max(2) {
        join(files, merged, group, schema_id, settings).await?;
    } else {
        merged.after.extend(group);
    }
    Ok(())
}

async fn join(
    files: &Files,
    merged: &mut Merged,
    group: Vec<ManifestMeta>,
    schema_id: SchemaId,
    settings: ManifestSettings,
) -> Result<()> {
    if group.len() < 2 {
        merged.after.extend(group);
        return Ok(());
    }
    let mut order: Vec<Option<ManifestEntry>> = Vec::new();
    let mut places: HashMap<Key, usize> = HashMap::new();
    for_each(files, &group, Entries::Whole, |batch| {
        for i in 0..batch.len() {
            let key = Simple::of(batch, i).key;
            let cancelled = batch.kind(i) == FileKind::Delete && places.contains_key(&key);
            if cancelled {
                if let Some(place) = places.remove(&key).and_then(|place| order.get_mut(place)) {
                    *place = None;
                }
                continue;
            }
            places.insert(key, order.len());
            order.push(Some(batch.entry(i)?));
        }
        Ok(())
    })
    .await?;
    let entries: Vec<ManifestEntry> = order.into_iter().flatten().collect();
    append(files, merged, &entries, schema_id, settings).await
}

async fn append(
    files: &Files,
    merged: &mut Merged,
    entries: &[ManifestEntry],
    schema_id: SchemaId,
    settings: ManifestSettings,
) -> Result<()> {
    let written = files.write_entries(entries, schema_id, settings).await?;
    merged.written.extend(written.iter().map(|manifest| manifest.file_name.clone()));
    merged.after.extend(written);
    Ok(())
}
