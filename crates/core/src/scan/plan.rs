//! From a scan to its plan.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use linn_format::file::DataFileMeta;
use linn_format::manifest::{EntryBatch, ManifestMeta, StatsColumns};
use linn_format::options::{ChangelogProducer, MergeEngine};
use linn_format::row::BinaryRow;
use linn_format::schema::Bucketing;
use linn_format::snapshot::Snapshot;
use linn_format::{Error, Result};

use super::bucket::{Buckets, Rows};
use super::files::{Files, batches};
use super::filter::Filters;
use super::group::{named, place};
use super::pack::{Group, Packing};
use super::protect::protect;
use super::prune::PartitionFilter;
use super::select::Selector;
use super::vector::Vectors;
use super::waiting::{Waiting, waiting};
use super::{Content, DeletionFile, Plan, Scan, Split};
use crate::manifest::{LiveFiles, Manifests};
use crate::schema::Schemas;
use crate::snapshot::Snapshots;
use crate::table::View;

/// Which files of a snapshot are planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All of the table.
    All,
    /// Those that the snapshot added.
    Delta,
    /// Those that the snapshot removed.
    Removed,
    /// Those of its changelog.
    Changelog,
}

impl Scan {
    /// Plans a batch read: of a snapshot, or of the changes between two points where the options ask for them.
    ///
    /// # Errors
    /// `NotFound` when the snapshot that the options ask for is not there, `Corrupt` with a path, `Unsupported` for tables
    /// that are read in other ways.
    pub async fn plan(&self) -> Result<Plan> {
        if self.snapshot.is_none()
            && let Some(increment) = self.increment().await?
        {
            return self.plan_increment(increment).await;
        }
        let travelled = self.travel().await?;
        // Compactions and lookups read for themselves.
        if let Some(reads) = self.table.reads().filter(|_| !self.every_level) {
            reads.note(Arc::new(self.to_note()), travelled.clone());
        }
        match travelled {
            Some(snapshot) => {
                // Who names a snapshot sees to it that it stays.
                if self.snapshot.is_none() {
                    protect(&self.table, &snapshot).await?;
                }
                self.plan_part(&snapshot, Part::All).await
            }
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
        let metas = self.manifests_of(snapshot, part).await?;
        self.files_in(metas, part, stats, selector).await
    }

    pub(super) async fn manifests_of(&self, snapshot: &Snapshot, part: Part) -> Result<Vec<ManifestMeta>> {
        let manifests = Manifests::new(&self.table);
        match part {
            Part::All => manifests.of_snapshot(snapshot).await,
            Part::Delta | Part::Removed => manifests.of_delta(snapshot).await,
            Part::Changelog => manifests.of_changelog(snapshot).await,
        }
    }

    pub(super) async fn files_in(
        &self,
        metas: Vec<ManifestMeta>,
        part: Part,
        stats: StatsColumns,
        selector: &Arc<Selector>,
    ) -> Result<LiveFiles> {
        let manifests = Manifests::new(&self.table);
        let mut wanted = Vec::new();
        for meta in metas {
            if selector.may_have(&meta)? {
                wanted.push(meta);
            } else if let Some(counts) = self.table.counts() {
                counts.manifests_pruned.add(1);
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
            Part::Removed => manifests.removed(wanted, stats, select).await,
        }
    }

    pub(super) async fn plan_part(&self, snapshot: &Snapshot, part: Part) -> Result<Plan> {
        let selector = Arc::new(self.selector(part)?);
        let stats = self.stats(&selector);
        let files = self.files_of(snapshot, part, stats, &selector).await?;
        if self.table.data_evolves()? && self.table.options().deletion_vectors_enabled()? {
            return Err(Error::unsupported("data evolution with deletion vectors").with("table", self.table.name()));
        }
        let vectors = match part {
            Part::All if !files.is_empty() => self.vectors_of(snapshot).await?,
            _ => Vectors::default(),
        };
        let mut splits = self.splits(snapshot, part, &selector, &files, &vectors).await?;
        if part == Part::All && self.merges_waiting()? {
            splits = self.with_waiting(snapshot, splits).await?;
        }
        Ok(Plan { snapshot_id: Some(snapshot.id), splits: self.limited(splits, &selector) })
    }

    pub(super) fn stats(&self, selector: &Selector) -> StatsColumns {
        if self.statistics || selector.filters.value.is_some() { StatsColumns::All } else { StatsColumns::Keys }
    }

    /// The deletion vectors of a snapshot; none in a table without.
    pub(super) async fn vectors_of(&self, snapshot: &Snapshot) -> Result<Vectors> {
        match self.table.options().deletion_vectors_enabled()? {
            true => Vectors::new(&self.table, Manifests::new(&self.table).index_of(snapshot).await?),
            false => Ok(Vectors::default()),
        }
    }

    pub(super) fn selector(&self, part: Part) -> Result<Selector> {
        let table = &self.table;
        let options = table.options();
        let is_pk = table.schema().is_primary_key_table();
        let vectors = options.deletion_vectors_enabled()?;
        // Where what waits is merged with the rest, so is level 0.
        let unmerged = if self.merges_waiting()? {
            false
        } else if vectors {
            !options.deletion_vectors_merge_on_read()?
        } else {
            options.merge_engine()? == MergeEngine::FirstRow
        };
        let is_pk_rows = is_pk && part == Part::All;
        // What a compaction has not seen yet will be told by its changelog.
        let begins = self.begins_stream.then(|| options.changelog_producer()).transpose()?;
        let skip_level_0 = is_pk_rows
            && match begins {
                Some(producer) => producer == ChangelogProducer::Lookup,
                None => unmerged && !self.every_level,
            };
        let highest = table.view() == View::HighestLevel || begins == Some(ChangelogProducer::FullCompaction);
        let only_level = match is_pk_rows && highest {
            true => Some(i32::try_from(options.num_levels()?.saturating_sub(1)).unwrap_or(i32::MAX)),
            false => None,
        };
        let fields = table.schema().partition_fields().into_iter().cloned().collect();
        let partitions =
            PartitionFilter::new(fields, &self.filter, self.partitions.as_deref(), self.tally.as_ref().map(Arc::clone));
        Ok(Selector {
            filters: Filters::new(table, &self.filter, partitions),
            buckets: Buckets::new(table, &self.filter, self.buckets.as_deref(), self.rows(part)?)?,
            skip_level_0,
            only_level,
            // A file of some columns says nothing of its rows' other columns.
            judge_values: (!is_pk && !table.data_evolves()?) || (skip_level_0 && unmerged) || only_level.is_some(),
            made_since: self.made_since.map(|millis| table.env().clock.local_millis(millis)),
            schemas: Schemas::new(table),
            schema: Arc::new(table.schema().clone()),
            read_index: options.file_index_read()?,
            counts: table.counts().cloned(),
        })
    }

    fn rows(&self, part: Part) -> Result<Rows> {
        let options = self.table.options();
        if self.table.schema().bucketing()? != Bucketing::Postponed || (part == Part::All && self.merges_waiting()?) {
            return Ok(Rows::All);
        }
        if part != Part::All || self.begins_stream {
            // Rows that wait are told by the changelog when they are placed, where there is one.
            let told = options.changelog_producer()? != ChangelogProducer::None;
            return Ok(if told { Rows::Placed } else { Rows::All });
        }
        Ok(Rows::Placed)
    }

    /// Whether batch reads show rows that wait for a bucket.
    pub(super) fn merges_waiting(&self) -> Result<bool> {
        let options = self.table.options();
        let wanted = self.table.schema().bucketing()? == Bucketing::Postponed && options.postpone_merge_on_read()?;
        let whole = !self.every_level && !self.begins_stream;
        Ok(wanted && whole && self.table.view() != View::HighestLevel)
    }

    /// The splits of partitions where no selected row waits, and one for each other partition: its files of all buckets, then
    /// those that wait in the order in which they came.
    async fn with_waiting(&self, snapshot: &Snapshot, splits: Vec<Split>) -> Result<Vec<Split>> {
        let mut selected: HashMap<BinaryRow, HashSet<String>> = HashMap::new();
        for split in splits.iter().filter(|split| split.bucket == Bucketing::POSTPONED) {
            let names = selected.entry(split.partition.clone()).or_default();
            names.extend(split.files.iter().map(|file| file.file_name.clone()));
        }
        if selected.is_empty() {
            return Ok(splits);
        }
        let (mut all, mut whole): (Vec<Split>, HashMap<BinaryRow, Split>) = (Vec::new(), HashMap::new());
        for split in splits {
            if !selected.contains_key(&split.partition) {
                all.push(split);
                continue;
            }
            let joined = whole.entry(split.partition.clone()).or_insert_with(|| Split {
                snapshot_id: split.snapshot_id,
                partition: split.partition.clone(),
                bucket: Bucketing::POSTPONED,
                total_buckets: Bucketing::POSTPONED,
                files: Files::default(),
                deletion_files: Vec::new(),
                raw_convertible: false,
                content: Content::Rows,
            });
            if split.bucket != Bucketing::POSTPONED {
                join(joined, split.bucket, split.files.to_vec(), split.deletion_files);
            }
        }
        let partitions: Vec<BinaryRow> = selected.keys().cloned().collect();
        for Waiting { partition, mut files } in waiting(&self.table, snapshot, Some(&partitions)).await? {
            let (Some(mut joined), Some(names)) = (whole.remove(&partition), selected.get(&partition)) else {
                continue;
            };
            files.retain(|file| names.contains(&file.file_name));
            join(&mut joined, Bucketing::POSTPONED, files, Vec::new());
            all.push(joined);
        }
        Ok(all)
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
            && !self.table.data_evolves()?
            && !self.merges_waiting()?
            && selector.filters.value.is_some();
        let mut splits = Vec::new();
        let mut buckets = named(files, selector, judge).await?;
        let batches = batches(files);
        // What waits comes after what it changes.
        buckets.sort_by_key(|bucket| bucket.bucket == Bucketing::POSTPONED);
        for named in buckets {
            let (bucket, total_buckets) = (named.bucket, named.total_buckets);
            let waiting = part == Part::All && bucket == Bucketing::POSTPONED;
            let apart = if part == Part::All && !waiting { packing.pack_named(files, &named) } else { None };
            if let Some(apart) = apart {
                let key = (named.partition, bucket);
                for entries in apart {
                    let places = entries.iter().filter_map(|entry| place(files, *entry));
                    splits.push(Split {
                        snapshot_id: snapshot.id,
                        partition: key.0.clone(),
                        bucket,
                        total_buckets,
                        deletion_files: vectors.of_names(&key, places.map(|(batch, i)| batch.file_name(i))),
                        files: Files::named(&batches, entries)?,
                        raw_convertible: true,
                        content: Content::Rows,
                    });
                }
                continue;
            }
            let made = named.files(files)?;
            let ruled_out: HashSet<String> = named
                .ruled_out
                .iter()
                .filter_map(|entry| place(files, *entry))
                .map(|(batch, i)| batch.file_name(i).into())
                .collect();
            let keep = |f: &DataFileMeta| !ruled_out.contains(f.file_name.as_str());
            let (partition, files) = (named.partition, made);
            let groups: Vec<Group> = match part {
                Part::All if waiting => vec![(Waiting::new(partition.clone(), files).files, true)],
                Part::All => packing.pack(files, keep)?,
                _ if self.table.schema().is_primary_key_table() || self.table.options().bucket()? != -1 => {
                    vec![(files, true)]
                }
                _ => packing.pack(files, |_| true)?,
            };
            let content = if part == Part::All && !waiting { Content::Rows } else { Content::Changes };
            let key = (partition, bucket);
            for (files, raw_convertible) in groups {
                splits.push(Split {
                    snapshot_id: snapshot.id,
                    partition: key.0.clone(),
                    bucket,
                    total_buckets,
                    deletion_files: vectors.of(&key, &files),
                    files: files.into(),
                    raw_convertible,
                    content: content.clone(),
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

/// Adds files of a bucket to the split of their partition.
fn join(split: &mut Split, bucket: i32, files: Vec<Arc<DataFileMeta>>, vectors: Vec<Option<DeletionFile>>) {
    let mut buckets = match std::mem::take(&mut split.content) {
        Content::Partition(buckets) => buckets,
        _ => Vec::new(),
    };
    buckets.extend(files.iter().map(|_| bucket));
    split.content = Content::Partition(buckets);
    split.deletion_files.extend(vectors.into_iter().chain(std::iter::repeat(None)).take(files.len()));
    split.files.extend(files);
}
