//! Carrying out a plan: sections are merged and written, files are moved to their new level, changes are told.
//!
//! Memory is bounded by the runs of one section times a batch, and where there are many by what spills hold. A compaction that fails deletes what it wrote.
//!
//! Records of a key that cannot be one without older ones stay apart: the oldest goes to the level of the output, those that
//! follow to the levels below it, which the compaction has emptied. Where there is no level left everything is compacted
//! instead; where there would be as many runs as before nothing is, until there are too many.

use std::sync::Arc;

use arrow_array::RecordBatch;
use futures::StreamExt;
use linn_format::file::{DataFileMeta, FileSource};
use linn_format::manifest::{FileKind, IndexManifestEntry};
use linn_format::types::DataField;
use linn_format::{Error, Result};

use super::aside::aside;
use super::changes::Changes;
use super::expire::Expiry;
use super::plan::Step;
use super::retain::{Ages, Retention};
use super::source::read_run;
use crate::file::{BucketFiles, Output, Sink, give_up};
use crate::lookup::{Below, Lookup, LookupFiles, Marks, Shape};
use crate::merge::{
    Before, Columns, Extent, MergeOptions, MergeSpec, Merged, Ranks, Retractions, Section, SizedRun, SpillLimit, View,
    bounded, merge_changes,
};
use crate::read::{has_huge_rows, prefetch};
use crate::seam::Env;
use crate::vector::BucketVectors;

/// What a compaction took in and made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Compacted {
    /// Files that are no longer part of the bucket.
    pub(crate) before: Vec<Arc<DataFileMeta>>,
    /// Files that take their place; an upgraded file is in both, at its old and at its new level.
    pub(crate) after: Vec<Arc<DataFileMeta>>,
    /// What the table's rows were and are, where a changelog is asked for.
    pub(crate) changelog: Vec<Arc<DataFileMeta>>,
    /// Rows of other files that were superseded; their deletion vectors say so from now on.
    pub(crate) marks: Marks,
}

impl Compacted {
    /// Whether everything stays as it was.
    pub(crate) fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty() && self.changelog.is_empty() && self.marks.is_empty()
    }
}

/// One compaction of one bucket, ready to run.
#[derive(Clone)]
pub(crate) struct Task {
    /// The bucket's files.
    pub(crate) files: Arc<dyn BucketFiles>,
    /// The merge of all columns.
    pub(crate) spec: Arc<MergeSpec>,
    /// What to do.
    pub(crate) steps: Vec<Step>,
    /// Level of the result.
    pub(crate) output_level: i32,
    /// Whether that is the highest.
    pub(crate) is_top: bool,
    /// Which records of its keys it sees.
    pub(crate) extent: Extent,
    /// Whether retractions are left out that nothing older is left for.
    pub(crate) drop_deletes: bool,
    /// How long those stay that order what comes late.
    pub(crate) retention: Retention,
    /// Runs that it may make of its own.
    pub(crate) room: usize,
    /// What is done instead when that is not enough; nothing where there is none.
    pub(crate) instead: Option<Box<Task>>,
    /// Rows in a batch.
    pub(crate) batch_size: usize,
    /// When runs are spilled.
    pub(crate) spill: SpillLimit,
    /// Which rows are left out for their age.
    pub(crate) expiry: Option<Expiry>,
    /// The seams.
    pub(crate) env: Env,
    /// Deletion vectors of the bucket; none in tables that have none.
    pub(crate) vectors: Arc<BucketVectors>,
    /// What to tell.
    pub(crate) changes: Arc<Changes>,
    /// The files that lie below the compaction, for lookups.
    pub(crate) below: Vec<Arc<DataFileMeta>>,
    /// Whether rows are merged on one thread while others are encoded on another. Beside a writer both share the thread of
    /// the compaction, so that the writer keeps its own.
    pub(crate) ahead: bool,
    /// The lookup files that are kept; `None` where none are.
    pub(crate) lookups: Option<Arc<LookupFiles>>,
    /// What those of this table are made of.
    pub(crate) shape: Arc<Shape>,
}

/// Files of data and files of the changelog.
type Made = (Vec<Arc<DataFileMeta>>, Vec<Arc<DataFileMeta>>);

/// Where merged rows and changes go.
struct Sinks {
    /// By level, the highest first; none when files stay as they are.
    rows: Vec<Box<dyn Sink>>,
    changes: Option<Box<dyn Sink>>,
}

impl Task {
    /// The same with all cores, unless rows are so large that each batch which waits for another core is felt.
    pub(crate) fn ahead(&self) -> Self {
        let mut files = self.steps.iter().flat_map(Step::files).chain(&self.below);
        let instead = self.instead.as_ref().map(|task| Box::new(task.ahead()));
        Self { ahead: !files.any(|file| has_huge_rows(file)), instead, ..self.clone() }
    }

    /// Runs it.
    pub(crate) async fn run(self) -> Result<Compacted> {
        let mut task = &self;
        loop {
            if let Some(done) = task.try_run().await? {
                return Ok(done);
            }
            task = match &task.instead {
                Some(instead) => instead,
                None if task.extent == Extent::Whole => {
                    return Err(Error::internal("a compaction of everything made several records of a key"));
                }
                None => return Ok(Compacted::default()),
            };
        }
    }

    /// What it looks up: the keys of level 0 in the files below it.
    fn lookup(&self) -> Lookup {
        let new = self.steps.iter().flat_map(Step::files).filter(|file| file.level == 0);
        Lookup {
            env: self.env.clone(),
            files: self.files.clone(),
            spec: self.spec.clone(),
            new: new.cloned().collect(),
            older: self.below.clone(),
            vectors: self.vectors.clone(),
            wanted: self.changes.wanted(),
            ahead: self.ahead,
            lookups: self.lookups.clone(),
            shape: self.shape.clone(),
        }
    }

    /// Runs it; `None` when it makes more runs than it may.
    async fn try_run(&self) -> Result<Option<Compacted>> {
        let mut done = Compacted::default();
        let below = self.changes.looks_up.then(|| Below::new(self.lookup())).transpose()?;
        let inputs = self.steps.iter().flat_map(Step::files);
        let ages = Ages::of(&self.env, &*self.files, self.retention, inputs).await?;
        for step in &self.steps {
            match self.step(step, below.as_ref(), &ages, &mut done).await {
                Ok(true) => {}
                Ok(false) => {
                    self.give_up(&done.before, &done.after, &done.changelog, &[]).await;
                    return Ok(None);
                }
                Err(e) => {
                    self.give_up(&done.before, &done.after, &done.changelog, &[]).await;
                    return Err(e);
                }
            }
        }
        if let Err(e) = self.attach(&ages, &mut done).await {
            self.give_up(&done.before, &done.after, &done.changelog, &[]).await;
            return Err(e);
        }
        if let Some(below) = below.filter(|_| self.changes.needs_places) {
            done.marks = below.marks().await;
        }
        Ok(Some(done))
    }

    /// Does a step; whether there was room for what it makes.
    async fn step(&self, step: &Step, below: Option<&Below>, ages: &Ages, done: &mut Compacted) -> Result<bool> {
        let before = self.before(step, below);
        match step {
            Step::Upgrade(file) => {
                let tells = self.changes.told.is_some() || self.changes.needs_places;
                if tells && !matches!(before, Before::NotCompared) {
                    let alone = Section { runs: vec![vec![file.clone()]] };
                    let Some((_, changelog)) = self.merge(std::slice::from_ref(&alone), before, ages, false).await?
                    else {
                        return Ok(false);
                    };
                    done.changelog.extend(changelog);
                }
                let mut moved = DataFileMeta::clone(file);
                moved.level = self.output_level;
                done.before.push(file.clone());
                done.after.push(Arc::new(moved));
            }
            Step::Rewrite(sections) => {
                let Some((files, changelog)) = self.merge(sections, before, ages, true).await? else {
                    return Ok(false);
                };
                done.before.extend(step.files().cloned());
                done.after.extend(files);
                done.changelog.extend(changelog);
            }
        }
        Ok(true)
    }

    /// Puts beside the files of the output how old their retractions are, and lookup files where the table wants them.
    async fn attach(&self, ages: &Ages, done: &mut Compacted) -> Result<()> {
        for file in &mut done.after {
            let is_made = done.before.iter().all(|before| before.file_name != file.file_name);
            if is_made {
                *file = ages.attach(&*self.files, file.clone()).await?;
            }
        }
        let Some(lookups) = self.lookups.as_ref().filter(|lookups| lookups.are_beside()) else { return Ok(()) };
        for file in &mut done.after {
            *file = lookups.attach(&self.env, &*self.files, file.clone(), &self.shape).await?;
        }
        Ok(())
    }

    /// What the rows of a step are compared with.
    fn before(&self, step: &Step, below: Option<&Below>) -> Before {
        let has_new = step.files().any(|f| f.level == 0);
        match below {
            Some(below) if self.output_level > 0 && has_new => Before::Older(below.older()),
            None if self.changes.at_top && self.is_top => Before::Level(self.output_level),
            _ => Before::NotCompared,
        }
    }

    /// Merges sections into new files of data, unless they stay as they are, and of the changelog. `None` when there is no
    /// room for all runs of the result.
    async fn merge(&self, sections: &[Section], before: Before, ages: &Ages, rewrite: bool) -> Result<Option<Made>> {
        let changes = match &before {
            Before::NotCompared => None,
            _ => self.changes.told.clone(),
        };
        let mut sinks = Sinks { rows: Vec::new(), changes: None };
        if rewrite {
            sinks.rows.push(self.files.write(Output::Data(self.output_level, FileSource::Compact)).await?);
        }
        if changes.is_some() {
            let changes = match self.files.write(Output::Changelog(self.output_level)).await {
                Ok(changes) => changes,
                Err(e) => {
                    sinks.abort().await;
                    return Err(e);
                }
            };
            sinks.changes = Some(if self.ahead && rewrite { aside(&self.env, changes) } else { changes });
        }
        let retractions = match self.drop_deletes {
            true => ages.retractions(&self.spec),
            false => Retractions::All,
        };
        let how = MergeOptions {
            view: View { extent: self.extent, retractions, ranks: Ranks::FromOldest },
            batch_size: self.batch_size,
            before,
            changes,
            columns: Columns::InTurn,
        };
        for section in sections {
            match self.section(section, how.clone(), &mut sinks).await {
                Ok(true) => {}
                Ok(false) => {
                    sinks.abort().await;
                    return Ok(None);
                }
                Err(e) => {
                    sinks.abort().await;
                    return Err(e);
                }
            }
        }
        sinks.close(&*self.files).await.map(Some)
    }

    /// Merges a section; whether there was room for the result.
    async fn section(&self, section: &Section, how: MergeOptions, sinks: &mut Sinks) -> Result<bool> {
        let fields: Arc<[DataField]> = self.spec.read_fields().into();
        let runs = section.runs.iter().map(|run| self.read(run, &fields)).collect();
        let spec = self.spec.clone();
        let merge = move |runs| merge_changes(runs, spec, how);
        let merged = bounded(&self.env, self.spill, runs, &self.spec, merge);
        let mut merged = if self.ahead { prefetch(&self.env, merged) } else { merged };
        while let Some(part) = merged.next().await {
            let part = part?;
            if !sinks.rows.is_empty() && part.apart.len() >= self.room {
                return Ok(false);
            }
            while !sinks.rows.is_empty() && sinks.rows.len() <= part.apart.len() {
                let level = self.output_level - i32::try_from(sinks.rows.len()).unwrap_or(i32::MAX);
                sinks.rows.push(self.files.write(Output::Data(level, FileSource::Compact)).await?);
            }
            sinks.write(part).await?;
        }
        Ok(true)
    }

    fn read(&self, run: &[Arc<DataFileMeta>], fields: &Arc<[DataField]>) -> SizedRun {
        let bytes = run.iter().map(|f| u64::try_from(f.file_size).unwrap_or(0)).sum();
        let stream = read_run(self.files.clone(), run.to_vec(), fields.clone(), &self.vectors);
        let Some(expiry) = self.expiry.clone() else { return SizedRun { stream, bytes } };
        let now_millis = self.env.clock.now_millis();
        let kept = move |batch: Result<(RecordBatch, i32)>| {
            let (batch, level) = batch?;
            Ok((expiry.retain(&batch, now_millis)?, level))
        };
        SizedRun { stream: stream.map(kept).boxed(), bytes }
    }

    /// Deletes the files that were made, but not those that only moved, and the index files that were.
    pub(crate) async fn give_up(
        &self,
        before: &[Arc<DataFileMeta>],
        after: &[Arc<DataFileMeta>],
        changelog: &[Arc<DataFileMeta>],
        index_changes: &[IndexManifestEntry],
    ) {
        for line in index_changes.iter().filter(|line| line.kind == FileKind::Add) {
            self.files.delete_vectors(line).await.ok();
        }
        give_up(&*self.files, before, after).await;
        for file in changelog {
            self.files.delete(file).await.ok();
        }
    }
}

impl Sinks {
    async fn write(&mut self, part: Merged) -> Result<()> {
        let ranks = std::iter::once(&part.rows).chain(&part.apart);
        for (sink, rows) in self.rows.iter_mut().zip(ranks) {
            if let Some(rows) = rows {
                sink.write(rows).await?;
            }
        }
        if let (Some(sink), Some(changes)) = (&mut self.changes, &part.changes) {
            sink.write(changes).await?;
        }
        Ok(())
    }

    async fn abort(self) {
        for sink in self.rows.into_iter().chain(self.changes) {
            sink.abort().await.ok();
        }
    }

    /// Finishes the files of both, side by side; when one fails nothing stays.
    async fn close(self, files: &dyn BucketFiles) -> Result<Made> {
        let changes = async {
            match self.changes {
                Some(sink) => sink.close().await,
                None => Ok(Vec::new()),
            }
        };
        let rows = futures::future::join_all(self.rows.into_iter().map(|sink| sink.close()));
        // Changes first: a task of their own finishes them while this one finishes the rows.
        let (changes, rows) = futures::join!(changes, rows);
        let mut failure = None;
        let mut take = |closed: Result<Vec<Arc<DataFileMeta>>>| {
            closed.unwrap_or_else(|e| {
                failure.get_or_insert(e);
                Vec::new()
            })
        };
        let rows: Vec<_> = rows.into_iter().flat_map(&mut take).collect();
        let changes = take(changes);
        let Some(failure) = failure else { return Ok((rows, changes)) };
        for file in rows.iter().chain(&changes) {
            files.delete(file).await.ok();
        }
        Err(failure)
    }
}
