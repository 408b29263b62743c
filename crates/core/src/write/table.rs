//! Writers of a table: where the buckets' files are and what they hold by the latest snapshot.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use linn_format::Result;
use linn_format::file::{FileWrite, KeyValueLayout, format_named};
use linn_format::options::Options;
use linn_format::partition::PartitionSpec;
use linn_format::row::BinaryRow;
use linn_format::schema::Bucketing;

use super::gather::Gathering;
use super::open::Opener;
use super::restore::TableBuckets;
use super::routing::{Placed, Routing};
use super::settings::Settings;
use super::writer::{Buckets, TableWriter};
use crate::append;
use crate::assign::Kept;
use crate::commit::{Target, whole};
use crate::compact;
use crate::scan::known_counts;
use crate::snapshot::Snapshots;
use crate::spill::MemoryBudget;
use crate::table::Table;

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
        self.open_writer(user, budget, Kept::All)
    }

    /// A writer of rows that will replace what is there: it does not look at the table's files, does not compact, and
    /// writes no changelog. Its messages are for [`Committer::overwrite`](crate::Committer::overwrite).
    ///
    /// # Errors
    /// As [`Table::writer`].
    pub fn overwriter(&self, user: &str) -> Result<TableWriter> {
        self.replacing(user, Kept::Nothing)
    }

    /// A writer of rows that will replace the partitions of a spec, for
    /// [`Overwrite::Partition`](crate::commit::Overwrite::Partition). Where the primary key lacks partition columns it looks for the
    /// rows' keys in the partitions that stay; elsewhere as [`Table::batch_overwriter`].
    ///
    /// # Errors
    /// As [`Table::batch_overwriter`].
    pub async fn partition_overwriter(&self, user: &str, spec: &PartitionSpec) -> Result<TableWriter> {
        if !self.schema().is_cross_partition() {
            return self.batch_overwriter(user).await;
        }
        match whole(self, spec)? {
            Some(target) => self.replacing(user, Kept::Outside(target)),
            None => self.gathering_writer(user),
        }
    }

    /// A writer of rows that replace these partitions, where keys may be in any other one.
    pub(super) fn replacing_writer(&self, user: &str, partitions: &HashSet<BinaryRow>) -> Result<TableWriter> {
        self.replacing(user, Kept::Outside(Target::Rows(partitions.clone())))
    }

    /// The same of rows that replace the partitions that they are in.
    fn gathering_writer(&self, user: &str) -> Result<TableWriter> {
        Ok(self.replacing(user, Kept::Nothing)?.gather(Gathering::new(self, user)?))
    }

    fn replacing(&self, user: &str, kept: Kept) -> Result<TableWriter> {
        let table =
            self.with_options(&[("write-only", "true"), ("changelog-producer", "none")].into_iter().collect())?;
        table.open_writer(user, MemoryBudget::new(self.options().write_buffer_size()?), kept)
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

    /// The same for rows that will replace what is there; see [`Table::overwriter`]. Where the primary key lacks partition columns
    /// and the rows replace the partitions that they are in (`dynamic-partition-overwrite`, the default), they wait on local disk
    /// until [`TableWriter::prepare_commit`], which can be called once.
    ///
    /// # Errors
    /// As [`Table::batch_writer`].
    pub async fn batch_overwriter(&self, user: &str) -> Result<TableWriter> {
        if self.schema().is_cross_partition() && self.options().dynamic_partition_overwrite()? {
            return self.gathering_writer(user);
        }
        if !self.places_at_once()? {
            return self.overwriter(user);
        }
        let table = self.with_options(&[("write-only", "true")].into_iter().collect())?;
        table.placing_writer(user, false).await
    }

    pub(crate) fn places_at_once(&self) -> Result<bool> {
        Ok(self.schema().bucketing()? == Bucketing::Postponed && self.options().postpone_batch_write_fixed_bucket()?)
    }

    async fn placing_writer(&self, user: &str, restore: bool) -> Result<TableWriter> {
        self.options().check_writable().map_err(|e| e.with("table", self.name()))?;
        let counts = match Snapshots::new(self).latest().await? {
            Some(snapshot) => known_counts(self, &snapshot).await?,
            None => HashMap::new(),
        };
        let table = self.widened();
        let placed = Placed { table: table.clone(), user: user.to_owned(), counts, restore };
        let budget = MemoryBudget::new(table.options().write_buffer_size()?);
        let batch_size = compact::Settings::of(table.schema())?.batch_size;
        let kept = if restore { Kept::All } else { Kept::Nothing };
        let buckets = Arc::new(TableBuckets::new(&table, batch_size, kept));
        let writer = table.merge_tree_writer(buckets, budget, Routing::placed(placed)?, user);
        writer.map_err(|e| e.with("table", self.name()).with("user", user))
    }

    fn open_writer(&self, user: &str, budget: MemoryBudget, kept: Kept) -> Result<TableWriter> {
        self.options().check_writable().map_err(|e| e.with("table", self.name()))?;
        let table = self.widened();
        let batch_size = compact::Settings::of(table.schema())?.batch_size;
        let buckets = Arc::new(TableBuckets::new(&table, batch_size, kept.clone()));
        let writer = match table.schema().is_primary_key_table() {
            true => table.merge_tree_writer(buckets, budget, Routing::of(&table, kept)?, user),
            false => TableWriter::append(&table, buckets, budget),
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
        let opener = match routing.bucketing() {
            Bucketing::Postponed => {
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
        // Whatever waits is of level 0.
        let compression = self.options().file_compression_of_level(0)?.to_owned();
        let zstd_level = self.options().zstd_level()?;
        let write = FileWrite {
            fields,
            compression,
            zstd_level,
            options: self.options().clone(),
            parallel: true,
            searched: true,
        };
        if format_named("avro")?.write(write, Box::new(std::io::sink())).is_ok() {
            options.set("file.format", "avro");
            options.set("metadata.stats-mode", "none");
        }
        self.with_options(&options)
    }
}
