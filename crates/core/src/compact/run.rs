//! Carrying out a plan: sections are merged and written, files are moved to their new level.
//!
//! Memory is bounded by the runs of one section times a batch. A compaction that fails deletes what it wrote.

use std::sync::Arc;

use futures::StreamExt;
use linn_format::Result;
use linn_format::file::{DataFileMeta, FileSource};
use linn_format::types::DataField;

use super::files::{BucketFiles, Output, read_run};
use super::plan::Step;
use crate::merge::{MergeSpec, Section, merge};

/// What a compaction took in and made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Compacted {
    /// Files that are no longer part of the bucket.
    pub(crate) before: Vec<Arc<DataFileMeta>>,
    /// Files that take their place; an upgraded file is in both, at its old and at its new level.
    pub(crate) after: Vec<Arc<DataFileMeta>>,
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
                    done.before.push(file.clone());
                    done.after.push(Arc::new(moved));
                }
                Step::Rewrite(sections) => match self.rewrite(sections).await {
                    Ok(files) => {
                        done.before.extend(sections.iter().flat_map(Section::files).cloned());
                        done.after.extend(files);
                    }
                    Err(e) => {
                        self.give_up(&done.before, &done.after).await;
                        return Err(e);
                    }
                },
            }
        }
        Ok(done)
    }

    async fn rewrite(&self, sections: &[Section]) -> Result<Vec<Arc<DataFileMeta>>> {
        let mut sink = self.files.write(Output::Data(self.output_level, FileSource::Compact)).await?;
        let fields: Arc<[DataField]> = self.spec.read_fields().into();
        for section in sections {
            let runs =
                section.runs.iter().map(|run| read_run(self.files.clone(), run.clone(), fields.clone())).collect();
            let mut merged = merge(runs, self.spec.clone(), !self.drop_deletes, self.batch_size);
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

    /// Deletes the files that were made, but not those that only moved.
    pub(crate) async fn give_up(&self, before: &[Arc<DataFileMeta>], after: &[Arc<DataFileMeta>]) {
        for file in after {
            if !before.iter().any(|b| b.file_name == file.file_name) {
                self.files.delete(file).await.ok();
            }
        }
    }
}
