//! Collects merged rows from sources and gives them out as batches; the part that all kinds of merges share.
//!
//! Where a changelog is asked for, every group says what was there before: the row that came out is compared with it,
//! and both become selections of a second output. Rows of a key that stay apart go to an output each.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_cast::display::array_value_to_string;
use linn_format::{Error, Result};

use super::beside::Columns;
use super::changelog::{Changelog, Merged};
use super::engine::{Extent, MergeEngine, Verdict};
use super::function::FoldError;
use super::output::Output;
use super::retraction::Retractions;
use super::source::{Record, Source, is_retract, retain};
use super::spec::MergeSpec;

/// What a group of records changes for those who follow the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing that is to be told.
    Unreported,
    /// The row, where this record of the group was before; `None` where the key was not there.
    From(Option<Record>),
}

/// Where the rows of a key go that cannot be one, as the merge does not see all of its older records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ranks {
    /// All into one run, oldest first: one that nobody but a merge reads.
    Together,
    /// The newest row of each key, the one before that, and so on.
    FromNewest,
    /// The oldest row of each key, the one after that, and so on.
    FromOldest,
}

/// What a merge sees, and what comes out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct View {
    /// Which records of its keys it sees.
    pub(crate) extent: Extent,
    /// Which retractions come out.
    pub(crate) retractions: Retractions,
    /// Where rows of one key go.
    pub(crate) ranks: Ranks,
}

impl View {
    /// Of all records of a table.
    pub(crate) fn whole(retractions: Retractions) -> Self {
        Self { extent: Extent::Whole, retractions, ranks: Ranks::Together }
    }

    /// Of records to which older ones may belong.
    pub(crate) fn part(ranks: Ranks) -> Self {
        Self { extent: Extent::Part, retractions: Retractions::All, ranks }
    }
}

/// Sources, engine, and the rows merged since the last batch.
pub(crate) struct Assembler {
    spec: Arc<MergeSpec>,
    engine: Box<dyn MergeEngine>,
    view: View,
    selection_of: Vec<Option<usize>>,
    columns: Vec<usize>,
    sources: Vec<Source>,
    /// By rank; at least one.
    outputs: Vec<Output>,
    changelog: Option<Changelog>,
    filtered: Vec<Record>,
    /// The rows of a group; only there to be used again.
    verdicts: Vec<Verdict>,
    beside: Columns,
}

impl Assembler {
    /// Nothing merged yet.
    pub(crate) fn new(spec: Arc<MergeSpec>, view: View, beside: Columns) -> Result<Self> {
        let engine = spec.engine(view.extent)?;
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
            outputs: vec![Output::default()],
            changelog: None,
            spec,
            engine,
            view,
            selection_of,
            sources: Vec::new(),
            filtered: Vec::new(),
            verdicts: Vec::new(),
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
        let rows = self.outputs.iter().map(Output::len).max().unwrap_or(0);
        rows.max(self.changelog.as_ref().map_or(0, Changelog::len) / 2)
    }

    /// A range of rows of which each is alone with its key; with `new` they were not there before.
    pub(crate) fn range(&mut self, source: usize, start: usize, end: usize, new: bool) {
        let Source { kinds, sequence, .. } = &self.sources[source];
        let (kinds, sequence) = (&kinds[start..end], &sequence[start..end]);
        let changelog = self.changelog.as_mut().filter(|_| new);
        let Some(output) = self.outputs.first_mut() else { return };
        if kinds.iter().all(|k| !is_retract(*k)) {
            if let Some(changelog) = changelog {
                changelog.insert_range(source as u32, start, kinds.len());
            }
            output.push_range(source as u32, start, kinds);
            return;
        }
        let adds = |at: &usize| !is_retract(kinds[*at]);
        if let Some(changelog) = changelog {
            for at in (0..kinds.len()).filter(adds) {
                changelog.insert_range(source as u32, start + at, 1);
            }
        }
        let retractions = self.view.retractions;
        if retractions == Retractions::All {
            output.push_range(source as u32, start, kinds);
            return;
        }
        for at in (0..kinds.len()).filter(|&at| retractions.let_through(kinds[at], sequence[at])) {
            output.push_range(source as u32, start + at, &kinds[at..=at]);
        }
    }

    /// A group of records with one key, oldest first, and what it changes.
    pub(crate) fn group(&mut self, group: &[Record], change: Change) -> Result<()> {
        if let [one] = group {
            self.put(Some(Verdict::as_is(*one)), change);
            return Ok(());
        }
        if self.spec.ignores_delete() && group.iter().any(|r| is_retract(r.kind)) {
            self.filtered.clear();
            self.filtered.extend(group.iter().filter(|r| !is_retract(r.kind)));
            let live = std::mem::take(&mut self.filtered);
            let merged = match live.as_slice() {
                [] => Ok(()),
                [one] => {
                    self.put(Some(Verdict::as_is(*one)), change);
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
        let mut verdicts = std::mem::take(&mut self.verdicts);
        verdicts.clear();
        self.engine.merge(group, &mut verdicts)?;
        match verdicts.as_slice() {
            [] => self.put(None, change),
            [one] => self.put(Some(*one), change),
            many => self.put_apart(many),
        }
        self.verdicts = verdicts;
        Ok(())
    }

    /// Takes the row of a key in, if there is one.
    fn put(&mut self, row: Option<Verdict>, change: Change) {
        if let Some(row) = row {
            self.push(0, row);
        }
        if let (Some(changelog), Change::From(before)) = (&mut self.changelog, change) {
            let record = row.map(|row| Record { pick: row.base.pick, kind: row.kind });
            changelog.push(before, record, row.and_then(|row| row.folded));
        }
    }

    /// Takes the rows of a key in, oldest first. Who sees a part of the records tells no changes.
    fn put_apart(&mut self, rows: &[Verdict]) {
        for (at, row) in rows.iter().enumerate() {
            let rank = match self.view.ranks {
                Ranks::Together => 0,
                Ranks::FromNewest => rows.len() - 1 - at,
                Ranks::FromOldest => at,
            };
            self.push(rank, *row);
        }
    }

    /// Takes a row in: the record that stands but for the cells of the key that was folded.
    fn push(&mut self, rank: usize, row: Verdict) {
        if is_retract(row.kind) {
            let sequence = self.sources[row.base.pick.source as usize].sequence[row.base.pick.row as usize];
            if !self.view.retractions.let_through(row.kind, sequence) {
                return;
            }
        }
        if self.outputs.len() <= rank {
            self.outputs.resize_with(rank + 1, Output::default);
        }
        self.outputs[rank].push(row.base.pick, row.kind, row.folded);
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
        let mut outputs = self.outputs.iter_mut();
        let rows = outputs.next().map(gather).transpose()?.flatten();
        let apart = outputs.map(gather).collect::<Result<Vec<_>>>()?;
        let changes = match &mut self.changelog {
            Some(changelog) => changelog.take(gather)?,
            None => None,
        };
        Ok(Merged { rows, apart, changes })
    }
}

/// The error of values that cannot be folded, with their key where it is known.
fn named(spec: &MergeSpec, sources: &[Source], unfolded: FoldError) -> Error {
    let FoldError { error, at } = unfolded;
    let Some(pick) = at else { return error };
    let columns = sources.get(pick.source as usize).map(|s| s.columns.as_slice()).unwrap_or_default();
    let keys = spec.key_columns().iter().filter_map(|&at| columns.get(at));
    let texts: Result<Vec<String>> = keys.map(|key| Ok(array_value_to_string(key, pick.row as usize)?)).collect();
    match texts {
        Ok(texts) => error.with("key", texts.join(", ")),
        Err(_) => error,
    }
}
