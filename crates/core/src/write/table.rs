//! Writers of a table: where the buckets' files are and what they hold by the latest snapshot.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use linn_format::file::{FileWrite, KeyValueLayout, format_named};
use linn_format::options::{ChangelogProducer, Options};
use linn_format::row::BinaryRow;
use linn_format::snapshot::{CommitKind, Snapshot};
use linn_format::{Error, ErrorKind, Result, SnapshotId};

use super::budget::MemoryBudget;
use super::open::Opener;
use super::routing::{Placed, Routing};
use super::settings::Settings;
use super::writer::{Buckets, OpenBucket, TableWriter};
use crate::append;
use crate::compact::{self, TableFiles};
use crate::postpone::{POSTPONED, known_counts};
use crate::snapshot::Snapshots;
use crate::table::Table;
use crate::vector::{BucketVectors, vector_lines};

impl Table {
    /// A writer with a memory budget of its own (`write-buffer-size`).
    ///
    /// # Errors
    /// `Unsupported` for a key without all partition columns, `Invalid` for bad option values.
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

    /// A writer for a job that commits once. Rows of a table with postponed buckets go to real buckets where
    /// `postpone.batch-write-fixed-bucket` is on (the default): to those of their partition, or when it has none, to as
    /// many as all the rows need, which is known at [`TableWriter::prepare_commit`]. Elsewhere as [`Table::writer`].
    ///
    /// # Errors
    /// As [`Table::writer`], and what reading the table's metadata yields.
    pub async fn batch_writer(&self, user: &str) -> Result<TableWriter> {
        match self.places_at_once()? {
            true => self.placing_writer(user, true).await,
            false => self.writer(user),
        }
    }

    /// The same for rows that will replace what is there; see [`Table::overwriter`].
    ///
    /// # Errors
    /// As [`Table::batch_writer`].
    pub async fn batch_overwriter(&self, user: &str) -> Result<TableWriter> {
        if !self.places_at_once()? {
            return self.overwriter(user);
        }
        let table = self.with_options(&[("write-only", "true")].into_iter().collect())?;
        table.placing_writer(user, false).await
    }

    fn places_at_once(&self) -> Result<bool> {
        Ok(self.options().bucket()? == POSTPONED && self.options().postpone_batch_write_fixed_bucket()?)
    }

    async fn placing_writer(&self, user: &str, restore: bool) -> Result<TableWriter> {
        let counts = match Snapshots::new(self).latest().await? {
            Some(snapshot) => known_counts(self, &snapshot).await?,
            None => HashMap::new(),
        };
        let placed = Placed { table: self.clone(), user: user.to_owned(), counts, restore };
        let budget = MemoryBudget::new(self.options().write_buffer_size()?);
        let batch_size = compact::Settings::of(self.schema())?.batch_size;
        let buckets = Arc::new(TableBuckets { table: self.clone(), batch_size, restore });
        let writer = self.merge_tree_writer(buckets, budget, Routing::placed(placed)?, user);
        writer.map_err(|e| e.with("table", self.name()).with("user", user))
    }

    fn open_writer(&self, user: &str, budget: MemoryBudget, restore: bool) -> Result<TableWriter> {
        let batch_size = compact::Settings::of(self.schema())?.batch_size;
        let buckets = Arc::new(TableBuckets { table: self.clone(), batch_size, restore });
        let writer = match self.schema().is_primary_key_table() {
            true => self.merge_tree_writer(buckets, budget, Routing::of(self, restore)?, user),
            false => TableWriter::append(self, buckets, budget),
        };
        writer.map_err(|e| e.with("table", self.name()).with("user", user))
    }

    fn merge_tree_writer(
        &self,
        buckets: Arc<dyn Buckets>,
        budget: MemoryBudget,
        routing: Routing,
        user: &str,
    ) -> Result<TableWriter> {
        let (schema, env) = (self.schema(), self.env());
        let settings = Arc::new(Settings::of(schema, env, routing.buckets())?);
        let opener = match routing.buckets() {
            POSTPONED => {
                let waiting = append::Settings::of_waiting(&self.of_waiting(user)?, settings.spec.input_schema())?;
                Opener::Postponed(Arc::new(waiting), buckets, settings)
            }
            _ => Opener::MergeTree(buckets, settings),
        };
        TableWriter::with_opener(schema, env, opener, routing, budget)
    }

    /// The table as the writer of waiting rows sees it: Avro where it has the types, no statistics, and a prefix of its own
    /// in the names of its files, so that they can be told from those of other writers.
    fn of_waiting(&self, user: &str) -> Result<Self> {
        let ids = &self.env().ids;
        let user: String =
            user.chars().map(|c| if c.is_ascii_alphanumeric() || ".-".contains(c) { c } else { '_' }).collect();
        // What comes between the marks of the name must not look like one.
        let user = user.replace("-s-", "_s_").replace("-w-", "_w_");
        let number = (ids.jitter() * f64::from(i32::MAX)) as i32;
        let prefix = format!("{}-u-{user}-s-{number}-w-", self.options().data_file_prefix());
        let mut options: Options = [("data-file.prefix", prefix.as_str())].into_iter().collect();
        let fields = KeyValueLayout::of(self.schema())?.fields().to_vec();
        let (compression, zstd_level) = (self.options().file_compression().to_owned(), self.options().zstd_level()?);
        let write = FileWrite { fields, compression, zstd_level, options: self.options().clone() };
        if format_named("avro")?.write(write, Box::new(std::io::sink())).is_ok() {
            options.set("file.format", "avro");
            options.set("metadata.stats-mode", "none");
        }
        self.with_options(&options)
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
            if buckets != POSTPONED && split.total_buckets != buckets {
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
