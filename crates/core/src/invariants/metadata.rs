//! Manifest lists and manifests, read past every cache, with what is wrong about them.

use std::collections::HashMap;
use std::sync::Arc;

use linn_format::manifest::{
    EntryBatch, FileKind, IndexManifestEntry, ManifestMeta, StatsColumns, read_index_manifest, read_manifest_columns,
    read_manifest_list,
};
use linn_format::{Result, SnapshotId};

use super::report::{Report, Rule};
use crate::table::Table;

/// Reads metadata files, each once as long as it is likely to be wanted again.
#[derive(Debug)]
pub(super) struct Metadata<'t> {
    table: &'t Table,
    /// Manifests whose sizes and counts were looked at.
    seen: HashMap<String, i64>,
}

impl<'t> Metadata<'t> {
    pub(super) fn new(table: &'t Table) -> Self {
        Self { table, seen: HashMap::new() }
    }

    /// The lines of a manifest list; `None` when it cannot be read.
    pub(super) async fn list(
        &mut self,
        name: &str,
        size: Option<i64>,
        at: SnapshotId,
        report: &mut Report,
    ) -> Result<Option<Vec<ManifestMeta>>> {
        let path = self.table.manifest_path(name);
        let before = report.findings.len();
        let bytes = report.read(self.table.storage().read(&path, None).await, &path)?;
        let list = match &bytes {
            Some(bytes) => report.read(read_manifest_list(bytes), &path)?,
            None => None,
        };
        if let (Some(bytes), Some(size)) = (&bytes, size)
            && bytes.len() as i64 != size
        {
            report.fault(Rule::Reachable, &path, format!("has {} bytes, not {size}", bytes.len()));
        }
        until(report, before, at);
        Ok(list)
    }

    /// The entries of a manifest; `None` when it cannot be read.
    pub(super) async fn entries(
        &mut self,
        meta: &ManifestMeta,
        at: SnapshotId,
        report: &mut Report,
    ) -> Result<Option<Arc<EntryBatch>>> {
        let path = self.table.manifest_path(&meta.file_name);
        let before = report.findings.len();
        let bytes = report.read(self.table.storage().read(&path, None).await, &path)?;
        let batch = match &bytes {
            Some(bytes) => report.read(read_manifest_columns(bytes, StatsColumns::Keys), &path)?,
            None => None,
        };
        let first = self.seen.insert(meta.file_name.clone(), meta.file_size).is_none();
        if first && let (Some(bytes), Some(batch)) = (&bytes, &batch) {
            report.manifests += 1;
            if bytes.len() as i64 != meta.file_size {
                report.fault(Rule::Reachable, &path, format!("has {} bytes, not {}", bytes.len(), meta.file_size));
            }
            let count = |kind| (0..batch.len()).filter(|i| batch.kind(*i) == kind).count() as i64;
            let (added, deleted) = (count(FileKind::Add), count(FileKind::Delete));
            if (added, deleted) != (meta.num_added_files, meta.num_deleted_files) {
                let said = format!("{} and {}", meta.num_added_files, meta.num_deleted_files);
                report.fault(Rule::Counts, &path, format!("adds {added} and removes {deleted} files, not {said}"));
            }
        }
        until(report, before, at);
        Ok(batch.map(Arc::new))
    }

    /// Whether a manifest was read.
    pub(super) fn has_seen(&self, name: &str) -> bool {
        self.seen.contains_key(name)
    }

    /// The lines of an index manifest; `None` when it cannot be read.
    pub(super) async fn index(
        &mut self,
        name: &str,
        at: SnapshotId,
        report: &mut Report,
    ) -> Result<Option<Vec<IndexManifestEntry>>> {
        let path = self.table.manifest_path(name);
        let before = report.findings.len();
        let lines = match report.read(self.table.storage().read(&path, None).await, &path)? {
            Some(bytes) => report.read(read_index_manifest(&bytes), &path)?,
            None => None,
        };
        until(report, before, at);
        Ok(lines)
    }
}

/// What was found since then is about a snapshot.
fn until(report: &mut Report, since: usize, at: SnapshotId) {
    report.findings.iter_mut().skip(since).for_each(|finding| finding.snapshot = Some(at));
}
