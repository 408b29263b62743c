//! What the buckets of a table hold by the latest snapshot, for those who go on writing them (cases: P1).
//!
//! Manifests are planned once for all partitions that rows come for together, and a partition is planned once with all
//! its buckets, as long as the table stays at its snapshot.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use async_trait::async_trait;
use linn_format::file::DataFileMeta;
use linn_format::manifest::IndexManifestEntry;
use linn_format::options::ChangelogProducer;
use linn_format::row::BinaryRow;
use linn_format::schema::Bucketing;
use linn_format::snapshot::{CommitKind, Snapshot};
use linn_format::{Error, ErrorKind, Result, SnapshotId};
use tokio::sync::Mutex;

use super::writer::{Buckets, OpenBucket};
use crate::assign::Kept;
use crate::compact::TableFiles;
use crate::manifest::Manifests;
use crate::snapshot::Snapshots;
use crate::table::Table;
use crate::vector::{BucketVectors, vector_lines};

/// The buckets of one table.
pub(super) struct TableBuckets {
    table: Table,
    batch_size: usize,
    /// Which live files matter.
    kept: Kept,
    found: Mutex<Found>,
}

/// The files of some partitions at one snapshot.
#[derive(Default)]
struct Found {
    snapshot: Option<Arc<Snapshot>>,
    partitions: HashMap<BinaryRow, HashMap<i32, Bucket>>,
    /// Index files of deletion vectors by partition and bucket, once they were asked for.
    vectors: Option<HashMap<(BinaryRow, i32), Vec<IndexManifestEntry>>>,
    /// Partitions that were looked up for what is being written now: their buckets need no look for a newer snapshot.
    expected: HashSet<BinaryRow>,
}

#[derive(Clone)]
struct Bucket {
    total_buckets: i32,
    files: Vec<Arc<DataFileMeta>>,
}

impl TableBuckets {
    pub(super) fn new(table: &Table, batch_size: usize, kept: Kept) -> Self {
        Self { table: table.clone(), batch_size, kept, found: Mutex::default() }
    }

    /// Plans those of the partitions that are not planned yet at the latest snapshot; `None` for an empty table.
    async fn find(&self, found: &mut Found, partitions: &[BinaryRow]) -> Result<Option<Arc<Snapshot>>> {
        let Some(latest) = Snapshots::new(&self.table).latest().await? else {
            *found = Found::default();
            return Ok(None);
        };
        // After a rollback another snapshot may have the same number.
        let same =
            |before: &Arc<Snapshot>| before.id == latest.id && before.delta_manifest_list == latest.delta_manifest_list;
        if !found.snapshot.as_ref().is_some_and(same) {
            *found = Found { snapshot: Some(Arc::clone(&latest)), ..Found::default() };
        }
        let missing: Vec<BinaryRow> =
            partitions.iter().filter(|partition| !found.partitions.contains_key(*partition)).cloned().collect();
        if missing.is_empty() {
            return Ok(Some(latest));
        }
        let scan = self.table.scan().with_statistics().snapshot(Arc::clone(&latest)).every_level();
        let plan = scan.partitions(missing.clone()).plan().await?;
        for partition in missing {
            found.partitions.entry(partition).or_default();
        }
        for split in plan.splits {
            let buckets = found.partitions.entry(split.partition).or_default();
            let empty = Bucket { total_buckets: split.total_buckets, files: Vec::new() };
            buckets.entry(split.bucket).or_insert(empty).files.extend(split.files);
        }
        Ok(Some(latest))
    }

    /// Whether a compaction left nothing below the highest level.
    async fn is_full(&self, compaction: &Arc<Snapshot>) -> Result<bool> {
        let top = i32::try_from(self.table.options().num_levels()?.saturating_sub(1)).unwrap_or(i32::MAX);
        let made = Manifests::new(&self.table).of_delta(compaction).await?;
        if !made.iter().any(|manifest| manifest.max_level.is_none_or(|level| level >= top)) {
            return Ok(false);
        }
        let plan = self.table.scan().snapshot(Arc::clone(compaction)).every_level().plan().await?;
        Ok(plan.splits.iter().flat_map(|split| &split.files).all(|file| file.level >= top))
    }

    /// The lines of the deletion vectors of a bucket of a merge tree. Appending does not look at any.
    async fn vectors(
        &self,
        found: &mut Found,
        snapshot: &Snapshot,
        partition: &BinaryRow,
        bucket: i32,
    ) -> Result<Vec<IndexManifestEntry>> {
        let table = &self.table;
        if !table.schema().is_primary_key_table() || !table.options().deletion_vectors_enabled()? {
            return Ok(Vec::new());
        }
        let lines = match &mut found.vectors {
            Some(lines) => lines,
            none => {
                let mut lines: HashMap<(BinaryRow, i32), Vec<IndexManifestEntry>> = HashMap::new();
                for line in vector_lines(table, snapshot).await? {
                    lines.entry((line.partition.clone(), line.bucket)).or_default().push(line);
                }
                none.insert(lines)
            }
        };
        Ok(lines.get(&(partition.clone(), bucket)).cloned().unwrap_or_default())
    }
}

#[async_trait]
impl Buckets for TableBuckets {
    async fn announce(&self, partitions: &[BinaryRow]) -> Result<()> {
        let mut found = self.found.lock().await;
        found.expected.clear();
        if !self.kept.is_nothing() && !partitions.is_empty() {
            self.find(&mut found, partitions).await?;
            found.expected = partitions.iter().cloned().collect();
        }
        Ok(())
    }

    async fn open(&self, partition: &BinaryRow, bucket: i32) -> Result<OpenBucket> {
        let (table, batch_size) = (self.table.clone(), self.batch_size);
        let files = Arc::new(TableFiles { table, partition: partition.clone(), bucket, batch_size, alone: false });
        let empty = |files| OpenBucket { files, live: Vec::new(), vectors: BucketVectors::default() };
        if !self.kept.has(partition)? {
            return Ok(empty(files));
        }
        let mut found = self.found.lock().await;
        let snapshot = match found.expected.contains(partition) {
            true => found.snapshot.clone(),
            false => self.find(&mut found, std::slice::from_ref(partition)).await?,
        };
        let Some(snapshot) = snapshot else { return Ok(empty(files)) };
        let there = found.partitions.get(partition).and_then(|buckets| buckets.get(&bucket)).cloned();
        let vectors = self.vectors(&mut found, &snapshot, partition, bucket).await?;
        drop(found);
        let buckets = self.table.options().bucket()?;
        if let Some(Bucket { total_buckets, .. }) = &there
            && buckets != Bucketing::POSTPONED
            && *total_buckets != buckets
        {
            return Err(Error::invalid(format!("the partition has {total_buckets} buckets, the table now {buckets}"))
                .with("table", self.table.name())
                .with_hint("overwrite the partition to change its number of buckets"));
        }
        let vectors = BucketVectors::load(&self.table, vectors).await?;
        Ok(OpenBucket { files, live: there.map(|bucket| bucket.files).unwrap_or_default(), vectors })
    }

    async fn below(&self, level: i32) -> Result<Vec<(BinaryRow, i32)>> {
        let Some(snapshot) = Snapshots::new(&self.table).latest().await? else { return Ok(Vec::new()) };
        let splits = self.table.scan().snapshot(snapshot).every_level().plan().await?.splits;
        let mut buckets: Vec<(BinaryRow, i32)> = Vec::new();
        for split in splits.into_iter().filter(|s| s.files.iter().any(|f| f.level < level)) {
            // The splits of a bucket follow each other.
            if buckets.last().is_none_or(|(p, b)| (p, *b) != (&split.partition, split.bucket)) {
                buckets.push((split.partition, split.bucket));
            }
        }
        Ok(buckets)
    }

    async fn commits_since_full(&self, at_most: usize) -> Result<usize> {
        let snapshots = Snapshots::new(&self.table);
        let tells = self.table.options().changelog_producer()? == ChangelogProducer::FullCompaction;
        let mut id = snapshots.latest_id().await?;
        let mut commits = 0;
        while let Some(at) = id.filter(|id| id.0 > 0 && commits < at_most) {
            let snapshot = match snapshots.get(at).await {
                Ok(snapshot) => snapshot,
                // There is no telling how many there were before those that have expired.
                Err(e) if e.kind() == ErrorKind::NotFound => return Ok(at_most),
                Err(e) => return Err(e),
            };
            match snapshot.commit_kind {
                CommitKind::Compact if snapshot.changelog_manifest_list.is_some() => break,
                CommitKind::Compact if !tells && self.is_full(&snapshot).await? => break,
                CommitKind::Append | CommitKind::Overwrite => commits += 1,
                _ => {}
            }
            id = Some(SnapshotId(at.0 - 1));
        }
        Ok(commits)
    }
}
