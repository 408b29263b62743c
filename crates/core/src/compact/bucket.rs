//! The compactions of one bucket while it is written: at most one runs at a time, in the background.

use std::sync::Arc;

use futures::channel::oneshot;
use linn_format::file::DataFileMeta;
use linn_format::options::MergeEngine;
use linn_format::schema::TableSchema;
use linn_format::{Error, Result};

use super::changes::Changes;
use super::expire::Expiry;
use super::files::BucketFiles;
use super::levels::Levels;
use super::pick::{Choice, Moment, Policy, drops_deletes, pick_full};
use super::plan::{Ascent, Limits, plan};
use super::run::{Compacted, Task};
use crate::lookup::{LookupFiles, Shape};
use crate::merge::{KeyOrder, MergeSpec, SpillLimit};
use crate::seam::{Env, Pool};
use crate::storage::IoLimit;
use crate::vector::BucketVectors;

/// Rows in a batch at the least: smaller ones cost more in going from batch to batch than in their rows.
const MIN_BATCH: usize = 8192;

/// What a table's options say of its compactions.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The picks.
    pub(crate) policy: Policy,
    /// `num-levels`.
    pub(crate) num_levels: usize,
    /// `num-sorted-run.stop-trigger`.
    pub(crate) stop_trigger: usize,
    /// Small files; its highest level is replaced by each bucket's.
    pub(crate) limits: Limits,
    /// `compaction.force-rewrite-all-files`.
    rewrite_all: bool,
    /// Whether a retraction that nothing came before still means something: a sum goes on from it (cases: M13).
    keeps_retractions: bool,
    /// When runs are spilled.
    spill: SpillLimit,
    /// Which rows are left out for their age.
    expiry: Option<Expiry>,
    /// Rows in a batch.
    pub(crate) batch_size: usize,
    /// What compactions tell and look up.
    pub(crate) changes: Arc<Changes>,
    /// The lookup files that the compactions keep; `None` where nothing is looked up.
    lookups: Option<Arc<LookupFiles>>,
    shape: Arc<Shape>,
    /// `full-compaction.delta-commits`.
    pub(crate) full_every: Option<usize>,
    /// What all compactions together may read and write.
    io_limit: Option<Arc<IoLimit>>,
    /// With `lookup-compact=GENTLE`: how many triggers in vain make a compaction of level 0 due.
    gentle: Option<usize>,
}

impl Settings {
    /// The settings of a table.
    ///
    /// # Errors
    /// `Invalid` for a bad option value.
    pub(crate) fn of(schema: &TableSchema) -> Result<Self> {
        let options = &schema.options;
        let changes = Changes::of(schema)?;
        let gentle = changes.looks_up && !options.lookup_compact_radical()?;
        let flag = |key: &str| options.get(key).is_some_and(|v| v.trim().eq_ignore_ascii_case("true"));
        Ok(Self {
            policy: Policy::of(options)?,
            num_levels: options.num_levels()?,
            stop_trigger: options.stop_trigger()?,
            limits: Limits {
                small_file_size: i64::try_from(options.small_file_size(true)?).unwrap_or(i64::MAX),
                max_level: 0,
                ascent: match (changes.needs_places, changes.newest_stands) {
                    (true, true) => Ascent::Clean,
                    (true, false) => Ascent::CleanToTheTop,
                    (false, false) if changes.looks_up => Ascent::ToTheTop,
                    (false, _) => Ascent::Free,
                },
            },
            rewrite_all: flag("compaction.force-rewrite-all-files"),
            keeps_retractions: options.merge_engine()? == MergeEngine::Aggregate
                && !flag("aggregation.remove-record-on-delete")
                && !changes.looks_up
                && !changes.at_top,
            spill: SpillLimit::of(options)?,
            expiry: Expiry::of(schema)?,
            batch_size: options.read_batch_size()?.max(MIN_BATCH),
            lookups: if changes.looks_up { Some(Arc::new(LookupFiles::new(options)?)) } else { None },
            shape: Arc::new(Shape::of(schema, &changes)),
            io_limit: options.compaction_io_limit()?.map(|limit| Arc::new(IoLimit::new(limit))),
            full_every: options.full_compaction_commits()?,
            gentle: if gentle { Some(options.lookup_compact_max_interval()?) } else { None },
            changes: Arc::new(changes),
        })
    }

    /// Whether compactions keep deletion vectors.
    pub(crate) fn keeps_vectors(&self) -> bool {
        self.changes.needs_places
    }

    /// The same for a job that compacts and ends: it leaves nothing at level 0 that has to leave it some time.
    pub(crate) fn at_once(mut self) -> Self {
        self.policy.force_up_level_0 |= self.changes.looks_up;
        // Lookup files made for one compaction would be made for nothing.
        self.lookups = self.lookups.filter(|lookups| lookups.are_beside());
        self
    }

    /// Whether a file has to be rewritten although it could stay as it is.
    fn must_rewrite(&self, file: &DataFileMeta, now_millis: i64) -> bool {
        self.rewrite_all || self.expiry.as_ref().is_some_and(|e| e.has_expired(file, now_millis))
    }

    /// What would be compacted. A complete compaction leaves no deletion vectors.
    pub(crate) fn choose(
        &self,
        levels: &Levels,
        vectors: &BucketVectors,
        full: bool,
        moment: Moment,
    ) -> Option<Choice> {
        let now_millis = moment.now_millis;
        match full {
            true => {
                pick_full(levels, |file| self.must_rewrite(file, now_millis) || vectors.get(&file.file_name).is_some())
            }
            false => self.policy.pick(levels, moment),
        }
    }
}

/// The levels of a bucket and its compaction.
pub(crate) struct Compactor {
    env: Env,
    files: Arc<dyn BucketFiles>,
    spec: Arc<MergeSpec>,
    order: KeyOrder,
    settings: Arc<Settings>,
    levels: Levels,
    vectors: BucketVectors,
    last_full_millis: Option<i64>,
    /// Triggers in vain since the last compaction of level 0, with `lookup-compact=GENTLE`.
    in_vain: usize,
    running: Option<oneshot::Receiver<Result<Compacted>>>,
}

impl Compactor {
    /// A compactor of the bucket's live files and their deletion vectors; `spec` merges all columns.
    pub(crate) fn new(
        env: Env,
        files: Arc<dyn BucketFiles>,
        spec: Arc<MergeSpec>,
        order: KeyOrder,
        settings: Arc<Settings>,
        live: Vec<Arc<DataFileMeta>>,
        vectors: BucketVectors,
    ) -> Self {
        let files = settings.io_limit.as_ref().and_then(|limit| files.limited(limit)).unwrap_or(files);
        let levels = Levels::new(live, settings.num_levels);
        let max_level = levels.max_level();
        // Creation times are local wall-clock times.
        let last_full_millis = levels
            .files()
            .iter()
            .filter(|f| f.level == max_level)
            .filter_map(|f| f.creation_time)
            .max()
            .map(|local| env.clock.instant_millis(local));
        Self { env, files, spec, order, settings, levels, vectors, last_full_millis, in_vain: 0, running: None }
    }

    /// Takes new files in.
    pub(crate) fn add(&mut self, files: &[Arc<DataFileMeta>]) {
        self.levels.update(&[], files);
    }

    /// Whether a compaction runs.
    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Whether files wait at level 0 that a compaction has to look up.
    pub(crate) fn is_behind(&self) -> bool {
        self.settings.changes.looks_up && self.levels.level0().next().is_some()
    }

    /// The bucket's deletion vectors.
    pub(crate) fn vectors(&mut self) -> &mut BucketVectors {
        &mut self.vectors
    }

    /// The files above level 0, when what is compacted depends on all of them.
    pub(crate) fn basis(&self) -> Option<Vec<Arc<DataFileMeta>>> {
        let above = || self.levels.files().iter().filter(|f| f.level > 0).cloned().collect();
        self.settings.keeps_vectors().then(above)
    }

    /// Whether a flush must wait for the running compaction.
    pub(crate) fn stops_writes(&self) -> bool {
        self.levels.run_count() > self.settings.stop_trigger
    }

    /// Whether a commit must wait for the running compaction.
    pub(crate) fn stops_commits(&self) -> bool {
        self.levels.run_count() > self.settings.stop_trigger.saturating_add(1)
    }

    /// Starts a compaction in the background if there is something to do and none runs.
    ///
    /// # Errors
    /// `Corrupt` naming a file whose key range cannot be read.
    pub(crate) fn trigger(&mut self, full: bool) -> Result<()> {
        if self.running.is_some() {
            return Ok(());
        }
        let Some((_, task)) = self.task(full)? else { return Ok(()) };
        let (sender, receiver) = oneshot::channel();
        self.running = Some(receiver);
        let run = async move {
            sender.send(task.run().await).ok();
        };
        self.env.spawn.spawn(Pool::Compaction, Box::pin(run));
        Ok(())
    }

    /// The next compaction, if there is something to do.
    ///
    /// # Errors
    /// `Corrupt` naming a file whose key range cannot be read.
    pub(crate) fn task(&mut self, full: bool) -> Result<Option<(Choice, Task)>> {
        let now_millis = self.env.clock.now_millis();
        let local = self.env.clock.local_millis(now_millis);
        let hour = local.div_euclid(3_600_000).rem_euclid(24);
        let moment = Moment { now_millis, hour, last_full_millis: self.last_full_millis };
        let Some(choice) = self.choose(full, moment) else { return Ok(None) };
        let max_level = self.levels.max_level();
        if choice.output_level == max_level {
            self.last_full_millis = Some(now_millis);
        }
        let forced = |file: &DataFileMeta| {
            self.settings.must_rewrite(file, now_millis) || (full && self.vectors.get(&file.file_name).is_some())
        };
        let steps = plan(&choice, &self.order, Limits { max_level, ..self.settings.limits }, &forced)?;
        if steps.is_empty() {
            return Ok(None);
        }
        let below = self.levels.files().iter().filter(|f| f.level > choice.output_level);
        let task = Task {
            files: self.files.clone(),
            spec: self.spec.clone(),
            steps,
            output_level: choice.output_level,
            is_top: choice.output_level == max_level,
            drop_deletes: drops_deletes(&self.levels, choice.output_level, self.settings.keeps_vectors())
                && !self.settings.keeps_retractions,
            batch_size: self.settings.batch_size,
            spill: self.settings.spill,
            expiry: self.settings.expiry.clone(),
            env: self.env.clone(),
            vectors: Arc::new(self.vectors.clone()),
            changes: self.settings.changes.clone(),
            lookups: self.settings.lookups.clone(),
            shape: self.settings.shape.clone(),
            below: if self.settings.changes.looks_up { below.cloned().collect() } else { Vec::new() },
            ahead: false,
        };
        Ok(Some((choice, task)))
    }

    /// What is due. A gentle lookup compaction takes level 0 up only when it was not due so many times.
    fn choose(&mut self, full: bool, moment: Moment) -> Option<Choice> {
        let choice = self.settings.choose(&self.levels, &self.vectors, full, moment);
        let Some(interval) = self.settings.gentle.filter(|_| choice.is_none() && !full) else { return choice };
        self.in_vain += 1;
        if self.in_vain < interval {
            return None;
        }
        self.in_vain = 0;
        Policy { force_up_level_0: true, ..self.settings.policy.clone() }.pick(&self.levels, moment)
    }

    /// The result of the running compaction: waits for it when `wait`, else `None` unless it has ended.
    pub(crate) async fn result(&mut self, wait: bool) -> Result<Option<Compacted>> {
        let Some(mut running) = self.running.take() else { return Ok(None) };
        let lost = || Error::internal("a compaction ended without a result");
        let result = if wait {
            running.await.map_err(|_| lost())?
        } else {
            match running.try_recv().map_err(|_| lost())? {
                Some(result) => result,
                None => {
                    self.running = Some(running);
                    return Ok(None);
                }
            }
        };
        let compacted = result?;
        self.take(&compacted);
        Ok(Some(compacted))
    }

    /// Takes over what a compaction changed. The vectors of files that are no more go with them.
    pub(crate) fn take(&mut self, compacted: &Compacted) {
        self.levels.update(&compacted.before, &compacted.after);
        for file in &compacted.before {
            if !compacted.after.iter().any(|after| after.file_name == file.file_name) {
                self.vectors.remove(&file.file_name);
            }
        }
        self.vectors.mark(&compacted.marks);
    }
}
