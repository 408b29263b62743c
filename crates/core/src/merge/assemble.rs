//! Collects merged rows from sources and gives them out as batches; the part that all kinds of merges share.
//!
//! Where a changelog is asked for, every group says what was there before: the row that came out is compared with it,
//! and both become selections of a second output.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_cast::display::array_value_to_string;
use linn_format::{Error, Result};

use super::beside::Columns;
use super::changelog::{Changelog, Merged};
use super::engine::MergeEngine;
use super::function::Unfolded;
use super::output::Output;
use super::source::{Record, Source, is_retract, retain};
use super::spec::MergeSpec;

/// What a group of records changes for those who follow the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing that is to be told.
    Untold,
    /// The row, where this record of the group was before; `None` where the key was not there.
    From(Option<Record>),
}

/// Sources, engine, and the rows merged since the last batch.
pub(crate) struct Assembler {
    spec: Arc<MergeSpec>,
    engine: Box<dyn MergeEngine>,
    keep_deletes: bool,
    selection_of: Vec<Option<usize>>,
    columns: Vec<usize>,
    sources: Vec<Source>,
    output: Output,
    changelog: Option<Changelog>,
    filtered: Vec<Record>,
    beside: Columns,
}

impl Assembler {
    /// Nothing merged yet.
    pub(crate) fn new(spec: Arc<MergeSpec>, keep_deletes: bool, beside: Columns) -> Result<Self> {
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
            output: Output::default(),
            changelog: None,
            spec,
            engine,
            keep_deletes,
            selection_of,
            sources: Vec::new(),
            filtered: Vec::new(),
            beside,
        })
    }

    /// From now on changes are told; updates that differ in none of the `compared` columns are not, where given.
    pub(crate) fn tell_changes(&mut self, compared: Option<Vec<usize>>) {
        self.changelog = Some(Changelog::new(compared));
    }

    /// Appends a key-value batch with the columns the spec reads, from a file of `level`; returns its number.
    pub(crate) fn add_source(&mut self, batch: &RecordBatch, level: i32) -> Result<usize> {
        let source = Source::new(batch, self.spec.read_fields().len(), level)?;
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
        self.output.len().max(self.changelog.as_ref().map_or(0, Changelog::len) / 2)
    }

    /// A range of rows of which each is alone with its key; with `new` they were not there before.
    pub(crate) fn range(&mut self, source: usize, start: usize, end: usize, new: bool) {
        let kinds = &self.sources[source].kinds[start..end];
        let changelog = self.changelog.as_mut().filter(|_| new);
        if kinds.iter().all(|k| !is_retract(*k)) {
            if let Some(changelog) = changelog {
                changelog.insert_range(source as u32, start, kinds.len());
            }
            self.output.push_range(source as u32, start, kinds);
            return;
        }
        let adds = |at: &usize| !is_retract(kinds[*at]);
        if let Some(changelog) = changelog {
            for at in (0..kinds.len()).filter(adds) {
                changelog.insert_range(source as u32, start + at, 1);
            }
        }
        if self.keep_deletes {
            self.output.push_range(source as u32, start, kinds);
            return;
        }
        for at in (0..kinds.len()).filter(adds) {
            self.output.push_range(source as u32, start + at, &kinds[at..=at]);
        }
    }

    /// A group of records with one key, oldest first, and what it changes.
    pub(crate) fn group(&mut self, group: &[Record], change: Change) -> Result<()> {
        if let [one] = group {
            self.emit(Some(*one), change);
            return Ok(());
        }
        if self.spec.ignores_delete() && group.iter().any(|r| is_retract(r.kind)) {
            self.filtered.clear();
            self.filtered.extend(group.iter().filter(|r| !is_retract(r.kind)));
            let live = std::mem::take(&mut self.filtered);
            let merged = match live.as_slice() {
                [] => Ok(()),
                [one] => {
                    self.emit(Some(*one), change);
                    Ok(())
                }
                many => self.merge(many, change),
            };
            self.filtered = live;
            return merged;
        }
        self.merge(group, change)
    }

    fn merge(&mut self, group: &[Record], change: Change) -> Result<()> {
        let verdict = self.engine.merge(group)?;
        let row = verdict.map(|v| Record { pick: v.base.pick, kind: v.kind });
        self.put(row, verdict.and_then(|v| v.folded), change);
        Ok(())
    }

    fn emit(&mut self, row: Option<Record>, change: Change) {
        self.put(row, None, change);
    }

    /// Takes the row of a key in: a record that stands but for the cells of the key that was `folded`.
    fn put(&mut self, row: Option<Record>, folded: Option<u32>, change: Change) {
        if let Some(row) = row
            && (self.keep_deletes || !is_retract(row.kind))
        {
            self.output.push(row.pick, row.kind, folded);
        }
        if let (Some(changelog), Change::From(before)) = (&mut self.changelog, change) {
            changelog.push(before, row, folded);
        }
    }

    /// The rows merged since the last call; `None` when there are none.
    pub(crate) fn take_batch(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.take()?.rows)
    }

    /// The rows merged and the changes told since the last call.
    pub(crate) fn take(&mut self) -> Result<Merged> {
        let spec = &self.spec;
        let settled = self.engine.settle(self.beside).map_err(|unfolded| named(spec, &self.sources, unfolded))?;
        let schema = spec.output_schema();
        let (sources, columns, selection_of) = (&self.sources, &self.columns, &self.selection_of);
        let beside = self.beside;
        let gather = |output: &mut Output| {
            if output.len() == 0 {
                return Ok(None);
            }
            let gathered = output.gather(sources, schema, columns, selection_of, &settled, beside);
            gathered.map(Some).map_err(|unfolded| named(spec, sources, unfolded))
        };
        let rows = gather(&mut self.output)?;
        let changes = match &mut self.changelog {
            Some(changelog) => changelog.take(gather)?,
            None => None,
        };
        Ok(Merged { rows, changes })
    }
}

/// The error of values that cannot be folded, with their key where it is known.
fn named(spec: &MergeSpec, sources: &[Source], unfolded: Unfolded) -> Error {
    let Unfolded { error, at } = unfolded;
    let Some(pick) = at else { return error };
    let columns = sources.get(pick.source as usize).map(|s| s.columns.as_slice()).unwrap_or_default();
    let keys = spec.key_columns().iter().filter_map(|&at| columns.get(at));
    let texts: Result<Vec<String>> = keys.map(|key| Ok(array_value_to_string(key, pick.row as usize)?)).collect();
    match texts {
        Ok(texts) => error.with("key", texts.join(", ")),
        Err(_) => error,
    }
}
