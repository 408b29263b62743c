//! The compactions of one bucket while it is written: at most one runs at a time, in the background.

use std::collections::HashSet;
use std::sync::Arc;

use futures::channel::oneshot;
use linn_format::file::DataFileMeta;
use linn_format::options::{ChangelogProducer, MergeEngine};
use linn_format::schema::TableSchema;
use linn_format::{Error, Result};

use super::files::BucketFiles;
use super::levels::Levels;
use super::pick::{Choice, Moment, Policy, drops_deletes, pick_full};
use super::plan::{Ascent, Limits, plan};
use super::run::{Compacted, Task};
use super::supersede::Superseding;
use crate::merge::{KeyOrder, MergeSpec};
use crate::seam::{Env, Pool};
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
    /// Small files and forced rewrites; its highest level is replaced by each bucket's.
    pub(crate) limits: Limits,
    /// Rows in a batch.
    pub(crate) batch_size: usize,
    /// Whether level 0 can only be compacted together with everything else: first-row reads files above level 0
    /// without merging, so no key may be in two of them.
    whole: bool,
    /// Whether level 0 must not stay: batch reads do not see it, or its changelog is still to be made.
    needs_lookup: bool,
    /// With deletion vectors: how records of level 0 find what they supersede.
    superseding: Option<Arc<Superseding>>,
    /// A feature that compactions of this table need and Linn lacks.
    lacking: Option<String>,
}

impl Settings {
    /// The settings of a table.
    ///
    /// # Errors
    /// `Invalid` for a bad option value.
    pub(crate) fn of(schema: &TableSchema) -> Result<Self> {
        let options = &schema.options;
        let lacking = match options.changelog_producer()? {
            ChangelogProducer::None | ChangelogProducer::Input => None,
            other => Some(format!("compaction with changelog-producer={other}")),
        };
        let vectors = options.deletion_vectors_enabled()? && schema.is_primary_key_table();
        let superseding = vectors.then(|| Superseding::of(schema)).transpose()?.map(Arc::new);
        let flag = |key: &str| options.get(key).is_some_and(|v| v.trim().eq_ignore_ascii_case("true"));
        Ok(Self {
            policy: Policy::of(options)?,
            num_levels: options.num_levels()?,
            stop_trigger: options.stop_trigger()?,
            limits: Limits {
                small_file_size: i64::try_from(options.small_file_size(true)?).unwrap_or(i64::MAX),
                max_level: 0,
                rewrite_all: flag("compaction.force-rewrite-all-files"),
                ascent: match &superseding {
                    None => Ascent::Free,
                    Some(superseding) if superseding.merges() => Ascent::CleanToTheTop,
                    Some(_) => Ascent::Clean,
                },
            },
            batch_size: options.read_batch_size()?.max(MIN_BATCH),
            whole: options.merge_engine()? == MergeEngine::FirstRow,
            needs_lookup: options.need_lookup()?,
            superseding,
            lacking,
        })
    }

    /// Whether compactions keep deletion vectors.
    pub(crate) fn keeps_vectors(&self) -> bool {
        self.superseding.is_some()
    }

    /// What would be compacted. A complete compaction leaves no deletion vectors.
    pub(crate) fn choose(
        &self,
        levels: &Levels,
        vectors: &BucketVectors,
        full: bool,
        moment: Moment,
    ) -> Option<Choice> {
        let full_choice =
            || pick_full(levels, |file| self.limits.rewrite_all || vectors.get(&file.file_name).is_some());
        if full {
            return full_choice();
        }
        let choice = self.policy.pick(levels, moment)?;
        if self.whole { full_choice() } else { Some(choice) }
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
        let levels = Levels::new(live, settings.num_levels);
        let max_level = levels.max_level();
        // Creation times are local wall-clock times; the offset makes them comparable with the clock.
        let offset = env.clock.local_offset_millis();
        let last_full_millis = levels
            .files()
            .iter()
            .filter(|f| f.level == max_level)
            .filter_map(|f| f.creation_time)
            .max()
            .map(|local| local - offset);
        Self { env, files, spec, order, settings, levels, vectors, last_full_millis, running: None }
    }

    /// Takes new files in.
    pub(crate) fn add(&mut self, files: &[Arc<DataFileMeta>]) {
        self.levels.update(&[], files);
    }

    /// Whether a compaction runs.
    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Whether files of level 0 are left that must not stay there.
    pub(crate) fn is_behind(&self) -> bool {
        self.settings.needs_lookup && self.settings.lacking.is_none() && self.levels.level0().next().is_some()
    }

    /// The bucket's deletion vectors.
    pub(crate) fn vectors(&mut self) -> &mut BucketVectors {
        &mut self.vectors
    }

    /// The files above level 0, when what is compacted depends on all of them.
    pub(crate) fn basis(&self) -> Option<Vec<Arc<DataFileMeta>>> {
        let above = || self.levels.files().iter().filter(|f| f.level > 0).cloned().collect();
        self.settings.superseding.as_ref().map(|_| above())
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
    /// `Unsupported` when a full compaction is asked for that the table's options make impossible.
    pub(crate) fn trigger(&mut self, full: bool) -> Result<()> {
        if self.running.is_some() {
            return Ok(());
        }
        // Where compaction cannot be done and is not asked for, new files simply stay at level 0.
        if self.settings.lacking.is_some() && !full {
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
    /// `Unsupported` when the table's compactions need what Linn lacks.
    pub(crate) fn task(&mut self, full: bool) -> Result<Option<(Choice, Task)>> {
        if let Some(feature) = &self.settings.lacking {
            return Err(Error::unsupported(format!("feature {feature}")));
        }
        let now_millis = self.env.clock.now_millis();
        let local = now_millis.saturating_add(self.env.clock.local_offset_millis());
        let hour = local.div_euclid(3_600_000).rem_euclid(24);
        let moment = Moment { now_millis, hour, last_full_millis: self.last_full_millis };
        let Some(choice) = self.settings.choose(&self.levels, &self.vectors, full, moment) else { return Ok(None) };
        let max_level = self.levels.max_level();
        if choice.output_level == max_level {
            self.last_full_millis = Some(now_millis);
        }
        let forced = |file: &DataFileMeta| full && self.vectors.get(&file.file_name).is_some();
        let steps = plan(&choice, &self.order, Limits { max_level, ..self.settings.limits }, &forced)?;
        if steps.is_empty() {
            return Ok(None);
        }
        let task = Task {
            files: self.files.clone(),
            spec: self.spec.clone(),
            steps,
            output_level: choice.output_level,
            drop_deletes: drops_deletes(&self.levels, choice.output_level, self.settings.superseding.is_some()),
            batch_size: self.settings.batch_size,
            vectors: Arc::new(self.vectors.clone()),
            superseding: self.settings.superseding.clone(),
            above: self.above(&choice),
        };
        Ok(Some((choice, task)))
    }

    /// The files above level 0 that a compaction leaves out.
    fn above(&self, choice: &Choice) -> Vec<Arc<DataFileMeta>> {
        if self.settings.superseding.is_none() {
            return Vec::new();
        }
        let taken: HashSet<&str> = choice.files.iter().map(|file| file.file_name.as_str()).collect();
        let above = self.levels.files().iter().filter(|f| f.level > 0 && !taken.contains(f.file_name.as_str()));
        above.cloned().collect()
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
