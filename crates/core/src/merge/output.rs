//! A chunk of merged rows as selections, and the gather that turns it into a batch.
//!
//! Every row has a base source row; engines name, per selection (a set of columns), the rows whose value comes from
//! elsewhere. Columns that share a selection share its index. Rows that lie next to each other in one source are kept
//! as one stretch, so that ranges passed through untouched cost a slice and no index.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int8Array, Int64Array, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::SchemaRef;
use linn_format::{Error, Result};

use super::engine::Settled;
use super::source::{Cell, Pick, Source};

#[derive(Debug, Clone, Copy)]
struct Stretch {
    source: u32,
    start: u32,
    len: u32,
}

/// Selections of the merged rows since the last chunk.
#[derive(Debug, Default)]
pub(crate) struct Output {
    stretches: Vec<Stretch>,
    rows: usize,
    kinds: Vec<i8>,
    /// Rows of the chunk that were folded, ascending, and the number of the key of each.
    folded: Vec<(u32, u32)>,
}

impl Output {
    /// Rows so far.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Appends one row that is `pick` but for the cells of the key that was `folded`.
    #[inline]
    pub(crate) fn push(&mut self, pick: Pick, kind: i8, folded: Option<u32>) {
        if let Some(key) = folded {
            self.folded.push((self.rows as u32, key));
        }
        self.stretch(pick.source, pick.row, 1);
        self.kinds.push(kind);
        self.rows += 1;
    }

    /// Appends a range of rows of one source as they are.
    #[inline]
    pub(crate) fn push_range(&mut self, source: u32, start: usize, kinds: &[i8]) {
        self.stretch(source, start as u32, kinds.len() as u32);
        self.kinds.extend_from_slice(kinds);
        self.rows += kinds.len();
    }

    /// Appends a range of rows of one source, all with the same kind.
    #[inline]
    pub(crate) fn push_same(&mut self, source: u32, start: usize, len: usize, kind: i8) {
        self.stretch(source, start as u32, len as u32);
        self.kinds.resize(self.kinds.len() + len, kind);
        self.rows += len;
    }

    #[inline]
    fn stretch(&mut self, source: u32, start: u32, len: u32) {
        match self.stretches.last_mut() {
            Some(s) if s.source == source && s.start + s.len == start => s.len += len,
            _ => self.stretches.push(Stretch { source, start, len }),
        }
    }

    /// Turns the selections into a batch of `schema`, whose value columns are the `columns` of the sources, and
    /// starts over. `selection_of` tells the selection of a source column, `settled` what the selections came to.
    pub(crate) fn gather(
        &mut self,
        sources: &[Source],
        schema: &SchemaRef,
        columns: &[usize],
        selection_of: &[Option<usize>],
        settled: &[Settled],
    ) -> Result<RecordBatch> {
        let mut base = Base { stretches: &self.stretches, rows: self.rows, index: None };
        let inputs = |column: usize| -> Result<Vec<&ArrayRef>> {
            let missing = || Error::internal("a source lacks a column");
            sources.iter().map(|s| s.columns.get(column).ok_or_else(missing)).collect()
        };
        let mut arrays: Vec<Option<ArrayRef>> = vec![None; columns.len()];
        let mut selected: Vec<Vec<usize>> = vec![Vec::new(); settled.len()];
        for (at, &column) in columns.iter().enumerate() {
            let selection = selection_of.get(column).copied().flatten().filter(|_| !self.folded.is_empty());
            match selection.and_then(|selection| selected.get_mut(selection)) {
                Some(places) => places.push(at),
                None => arrays[at] = Some(base.gather(&inputs(column)?)?),
            }
        }
        let mut patch = Patch { index: Vec::new(), folded: &self.folded, sources: sources.len() };
        for (settled, places) in settled.iter().zip(&selected).filter(|(_, places)| !places.is_empty()) {
            let index = patch.apply(base.index(), settled);
            for &at in places {
                let inputs = inputs(columns[at])?;
                arrays[at] = Some(match index {
                    None => base.gather(&inputs)?,
                    Some((index, null)) => interleave_with(&inputs, null, settled.computed.as_ref(), index)?,
                });
            }
        }
        let mut arrays: Vec<ArrayRef> = arrays.into_iter().flatten().collect();
        for (array, field) in arrays.iter().zip(schema.fields()) {
            if !field.is_nullable() && array.null_count() > 0 {
                return Err(Error::invalid("a NOT NULL column becomes null by what is taken back")
                    .with("column", field.name())
                    .with_hint(format!(
                        "set 'fields.{}.ignore-retract' to 'true', or make it nullable",
                        field.name()
                    )));
            }
        }
        arrays.push(Arc::new(base.sequence(sources)));
        arrays.push(Arc::new(Int8Array::from(std::mem::take(&mut self.kinds))));
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        self.stretches.clear();
        self.rows = 0;
        self.folded.clear();
        RecordBatch::try_new_with_options(schema.clone(), arrays, &options).map_err(Error::from)
    }
}

/// The rows of the base with those that were folded replaced, for one selection after the other.
struct Patch<'a> {
    /// As the last selection left it: every selection replaces the same rows.
    index: Vec<(usize, usize)>,
    folded: &'a [(u32, u32)],
    sources: usize,
}

impl Patch<'_> {
    /// The index of a selection, and whether a null row follows the sources in it; computed values follow as the last
    /// source. `None` when all values come from the base.
    fn apply(&mut self, base: &[(usize, usize)], settled: &Settled) -> Option<(&[(usize, usize)], bool)> {
        let cell = |key: u32| settled.cells.get(key as usize).copied().unwrap_or(Cell::Null);
        let stands = |&(row, key): &(u32, u32)| match cell(key) {
            Cell::Pick(pick) => base.get(row as usize) == Some(&(pick.source as usize, pick.row as usize)),
            Cell::Null | Cell::Computed(_) => false,
        };
        if self.folded.iter().all(stands) {
            return None;
        }
        if self.index.is_empty() {
            self.index.extend_from_slice(base);
        }
        let null = self.folded.iter().any(|(_, key)| cell(*key) == Cell::Null);
        let computed = self.sources + usize::from(null);
        for &(row, key) in self.folded {
            self.index[row as usize] = match cell(key) {
                Cell::Pick(pick) => (pick.source as usize, pick.row as usize),
                Cell::Computed(at) => (computed, at as usize),
                Cell::Null => (self.sources, 0),
            };
        }
        Some((&self.index, null))
    }
}

/// The rows of `index` out of the inputs, a null row where there are nulls, and the computed values. A source with a null
/// would have all values looked at for nulls, so it is there only where it is needed.
fn interleave_with(
    inputs: &[&ArrayRef],
    null: bool,
    computed: Option<&ArrayRef>,
    index: &[(usize, usize)],
) -> Result<ArrayRef> {
    let data_type = inputs.first().ok_or_else(|| Error::internal("a merge without sources"))?.data_type();
    let null = null.then(|| new_null_array(data_type, 1));
    let arrays: Vec<&dyn Array> =
        inputs.iter().copied().chain(null.as_ref()).chain(computed).map(|a| a.as_ref()).collect();
    Ok(arrow_select::interleave::interleave(&arrays, index)?)
}

/// Rows in a stretch on average from which slices beat an index.
const LONG_STRETCH: usize = 64;

struct Base<'a> {
    stretches: &'a [Stretch],
    rows: usize,
    index: Option<Vec<(usize, usize)>>,
}

impl Base<'_> {
    fn index(&mut self) -> &[(usize, usize)] {
        let stretches = self.stretches;
        let rows = self.rows;
        self.index.get_or_insert_with(|| {
            let mut index = Vec::with_capacity(rows);
            for s in stretches {
                index.extend((s.start..s.start + s.len).map(|row| (s.source as usize, row as usize)));
            }
            index
        })
    }

    fn gather(&mut self, inputs: &[&ArrayRef]) -> Result<ArrayRef> {
        let slice = |s: &Stretch| inputs[s.source as usize].slice(s.start as usize, s.len as usize);
        match self.stretches {
            [] => {
                let data_type = inputs.first().ok_or_else(|| Error::internal("a merge without sources"))?.data_type();
                Ok(arrow_array::new_empty_array(data_type))
            }
            [one] => Ok(slice(one)),
            many if many.len() * LONG_STRETCH <= self.rows => {
                let slices: Vec<ArrayRef> = many.iter().map(slice).collect();
                let slices: Vec<&dyn Array> = slices.iter().map(|a| a.as_ref()).collect();
                Ok(arrow_select::concat::concat(&slices)?)
            }
            _ => {
                let arrays: Vec<&dyn Array> = inputs.iter().map(|a| a.as_ref()).collect();
                Ok(arrow_select::interleave::interleave(&arrays, self.index())?)
            }
        }
    }

    fn sequence(&self, sources: &[Source]) -> Int64Array {
        let mut numbers = Vec::with_capacity(self.rows);
        for s in self.stretches {
            let start = s.start as usize;
            numbers.extend_from_slice(&sources[s.source as usize].sequence[start..start + s.len as usize]);
        }
        Int64Array::from(numbers)
    }
}
