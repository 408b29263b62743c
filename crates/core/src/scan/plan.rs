//! From a scan to its plan.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use linn_format::file::DataFileMeta;
use linn_format::manifest::{EntryBatch, StatsColumns};
use linn_format::options::MergeEngine;
use linn_format::row::BinaryRow;
use linn_format::snapshot::Snapshot;
use linn_format::{Error, Result};

use super::bucket::{Buckets, Rows};
use super::filter::Filters;
use super::pack::{Group, Packing};
use super::select::Selector;
use super::vector::Vectors;
use super::{Plan, Scan, Split};
use crate::manifest::{LiveFiles, Manifests};
use crate::postpone::POSTPONED;
use crate::schema::Schemas;
use crate::snapshot::Snapshots;
use crate::table::View;

/// Which files of a snapshot are planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All of the table.
    All,
    /// Those that the snapshot added.
    Delta,
    /// Those of its changelog.
    Changelog,
}

impl Scan {
    /// Plans a batch read.
    ///
    /// # Errors
    /// `NotFound` when the snapshot that the options ask for is not there, `Corrupt` with a path, `Unsupported` for tables
    /// that are read in other ways.
    pub async fn plan(&self) -> Result<Plan> {
        match self.travel().await? {
            Some(snapshot) => self.plan_part(&snapshot, Part::All).await,
            None => Ok(Plan::default()),
        }
    }

    /// The snapshot that is planned.
    pub(super) async fn travel(&self) -> Result<Option<Arc<Snapshot>>> {
        match &self.snapshot {
            Some(snapshot) => Ok(Some(Arc::clone(snapshot))),
            None => Snapshots::new(&self.table).travel().await,
        }
    }

    /// Plans the files that one snapshot added, as a stream reads them: nothing is left out by level or by values that a
    /// merge would still change, and the files of a bucket stay together.
    ///
    /// # Errors
    /// As [`Scan::plan`].
    pub async fn plan_delta(&self, snapshot: &Snapshot) -> Result<Plan> {
        self.plan_part(snapshot, Part::Delta).await
    }

    /// Plans the changelog files of one snapshot.
    ///
    /// # Errors
    /// As [`Scan::plan`].
    pub async fn plan_changelog(&self, snapshot: &Snapshot) -> Result<Plan> {
        self.plan_part(snapshot, Part::Changelog).await
    }

    /// The live files of a snapshot.
    pub(super) async fn live(&self, snapshot: &Snapshot, stats: StatsColumns) -> Result<LiveFiles> {
        self.files_of(snapshot, Part::All, stats, &Arc::new(self.selector(Part::All)?)).await
    }

    async fn files_of(
        &self,
        snapshot: &Snapshot,
        part: Part,
        stats: StatsColumns,
        selector: &Arc<Selector>,
    ) -> Result<LiveFiles> {
        let manifests = Manifests::new(&self.table);
        let metas = match part {
            Part::All => manifests.of_snapshot(snapshot).await?,
            Part::Delta => manifests.of_delta(snapshot).await?,
            Part::Changelog => manifests.of_changelog(snapshot).await?,
        };
        let mut wanted = Vec::new();
        for meta in metas {
            if selector.may_have(&meta)? {
                wanted.push(meta);
            }
        }
        let select = {
            let selector = Arc::clone(selector);
            move |batch: Arc<EntryBatch>| {
                let selector = Arc::clone(&selector);
                async move { selector.select(&batch).await }
            }
        };
        match part {
            Part::All => manifests.live(wanted, stats, select).await,
            Part::Delta | Part::Changelog => manifests.added(wanted, stats, select).await,
        }
    }

    async fn plan_part(&self, snapshot: &Snapshot, part: Part) -> Result<Plan> {
        let selector = Arc::new(self.selector(part)?);
        let stats =
            if self.statistics || selector.filters.value.is_some() { StatsColumns::All } else { StatsColumns::Keys };
        let files = self.files_of(snapshot, part, stats, &selector).await?;
        if self.table.data_evolves() && self.table.options().deletion_vectors_enabled()? {
            return Err(
                Error::unsupported("feature: data evolution with deletion vectors").with("table", self.table.name())
            );
        }
        let vectors = match part {
            Part::All if self.table.options().deletion_vectors_enabled()? && !files.is_empty() => {
                Vectors::new(&self.table, Manifests::new(&self.table).index_of(snapshot).await?)?
            }
            _ => Vectors::default(),
        };
        let splits = self.splits(snapshot, part, &selector, &files, &vectors).await?;
        Ok(Plan { snapshot_id: Some(snapshot.id), splits: self.limited(splits, &selector) })
    }

    fn selector(&self, part: Part) -> Result<Selector> {
        let table = &self.table;
        let options = table.options();
        let is_pk = table.schema().is_primary_key_table();
        let vectors = options.deletion_vectors_enabled()?;
        let unmerged = if vectors {
            !options.deletion_vectors_merge_on_read()?
        } else {
            options.merge_engine()? == MergeEngine::FirstRow
        };
        let skip_level_0 = is_pk && unmerged && part == Part::All && !self.every_level;
        let only_level = match table.view() {
            View::HighestLevel if is_pk && part == Part::All => {
                Some(i32::try_from(options.num_levels()?.saturating_sub(1)).unwrap_or(i32::MAX))
            }
            _ => None,
        };
        Ok(Selector {
            filters: Filters::new(table, &self.filter, self.partitions.as_deref()),
            buckets: Buckets::new(table, &self.filter, self.buckets.as_deref(), self.rows(part)?)?,
            skip_level_0,
            only_level,
            // A file of some columns says nothing of its rows' other columns.
            judge_values: (!is_pk && !table.data_evolves()) || skip_level_0 || only_level.is_some(),
            schemas: Schemas::new(table),
            schema: Arc::new(table.schema().clone()),
            read_index: options.file_index_read()?,
        })
    }

    fn rows(&self, part: Part) -> Result<Rows> {
        let options = self.table.options();
        if part != Part::All || options.bucket()? != POSTPONED {
            return Ok(Rows::All);
        }
        if options.postpone_merge_on_read()? && !self.every_level {
            return Err(Error::unsupported("feature postpone.merge-on-read")
                .with("table", self.table.name())
                .with_hint("set it to 'false', and compact the table to see all rows"));
        }
        Ok(Rows::Placed)
    }

    async fn splits(
        &self,
        snapshot: &Snapshot,
        part: Part,
        selector: &Selector,
        files: &LiveFiles,
        vectors: &Vectors,
    ) -> Result<Vec<Split>> {
        let packing = Packing::new(&self.table)?;
        // A merge tree's files are judged by their values only now, when it is known which of them overlap.
        let judge = part == Part::All
            && !selector.judge_values
            && !self.table.data_evolves()
            && selector.filters.value.is_some();
        let mut splits = Vec::new();
        for bucket in group(files, selector, judge).await? {
            let Bucket { partition, bucket, total_buckets, files, ruled_out } = bucket;
            let keep = |f: &DataFileMeta| !ruled_out.contains(&f.file_name);
            let groups: Vec<Group> = match part {
                Part::All => packing.pack(files, keep)?,
                _ if self.table.schema().is_primary_key_table() || self.table.options().bucket()? != -1 => {
                    vec![(files, true)]
                }
                _ => packing.pack(files, |_| true)?,
            };
            let key = (partition, bucket);
            for (files, raw_convertible) in groups {
                splits.push(Split {
                    snapshot_id: snapshot.id,
                    partition: key.0.clone(),
                    bucket,
                    total_buckets,
                    deletion_files: vectors.of(&key, &files),
                    files,
                    raw_convertible,
                });
            }
        }
        Ok(splits)
    }

    /// The first splits that have enough rows for the limit, counting only those whose rows are known.
    fn limited(&self, splits: Vec<Split>, selector: &Selector) -> Vec<Split> {
        let Some(limit) = self.limit.filter(|_| selector.filters.value.is_none()) else { return splits };
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = 0i64;
        let mut enough = Vec::new();
        for split in &splits {
            let Some(count) = split.merged_row_count() else { continue };
            enough.push(split.clone());
            rows = rows.saturating_add(count);
            if rows >= limit {
                return enough;
            }
        }
        splits
    }
}

/// The files of one bucket.
struct Bucket {
    partition: BinaryRow,
    bucket: i32,
    total_buckets: i32,
    files: Vec<Arc<DataFileMeta>>,
    /// Names of files whose values rule them out.
    ruled_out: HashSet<String>,
}

/// Materialises the files by bucket: partitions in the order in which they first come, buckets ascending.
async fn group(files: &LiveFiles, selector: &Selector, judge: bool) -> Result<Vec<Bucket>> {
    let mut order: HashMap<BinaryRow, usize> = HashMap::new();
    let mut buckets: HashMap<(usize, i32), Bucket> = HashMap::new();
    for (batch, entries) in &files.batches {
        if entries.is_empty() {
            continue;
        }
        let partitions = batch.partitions()?;
        let schemas = if judge { selector.schemas_of(batch).await? } else { HashMap::new() };
        let mut numbers: Vec<Option<usize>> = vec![None; partitions.len()];
        for i in entries.iter().map(|i| *i as usize) {
            let id = batch.partition_id(i) as usize;
            let (Some(partition), Some(number)) = (partitions.get(id), numbers.get_mut(id)) else { continue };
            let next = order.len();
            let number = *number.get_or_insert_with(|| *order.entry(partition.clone()).or_insert(next));
            let bucket = buckets.entry((number, batch.bucket(i))).or_insert_with(|| Bucket {
                partition: partition.clone(),
                bucket: batch.bucket(i),
                total_buckets: batch.total_buckets(i),
                files: Vec::new(),
                ruled_out: HashSet::new(),
            });
            bucket.files.push(Arc::new(batch.file(i)?));
            if judge && !selector.has_values(batch, i, &schemas)? {
                bucket.ruled_out.insert(batch.file_name(i).to_owned());
            }
        }
    }
    let mut grouped: Vec<_> = buckets.into_iter().collect();
    grouped.sort_unstable_by_key(|(key, _)| *key);
    Ok(grouped.into_iter().map(|(_, bucket)| bucket).collect())
}
