//! Carrying out a plan: sections are merged and written, files are moved to their new level, changes are told.
//!
//! Memory is bounded by the runs of one section times a batch, and where there are many by what spills hold. A compaction that fails deletes what it wrote.

use std::sync::Arc;

use arrow_array::RecordBatch;
use futures::StreamExt;
use linn_format::Result;
use linn_format::file::{DataFileMeta, FileSource};
use linn_format::manifest::{FileKind, IndexManifestEntry};
use linn_format::types::DataField;

use super::aside::aside;
use super::changes::Changes;
use super::expire::Expiry;
use super::files::{BucketFiles, Output, Sink, give_up, read_run};
use super::plan::Step;
use crate::lookup::{Below, LookupFiles, Marks, Shape};
use crate::merge::{Before, Columns, How, MergeSpec, Merged, Section, SizedRun, SpillLimit, bounded, merge_changes};
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
    /// Whether retractions are left out of it.
    pub(crate) drop_deletes: bool,
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

/// Where merged rows and changes go.
struct Sinks {
    rows: Option<Box<dyn Sink>>,
    changes: Option<Box<dyn Sink>>,
}

impl Task {
    /// The same with all cores, unless rows are so large that each batch which waits for another core is felt.
    pub(crate) fn ahead(&self) -> Self {
        let mut files = self.steps.iter().flat_map(Step::files).chain(&self.below);
        Self { ahead: !files.any(|file| has_huge_rows(file)), ..self.clone() }
    }

    /// Runs it.
    pub(crate) async fn run(self) -> Result<Compacted> {
        let mut done = Compacted::default();
        let below = self.changes.looks_up.then(|| Below::new(&self)).transpose()?;
        for step in &self.steps {
            if let Err(e) = self.step(step, below.as_ref(), &mut done).await {
                self.give_up(&done.before, &done.after, &done.changelog, &[]).await;
                return Err(e);
            }
        }
        if let Err(e) = self.attach(&mut done).await {
            self.give_up(&done.before, &done.after, &done.changelog, &[]).await;
            return Err(e);
        }
        if let Some(below) = below.filter(|_| self.changes.needs_places) {
            done.marks = below.marks().await;
        }
        Ok(done)
    }

    async fn step(&self, step: &Step, below: Option<&Below>, done: &mut Compacted) -> Result<()> {
        let before = self.before(step, below);
        match step {
            Step::Upgrade(file) => {
                let tells = self.changes.told.is_some() || self.changes.needs_places;
                if tells && !matches!(before, Before::Untold) {
                    let alone = Section { runs: vec![vec![file.clone()]] };
                    let (_, changelog) = self.merge(std::slice::from_ref(&alone), before, false).await?;
                    done.changelog.extend(changelog);
                }
                let mut moved = DataFileMeta::clone(file);
                moved.level = self.output_level;
                done.before.push(file.clone());
                done.after.push(Arc::new(moved));
            }
            Step::Rewrite(sections) => {
                let (files, changelog) = self.merge(sections, before, true).await?;
                done.before.extend(step.files().cloned());
                done.after.extend(files);
                done.changelog.extend(changelog);
            }
        }
        Ok(())
    }

    /// Puts lookup files beside the files of the output, where the table wants them.
    async fn attach(&self, done: &mut Compacted) -> Result<()> {
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
            _ => Before::Untold,
        }
    }

    /// Merges sections into new files of data, unless they stay as they are, and of the changelog.
    async fn merge(
        &self,
        sections: &[Section],
        before: Before,
        rewrite: bool,
    ) -> Result<(Vec<Arc<DataFileMeta>>, Vec<Arc<DataFileMeta>>)> {
        let changes = match &before {
            Before::Untold => None,
            _ => self.changes.told.clone(),
        };
        let mut sinks = Sinks { rows: None, changes: None };
        if rewrite {
            sinks.rows = Some(self.files.write(Output::Data(self.output_level, FileSource::Compact)).await?);
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
        let how = How {
            keep_deletes: !self.drop_deletes,
            batch_size: self.batch_size,
            before,
            changes,
            columns: Columns::InTurn,
        };
        for section in sections {
            if let Err(e) = self.section(section, how.clone(), &mut sinks).await {
                sinks.abort().await;
                return Err(e);
            }
        }
        sinks.close(&*self.files).await
    }

    async fn section(&self, section: &Section, how: How, sinks: &mut Sinks) -> Result<()> {
        let fields: Arc<[DataField]> = self.spec.read_fields().into();
        let runs = section.runs.iter().map(|run| self.read(run, &fields)).collect();
        let spec = self.spec.clone();
        let merge = move |runs| merge_changes(runs, spec, how);
        let merged = bounded(&self.env, self.spill, runs, &self.spec, merge);
        let mut merged = if self.ahead { prefetch(&self.env, merged) } else { merged };
        while let Some(part) = merged.next().await {
            sinks.write(part?).await?;
        }
        Ok(())
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
        if let (Some(sink), Some(rows)) = (&mut self.rows, &part.rows) {
            sink.write(rows).await?;
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
    async fn close(self, files: &dyn BucketFiles) -> Result<(Vec<Arc<DataFileMeta>>, Vec<Arc<DataFileMeta>>)> {
        let close = async |sink: Option<Box<dyn Sink>>| match sink {
            Some(sink) => sink.close().await,
            None => Ok(Vec::new()),
        };
        // Changes first: a task of their own finishes them while this one finishes the rows.
        let (changes, rows) = futures::join!(close(self.changes), close(self.rows));
        let (rows, changes) = match (rows, changes) {
            (Ok(rows), Ok(changes)) => return Ok((rows, changes)),
            (rows, changes) => (rows, changes),
        };
        let written: Vec<_> = rows.iter().chain(&changes).flatten().collect();
        for file in written {
            files.delete(file).await.ok();
        }
        Err(rows.err().or(changes.err()).unwrap_or_else(|| linn_format::Error::internal("files that cannot be closed")))
    }
}
