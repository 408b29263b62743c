//! The manifests, manifest lists and index manifests that commits write and read (spec: format.md C.1, C.4). They never
//! change once written, and their names are never given twice, so what was read or written once is kept, in the table's
//! cache: what a scan has read a commit does not read again, and the reverse.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use linn_format::manifest::{
    EntryBatch, FileKind, IndexManifestEntry, ManifestEntry, ManifestMeta, ManifestWriter, StatsColumns,
    write_index_manifest, write_manifest_list,
};
use linn_format::row::BinaryRow;
use linn_format::snapshot::Snapshot;
use linn_format::stats::SimpleStats;
use linn_format::{Result, SchemaId};

use super::settings::ManifestSettings;
use crate::manifest::Manifests;
use crate::table::Table;

/// A manifest list on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListFile {
    pub(super) name: String,
    pub(super) size: i64,
}

/// Names, writes and reads the metadata files of one table.
#[derive(Debug)]
pub(super) struct Files {
    table: Table,
    uuid: String,
    counter: AtomicU64,
    manifests: Manifests,
}

impl Files {
    pub(super) fn new(table: &Table) -> Self {
        Self {
            table: table.clone(),
            uuid: table.env().ids.uuid(),
            counter: AtomicU64::new(0),
            manifests: Manifests::new(table),
        }
    }

    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    fn name(&self, prefix: &str) -> String {
        format!("{prefix}-{}-{}", self.uuid, self.counter.fetch_add(1, Ordering::Relaxed))
    }

    async fn write(&self, name: &str, bytes: Vec<u8>) -> Result<i64> {
        let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        self.table.storage().put(&self.table.manifest_path(name), Bytes::from(bytes)).await?;
        Ok(size)
    }

    /// The manifests of everything before a snapshot and of its own changes, in order.
    pub(super) async fn manifests_of(&self, snapshot: &Snapshot) -> Result<Vec<ManifestMeta>> {
        self.manifests.of_snapshot(snapshot).await
    }

    /// Writes a manifest list.
    pub(super) async fn write_list(
        &self,
        manifests: Vec<ManifestMeta>,
        settings: ManifestSettings,
    ) -> Result<ListFile> {
        let name = self.name("manifest-list");
        let size = self.write(&name, write_manifest_list(&manifests, settings.codec)?).await?;
        self.table.manifest_cache().put_list(&self.table.manifest_path(&name), Arc::new(manifests));
        Ok(ListFile { name, size })
    }

    /// The entries of a manifest, in full.
    pub(super) async fn manifest(&self, meta: &ManifestMeta) -> Result<Arc<EntryBatch>> {
        self.manifests.manifest_of(meta, StatsColumns::All).await
    }

    /// The entries of a manifest, perhaps without value statistics: enough to tell files apart.
    pub(super) async fn identities(&self, meta: &ManifestMeta) -> Result<Arc<EntryBatch>> {
        let path = self.table.manifest_path(&meta.file_name);
        match self.table.manifest_cache().get(&path, StatsColumns::Keys) {
            Some(batch) => Ok(batch),
            // Sooner or later a commit merges the manifest and writes its entries again.
            None => self.manifest(meta).await,
        }
    }

    /// Writes entries into as many manifests as the target size asks for.
    pub(super) async fn write_entries(
        &self,
        entries: &[ManifestEntry],
        schema_id: SchemaId,
        settings: ManifestSettings,
    ) -> Result<Vec<ManifestMeta>> {
        let mut manifests = Vec::new();
        let mut rest = entries;
        while !rest.is_empty() {
            let mut writer = ManifestWriter::new(settings.codec);
            let mut taken = 0;
            for entry in rest {
                writer.write(entry)?;
                taken += 1;
                // Looking at the size costs nothing, but a block that is still open counts uncompressed.
                if writer.size() as u64 >= settings.target_size {
                    break;
                }
            }
            let (now, later) = rest.split_at(taken);
            let name = self.name("manifest");
            let size = self.write(&name, writer.finish()?).await?;
            manifests.push(describe(name, size, now, schema_id, &self.table)?);
            rest = later;
        }
        Ok(manifests)
    }

    /// The lines of an index manifest.
    pub(super) async fn index(&self, name: &str) -> Result<Vec<IndexManifestEntry>> {
        self.manifests.read_index(name).await
    }

    /// Writes an index manifest.
    pub(super) async fn write_index(
        &self,
        entries: &[IndexManifestEntry],
        settings: ManifestSettings,
    ) -> Result<String> {
        let name = self.name("index-manifest");
        self.write(&name, write_index_manifest(entries, settings.codec)?).await?;
        Ok(name)
    }

    /// Removes files of a commit that certainly failed. What cannot be removed is left to orphan cleaning.
    pub(super) async fn remove(&self, names: impl IntoIterator<Item = String>) {
        for name in names {
            if let Err(e) = self.table.storage().delete(&self.table.manifest_path(&name)).await {
                tracing::warn!(table = self.table.name(), file = name, error = %e, "metadata of a failed commit is left over");
            }
        }
    }
}

/// What a manifest list says of a manifest.
fn describe(
    file_name: String,
    file_size: i64,
    entries: &[ManifestEntry],
    schema_id: SchemaId,
    table: &Table,
) -> Result<ManifestMeta> {
    let count = |kind| i64::try_from(entries.iter().filter(|e| e.kind == kind).count()).unwrap_or(i64::MAX);
    let row_ids = || entries.iter().map(|e| Some((e.file.first_row_id?, e.file.row_count)));
    let all_row_ids = !entries.is_empty() && row_ids().all(|ids| ids.is_some());
    let row_id = |pick: fn(Option<i64>, i64) -> Option<i64>, of: fn((i64, i64)) -> i64| {
        all_row_ids.then(|| row_ids().flatten().map(of).fold(None, pick)).flatten()
    };
    Ok(ManifestMeta {
        file_name,
        file_size,
        num_added_files: count(FileKind::Add),
        num_deleted_files: count(FileKind::Delete),
        partition_stats: partition_stats(entries, table)?,
        schema_id,
        min_bucket: entries.iter().map(|e| e.bucket).min(),
        max_bucket: entries.iter().map(|e| e.bucket).max(),
        min_level: entries.iter().map(|e| e.file.level).min(),
        max_level: entries.iter().map(|e| e.file.level).max(),
        min_row_id: row_id(|a, b| Some(a.map_or(b, |a| a.min(b))), |(first, _)| first),
        max_row_id: row_id(|a, b| Some(a.map_or(b, |a| a.max(b))), |(first, rows)| first.saturating_add(rows) - 1),
    })
}

/// Smallest and largest value and null count of each partition column.
fn partition_stats(entries: &[ManifestEntry], table: &Table) -> Result<SimpleStats> {
    let fields = table.schema().partition_fields();
    if fields.is_empty() {
        return Ok(SimpleStats { min: BinaryRow::empty(), max: BinaryRow::empty(), null_counts: Vec::new() });
    }
    let (mut min, mut max, mut nulls) =
        (vec![None; fields.len()], vec![None; fields.len()], vec![Some(0_i64); fields.len()]);
    // Entries of one partition stand together more often than not.
    let mut last: Option<(&BinaryRow, Vec<Option<linn_format::datum::Datum>>)> = None;
    for entry in entries {
        let values = match &last {
            Some((row, values)) if *row == &entry.partition => values,
            _ => {
                let values = entry.partition.datums(fields.iter().map(|field| &field.data_type))?;
                &last.insert((&entry.partition, values)).1
            }
        };
        for (((value, min), max), nulls) in values.iter().zip(&mut min).zip(&mut max).zip(&mut nulls) {
            match value {
                None => *nulls = nulls.map(|n| n + 1),
                Some(value) => {
                    if min
                        .as_ref()
                        .is_none_or(|m: &linn_format::datum::Datum| value.compare(m).is_some_and(|o| o.is_lt()))
                    {
                        *min = Some(value.clone());
                    }
                    if max
                        .as_ref()
                        .is_none_or(|m: &linn_format::datum::Datum| value.compare(m).is_some_and(|o| o.is_gt()))
                    {
                        *max = Some(value.clone());
                    }
                }
            }
        }
    }
    let row = |values: Vec<Option<linn_format::datum::Datum>>| {
        let typed: Vec<_> = values.into_iter().zip(&fields).map(|(value, field)| (value, &field.data_type)).collect();
        BinaryRow::from_datums(&typed)
    };
    Ok(SimpleStats { min: row(min)?, max: row(max)?, null_counts: nulls })
}
