//! Writers of a table: where the buckets' files are and what they hold by the latest snapshot.

use std::sync::Arc;

use async_trait::async_trait;
use linn_format::options::ChangelogProducer;
use linn_format::row::BinaryRow;
use linn_format::snapshot::{CommitKind, Snapshot};
use linn_format::{Error, ErrorKind, Result, SnapshotId};

use super::budget::MemoryBudget;
use super::open::Opener;
use super::routing::Routing;
use super::settings::Settings;
use super::writer::{Buckets, OpenBucket, TableWriter};
use crate::compact::{self, TableFiles};
use crate::snapshot::Snapshots;
use crate::table::Table;
use crate::vector::{BucketVectors, vector_lines};

impl Table {
    /// A writer with a memory budget of its own (`write-buffer-size`).
    ///
    /// # Errors
    /// `Unsupported` for a key without all partition columns and for postponed buckets, `Invalid` for bad option values.
    pub fn writer(&self, user: &str) -> Result<TableWriter> {
        self.writer_within(user, MemoryBudget::new(self.options().write_buffer_size()?))
    }

    /// A writer whose buffers draw on a budget that it may share with others.
    ///
    /// # Errors
    /// As [`Table::writer`].
    pub fn writer_within(&self, user: &str, budget: MemoryBudget) -> Result<TableWriter> {
        self.open_writer(user, budget, true)
    }

    /// A writer of rows that will replace what is there: it does not look at the table's files, does not compact, and
    /// writes no changelog. Its messages are for [`Committer::overwrite`](crate::Committer::overwrite).
    ///
    /// # Errors
    /// As [`Table::writer`].
    pub fn overwriter(&self, user: &str) -> Result<TableWriter> {
        let table = self.with_options(&[("write-only", "true"), ("changelog-producer", "none")].into_iter().collect())?;
        table.open_writer(user, MemoryBudget::new(self.options().write_buffer_size()?), false)
    }

    fn open_writer(&self, user: &str, budget: MemoryBudget, restore: bool) -> Result<TableWriter> {
        let batch_size = compact::Settings::of(self.schema())?.batch_size;
        let buckets = Arc::new(TableBuckets { table: self.clone(), batch_size, restore });
        let writer = match self.schema().is_primary_key_table() {
            true => self.merge_tree_writer(buckets, budget, restore),
            false => TableWriter::append(self, buckets, budget),
        };
        writer.map_err(|e| e.with("table", self.name()).with("user", user))
    }

    fn merge_tree_writer(&self, buckets: Arc<dyn Buckets>, budget: MemoryBudget, restore: bool) -> Result<TableWriter> {
        let (schema, env) = (self.schema(), self.env());
        let routing = Routing::of(self, restore)?;
        let settings = Settings::of(schema, env, routing.buckets())?;
        TableWriter::with_opener(schema, env, Opener::MergeTree(buckets, Arc::new(settings)), routing, budget)
    }
}

struct TableBuckets {
    table: Table,
    batch_size: usize,
    /// Whether the live files matter.
    restore: bool,
}

#[async_trait]
impl Buckets for TableBuckets {
    async fn open(&self, partition: &BinaryRow, bucket: i32) -> Result<OpenBucket> {
        let (table, batch_size) = (self.table.clone(), self.batch_size);
        let files = Arc::new(TableFiles { table, partition: partition.clone(), bucket, batch_size });
        let empty = |files| OpenBucket { files, live: Vec::new(), vectors: BucketVectors::default() };
        if !self.restore {
            return Ok(empty(files));
        }
        let Some(snapshot) = Snapshots::new(&self.table).latest().await? else { return Ok(empty(files)) };
        let vectors = self.vectors(&snapshot, partition, bucket).await?;
        let scan = self.table.scan().with_statistics().snapshot(snapshot).every_level();
        let plan = scan.partitions(vec![partition.clone()]).buckets(vec![bucket]).plan().await?;
        let buckets = self.table.options().bucket()?;
        let mut live = Vec::new();
        for split in plan.splits {
            if split.total_buckets != buckets {
                let was = split.total_buckets;
                return Err(Error::invalid(format!("the partition has {was} buckets, the table now {buckets}"))
                    .with("table", self.table.name())
                    .with_hint("overwrite the partition to give it the new number of buckets"));
            }
            live.extend(split.files);
        }
        Ok(OpenBucket { files, live, vectors })
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
                // Older snapshots have expired.
                Err(e) if e.kind() == ErrorKind::NotFound => break,
                Err(e) => return Err(e),
            };
            match snapshot.commit_kind {
                CommitKind::Compact if snapshot.changelog_manifest_list.is_some() || !tells => break,
                CommitKind::Append | CommitKind::Overwrite => commits += 1,
                _ => {}
            }
            id = Some(SnapshotId(at.0 - 1));
        }
        Ok(commits)
    }
}

impl TableBuckets {
    /// The deletion vectors of a bucket of a merge tree. Appending does not look at any.
    async fn vectors(&self, snapshot: &Snapshot, partition: &BinaryRow, bucket: i32) -> Result<BucketVectors> {
        let table = &self.table;
        if !table.schema().is_primary_key_table() || !table.options().deletion_vectors_enabled()? {
            return Ok(BucketVectors::default());
        }
        let mut lines = vector_lines(table, snapshot).await?;
        lines.retain(|line| line.partition == *partition && line.bucket == bucket);
        BucketVectors::load(table, lines).await
    }
}
