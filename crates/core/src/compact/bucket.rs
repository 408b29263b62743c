//! The compactions of one bucket while it is written: at most one runs at a time, in the background.

use std::sync::Arc;

use futures::channel::oneshot;
use linn_format::file::DataFileMeta;
use linn_format::options::table::compaction::COMPACTION_FORCE_REWRITE_ALL_FILES;
use linn_format::schema::TableSchema;
use linn_format::{Error, Result};

use super::changes::Changes;
use super::expire::Expiry;
use super::levels::Levels;
use super::pick::{Choice, Moment, Policy, drops_deletes, pick_full};
use super::plan::{Limits, Promotion, Step, plan};
use super::retain::Retention;
use super::run::{Compacted, Task};
use crate::file::BucketFiles;
use crate::lookup::{LookupFiles, Shape};
use crate::merge::{Extent, KeyOrder, MergeSpec, SpillLimit};
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
    /// How long deletes stay that order what comes late, in milliseconds.
    retention_millis: i64,
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
        Ok(Self {
            policy: Policy::of(options)?,
            num_levels: options.num_levels()?,
            stop_trigger: options.stop_trigger()?,
            limits: Limits {
                small_file_size: i64::try_from(options.small_file_size(true)?).unwrap_or(i64::MAX),
                max_level: 0,
                promotion: match (changes.needs_places, changes.newest_stands) {
                    (true, true) => Promotion::Clean,
                    (true, false) => Promotion::CleanToHighest,
                    (false, false) if changes.looks_up => Promotion::ToHighest,
                    (false, _) => Promotion::Free,
                },
            },
            rewrite_all: options.is_on(&COMPACTION_FORCE_REWRITE_ALL_FILES)?,
            retention_millis: options.delete_retention_millis()?,
            spill: SpillLimit::of(options)?,
            expiry: Expiry::of(schema)?,
            batch_size: options.read_batch_size()?.max(MIN_BATCH),
            lookups: if changes.looks_up { Some(Arc::new(LookupFiles::new(options)?)) } else { None },
            shape: Arc::new(Shape::of(schema, changes.wanted())),
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
        let steps = self.steps(&choice, full, now_millis)?;
        if steps.is_empty() {
            return Ok(None);
        }
        let mut task = self.task_of(&choice, steps, now_millis);
        // Where a compaction sees a part of the records of its keys, it may turn out that it has to see all of them.
        if task.extent == Extent::Part
            && self.spec.keeps_apart()
            && let Some(all) = pick_full(&self.levels, |_| true)
        {
            let runs = self.levels.runs().iter().filter(|run| run.level <= choice.output_level).count();
            let (fewer, levels) = (runs.saturating_sub(1).max(1), usize::try_from(choice.output_level).unwrap_or(1));
            task.room = fewer.min(levels);
            if levels < fewer || self.levels.run_count() > self.settings.stop_trigger {
                let steps = self.steps(&all, true, now_millis)?;
                task.instead = Some(Box::new(self.task_of(&all, steps, now_millis)));
                if self.spec.has_sequence() {
                    // Seeing all of them does not tell what may come between them.
                    task.instead = Some(Box::new(Task { extent: Extent::Newest, ..task.clone() }));
                }
            }
        }
        Ok(Some((choice, task)))
    }

    /// How a choice is carried out.
    fn steps(&self, choice: &Choice, full: bool, now_millis: i64) -> Result<Vec<Step>> {
        let forced = |file: &DataFileMeta| {
            self.settings.must_rewrite(file, now_millis)
                || (full && (self.vectors.get(&file.file_name).is_some() || self.has_passed(file, now_millis)))
        };
        let max_level = self.levels.max_level();
        plan(choice, &self.order, Limits { max_level, ..self.settings.limits }, &forced)
    }

    /// How long deletes stay.
    fn retention(&self, now_millis: i64) -> Retention {
        let millis = if self.spec.orders_retractions() { self.settings.retention_millis } else { 0 };
        Retention { millis, now_millis }
    }

    /// Whether a file holds deletes that need not stay any more.
    fn has_passed(&self, file: &DataFileMeta, now_millis: i64) -> bool {
        let ordered = self.spec.orders_retractions();
        ordered && self.retention(now_millis).has_passed(file, self.env.clock.as_ref())
    }

    fn task_of(&self, choice: &Choice, steps: Vec<Step>, now_millis: i64) -> Task {
        let (max_level, looks_up) = (self.levels.max_level(), self.settings.changes.looks_up);
        let below = self.levels.files().iter().filter(|f| f.level > choice.output_level);
        let sees_all = looks_up || drops_deletes(&self.levels, choice.output_level, false);
        Task {
            files: self.files.clone(),
            spec: self.spec.clone(),
            steps,
            output_level: choice.output_level,
            is_top: choice.output_level == max_level,
            extent: if sees_all { Extent::Whole } else { Extent::Part },
            drop_deletes: drops_deletes(&self.levels, choice.output_level, self.settings.keeps_vectors()),
            retention: self.retention(now_millis),
            room: 1,
            instead: None,
            batch_size: self.settings.batch_size,
            spill: self.settings.spill,
            expiry: self.settings.expiry.clone(),
            env: self.env.clone(),
            vectors: Arc::new(self.vectors.clone()),
            changes: self.settings.changes.clone(),
            lookups: self.settings.lookups.clone(),
            shape: self.settings.shape.clone(),
            below: if looks_up { below.cloned().collect() } else { Vec::new() },
            ahead: false,
        }
    }

    /// What is due. A gentle lookup compaction takes level 0 up only when it was not due so many times.
    fn choose(&mut self, full: bool, moment: Moment) -> Option<Choice> {
        let now_millis = moment.now_millis;
        let choice = match full {
            // A complete compaction leaves no deletion vectors.
            true => pick_full(&self.levels, |file| {
                let vectors = self.vectors.get(&file.file_name).is_some();
                vectors || self.settings.must_rewrite(file, now_millis) || self.has_passed(file, now_millis)
            }),
            false => self.settings.policy.pick(&self.levels, moment),
        };
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
