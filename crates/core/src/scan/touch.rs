//! Whether a commit has changed what a scan of an earlier snapshot reads: rows that it read, or would have read.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use linn_format::Result;
use linn_format::manifest::{
    DELETION_VECTORS_INDEX, EntryBatch, FileKind, IndexManifestEntry, ManifestMeta, StatsColumns,
};
use linn_format::schema::Bucketing;
use linn_format::snapshot::{CommitKind, Snapshot};
use linn_format::{ErrorKind, SnapshotId};

use super::Scan;
use super::bucket::{Buckets, Rows};
use super::plan::Part;
use super::select::Selector;
use crate::manifest::Manifests;
use crate::snapshot::Snapshots;
use crate::table::{NotedScan, Table};

/// Which entries of a commit change rows that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Changes {
    /// All of them.
    All,
    /// Those that remove files of level 0, or files whose rows wait for a bucket: their rows can be read from now on.
    Shown { level_0: bool },
}

#[async_trait]
impl NotedScan for Scan {
    fn is_of(&self, table: &Table) -> bool {
        self.table.path() == table.path() && self.table.branch() == table.branch()
    }

    /// A primary-key table is judged by partition, bucket and key, others by the values of their files too.
    async fn is_touched_by(&self, snapshot: &Snapshot) -> Result<bool> {
        let shown = Changes::Shown { level_0: self.selector(Part::All)?.skip_level_0 };
        let changes = match snapshot.commit_kind {
            CommitKind::Append | CommitKind::Overwrite => Changes::All,
            CommitKind::Compact => shown,
            CommitKind::Analyze => return Ok(false),
        };
        let mut selector = self.selector(Part::Delta)?;
        let rows = if self.merges_waiting()? || changes != Changes::All { Rows::All } else { Rows::Placed };
        selector.buckets = Buckets::new(&self.table, &self.filter, self.buckets.as_deref(), rows)?;
        let manifests = Manifests::new(&self.table);
        let metas = manifests.of_delta(snapshot).await?;
        let index = match changes {
            Changes::All => self.index_before(snapshot).await?,
            Changes::Shown { .. } => None,
        };
        if snapshot.commit_kind == CommitKind::Overwrite && metas.is_empty() && index.is_none() {
            // Rows may be gone with manifests that were left out.
            return Ok(true);
        }
        let stats = if selector.filters.value.is_some() { StatsColumns::All } else { StatsColumns::Keys };
        for meta in metas {
            if selector.may_have(&meta)? && has(&selector, &manifests, &meta, stats, changes).await? {
                return Ok(true);
            }
        }
        match index {
            Some(before) => self.vectors_touched(&selector, before.as_deref(), snapshot).await,
            None => Ok(false),
        }
    }
}

impl Scan {
    /// The scan as it is noted, its table without what notes it.
    pub(super) fn to_note(&self) -> Self {
        Self { table: self.table.with_reads(None), snapshot: None, tally: None, ..self.clone() }
    }

    /// The index manifest of the snapshot before, when this one has another.
    async fn index_before(&self, snapshot: &Snapshot) -> Result<Option<Option<String>>> {
        let before = match Snapshots::new(&self.table).get(SnapshotId(snapshot.id.0 - 1)).await {
            Ok(before) => before.index_manifest.clone(),
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        Ok((before != snapshot.index_manifest).then_some(before))
    }

    /// Whether the snapshot changed deletion vectors of partitions that are read: these delete rows without touching a file.
    async fn vectors_touched(&self, selector: &Selector, before: Option<&str>, snapshot: &Snapshot) -> Result<bool> {
        // Where rows have keys, compactions alone write vectors.
        if self.table.schema().is_primary_key_table() || !self.table.options().deletion_vectors_enabled()? {
            return Ok(false);
        }
        let (before, after) = (self.lines(before).await?, self.lines(snapshot.index_manifest.as_deref()).await?);
        let names = |lines: &[IndexManifestEntry]| lines.iter().map(|l| l.file_name.clone()).collect::<HashSet<_>>();
        let (old, new) = (names(&before), names(&after));
        let removed = before.iter().filter(|line| !new.contains(&line.file_name));
        for line in removed.chain(after.iter().filter(|line| !old.contains(&line.file_name))) {
            if selector.filters.partitions.has(&line.partition)? && selector.buckets.has(line.bucket, -1)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn lines(&self, name: Option<&str>) -> Result<Vec<IndexManifestEntry>> {
        let Some(name) = name else { return Ok(Vec::new()) };
        let mut lines = Manifests::new(&self.table).read_index(name).await?.to_vec();
        lines.retain(|line| line.index_type == DELETION_VECTORS_INDEX);
        Ok(lines)
    }
}

/// Whether a manifest of a commit has an entry that changes what is selected.
async fn has(
    selector: &Selector,
    manifests: &Manifests,
    meta: &ManifestMeta,
    stats: StatsColumns,
    changes: Changes,
) -> Result<bool> {
    let batch: Arc<EntryBatch> = manifests.manifest_of(meta, stats).await?;
    let partitions = selector.filters.partitions.of(&batch)?;
    let schemas = selector.schemas_of(&batch).await?;
    for i in 0..batch.len() {
        let counts = match changes {
            Changes::All => true,
            Changes::Shown { level_0 } => {
                let shown = batch.bucket(i) == Bucketing::POSTPONED || (level_0 && batch.level(i) <= 0);
                shown && batch.kind(i) == FileKind::Delete
            }
        };
        let of_partition =
            partitions.as_ref().is_none_or(|p| p.get(batch.partition_id(i) as usize).is_some_and(|p| *p));
        if counts
            && of_partition
            && (selector.buckets.all() || selector.buckets.has(batch.bucket(i), batch.total_buckets(i))?)
            && selector.takes(&batch, i, &schemas)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}
