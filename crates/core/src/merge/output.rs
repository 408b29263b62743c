//! A chunk of merged rows as selections, and the gather that turns it into a batch.
//!
//! Every row has a base source row; engines name, per selection (a set of columns), the rows whose value comes from
//! elsewhere. Columns that share a selection share its index. Rows that lie next to each other in one source are kept
//! as one stretch, so that ranges passed through untouched cost a slice and no index.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, Int8Array, Int64Array, RecordBatch, RecordBatchOptions, new_empty_array, new_null_array,
};
use arrow_schema::SchemaRef;
use arrow_select::concat::concat;
use arrow_select::interleave::interleave;
use linn_format::{Error, Result};

use super::beside::Columns;
use super::engine::Settled;
use super::function::{Computed, FoldError};
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
        beside: Columns,
    ) -> Result<RecordBatch, FoldError> {
        let base = Base::new(&self.stretches, self.rows, !self.folded.is_empty());
        let inputs = |at: usize| -> Result<Vec<&dyn Array>> {
            let missing = || Error::internal("a source lacks a column");
            let column = *columns.get(at).ok_or_else(missing)?;
            sources.iter().map(|s| s.columns.get(column).map(|c| c.as_ref()).ok_or_else(missing)).collect()
        };
        let mut parts: Vec<Part<'_>> = Vec::with_capacity(columns.len());
        let mut selected: Vec<Vec<usize>> = vec![Vec::new(); settled.len()];
        for (at, &column) in columns.iter().enumerate() {
            let selection = selection_of.get(column).copied().flatten().filter(|_| !self.folded.is_empty());
            match selection.and_then(|selection| selected.get_mut(selection)) {
                Some(places) => places.push(at),
                None => parts.push(Part { settled: None, places: vec![(at, None)] }),
            }
        }
        let first = parts.len();
        for (settled, places) in settled.iter().zip(&selected) {
            for &at in places {
                let nested = schema.fields().get(at).is_some_and(|field| field.data_type().is_nested());
                let place = (at, settled.computed.as_ref());
                match parts.get_mut(first..).and_then(<[_]>::last_mut) {
                    Some(part) if !nested && part.shares(settled) => part.places.push(place),
                    _ => parts.push(Part { settled: Some(settled), places: vec![place] }),
                }
            }
        }
        let patch = || Patch { index: Vec::new(), folded: &self.folded, sources: sources.len() };
        let made = beside.map_with(&parts, patch, |patch, part| {
            let index = part.settled.and_then(|settled| patch.apply(base.index.as_deref()?, settled));
            let column = |&(at, computed): &(usize, Option<&Computed>)| match index {
                None => base.gather(&inputs(at)?),
                Some((index, null)) => interleave_with(inputs(at)?, null, computed, index),
            };
            part.places.iter().map(column).collect::<Result<Vec<ArrayRef>>>()
        })?;
        let mut arrays: Vec<Option<ArrayRef>> = vec![None; columns.len()];
        for (&(at, _), array) in parts.iter().flat_map(|part| &part.places).zip(made.into_iter().flatten()) {
            if let Some(slot) = arrays.get_mut(at) {
                *slot = Some(array);
            }
        }
        let mut arrays: Vec<ArrayRef> = arrays.into_iter().flatten().collect();
        for (array, field) in arrays.iter().zip(schema.fields()) {
            if !field.is_nullable() && array.null_count() > 0 {
                let null = (0..array.len()).find(|&row| array.is_null(row));
                let at = null.and_then(|row| base.index.as_deref()?.get(row));
                let at = at.map(|&(source, row)| Pick { source: source as u32, row: row as u32 });
                let name = field.name();
                let error = Error::invalid("a retraction makes a NOT NULL column null")
                    .with("column", name)
                    .with_hint(format!("set 'fields.{name}.ignore-retract' to 'true', or make it nullable"));
                return Err(FoldError { error, at });
            }
        }
        arrays.push(Arc::new(base.sequence(sources)));
        arrays.push(Arc::new(Int8Array::from(std::mem::take(&mut self.kinds))));
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        self.stretches.clear();
        self.rows = 0;
        self.folded.clear();
        Ok(RecordBatch::try_new_with_options(schema.clone(), arrays, &options).map_err(Error::from)?)
    }
}

/// The rows of the base with those that were folded replaced, for some selections one after the other.
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
    inputs: Vec<&dyn Array>,
    null: bool,
    computed: Option<&Computed>,
    index: &[(usize, usize)],
) -> Result<ArrayRef> {
    let data_type = inputs.first().ok_or_else(|| Error::internal("a merge without sources"))?.data_type();
    let null = null.then(|| new_null_array(data_type, 1));
    let inputs: Vec<&dyn Array> = inputs.into_iter().chain(null.as_ref().map(|null| null.as_ref())).collect();
    match computed {
        Some(computed) => computed.interleave(&inputs, index),
        None => Ok(interleave(&inputs, index)?),
    }
}

/// Rows in a stretch on average from which slices beat an index.
const LONG_STRETCH: usize = 64;
/// Columns at most that share one pass over their cells.
const TOGETHER: usize = 8;

/// Columns whose cells are the same, or one that has none.
struct Part<'a> {
    settled: Option<&'a Settled>,
    /// Places among the columns of the batch, and what was computed for each.
    places: Vec<(usize, Option<&'a Computed>)>,
}

impl Part<'_> {
    /// Whether a column with these cells may be one of them.
    fn shares(&self, settled: &Settled) -> bool {
        let same = |mine: &Settled| std::ptr::eq(mine, settled) || mine.cells == settled.cells;
        self.places.len() < TOGETHER && self.settled.is_some_and(same)
    }
}

/// The rows as their base has them.
struct Base<'a> {
    stretches: &'a [Stretch],
    /// Source and row of each; `None` where nobody needs it.
    index: Option<Vec<(usize, usize)>>,
}

impl<'a> Base<'a> {
    fn new(stretches: &'a [Stretch], rows: usize, folded: bool) -> Self {
        let index = (folded || stretches.len() > 1 && stretches.len() * LONG_STRETCH > rows).then(|| {
            let mut index = Vec::with_capacity(rows);
            for s in stretches {
                index.extend((s.start..s.start + s.len).map(|row| (s.source as usize, row as usize)));
            }
            index
        });
        Self { stretches, index }
    }

    fn gather(&self, inputs: &[&dyn Array]) -> Result<ArrayRef> {
        let slice = |s: &Stretch| inputs[s.source as usize].slice(s.start as usize, s.len as usize);
        match (self.stretches, &self.index) {
            ([], _) => {
                let first = inputs.first().ok_or_else(|| Error::internal("a merge without sources"))?;
                Ok(new_empty_array(first.data_type()))
            }
            ([one], _) => Ok(slice(one)),
            (many, Some(index)) if many.len() * LONG_STRETCH > index.len() => Ok(interleave(inputs, index)?),
            (many, _) => {
                let slices: Vec<ArrayRef> = many.iter().map(slice).collect();
                let slices: Vec<&dyn Array> = slices.iter().map(|a| a.as_ref()).collect();
                Ok(concat(&slices)?)
            }
        }
    }

    fn sequence(&self, sources: &[Source]) -> Int64Array {
        let mut numbers = Vec::with_capacity(self.stretches.iter().map(|s| s.len as usize).sum());
        for s in self.stretches {
            let start = s.start as usize;
            numbers.extend_from_slice(&sources[s.source as usize].sequence[start..start + s.len as usize]);
        }
        Int64Array::from(numbers)
    }
}
