//! Writing everything a new snapshot refers to (spec: format.md C.17 step 5).
//!
//! What depends on the change alone is written once and kept over the tries of a commit; what depends on the snapshot that is
//! built upon is written anew each time, except for merged manifests, which mostly fit again.

use std::borrow::Cow;
use std::collections::BTreeMap;

use linn_format::manifest::{FileKind, IndexManifestEntry, ManifestEntry, ManifestMeta};
use linn_format::snapshot::{SNAPSHOT_VERSION, Snapshot, WRITER_VERSION};
use linn_format::stats::SimpleStats;
use linn_format::{Error, Result, SchemaId, SnapshotId};

use super::change::{Change, row_count};
use super::files::{Files, ListFile};
use super::merge::{Merged, merge};
use super::phase::Phase;
use super::settings::{ManifestSettings, Settings};

/// Property of snapshots that carry the largest sequence number of the table.
const MAX_SEQUENCE: &str = "sequence.generation.max-sequence-number";

/// Metadata files of one commit.
#[derive(Debug, Default)]
pub(super) struct Written {
    delta: Option<ListFile>,
    changelog: Option<ListFile>,
    merged: Option<Merged>,
    /// Manifests that delta and changelog list.
    manifests: Vec<String>,
    /// What the current try wrote for itself.
    of_try: Vec<String>,
    tried: bool,
}

impl Written {
    /// Writes an index manifest for the current try.
    pub(super) async fn write_index(
        &mut self,
        files: &Files,
        lines: &[IndexManifestEntry],
        settings: ManifestSettings,
    ) -> Result<String> {
        let name = files.write_index(lines, settings).await?;
        self.of_try.push(name.clone());
        Ok(name)
    }

    /// Removes what only the last try used.
    pub(super) async fn discard_try(&mut self, files: &Files) {
        files.remove(std::mem::take(&mut self.of_try)).await;
    }

    /// Removes what depends on the change, because the next try has another one.
    pub(super) async fn discard_change(&mut self, files: &Files) {
        let lists = self.delta.take().into_iter().chain(self.changelog.take()).map(|list| list.name);
        files.remove(lists.chain(std::mem::take(&mut self.manifests))).await;
    }

    /// Removes everything: the commit certainly failed.
    pub(super) async fn discard(&mut self, files: &Files) {
        self.discard_try(files).await;
        self.discard_change(files).await;
        if let Some(merged) = self.merged.take() {
            files.remove(merged.written).await;
        }
    }

    /// Removes merged manifests that the published snapshot does not use, if any.
    pub(super) async fn keep_published(&mut self, files: &Files, base: &[ManifestMeta]) {
        if let Some(merged) = self.merged.take() {
            let used: std::collections::HashSet<&str> =
                base.iter().map(|manifest| manifest.file_name.as_str()).collect();
            files.remove(merged.written.into_iter().filter(|name| !used.contains(name.as_str()))).await;
        }
    }
}

/// A snapshot that is ready to be published.
pub(super) struct Built {
    pub(super) snapshot: Snapshot,
    pub(super) base: Vec<ManifestMeta>,
}

/// What a commit is made of.
pub(super) struct Plan<'a> {
    pub(super) files: &'a Files,
    pub(super) settings: &'a Settings,
    pub(super) user: &'a str,
    pub(super) phase: &'a Phase,
    pub(super) change: &'a Change,
    pub(super) schema_id: SchemaId,
}

impl Plan<'_> {
    /// Writes the files of the snapshot that follows `latest`. `index` is the index manifest it will have.
    pub(super) async fn build(
        &self,
        latest: Option<&Snapshot>,
        manifests: Vec<ManifestMeta>,
        index: Option<String>,
        written: &mut Written,
    ) -> Result<Built> {
        let id = latest.map_or(SnapshotId::FIRST, |latest| latest.id.next());
        let base = self.merge(manifests, written).await?;
        let manifest_settings = self.settings.manifests;
        // Neither needs the other, and on a disk most of their time is the wait for it.
        let base_list = self.files.write_list(base.clone(), manifest_settings);
        let (base_list, change) = futures::join!(base_list, self.write_change(id, written));
        let base_list = base_list?;
        written.of_try.push(base_list.name.clone());
        let (delta, changelog) = change?;
        let statistics = self.statistics(latest).await;
        let delta_rows = row_count(&self.change.entries);
        let total = latest.map_or(Some(0), |latest| latest.total_record_count);
        let properties = self.properties(latest, &base, id).await?;
        let env = self.files.table().env();
        let snapshot = Snapshot {
            version: SNAPSHOT_VERSION,
            uuid: Some(env.ids.uuid()),
            id,
            schema_id: self.schema_id,
            base_manifest_list: base_list.name,
            base_manifest_list_size: Some(base_list.size),
            delta_manifest_list: delta.name,
            delta_manifest_list_size: Some(delta.size),
            changelog_manifest_list: changelog.as_ref().map(|list| list.name.clone()),
            changelog_manifest_list_size: changelog.map(|list| list.size),
            index_manifest: index,
            commit_user: self.user.to_owned(),
            writer_version: Some(WRITER_VERSION.to_owned()),
            commit_identifier: self.phase.identifier,
            commit_kind: self.phase.kind,
            time_millis: env.clock.now_millis(),
            total_record_count: total.map(|total| total.saturating_add(delta_rows)),
            delta_record_count: Some(delta_rows),
            changelog_record_count: (!self.change.changelog.is_empty()).then(|| row_count(&self.change.changelog)),
            watermark: self.phase.watermark.max(latest.and_then(|latest| latest.watermark)),
            statistics,
            properties: (!properties.is_empty()).then_some(properties),
            next_row_id: Some(latest.and_then(|latest| latest.next_row_id).unwrap_or(0)),
            operation: self.phase.operation.clone(),
        };
        Ok(Built { snapshot, base })
    }

    /// Merges on the first try only: whoever has lost a race should come back soon.
    async fn merge(&self, manifests: Vec<ManifestMeta>, written: &mut Written) -> Result<Vec<ManifestMeta>> {
        if let Some(reused) = written.merged.as_ref().and_then(|merged| merged.reuse(&manifests)) {
            return Ok(reused);
        }
        if written.tried {
            return Ok(manifests);
        }
        written.tried = true;
        let merged = merge(self.files, manifests, self.schema_id, self.settings.manifests).await?;
        Ok(written.merged.insert(merged).after().to_vec())
    }

    /// The entries of the change as the snapshot has them.
    fn entries(&self, id: SnapshotId) -> Cow<'_, [ManifestEntry]> {
        let stamps = self.phase.is_stamped(self.settings);
        let drops = self.settings.manifests.drops_stats;
        if !stamps && !drops {
            return Cow::Borrowed(&self.change.entries);
        }
        let mut entries = self.change.entries.clone();
        for entry in &mut entries {
            match entry.kind {
                FileKind::Add if stamps => {
                    entry.file.min_sequence_number = id.0;
                    entry.file.max_sequence_number = id.0;
                }
                FileKind::Delete if drops => {
                    entry.file.value_stats = SimpleStats::empty();
                    entry.file.value_stats_cols = Some(Vec::new());
                }
                _ => {}
            }
        }
        Cow::Owned(entries)
    }

    /// The properties of the commit, with the largest sequence number of the table where it is carried.
    async fn properties(
        &self,
        latest: Option<&Snapshot>,
        base: &[ManifestMeta],
        id: SnapshotId,
    ) -> Result<BTreeMap<String, String>> {
        let mut properties = self.phase.properties.clone();
        if !self.settings.carries_sequence {
            return Ok(properties);
        }
        let before = match latest.and_then(|latest| latest.properties.as_ref()?.get(MAX_SEQUENCE)) {
            Some(text) => Some(text.parse().map_err(|_| {
                Error::corrupt("a snapshot's largest sequence number is not a number").with("property", MAX_SEQUENCE)
            })?),
            None => self.largest_sequence(base).await?,
        };
        let added = self
            .entries(id)
            .iter()
            .filter(|entry| entry.kind == FileKind::Add)
            .map(|entry| entry.file.max_sequence_number)
            .max();
        if let Some(largest) = before.max(added) {
            properties.insert(MAX_SEQUENCE.to_owned(), largest.to_string());
        }
        Ok(properties)
    }

    /// Needed once in the life of a table whose first snapshots do not carry it.
    async fn largest_sequence(&self, manifests: &[ManifestMeta]) -> Result<Option<i64>> {
        let mut all = None;
        for manifest in manifests {
            let batch = self.files.identities(manifest).await?;
            for i in (0..batch.len()).filter(|i| batch.kind(*i) == FileKind::Add) {
                all = all.max(Some(batch.file(i)?.max_sequence_number));
            }
        }
        Ok(all)
    }

    async fn write_change(&self, id: SnapshotId, written: &mut Written) -> Result<(ListFile, Option<ListFile>)> {
        if let Some(delta) = &written.delta {
            return Ok((delta.clone(), written.changelog.clone()));
        }
        if !self.change.changelog.is_empty() {
            let manifests =
                self.files.write_entries(&self.change.changelog, self.schema_id, self.settings.manifests).await?;
            written.manifests.extend(manifests.iter().map(|manifest| manifest.file_name.clone()));
            written.changelog = Some(self.files.write_list(manifests, self.settings.manifests).await?);
        }
        let entries = self.entries(id);
        let manifests = self.files.write_entries(&entries, self.schema_id, self.settings.manifests).await?;
        written.manifests.extend(manifests.iter().map(|manifest| manifest.file_name.clone()));
        let delta = self.files.write_list(manifests, self.settings.manifests).await?;
        written.delta = Some(delta.clone());
        Ok((delta, written.changelog.clone()))
    }

    /// The statistics of the previous snapshot, if they are of the present schema. Statistics are advice: those that cannot
    /// be read are dropped.
    async fn statistics(&self, latest: Option<&Snapshot>) -> Option<String> {
        if self.phase.statistics.is_some() {
            return self.phase.statistics.clone();
        }
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct OfSchema {
            schema_id: i64,
        }
        let name = latest?.statistics.clone()?;
        let table = self.files.table();
        let bytes = table.storage().read(&table.statistics_path(&name), None).await.ok()?;
        let of: OfSchema = serde_json::from_slice(&bytes).ok()?;
        (of.schema_id == self.schema_id.0).then_some(name)
    }
}
