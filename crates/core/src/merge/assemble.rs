//! Collects merged rows from sources and gives them out as batches; the part that all kinds of merges share.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use linn_format::Result;

use super::engine::MergeEngine;
use super::output::Output;
use super::source::{Cell, Pick, Record, Source, is_retract, retain};
use super::spec::MergeSpec;

/// Sources, engine, and the rows merged since the last batch.
pub(crate) struct Assembler {
    spec: Arc<MergeSpec>,
    engine: Box<dyn MergeEngine>,
    keep_deletes: bool,
    selections: Vec<Vec<usize>>,
    selection_of: Vec<Option<usize>>,
    columns: Vec<usize>,
    sources: Vec<Source>,
    output: Output,
    cells: Vec<(usize, Cell)>,
    filtered: Vec<Record>,
}

impl Assembler {
    /// Nothing merged yet.
    pub(crate) fn new(spec: Arc<MergeSpec>, keep_deletes: bool) -> Result<Self> {
        let engine = spec.engine()?;
        let selections = engine.selections();
        let mut selection_of = vec![None; spec.read_fields().len()];
        for (selection, columns) in selections.iter().enumerate() {
            for &column in columns {
                if let Some(slot) = selection_of.get_mut(column) {
                    *slot = Some(selection);
                }
            }
        }
        Ok(Self {
            columns: (0..spec.wanted()).collect(),
            output: Output::new(selections.len()),
            spec,
            engine,
            keep_deletes,
            selections,
            selection_of,
            sources: Vec::new(),
            cells: Vec::new(),
            filtered: Vec::new(),
        })
    }

    /// Appends a key-value batch with the columns the spec reads; returns its number.
    pub(crate) fn add_source(&mut self, batch: &RecordBatch) -> Result<usize> {
        let source = Source::new(batch, self.spec.read_fields().len())?;
        self.engine.add_source(&source.columns, source.len())?;
        self.sources.push(source);
        Ok(self.sources.len() - 1)
    }

    /// The sources.
    pub(crate) fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Only the sources at `keep` (ascending) remain, renumbered; nothing may be pending.
    pub(crate) fn retain_sources(&mut self, keep: &[usize]) {
        retain(&mut self.sources, keep);
        self.engine.retain_sources(keep);
    }

    /// Rows that wait to be given out.
    pub(crate) fn pending(&self) -> usize {
        self.output.len()
    }

    /// A range of rows of which each is alone with its key.
    pub(crate) fn range(&mut self, source: usize, start: usize, end: usize) {
        let kinds = &self.sources[source].kinds[start..end];
        if self.keep_deletes || kinds.iter().all(|k| !is_retract(*k)) {
            self.output.push_range(source as u32, start, kinds);
            return;
        }
        let mut from = 0;
        for (at, kind) in kinds.iter().enumerate() {
            if is_retract(*kind) {
                if at > from {
                    self.output.push_range(source as u32, start + from, &kinds[from..at]);
                }
                from = at + 1;
            }
        }
        if kinds.len() > from {
            self.output.push_range(source as u32, start + from, &kinds[from..]);
        }
    }

    /// A group of records with one key, oldest first.
    pub(crate) fn group(&mut self, group: &[Record]) -> Result<()> {
        if let [one] = group {
            self.push(one.pick, one.kind);
            return Ok(());
        }
        if self.spec.ignores_delete() && group.iter().any(|r| is_retract(r.kind)) {
            self.filtered.clear();
            self.filtered.extend(group.iter().filter(|r| !is_retract(r.kind)));
            let live = std::mem::take(&mut self.filtered);
            let merged = match live.as_slice() {
                [] => Ok(()),
                [one] => {
                    self.push(one.pick, one.kind);
                    Ok(())
                }
                many => self.merge(many),
            };
            self.filtered = live;
            return merged;
        }
        self.merge(group)
    }

    fn push(&mut self, pick: Pick, kind: i8) {
        if self.keep_deletes || !is_retract(kind) {
            self.output.push(pick, kind, &[]);
        }
    }

    fn merge(&mut self, group: &[Record]) -> Result<()> {
        self.cells.clear();
        if let Some(verdict) = self.engine.merge(group, &mut self.cells)?
            && (self.keep_deletes || !is_retract(verdict.kind))
        {
            self.output.push(verdict.base.pick, verdict.kind, &self.cells);
        }
        Ok(())
    }

    /// The rows merged since the last call; `None` when there are none.
    pub(crate) fn take_batch(&mut self) -> Result<Option<RecordBatch>> {
        let mut computed: Vec<Option<ArrayRef>> = vec![None; self.selection_of.len()];
        for columns in &self.selections {
            for &column in columns {
                computed[column] = self.engine.computed(column)?;
            }
        }
        if self.output.len() == 0 {
            return Ok(None);
        }
        self.output
            .gather(&self.sources, self.spec.output_schema(), &self.columns, &self.selection_of, |column| {
                Ok(computed.get(column).cloned().flatten())
            })
            .map(Some)
    }
}
