//! Carrying out a plan: sections are merged and written, files are moved to their new level.
//!
//! Memory is bounded by the runs of one section times a batch. A compaction that fails deletes what it wrote.

use std::sync::Arc;

use futures::StreamExt;
use linn_format::file::{DataFileMeta, FileSource};
use linn_format::manifest::{FileKind, IndexManifestEntry};
use linn_format::types::DataField;
use linn_format::{BatchStream, Result};

use super::files::{BucketFiles, Output, read_run};
use super::plan::Step;
use super::supersede::{Above, Marks, Superseding};
use crate::merge::{MergeSpec, Section, merge};
use crate::vector::BucketVectors;

/// What a compaction took in and made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Compacted {
    /// Files that are no longer part of the bucket.
    pub(crate) before: Vec<Arc<DataFileMeta>>,
    /// Files that take their place; an upgraded file is in both, at its old and at its new level.
    pub(crate) after: Vec<Arc<DataFileMeta>>,
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
    /// Whether retractions are left out of it.
    pub(crate) drop_deletes: bool,
    /// Rows in a batch.
    pub(crate) batch_size: usize,
    /// Deletion vectors of the bucket; none in tables that have none.
    pub(crate) vectors: Arc<BucketVectors>,
    /// How records of level 0 find what they supersede in the files above; `None` in tables without vectors.
    pub(crate) superseding: Option<Arc<Superseding>>,
    /// Files above level 0 that are no part of this.
    pub(crate) above: Vec<Arc<DataFileMeta>>,
}

impl Task {
    /// Runs it.
    pub(crate) async fn run(self) -> Result<Compacted> {
        let mut done = Compacted::default();
        for step in &self.steps {
            match step {
                Step::Upgrade(file) => {
                    let mut moved = DataFileMeta::clone(file);
                    moved.level = self.output_level;
                    let section = Section { runs: vec![vec![file.clone()]] };
                    if let Err(e) = self.supersede(&section, &mut done.marks).await {
                        self.give_up(&done.before, &done.after, &[]).await;
                        return Err(e);
                    }
                    done.before.push(file.clone());
                    done.after.push(Arc::new(moved));
                }
                Step::Rewrite(sections) => match self.rewrite(sections, &mut done.marks).await {
                    Ok(files) => {
                        done.before.extend(sections.iter().flat_map(Section::files).cloned());
                        done.after.extend(files);
                    }
                    Err(e) => {
                        self.give_up(&done.before, &done.after, &[]).await;
                        return Err(e);
                    }
                },
            }
        }
        Ok(done)
    }

    fn above(&self) -> Above<'_> {
        let (files, vectors) = (&self.files, &*self.vectors);
        Above { files, above: &self.above, vectors, batch_size: self.batch_size }
    }

    /// Marks the rows that the records of level 0 in a section supersede, and returns them.
    async fn supersede(&self, section: &Section, marks: &mut Marks) -> Result<Marks> {
        let Some(superseding) = &self.superseding else { return Ok(Marks::new()) };
        let found = superseding.find(section, &self.above()).await?;
        for (file, positions) in &found {
            *marks.entry(file.clone()).or_default() |= positions;
        }
        Ok(found)
    }

    async fn rewrite(&self, sections: &[Section], marks: &mut Marks) -> Result<Vec<Arc<DataFileMeta>>> {
        let mut sink = self.files.write(Output::Data(self.output_level, FileSource::Compact)).await?;
        let fields: Arc<[DataField]> = self.spec.read_fields().into();
        for section in sections {
            let mut merged = match self.merged(section, &fields, marks).await {
                Ok(merged) => merged,
                Err(e) => {
                    sink.abort().await.ok();
                    return Err(e);
                }
            };
            while let Some(batch) = merged.next().await {
                let written = match batch {
                    Ok(batch) => sink.write(&batch).await,
                    Err(e) => Err(e),
                };
                if let Err(e) = written {
                    sink.abort().await.ok();
                    return Err(e);
                }
            }
        }
        sink.close().await
    }

    /// A section's rows, with those above that they supersede where these take part in the merge.
    async fn merged(&self, section: &Section, fields: &Arc<[DataField]>, marks: &mut Marks) -> Result<BatchStream> {
        let found = self.supersede(section, marks).await?;
        let run = |run: &Vec<_>| read_run(self.files.clone(), run.clone(), fields.clone(), &self.vectors);
        let mut runs: Vec<BatchStream> = section.runs.iter().map(run).collect();
        if let Some(superseding) = self.superseding.as_ref().filter(|s| s.merges()) {
            runs.extend(superseding.rows(&found, &self.spec, &self.above())?);
        }
        Ok(merge(runs, self.spec.clone(), !self.drop_deletes, self.batch_size))
    }

    /// Deletes the files that were made, but not those that only moved, and the index files that were.
    pub(crate) async fn give_up(
        &self,
        before: &[Arc<DataFileMeta>],
        after: &[Arc<DataFileMeta>],
        index_changes: &[IndexManifestEntry],
    ) {
        for line in index_changes.iter().filter(|line| line.kind == FileKind::Add) {
            self.files.delete_vectors(line).await.ok();
        }
        for file in after {
            if !before.iter().any(|b| b.file_name == file.file_name) {
                self.files.delete(file).await.ok();
            }
        }
    }
}
